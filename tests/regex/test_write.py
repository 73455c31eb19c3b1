"""Patterns that are written for trees mean these trees."""

from __future__ import annotations

import pytest
from hypothesis import given

from cfgmask.errors import LimitExceeded
from cfgmask.grammar import regex_tree as tree
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.regex.write import NotWritable, write_regex
from tests.build import alt, cat, cls, lit, opt, rep
from tests.strategies import regexes

WRITTEN = {
    "text": (lit("a.b\n/\\\u00a0é😀"), r"a\.b\n\/\\\xa0é\U0001f600"),
    "blanks and signs": (lit(' "-#~&'), ' "-#~&'),
    "classes": (cls("az", "__", "01"), "[01_a-z]"),
    "special characters in classes": (cls("^", "]", "-", "\\", "/", "["), r"[\-\/\[-\^]"),
    "negated classes": (tree.negated(cls('"', "\\")), r'[^"\\]'),
    "any character": (tree.ANY_CHAR, "(?s:.)"),
    "sequences and choices": (cat(alt("a", "bc"), opt(alt("d", "e")), rep("fg")), "(?:a|bc)(?:d|e)?(?:fg)*"),
    "counts": (cat(rep("a", 2, 2), rep("b", 2), rep("c", 0, 3), rep(rep("d"), 1)), "a{2}b{2,}c{0,3}(?:d*)+"),
    "the empty text": (alt("a", ""), "a|"),
    "key sets": (tree.KeySet((b"a", b"b|")), r"a|b\|"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written(name: str) -> None:
    given_tree, expected = WRITTEN[name]
    assert write_regex(given_tree, Limits()) == expected


@given(regexes)
def test_it_means_the_tree(given_tree: tree.RegexTree) -> None:
    try:
        pattern = write_regex(given_tree, Limits())
    except NotWritable:
        return
    read, algebra = parse_regex(pattern), RegexAlgebra()
    assert algebra.is_empty(tree.Intersection((given_tree, tree.Complement(read))))
    assert algebra.is_empty(tree.Intersection((read, tree.Complement(given_tree))))


@pytest.mark.parametrize("without_pattern", [tree.NOTHING, tree.CharClass(()), tree.Complement(lit("a"))])
def test_what_no_pattern_describes(without_pattern: tree.RegexTree) -> None:
    with pytest.raises(NotWritable):
        write_regex(cat("a", without_pattern), Limits())


def test_shared_parts_are_bounded() -> None:
    shared = lit("ab")
    for _ in range(100):
        shared = cat(shared, shared)
    with pytest.raises(LimitExceeded, match="max_source_bytes"):
        write_regex(shared, Limits(max_source_bytes=1_000_000))
