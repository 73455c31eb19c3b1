r"""Half-read escapes of JSON strings: `\u`, its digits and surrogate pairs, over classes of all sizes."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from cfgmask._core import RegexBuilder
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.regex_tree import RegexTree, Repetition
from cfgmask.regex.lowering import RegexLowering
from tests.build import alt, cat, choice, cls, grammar, rep, rule, seq, t
from tests.engine.harness import compile_ir, oracle_of, walk_there_and_back
from tests.oracle_regex import Regexes
from tests.strategies import Problem, VocabularySpec, discards_undecided

# Where characters begin to take another number of bytes, another digit, or an escape; and where they end to do so.
EDGES = [0, 0x1F, 0x20, 0x41, 0x7E, 0x7F, 0x80, 0xE8, 0xFF, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF]
EDGES += [0x10000, 0x103FF, 0x10400, 0x1F5FF, 0x1F600, 0x1F63F, 0x10FC00, 0x10FFFF]
PIECES = [
    "\\",
    "u",
    "\\u",
    "\\u00",
    "\\n",
    "0",
    "00",
    "D",
    "d8",
    "D83D",
    "\\uD83d",
    "d83d\\u",
    "dE00",
    "C",
    "DC",
    "DFFF",
]
PIECES += ["E9", "a", "A", "F", "é", "😀", '"', "\\u00e9", "\\u0041A", "e", "8", "\x7f"]


@st.composite
def classes(draw: st.DrawFn) -> RegexTree:
    edges = sorted(draw(st.sets(st.sampled_from(EDGES), min_size=2, max_size=6)))
    return tree.char_class(list(zip(edges[::2], edges[1::2], strict=False)))


@st.composite
def bodies(draw: st.DrawFn) -> RegexTree:
    """Of which each character is in a class, but for some words."""
    head, loop = draw(classes()), draw(st.one_of(classes(), st.just(tree.ANY_CHAR)))
    count = draw(st.sampled_from([(0, None), (0, None), (1, None), (0, 2), (2, 2)]))
    body = draw(st.sampled_from([Repetition(loop, *count), cat(head, Repetition(loop, *count)), alt(head, rep(loop))]))
    if draw(st.booleans()):
        words = draw(st.lists(st.sampled_from(["", "A", "AA", "é", "é😀", "\x7f"]), min_size=1, max_size=2))
        body = tree.Intersection((body, tree.Complement(alt(*words))))
    return body


strings = st.builds(tree.JsonString, bodies(), st.sampled_from(["any", "any", "literal", "canonical", "yaml"]))


# Of surrogates more often than of others, and of what is nearly one.
units = st.lists(st.sampled_from("Dd8CcfF09"), min_size=3, max_size=4).map(lambda digits: f"\\uD{''.join(digits)}"[:6])
written = st.one_of(st.sampled_from(PIECES), units, st.tuples(units, units).map("".join))


@given(strings, st.lists(written, max_size=6))
@settings(max_examples=max(400, settings.default.max_examples))
@discards_undecided
def test_prefixes_are_the_oracles(node: RegexTree, pieces: list[str]) -> None:
    oracle, builder = Regexes(), RegexBuilder()
    core, rest = RegexLowering(builder).node(node), oracle.lower(node)
    text = b""
    for byte in ('"' + "".join(pieces)).encode():
        assert builder.is_prefix(core, text) == (not oracle.is_empty(rest))
        assert builder.matches(core, text) == oracle.nullable(rest)
        text, rest = text + bytes([byte]), oracle.derivative(rest, byte)
        if rest is oracle.nothing:
            break
    assert builder.is_prefix(core, text) == (not oracle.is_empty(rest))
    assert builder.matches(core, text) == oracle.nullable(rest)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Some of which two strings begin alike in."""
    first, second = t(draw(strings), name="FIRST"), t(draw(strings), name="SECOND")
    ir = grammar(rule("start", draw(st.sampled_from([first, choice(seq(first, "a"), seq(second, "A"))]))))
    tokens = [*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in PIECES), b""]
    spec = VocabularySpec(tokens, [len(tokens) - 1], {})
    return Problem(ir, spec, oracle_of(ir, spec), random.Random(draw(st.integers(0, 2**16))))


@given(problems(), st.booleans())
@discards_undecided
def test_masks_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk_there_and_back(problem, 10, fresh=fresh)


def test_beginnings_of_escapes_that_make_no_difference_are_one_state() -> None:
    ir = grammar(rule("start", tree.JsonString(tree.ANY_TEXT)))
    compiled = compile_ir(ir)
    numbers = set()
    for digits in ("0", "1", "c", "F"):
        matcher = compiled.matcher()
        assert matcher.advance_bytes(f'"\\u{digits}'.encode()) == 4
        numbers.add(matcher.state)
    assert len(numbers) == 1
    for high in ("D800", "d83d", "DBFF"):
        matcher = compiled.matcher()
        assert matcher.advance_bytes(f'"\\u{high}'.encode()) == 7
        numbers.add(matcher.state)
    assert len(numbers) == 2


def test_what_one_string_takes_and_another_does_not_is_found_at_once() -> None:
    """With a residual for each half-read escape, this search went through 200,000 of them."""
    text = tree.JsonString(tree.ANY_TEXT)
    only = tree.Intersection((text, tree.Complement(cat(text, tree.ANY_TEXT))))
    ir = grammar(rule("start", choice(t(only), t(rep(cls("az"), 1)))))
    assert compile_ir(ir, max_search_steps=2_000).matcher().advance_bytes(b'"') == 0
