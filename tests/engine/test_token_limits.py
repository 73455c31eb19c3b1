"""`Terminal.max_tokens`: the core against the oracle, over tokens that cross lexemes, and what must hold."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence, Terminal
from tests.engine.harness import compile_ir, mask_of, oracle_of, oracles_mask, walk_there_and_back
from tests.strategies import Problem, VocabularySpec, discards_undecided, problems

STEPS = 10


def limited(expr: Expr, limits: dict[str, int]) -> Expr:
    """The expression with limits for the terminals of these names."""
    match expr:
        case Terminal(name):
            return replace(expr, max_tokens=limits.get(name))
        case Sequence(parts) | Choice(parts):
            return replace(expr, parts=tuple(limited(part, limits) for part in parts))
        case Repeat(body):
            return replace(expr, body=limited(body, limits))
    return expr


@st.composite
def limited_problems(draw: st.DrawFn) -> Problem:
    """Problems some of whose terminals have limits."""
    problem = draw(problems())
    names = st.sampled_from([f"T{i}" for i in range(5)])
    limits = draw(st.dictionaries(names, st.sampled_from([1, 1, 2, 3]), min_size=3))
    rules = tuple(replace(rule, body=limited(rule.body, limits)) for rule in problem.ir.rules)
    ir = replace(problem.ir, rules=rules)
    return replace(problem, ir=ir, oracle=oracle_of(ir, problem.vocabulary))


BODIES = [
    "/[12]+px/",
    '/"([^"\\\\]|\\\\.)*"/',
    "/[ab]+/",
    "/(ab|ba)*b/",
    "/[^!]{2,4}/",
    "/a{0,40}[12]?/",
    '"a" | "ab" | "aba"',
]
ATTRIBUTES = ["", "", ", lazy", ', suffix="p"', ", stop=/[2b]/", ", max_chars=3"]
PIECES = ["a", "b", "p", "x", "1", "2", '"', "\\", " ", "!", "é"]


@st.composite
def written_problems(draw: st.DrawFn) -> Problem:
    """Limited rules before, after and instead of each other, over tokens that cross from one into the next."""
    rules = [
        f"r{i}[max_tokens={limit}{draw(st.sampled_from(ATTRIBUTES))}]: {draw(st.sampled_from(BODIES))}"
        for i, limit in enumerate(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    ]
    names = st.sampled_from([f"r{i}" for i in range(len(rules))] + ['"!"', "/[12]+/"])
    alternatives = draw(st.lists(st.lists(names, min_size=1, max_size=3).map(" ".join), min_size=1, max_size=3))
    start = f"start: ({' | '.join(alternatives)}){draw(st.sampled_from(['', '+']))}"
    lexer = draw(st.sampled_from(["", '%cfgmask {"lexer": "complete"}']))
    ignored = draw(st.sampled_from(["", '%ignore " "']))
    joined = draw(st.lists(st.lists(st.sampled_from(PIECES), min_size=2, max_size=4).map("".join), max_size=25))
    tokens = [*(bytes([byte]) for byte in sorted(set("".join(PIECES).encode()))), *(text.encode() for text in joined)]
    spec = VocabularySpec([*tokens, b""], [len(tokens)], {})
    try:
        ir = cfgmask.Grammar.from_lark("\n".join([lexer, start, *rules, ignored])).ir
    except cfgmask.GrammarError:
        reject()
    return Problem(ir, spec, oracle_of(ir, spec), random.Random(draw(st.integers(0, 2**16))))


@given(st.one_of(limited_problems(), written_problems(), written_problems()), st.booleans())
@discards_undecided
def test_masks_are_the_oracles(problem: Problem, fresh: bool) -> None:
    """Along random walks, with what was remembered and without, on forks, and after a way back."""
    walk_there_and_back(problem, STEPS, fresh=fresh)


@pytest.mark.parametrize(("lexer", "allowed"), [("longest", {b"c"}), ("complete", {b"a", b"c"})])
def test_what_a_lazy_terminal_rules_out_for_one_with_a_limit(lexer: str, allowed: set[bytes]) -> None:
    """Nothing where every segmentation counts: its closing text is as if it were alone."""
    text = f'%cfgmask {{"lexer": "{lexer}"}}\nstart: x | y "c"\nx[max_tokens=3]: /aab/\ny[lazy, max_tokens=3]: /a+/'
    spec = VocabularySpec([b"a", b"b", b"c", b""], [3], {})
    ir = cfgmask.Grammar.from_lark(text).ir
    matcher, oracle = compile_ir(ir, spec).matcher(), oracle_of(ir, spec)
    matcher.advance(0)
    assert {
        spec.tokens[token] for token in oracles_mask(matcher, oracle, oracle.step_token(oracle.initial, 0))
    } == allowed


DIGITS = VocabularySpec([b"1", b"p", b"x", b"!", b"11", b"px", b"1p", b"1px", b"x!", b""], [9], {})


def pixels(limit: int, spec: VocabularySpec = DIGITS) -> cfgmask.Matcher:
    vocabulary = cfgmask.Vocabulary.from_bytes(spec.tokens, spec.end_tokens)
    grammar = cfgmask.Grammar.from_lark(f'start: "!"? x "!"\nx[max_tokens={limit}]: /1+px/')
    return cfgmask.compile(grammar, vocabulary).matcher()


@pytest.mark.parametrize(
    ("limit", "taken", "allowed"),
    [
        (1, "", "1px !"),
        (1, "1px", "!"),
        (1, "!", "1px"),
        (2, "", "1 11 1p 1px !"),
        (2, "1", "px 1px"),
        (2, "11", "px 1px"),
        (2, "1p", "x x!"),
        (3, "1 1", "px 1px"),
        (3, "1 1 px", "!"),
        (3, "1 p", "x x!"),
        (3, "1", "1 p 11 px 1p 1px"),
        (300, "1 1 1 1 1 1", "1 p 11 px 1p 1px"),
    ],
)
def test_a_limit_closes_the_terminal(limit: int, taken: str, allowed: str) -> None:
    tokens = DIGITS.tokens
    matcher = pixels(limit)
    for text in taken.split():
        matcher.advance(tokens.index(text.encode()))
    assert {tokens[token].decode() for token in mask_of(matcher, len(tokens))} == set(allowed.split())


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_whatever_is_taken_the_limit_is_kept_and_the_text_ends(limit: int) -> None:
    rng = random.Random(limit)
    for _ in range(50):
        matcher, n = pixels(limit), 0
        while not matcher.is_accepting:
            mask = sorted(mask_of(matcher, len(DIGITS.tokens)))
            assert mask
            token = rng.choice(mask)
            n += DIGITS.tokens[token] != b"!"
            matcher.advance(token)
        assert n <= limit


def test_a_lexeme_entered_in_a_token_counts_it() -> None:
    spec = VocabularySpec([b"-", b"a", b"-a", b"aa", b""], [4], {})
    vocabulary = cfgmask.Vocabulary.from_bytes(spec.tokens, spec.end_tokens)
    grammar = cfgmask.Grammar.from_lark('start: ("-" x)+\nx[max_tokens=2]: /a+/')
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.try_advance([0, 1, 3, 1]) == 3  # -, a, aa
    assert matcher.try_advance([2, 3, 1]) == 2  # -a, aa
    assert matcher.try_advance([2, 3, 2, 3, 0, 1, 1]) == 7  # each occurrence has its own


def test_bytes_without_a_token_count_as_one() -> None:
    matcher = pixels(2)
    assert matcher.advance_bytes(b"111") == 3
    assert matcher.advance_bytes(b"1") == 0
    assert matcher.advance_bytes(b"") == 0
    assert matcher.advance_bytes(b"px!") == 3
    assert matcher.is_accepting
    matcher.rollback(3)
    assert mask_of(matcher, len(DIGITS.tokens)) == mask_of(pixels(2), len(DIGITS.tokens))
    assert pixels(1).advance_bytes(b"11p") == 0


def test_captures_end_where_the_limit_does() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"aa", b""], eos_token_id=2)
    grammar = cfgmask.Grammar.from_lark("start: x y\nx[max_tokens=2, capture]: /a+/\ny[capture]: /a+/")
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.try_advance([0, 1, 1, 0]) == 4
    assert [(name, bytes(text)) for name, text in matcher.captures()] == [("x", b"aaa"), ("y", b"aaa")]


def test_forced_bytes_stop_where_a_limit_may() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b""], eos_token_id=1)
    grammar = cfgmask.Grammar.from_lark('start: x "a"\nx[max_tokens=1]: /a+/')
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.forced_bytes() == b"a"
    assert matcher.try_advance([0, 0, 1]) == 3


def test_a_refused_token_is_explained() -> None:
    matcher = pixels(2)
    matcher.advance(DIGITS.tokens.index(b"1"))
    explained = matcher.explain(DIGITS.tokens.index(b"11"))
    assert not explained.allowed
    assert str(explained)


def test_completions_keep_to_the_limits() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"<", b"a", b"b", b"ab", b">", b""], eos_token_id=5)
    grammar = cfgmask.Grammar.from_lark('start: "<" x ">"\nx[max_tokens=2]: /a+b/')
    matcher = cfgmask.compile(grammar, vocabulary).matcher(max_tokens=4)
    assert matcher.completion() == [0, 3, 4]
    assert matcher.try_advance([0, 1]) == 2
    assert matcher.completion() == [2, 4]
    assert mask_of(matcher, 6) == {2, 3}


@pytest.mark.parametrize("further", ["éé", "é;", "é", "\xe9x"])
def test_completions_of_characters_that_are_spelled_in_parts(further: str) -> None:
    """Tokens of whole characters are in a part of the trie of their own, where the first byte is no token."""
    tokens = [*(bytes([byte]) for byte in range(256)), further.encode(), b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=257)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark("start: x /é+/\nx[max_tokens=1]: /a/"), vocabulary)
    for matcher in (compiled.matcher(), compiled.matcher(max_tokens=3)):
        way = matcher.completion()
        assert way is not None
        for token in way:
            assert token in mask_of(matcher, 258)
            matcher.advance(token)
        assert matcher.is_accepting


def test_a_limit_that_holds_no_text() -> None:
    spec = VocabularySpec([b"1", b"p", b"x", b"!", b""], [4], {})
    with pytest.raises(cfgmask.GrammarError) as error:
        pixels(2, spec)
    [diagnostic] = error.value.diagnostics
    assert diagnostic.code == "grammar-empty"
    assert diagnostic.help == "raise `max_tokens`: this vocabulary cannot spell the marked rules in so few tokens"
    assert [related.message for related in diagnostic.related] == ["its shortest text takes more than 2 tokens"]
    assert pixels(3, spec).advance_bytes(b"1px!") == 4


def test_limits_that_cannot_run_out_cost_one_table() -> None:
    """Whatever is left of them."""
    vocabulary = cfgmask.Vocabulary.from_bytes([bytes([byte]) for byte in range(256)] + [b""], eos_token_id=256)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: x\nx[max_tokens=300]: /"[^"]*"/'), vocabulary)
    before = compiled.stats()
    matcher = compiled.matcher()
    matcher.advance(ord('"'))
    for _ in range(200):
        mask_of(matcher, 257)
        matcher.advance(ord("a"))
    after = compiled.stats()
    assert after["tables"] == before["tables"] + 1
    assert after["lexer_states"] < before["lexer_states"] + 20


def test_beside_assertions_at_the_edges() -> None:
    """There the limit is that of a rule."""
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"b", b"aa", b""], eos_token_id=3)
    grammar = cfgmask.Grammar.from_lark('start: x WORD\nx[max_tokens=2]: /a+/ "c"?\nWORD: /b+\\b/')
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert mask_of(matcher, 4) == {0, 2}
    assert matcher.try_advance([2, 0]) == 2
    assert mask_of(matcher, 4) == {1}
