"""`completion`: a way to a complete text from every state, in as few tokens as spell the shortest text."""

from __future__ import annotations

from dataclasses import replace
from functools import wraps

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import SetBounds, Terminal
from tests.build import DIGITS, WORD, alt, cat, choice, cls, grammar, many, rep, rule, scope, seq, t, tokens
from tests.engine.harness import compile_ir, mask_of
from tests.engine.test_token_limits import limited_problems
from tests.oracle import Oracle
from tests.oracle_completion import TooLarge, closing_text, fewest_spelling, fewest_tokens
from tests.strategies import (
    GrammarShape,
    Problem,
    VocabularySpec,
    again_problems,
    composite_problems,
    discards_undecided,
    list_problems,
    problems,
)

BYTES = [bytes([b]) for b in range(256)]
STEPS = 3


def discards_large(test):  # type: ignore[no-untyped-def]
    """Give up examples that the oracle would take too long for."""

    @wraps(test)
    def run(*args, **kwargs):  # type: ignore[no-untyped-def]
        try:
            test(*args, **kwargs)
        except TooLarge:
            reject()
        except cfgmask.LimitExceeded as error:
            if error.limit != "max_search_steps":
                raise
            reject()  # infinitely many texts, none of which ends
        except RuntimeError as error:
            if "a left-recursive nonterminal opens a set" not in str(error):
                raise
            reject()  # the builder takes no such grammar

    return discards_undecided(run)


def with_all_bytes(problem: Problem) -> Problem:
    """The problem over its vocabulary and every single byte."""
    spec = problem.vocabulary
    spec = VocabularySpec([*spec.tokens, *BYTES], spec.end_tokens, spec.special)
    return Problem(problem.ir, spec, Oracle(problem.ir, spec.tokens, spec.end_tokens, spec.special), problem.random)


def check_way(matcher: cfgmask.Matcher, n_vocab: int) -> None:
    """Each token of a completion is allowed, the next completion is shorter, and the last ends in a complete text."""
    matcher = matcher.fork()
    way = matcher.completion()
    assert way is not None
    while way:
        assert way[0] in mask_of(matcher, n_vocab)
        matcher.advance(way[0])
        shorter = matcher.completion()
        assert shorter is not None
        assert len(shorter) < len(way)
        way = shorter
    assert matcher.is_accepting


def walk(problem: Problem, check) -> None:  # type: ignore[no-untyped-def]
    """Call `check(matcher, state)` at each step of a random walk."""
    oracle, state = problem.oracle, problem.oracle.initial
    matcher = compile_ir(problem.ir, problem.vocabulary, max_search_steps=5_000).matcher()
    for _ in range(STEPS):
        check(matcher, state)
        allowed = sorted(mask_of(matcher, len(oracle.tokens)))
        if not allowed:
            return
        token = problem.random.choice(allowed)
        matcher.advance(token)
        state = oracle.step_token(state, token)


@given(problems(GrammarShape(token_sets=False)))
@discards_large
def test_as_few_tokens_as_spell_the_closing_text(problem: Problem) -> None:
    problem = with_all_bytes(problem)
    oracle = problem.oracle

    def check(matcher: cfgmask.Matcher, state) -> None:  # type: ignore[no-untyped-def]
        if matcher.is_finished:
            assert matcher.completion() == []
            return
        text = closing_text(oracle, state, range(256), limit=60)
        way = matcher.completion()
        if text is None:
            assert way is None
            return
        assert way is not None
        assert b"".join(oracle.tokens[token] for token in way) == text
        assert len(way) == fewest_spelling(
            [b"" if i in oracle.end_tokens else t for i, t in enumerate(oracle.tokens)], text
        )
        check_way(matcher, len(oracle.tokens))

    walk(problem, check)


@given(st.one_of(problems(), list_problems(), composite_problems(), again_problems(), limited_problems()))
@discards_large
def test_no_way_is_shorter_than_the_shortest(problem: Problem) -> None:
    """With tokens by id, and without tokens for most bytes."""
    oracle = problem.oracle

    def check(matcher: cfgmask.Matcher, state) -> None:  # type: ignore[no-untyped-def]
        fewest = fewest_tokens(oracle, state, limit=60)
        way = matcher.completion()
        if matcher.is_finished:
            assert way == []
        elif fewest is None:
            assert way is None
        else:
            assert way is not None
            assert len(way) >= fewest
            check_way(matcher, len(oracle.tokens))

    walk(problem, check)


