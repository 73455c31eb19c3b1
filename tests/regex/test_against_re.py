"""Generated patterns against `re` and `regex`: the same texts match, whole and by search; the same prefixes live."""

from __future__ import annotations

import re

import regex
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.regex import parse_regex
from tests.regex.judges import assert_matches, assert_prefix

# `K` is the Kelvin sign, `ſ` the long s: both have an ASCII letter as lower or upper case.
ALPHABET = "aAbkKsſé\n0_ -"

_characters = st.sampled_from(ALPHABET).map(re.escape)
_escapes = st.sampled_from([r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", r"\x61", r"\u00e9", r"\n", r"\012"])
_class_members = st.one_of(_characters, st.sampled_from(["a-k", "0-9", "A-b", r"\d", r"\W", r"\s", "é-ſ"]))
_positive_classes = st.lists(_class_members, min_size=1, max_size=3).map(lambda members: f"[{''.join(members)}]")
_classes = st.one_of(_positive_classes, _positive_classes.map(lambda positive: "[^" + positive[1:]))
_anchors = st.sampled_from(["^", "$", r"\A", r"\Z"])
_quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "+?", "??", "{0,3}?"])
_openings = st.sampled_from(["(?:", "(", "(?i:", "(?s:", "(?-i:", "(?x: "])


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds(lambda opening, body: f"{opening}{body})", _openings, parts)
    return st.one_of(
        st.lists(parts, min_size=2, max_size=4).map("".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda p: "(?:" + "|".join(p) + ")"),
        st.builds(lambda body, quantifier: f"(?:{body}){quantifier}", parts, _quantifiers),
        group,
    )


def patterns(*leaves: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.recursive(st.one_of(*leaves), _combined, max_leaves=6)
    alternatives = st.lists(bodies, min_size=1, max_size=2).map("|".join)
    return st.builds(lambda flags, body: flags + body, st.sampled_from(["", "", "(?i)", "(?a)", "(?is)"]), alternatives)


texts = st.lists(st.text(st.sampled_from(ALPHABET), max_size=5), min_size=1, max_size=6)
plain_patterns = patterns(_characters, _characters, _escapes, _classes)
anchored_patterns = patterns(_characters, _anchors, st.sampled_from(["a", "b?", r"\n", r"\n?", "[^a]"]))
# `regex` reads `[^a]|[^b]` as `[^ab]`, so negated classes stay out where it is the reference.
regex_patterns = patterns(_characters, _characters, _escapes, _positive_classes)


@given(plain_patterns, texts)
def test_the_same_texts_match_as_a_whole(pattern: str, candidates: list[str]) -> None:
    tree, expected = parse_regex(pattern), re.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.fullmatch(text)))


@given(plain_patterns, texts)
def test_the_same_texts_have_a_match(pattern: str, candidates: list[str]) -> None:
    tree, expected = parse_regex(pattern, context="search"), re.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.search(text)))


@given(anchored_patterns, texts)
def test_anchors_hold_at_the_ends_of_the_whole_text(pattern: str, candidates: list[str]) -> None:
    tree, expected = parse_regex(pattern), re.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.fullmatch(text)))


@given(anchored_patterns, texts)
def test_anchors_hold_at_the_ends_of_a_text_that_is_searched(pattern: str, candidates: list[str]) -> None:
    tree, expected = parse_regex(pattern, context="search"), re.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.search(text)))


@given(regex_patterns, texts)
def test_the_same_prefixes_are_viable(pattern: str, candidates: list[str]) -> None:
    tree, expected = parse_regex(pattern), regex.compile(pattern)
    for text in candidates:
        assert_prefix(tree, text, bool(expected.fullmatch(text, partial=True)))
