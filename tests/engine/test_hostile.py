"""Grammars that would like to take all the time, memory or stack there is: an answer, or a limit that is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, Sequence, TokenSet
from tests.build import DIGITS, alt, cat, choice, cls, grammar, lit, many, opt, rep, rule, scope, seq, t
from tests.engine.harness import ALL_BYTES, as_set, compile_ir, mask_of

END = 256


def accepts(compiled: cfgmask.CompiledGrammar, text: bytes) -> bool:
    matcher = compiled.matcher()
    return matcher.advance_bytes(text) == len(text) and matcher.is_accepting


# Depth.


def nested(make: Callable[[Any], Any], depth: int, core: object) -> Any:
    for _ in range(depth):
        core = make(core)
    return core


DEPTH = 10_000


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda e: Sequence((e,)), b"x"),
        (lambda e: Choice((e,)), b"x"),
        (lambda e: Choice((e, seq())), b"x"),
        (lambda e: Sequence((t("("), e, t(")"))), b"(" * DEPTH + b"x" + b")" * DEPTH),
        (lambda e: Repeat(e, 0, 1), b"x"),
        (lambda e: Repeat(e, 0, None), b"xxx"),
        (lambda e: Repeat(e, 1, 2), b"xx"),
    ],
    ids=["groups", "choices", "optional", "brackets", "question marks", "stars", "counts"],
)
def test_deep_expressions(make: Callable[[Any], Any], text: bytes) -> None:
    try:
        compiled = compile_ir(grammar(rule("start", nested(make, DEPTH, t("x")))))
    except (cfgmask.LimitExceeded, cfgmask.GrammarError):
        return
    assert accepts(compiled, text)


@pytest.mark.parametrize(
    "make",
    [
        lambda r: cat(r, "a"),
        lambda r: cat("a", r),
        lambda r: alt(r, cat("a", r)) if isinstance(r, tree.Literal) else alt(r, "a"),
        opt,
        rep,
        tree.Complement,
        lambda r: tree.Intersection((r, tree.ANY_TEXT)),
        tree.JsonString,
    ],
    ids=["left", "right", "alternation", "optional", "repetition", "complement", "intersection", "string"],
)
def test_deep_regexes(make: Callable[[Any], Any]) -> None:
    """Deeper than any C stack would bear: an answer or an error, never a crash."""
    regex = nested(make, 100_000, lit("x"))
    try:
        compiled = compile_ir(grammar(rule("start", regex)))
        mask_of(compiled.matcher(), END + 1)
    except (cfgmask.LimitExceeded, cfgmask.GrammarError):
        pass


def test_long_chains_of_rules() -> None:
    rules = [rule(f"r{n}", f"$r{n + 1}") for n in range(50_000)]
    compiled = compile_ir(grammar(rule("start", "$r0"), *rules, rule("r50000", "x")))
    assert accepts(compiled, b"x")


def test_long_chains_of_rules_that_come_round() -> None:
    rules = [rule(f"r{n}", choice(f"$r{(n + 1) % 2_000}", "x")) for n in range(2_000)]
    assert accepts(compile_ir(grammar(rule("start", "$r0"), *rules)), b"x")


def test_long_chains_of_nullable_rules() -> None:
    parts = [f"$r{n}" for n in range(2_000)]
    rules = [rule(f"r{n}", choice(seq(), chr(0x4E00 + n))) for n in range(2_000)]
    compiled = compile_ir(grammar(rule("start", seq(*parts)), *rules))
    assert accepts(compiled, "一仿".encode())
    assert not accepts(compiled, "仿一".encode())


def test_deeply_nested_text() -> None:
    compiled = compile_ir(grammar(rule("start", choice(seq("(", "$start", ")"), "x"))))
    matcher = compiled.matcher()
    assert matcher.advance_bytes(b"(" * 100_000 + b"x" + b")" * 100_000) == 200_001
    assert matcher.is_accepting
    matcher.rollback(1)
    assert not matcher.is_accepting


def test_long_texts_go_away_without_recursion() -> None:
    matcher = compile_ir(grammar(rule("start", rep("a")))).matcher()
    for _ in range(300_000):
        matcher.advance(ord("a"))
    forks = [matcher.fork() for _ in range(3)]
    del matcher
    forks[0].rollback(300_000)
    assert forks[0].n_steps == 0
    forks[1].reset()
    assert forks[2].n_steps == 300_000


# Size.


@pytest.mark.parametrize("n", [100_000, 10**9])
def test_large_counts_compile_at_once(n: int) -> None:
    ir = grammar(rule("start", seq(rep(cls("a", "é"), 0, n), many("b", 0, n), rep("c", n, n))))
    compiled = compile_ir(ir)
    matcher = compiled.matcher()
    assert matcher.advance_bytes("aéaab".encode() + b"b" * 50 + b"c" * 50) == 106
    assert not matcher.is_accepting
    assert mask_of(matcher, END + 1) == {ord("c")}


def test_nested_counts() -> None:
    regex = nested(lambda r: rep(r, 2, 1_000), 6, cls("a"))
    compiled = compile_ir(grammar(rule("start", regex)))
    matcher = compiled.matcher()
    assert matcher.advance_bytes(b"a" * 64) == 64
    assert matcher.is_accepting
    matcher.rollback(1)
    assert not accepts(compiled, b"a" * 63)


def test_many_literals() -> None:
    words = [f"word{n}" for n in range(20_000)]
    ir = grammar(rule("start", seq(choice(*words), ";")))
    compiled = compile_ir(ir)
    assert accepts(compiled, b"word1;")
    assert accepts(compiled, b"word19999;")
    assert not accepts(compiled, b"word20000;")


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        ("|".join(f".*{n}.*" for n in range(5_000)), ["a7b", "4999"], ["a", ""]),
        ("|".join(f"{chr(0x4E00 + n)}*x{n}|x{n}" for n in range(5_000)), ["x7", "一一x0"], ["一x1", "x5000"]),
    ],
    ids=["searches", "optional beginnings"],
)
def test_many_parts_of_a_pattern(pattern: str, texts: list[str], others: list[str]) -> None:
    compiled = compile_ir(cfgmask.Grammar.from_regex(pattern).ir)
    assert all(accepts(compiled, text.encode()) for text in texts)
    assert not any(accepts(compiled, text.encode()) for text in others)


def test_many_keys() -> None:
    keys = tuple(f"{n:x}".encode() for n in range(100_000))
    compiled = compile_ir(grammar(rule("start", seq(tree.JsonString(tree.KeySet(keys)), ";"))))
    assert accepts(compiled, b'"1869f";')
    assert not accepts(compiled, b'"186a0";')


def test_many_scopes() -> None:
    rules = [rule(f"r{n}", seq("(", choice(f"$r{n + 1}", "x"), ")"), scope=n) for n in range(300)]
    ir = grammar(rule("start", "$r0"), *rules, rule("r300", "y"), scopes=tuple(scope(rep(" ", 1)) for _ in range(300)))
    compiled = compile_ir(ir)
    assert accepts(compiled, b"( ( ( x ) ) )")


# Limits.

# As automata these have 2^n states or worse; the derivatives that a text visits are few.
NTH_FROM_END = cat(rep(cls("ab")), "a", rep(cls("ab"), 24, 24))
PRIMES = [2, 3, 5, 7, 11, 13, 17, 19, 23]


def test_exponential_automata_are_not_built() -> None:
    compiled = compile_ir(grammar(rule("start", seq(NTH_FROM_END, ";"))))
    assert accepts(compiled, b"ab" * 100 + b"a" + b"b" * 24 + b";")
    assert not accepts(compiled, b"ab" * 100 + b"b" * 25 + b";")


def test_questions_of_emptiness_are_bounded() -> None:
    """Texts of a length that nine primes divide, but not the empty one: the shortest has 223 million characters."""
    lengths = tree.Intersection((rep("a", 1), *(rep("a" * p) for p in PRIMES)))
    with pytest.raises(cfgmask.LimitExceeded) as caught:
        mask_of(compile_ir(grammar(rule("start", lengths)), max_search_steps=5_000).matcher(), END + 1)
    assert caught.value.limit == "max_search_steps"
    assert caught.value.value == 5_000


def growing(limit: str) -> tuple[GrammarIR, bytes]:
    """A grammar and a text that need ever more of what is limited."""
    if limit in ("max_item_sets", "max_items"):
        body = choice(seq("$start", "$start"), seq("$start", "+", "$start"), DIGITS)
        return grammar(rule("start", body)), b"1+" * 400
    return grammar(rule("start", NTH_FROM_END)), bytes(random.Random(0).choices(b"ab", k=2_000))


LIMITS = {"max_item_sets": 100, "max_items": 60, "max_lexer_states": 50, "max_regex_nodes": 400}


def stuck(limit: str) -> tuple[cfgmask.Matcher, int]:
    """A matcher that a limit keeps from its next byte, and that byte."""
    ir, text = growing(limit)
    matcher = compile_ir(ir, **{limit: LIMITS[limit]}).matcher()
    for byte in text:
        try:
            matcher.advance(byte)
        except cfgmask.LimitExceeded as error:
            if (error.limit, error.value) != (limit, LIMITS[limit]):
                raise
            return matcher, byte
    pytest.fail("the limit was never crossed")


def test_ways_to_a_set_are_bounded() -> None:
    """An ambiguous text of n lexemes: sets of few items, in quadratically many ways."""
    matcher = compile_ir(grammar(rule("start", choice(seq("$start", "$start"), "a"))), max_items=1_000).matcher()
    with pytest.raises(cfgmask.LimitExceeded, match="max_items"):
        matcher.advance_bytes(b"a" * 300)


def test_states_of_many_terminals_count_more() -> None:
    """Each byte takes a derivative of each of them."""
    body = choice(*[rep(cls("az"), i, i + 5) for i in range(1, 2_000)])
    matcher = compile_ir(grammar(rule("start", body)), max_lexer_states=1_000).matcher()
    with pytest.raises(cfgmask.LimitExceeded, match="max_lexer_states"):
        matcher.advance_bytes(b"a" * 100)
    assert compile_ir(grammar(rule("start", body))).matcher().advance_bytes(b"a" * 100) == 100


def test_parts_of_parts_are_looked_at_once() -> None:
    """Each regex has the next one twice, so there are exponentially many ways to the last."""
    doubled = nested(lambda r: alt(cat(r, "x", r), r), 60, rep(cls("az"), 1, 100))
    matcher = compile_ir(grammar(rule("start", doubled)), max_regex_nodes=100_000).matcher()
    try:
        assert mask_of(matcher, END + 1) == set(range(ord("a"), ord("z") + 1))
    except cfgmask.LimitExceeded as error:
        if error.limit != "max_regex_nodes":
            raise


LETTERS = [chr(97 + n % 26) + chr(97 + n * 7 % 26) for n in range(5_000)]


@pytest.mark.parametrize(
    "pattern",
    [
        "".join(f"(?:{pair})?" for pair in LETTERS),
        "".join(f"{pair[0]}*" for pair in LETTERS),
        ".?" * 5_000 + "x",
        "|".join(f".{{1,{n + 1000}}}{n}" for n in range(3_000)),
    ],
    ids=["optional pairs", "stars", "optional dots", "counts"],
)
def test_a_regex_of_many_parts_ends_at_a_limit(pattern: str) -> None:
    """Each byte may lead into the middle of it, and each of its residuals has thousands of parts."""
    matcher = compile_ir(cfgmask.Grammar.from_regex(pattern).ir, max_regex_nodes=60_000).matcher()
    with pytest.raises(cfgmask.LimitExceeded, match="max_regex_nodes"):
        matcher.advance_bytes("".join(LETTERS[:50]).encode())


def test_counted_parts_after_each_other_are_looked_at_once() -> None:
    """The table of each state is sought among those of its regex with other counts, which is as long as the rest."""
    part = rep(cat(cls("az"), opt("1")), 1, 1_000)
    matcher = compile_ir(grammar(rule("start", cat(*[part] * 20_000)))).matcher()
    for byte in b"abab1abba1b" * 20:
        assert mask_of(matcher, END + 1) >= set(range(ord("a"), ord("z") + 1))
        matcher.advance(byte)


def test_searches_count_as_nodes_do() -> None:
    """What comes after a lexeme with n conditions on it is sought for each way in which these may hold or fail."""
    terminals = [f"T{i}: /a(?=.*{i})/\n" for i in range(9)]
    ir = cfgmask.Grammar.from_lark(f"start: ({'|'.join(f'T{i}' for i in range(9))})*\n{''.join(terminals)}").ir

    def nodes_made(**limits: int) -> int:
        compiled = compile_ir(ir, **limits)
        matcher = compiled.matcher()
        assert mask_of(matcher, END + 1) == {ord("a"), END}
        matcher.advance(ord("a"))
        mask_of(matcher, END + 1)
        return compiled.stats()["regex_nodes"]

    with pytest.raises(cfgmask.LimitExceeded, match="max_regex_nodes"):
        nodes_made(max_regex_nodes=2 * nodes_made())


@pytest.mark.parametrize("limit", LIMITS)
def test_limits_leave_the_matcher_as_it_was(limit: str) -> None:
    matcher, byte = stuck(limit)
    steps = matcher.n_steps
    with pytest.raises(cfgmask.LimitExceeded, match=limit):
        matcher.advance(byte)
    with pytest.raises(cfgmask.LimitExceeded, match=limit):
        matcher.try_advance([byte])
    assert matcher.n_steps == steps
    matcher.rollback(steps)
    assert matcher.try_advance(list(growing(limit)[1][:3])) == 3


@pytest.mark.parametrize("limit", LIMITS)
def test_a_mask_over_the_limit_allows_nothing_but_the_end(limit: str) -> None:
    """The buffer never holds a mask that is too wide."""
    matcher, _ = stuck(limit)
    bits = np.full(9, 0xFFFFFFFF, dtype=np.uint32)
    with pytest.raises(cfgmask.LimitExceeded, match=limit):
        matcher.fill_mask(bits)
    assert not bits[:8].any()
    assert bits[8] in (0, 1)


def test_an_error_in_a_batch_is_its_rows_alone() -> None:
    """Its row is what `fill_mask` leaves: end tokens where the text is complete."""
    complete, cut_off = stuck("max_item_sets")[0], stuck("max_items")[0]
    fine = compile_ir(grammar(rule("start", "a"))).matcher()
    bits = np.full((4, 9), 0xFFFFFFFF, dtype=np.uint32)
    errors = cfgmask.fill_masks([fine, complete, cut_off, fine], bits, threads=2)
    assert [getattr(error, "limit", None) for error in errors] == [None, "max_item_sets", "max_items", None]
    assert [as_set(row) for row in bits] == [{ord("a")}, {END}, set(), {ord("a")}]


@pytest.mark.parametrize(
    ("limit", "most", "kept"), [("mask_cache_bytes", 2_000, "mask_bytes"), ("shared_cache_bytes", 8_000, "table_bytes")]
)
def test_caches_are_bounded(limit: str, most: int, kept: str) -> None:
    """Masks that are forgotten, and tables, are made again when they are asked for."""
    ir = grammar(rule("start", many(choice(rep(cls("az"), 1, 50), rep(cls("09"), 1, 50)))))
    small, large = compile_ir(ir, **{limit: most}), compile_ir(ir)
    matcher, reference = small.matcher(), large.matcher()
    for byte in b"abcdefghij0123456789" * 20:
        assert mask_of(matcher, END + 1) == mask_of(reference, END + 1)
        matcher.advance(byte)
        reference.advance(byte)
    assert small.stats()[kept] <= most < large.stats()[kept]


def test_a_grammar_begins_anew_over_the_limit_of_what_is_shared() -> None:
    letters, digits = (cfgmask.Grammar(grammar(rule("start", rep(cls(ends), 1, 50)))) for ends in ("az", "09"))
    vocabulary, other = (cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, END) for _ in range(2))
    alone = cfgmask.compile(digits, other).stats()["regex_bytes"]
    cfgmask.compile(letters, vocabulary)
    anew = cfgmask.compile(digits, vocabulary, cfgmask.Limits(shared_cache_bytes=0))
    assert anew.stats()["regex_bytes"] == alone


# Grammars without a text.


@pytest.mark.parametrize(
    "rules",
    [
        [rule("start", seq("$start", "a"))],
        [rule("start", "$start")],
        [rule("start", seq("a", "$other")), rule("other", choice(seq("b", "$start"), "$other"))],
        [rule("start", Choice(()))],
        [rule("start", tree.NOTHING)],
        [rule("start", tree.Intersection((lit("a"), lit("b"))))],
        [rule("start", many("$dead", 1)), rule("dead", seq("x", "$dead"))],
    ],
    ids=["left", "itself", "mutual", "no alternative", "no text", "intersection", "repetition"],
)
def test_a_grammar_without_a_text_is_refused(rules: list[Rule]) -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        compile_ir(grammar(*rules))
    assert [d.code for d in caught.value.diagnostics] == ["grammar-empty"]


def test_unknown_special_tokens_are_refused_together() -> None:
    body: Expr = seq(TokenSet("<a>", ("a",)), TokenSet("<b>", ("b",)), TokenSet("<[999]>", (), ((999, 999),)))
    with pytest.raises(cfgmask.GrammarError) as caught:
        compile_ir(grammar(rule("start", body)))
    assert len(caught.value.diagnostics) == 3