SPELLED = VocabularySpec([*BYTES, b"", b"abc", b'":"', b'{"', b'"}', b"00", b"bc", b"cd"], [256], {})
JSON = grammar(
    rule("start", "$value"),
    rule("value", choice("$object", seq("[", many(seq("$value", many(seq(",", "$value")))), "]"), WORD, DIGITS)),
    rule("object", seq("{", '"name":', cat('"', rep(cls("az")), '"'), ',"of":', "$value", "}")),
    scopes=(scope(rep(" ", 1)),),
)


@pytest.mark.parametrize(
    ("ir", "text", "closing"),
    [
        (grammar(rule("start", "abcd")), b"", b"abcd"),
        (grammar(rule("start", choice("abc", "b"))), b"", b"b"),
        (grammar(rule("start", choice("abc", "b"))), b"a", b"bc"),
        (grammar(rule("start", seq(many("a", 3, 5), "b"))), b"a", b"aab"),
        (grammar(rule("start", seq(rep(cls("az"), 2, 900), "1"))), b"", b"aa1"),
        (JSON, b"", b"0"),
        (JSON, b"{", b'"name":"","of":0}'),
        (JSON, b'{"name":"x', b'","of":0}'),
        (JSON, b'{"name":"x","of":[{', b'"name":"","of":0}]}'),
        (JSON, b"[[[ [", b"]]]]"),
        # Longest match: a name must end before the keyword, and a space is the least that ends it.
        (grammar(rule("start", seq(WORD, "if")), scopes=(scope(" "),)), b"ab", b" if"),
        # Left recursion, nullable rules, and an ending that is the first alternative's alone.
        (grammar(rule("start", choice(seq("$start", "+", "$end"), "$end")), rule("end", "x")), b"x+", b"x"),
        (grammar(rule("start", seq("$a", "$b", "!")), rule("a", many("a")), rule("b", many("$a"))), b"a", b"!"),
        (grammar(rule("start", choice(seq("(", "$start", ")"), "1"))), b"(" * 50, b"1" + b")" * 50),
    ],
)
@pytest.mark.parametrize("lexer", ["longest", "complete"])
def test_closing_texts(ir, text: bytes, closing: bytes, lexer: str) -> None:  # type: ignore[no-untyped-def]
    if lexer == "complete" and closing == b" if":
        closing = b"if"
    compiled = compile_ir(replace(ir, lexer=lexer), SPELLED)
    matcher = compiled.matcher()
    matcher.advance_bytes(text)
    way = matcher.completion()
    assert way is not None
    assert b"".join(SPELLED.tokens[token] for token in way) == closing
    assert len(way) == fewest_spelling(SPELLED.tokens, closing)


def test_a_long_way_is_found() -> None:
    compiled = compile_ir(
        grammar(rule("start", seq(rep(cls("ab"), 60_000, 70_000), many(choice("c", seq("d", "e")), 60_000))))
    )
    way = compiled.matcher().completion()
    assert way is not None
    assert len(way) == 120_000


def test_a_dead_end_has_no_completion() -> None:
    matcher = compile_ir(grammar(rule("start", seq(rep(cls("az"), 1), "end")))).matcher()
    matcher.advance_bytes(b"spend")
    assert matcher.completion() is None


def test_a_text_without_end_is_given_up() -> None:
    compiled = compile_ir(grammar(rule("start", seq(alt(rep(cls("az"), 1, 50_000), "-"), "end"))), max_search_steps=100)
    matcher = compiled.matcher()
    matcher.advance_bytes(b"a")
    with pytest.raises(cfgmask.LimitExceeded, match="max_search_steps"):
        matcher.completion()


def test_a_search_leaves_some_of_each_limit() -> None:
    """That it crosses one is no reason why the text should not go on."""
    matcher = compile_ir(cfgmask.Grammar.from_regex("a{1000}b").ir, max_lexer_states=800).matcher()
    for _ in range(3):
        with pytest.raises(cfgmask.LimitExceeded, match="max_lexer_states = 800"):
            matcher.completion()
    assert matcher.advance_bytes(b"a" * 50) == 50
    assert mask_of(matcher, 257) == {ord("a")}


