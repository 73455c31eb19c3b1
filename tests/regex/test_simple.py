"""Patterns that the core reads by itself, against the reader in Python."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import EMPTY_TEXT, Alternation, Complement, Intersection, RegexTree
from cfgmask.json_schema.formats import FORMATS
from cfgmask.limits import Limits
from cfgmask.regex import parse_lexeme, parse_regex
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.regex.simple import simple_lexeme, simple_search, simple_text
from tests.json_schema.walks import MASKBENCH

LIMITS = Limits()

# Some of them are plain, some are not, and some are wrong.

_ATOMS = st.one_of(
    st.sampled_from(
        ["a", "b", ".", "é", "[ab]", "[^a]", "[a-c-9]", "[--0]", "[\\]-a]", "\\.", "\\-", "\\x61", "\\u0062", "\\/"]
    ),
    st.sampled_from(
        [
            "[\\w-.]",
            "\\d",
            "\\W",
            "\\s",
            "[]",
            "{",
            "]",
            "\\b",
            "\\cA",
            "[a",
            "(?=a)",
            "\\1",
            "a{,2}",
            "\\ud800",
            "[z-a]",
        ]
    ),
    st.sampled_from(["\\p{L}", "[^\\P{Lu}a]", "[\\p{Nd}-x]", "\\p{Script=Greek}", "\\p{Graph}", "\\p{^L}", "\\p{L"]),
    st.sampled_from(["\\U0001F600", "(?i)", "[^\\D\\d]", "[[a]", "\\_", "(?P<a>b)"]),
)

_QUANTIFIERS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{2,1}", "**", "{3"])
_ANCHORS = st.sampled_from(["", "", "^", "^^"]), st.sampled_from(["", "", "$", "$?"])


def _sequences(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(st.tuples(inner, _QUANTIFIERS).map("".join), max_size=3).map("".join)
    return st.tuples(_ANCHORS[0], parts, _ANCHORS[1]).map("".join)


def _groups(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    alternatives = st.lists(_sequences(inner), min_size=1, max_size=2).map("|".join)
    return st.one_of(inner, st.tuples(st.sampled_from(["(", "(?:"]), alternatives).map(lambda g: "".join(g) + ")"))


PATTERNS = st.lists(_sequences(st.recursive(_ATOMS, _groups, max_leaves=4)), min_size=1, max_size=2).map("|".join)


@given(PATTERNS)
def test_patterns_are_found_in_the_same_texts(pattern: str) -> None:
    plain = simple_search(pattern, LIMITS)
    event(f"plain: {plain is not None}")
    if plain is not None:
        assert difference(plain, parse_regex(pattern, dialect="ecma", context="search")) is None


_WAYS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "^"]),
        st.text("ab", min_size=1, max_size=3),
        st.sampled_from(["", "[a-c]", "b*", "(a|)"]),
        st.sampled_from(["", "$"]),
    ),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(_WAYS, min_size=64, max_size=80))
def test_patterns_of_many_branches_are_found_in_the_same_texts(ways: list[str]) -> None:
    pattern = "|".join(ways)
    plain = simple_search(pattern, LIMITS)
    assert plain is not None
    assert difference(plain, parse_regex(pattern, dialect="ecma", context="search")) is None


@given(PATTERNS, st.sampled_from(["", "s", "u", "su"]))
def test_patterns_match_the_same_texts(pattern: str, flags: str) -> None:
    plain = simple_text(pattern, flags, LIMITS)
    event(f"plain: {plain is not None}")
    if plain is not None:
        assert difference(plain, parse_regex(pattern, dialect="python", flags=flags)) is None


@given(PATTERNS, st.sampled_from(["", "s", "u", "su"]))
def test_patterns_are_the_same_lexemes(pattern: str, flags: str) -> None:
    plain = simple_lexeme(pattern, flags, LIMITS)
    event(f"plain: {plain is not None}")
    if plain is not None:
        (case,) = parse_lexeme(pattern, flags=flags)
        assert case.is_plain
        assert difference(plain, case.tree) is None
        assert (plain == EMPTY_TEXT) == (case.tree == EMPTY_TEXT)


@pytest.mark.parametrize("pattern", ["a*?b", "a$", "^a", r"\bif", "(?i:a)", r"\d", "a{0"])
def test_lexemes_that_are_not_plain(pattern: str) -> None:
    assert simple_lexeme(pattern, "", LIMITS) is None


@pytest.mark.parametrize("flags", ["i", "m", "x", "l"])
def test_flags_of_lexemes_that_are_not_plain(flags: str) -> None:
    assert simple_lexeme("a", flags, LIMITS) is None
    assert simple_text("a", flags, LIMITS) is None


@pytest.mark.parametrize(
    ("pattern", "is_plain"),
    [
        ("", True),
        ("^a|b$", True),
        ("^(?:a|b)c{2,}?$", True),
        ("(^a$)|(^[^b-d\\s]+$)", True),
        ("^(^a|b$)", True),
        ("[\\w-]", True),
        ("(^a)b", True),
        ("(^a|^b)(c|d$)", False),
        ("(^a|^b)(c$|d$)", True),
        ("a(b$|c$)", True),
        ("(^a|b)c", False),
        ("a(b$|c)", False),
        ("a(^b)", False),
        ("a(^b$)", False),
        ("(a$)b", False),
        ("(^a)*b", False),
        ("a(b$)?", False),
        ("a$b", False),
        ("(a", False),
        ("a)", False),
        ("a\\", False),
        ("[a", False),
        ("(" * 60 + "a" + ")" * 60, False),
        ("a{100001}", False),
        ("^[\\p{L}\\P{Nd}_.-]{1,64}$", True),
        ("\\p{gc=Lu}\\p{Script=Greek}", True),
        ("\\p{Graph}", False),
        ("\\p{gc:Lu}", False),
        ("\\p{Cs}", False),
        ("\\pL", False),
        ("\\p{L", False),
        (f"\\p{{{'L' * 65}}}", False),
        ("\\p{é}", False),
        ("\ud800", False),
    ],
)
def test_what_is_plain(pattern: str, is_plain: bool) -> None:
    assert (simple_search(pattern, LIMITS) is not None) == is_plain


def test_a_long_pattern_is_left_to_the_other_reader() -> None:
    assert simple_search("a" * 100, Limits(max_source_bytes=100)) is None
    assert simple_search("a" * 100, Limits(max_regex_nodes=100)) is None


def test_many_large_sets_are_left_to_the_other_reader() -> None:
    assert simple_search("\\p{L}" * 1_000, LIMITS) is not None
    assert simple_search("\\p{L}" * 2_000, LIMITS) is None


@pytest.mark.parametrize("name", [name for name, found in FORMATS.items() if isinstance(found.allowed, str)])
def test_formats_are_plain(name: str) -> None:
    pattern = FORMATS[name].allowed
    assert isinstance(pattern, str)
    plain = simple_text(pattern, "s", LIMITS)
    assert plain is not None
    assert difference(plain, parse_regex(pattern, flags="s")) is None


@pytest.mark.skipif(not MASKBENCH.exists(), reason="MaskBench is not beside this repository")
def test_patterns_of_maskbench() -> None:
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        patterns = sorted({pattern for line in lines for pattern in patterns_in(json.loads(line)["schema"])})
    n_plain = 0
    for pattern in patterns[::8]:
        plain = simple_search(pattern, LIMITS)
        if plain is None:
            continue
        n_plain += 1
        try:
            expected = parse_regex(pattern, dialect="ecma", context="search")
        except GrammarError as error:
            pytest.fail(f"{pattern!r} is wrong: {error}")
        assert difference(plain, expected) is None, pattern
    assert n_plain > 0.9 * len(patterns[::8])


def patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        yield from (pattern for inner in schema.values() for pattern in patterns_in(inner))
    elif isinstance(schema, list):
        yield from (pattern for inner in schema for pattern in patterns_in(inner))


def difference(a: RegexTree, b: RegexTree) -> bytes | None:
    """A text that one of the trees matches and the other does not."""
    only_one = Alternation((Intersection((a, Complement(b))), Intersection((b, Complement(a)))))
    return RegexAlgebra(LIMITS).shortest(only_one)