def test_searches_in_vain_are_bounded_together() -> None:
    """What they make stays, and counts against the limits of the grammar that goes on being used."""
    words = "".join(f"(?=.*{chr(letter)})" for letter in range(ord("a"), ord("u")))
    compiled = cfgmask.compile(
        cfgmask.Grammar.from_regex(f"{words}.*"), cfgmask.Vocabulary.from_bytes([*BYTES, b""], 256)
    )
    matcher = compiled.matcher()
    for byte in b"0123456789" * 2:
        with pytest.raises(cfgmask.LimitExceeded, match="max_search_steps"):
            matcher.completion()
        matcher.advance(byte)
        matcher.advance(ord("abcdefghij"[byte % 10]))
        matcher.rollback(1)
    assert compiled.stats()["lexer_states"] < 500_000
    assert matcher.advance_bytes(bytes(range(ord("a"), ord("u")))) == 20
    assert matcher.is_accepting


def test_bytes_that_no_token_spells() -> None:
    """The shortest text that tokens spell, where single bytes are missing."""
    spec = VocabularySpec([b"ab", b"bcd", b"a", b""], [3], {})
    matcher = compile_ir(
        grammar(rule("start", choice("c", "abc", "abcd", seq("ab", many("ab"), "bcd")))), spec
    ).matcher()
    assert matcher.completion() == [2, 1]
    assert compile_ir(grammar(rule("start", "abc")), spec).matcher().completion() is None


def test_tokens_by_id() -> None:
    spec = VocabularySpec([*BYTES, b"", b"", b"ab"], [256], {})
    ir = grammar(rule("start", seq("a", choice(tokens(257), t("xy")), "b")))
    assert compile_ir(ir, spec).matcher().completion() == [ord("a"), 257, ord("b")]


def test_numbers_do_not_depend_on_the_order_of_questions() -> None:
    text = b'{"name":"x","of":[{"name":"'
    asked, last = compile_ir(JSON, SPELLED).matcher(), compile_ir(JSON, SPELLED).matcher()
    for byte in text:
        asked.advance(byte)
        asked.completion()
    last.advance_bytes(text)
    assert asked.completion() == last.completion()


def test_tokens_by_id_that_are_also_read_by_their_bytes() -> None:
    """With limits texts are spelled as they are found; each token leads to more than its bytes do."""
    text = 'start: item{3} "b"\nitem: x | <[97]> "ad"\nx[max_tokens=2]: /a/'
    spec = cfgmask.Vocabulary.from_bytes([*BYTES, b""], 256)
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(text), spec).matcher()
    assert bytes(matcher.completion() or ()) == b"aaab"
    check_way(matcher, 257)


def test_a_byte_that_tokens_of_several_kinds_begin_with() -> None:
    """Where texts are spelled as they are found: by the token of that byte, not by one that is longer."""
    spec = VocabularySpec([b"", b"\xc3\xa9 ", "éa".encode(), *BYTES], [0], {})
    compiled = cfgmask.compile(
        cfgmask.Grammar.from_lark("start: x\nx[max_tokens=3]: /[éê]/"), cfgmask.Vocabulary.from_bytes(spec.tokens, 0)
    )
    way = compiled.matcher().completion()
    assert way is not None
    assert b"".join(spec.tokens[token] for token in way) == "é".encode()


def test_a_way_ends_where_it_has_become_shorter() -> None:
    """The number of a state falls once it is known to have the readings of another."""
    text = 'start: "q" "longword" | <[113]> "xyz"'
    spec = cfgmask.Vocabulary.from_bytes([*BYTES, b"", b"longword"], 256)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(text), spec)
    assert compiled.matcher().completion() == list(b"qxyz")
    mask_of(compiled.matcher(max_tokens=4), 258)
    assert compiled.matcher().completion() == [ord("q"), 257]


def test_no_byte_that_is_no_token() -> None:
    """Also where values must differ and any end is looked for."""
    value = Terminal("V", tree.JsonString(tree.ANY_TEXT, "any"), distinct=True)
    opening, comma = (Terminal(c, t(c).regex) for c in "[,")
    closing = Terminal("]", t("]").regex, closes_set=True)
    more = many(seq(comma, value), 9)
    ir = grammar(
        rule("start", seq("$list", choice(Terminal("FF", tree.ByteClass(((255, 255),))), "abc"))),
        replace(rule("list", seq(opening, value, more, closing)), opens_set=SetBounds()),
    )
    spec = VocabularySpec([*BYTES[:255], b""], [255], {})
    way = compile_ir(ir, spec).matcher().completion()
    assert way is not None
    assert bytes(way).endswith(b"]abc")
