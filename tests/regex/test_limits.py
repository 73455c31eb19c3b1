"""Patterns from strangers: a bound is crossed with a clear error, and everything below it is quick."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.regex_tree import Repetition
from cfgmask.limits import Limits
from cfgmask.regex import DialectName, parse_regex
from tests.regex.judges import READERS, assert_matches

DEEP = 10_000


@pytest.mark.parametrize(
    ("dialect", "flags", "pattern"),
    [
        ("python", "", "(" * DEEP + ")" * DEEP),
        ("python", "", "(" * DEEP),
        ("python", "", "(?=" * DEEP),
        ("rust", "", "[" * DEEP),
        ("rust", "", "[a" * DEEP + "]" * DEEP),
        ("rust", "", "a" + "*?" * DEEP),
        ("rust", "", "(" * 150 + "a" + "{2}" * 150 + ")" * 150),
        ("ecma", "v", "[" * DEEP),
    ],
)
def test_nesting_is_bounded(dialect: DialectName, flags: str, pattern: str) -> None:
    with pytest.raises(LimitExceeded) as caught:
        parse_regex(pattern, dialect=dialect, flags=flags)
    assert caught.value.limit == "max_nesting"
    assert "at character" in str(caught.value)


def test_nesting_is_bounded_by_the_limit_and_not_by_python() -> None:
    assert_matches(parse_regex("(?:" * 200 + "a" + "b?)" * 200), "abb", True)
    deep = sys.getrecursionlimit() * 3
    nested = parse_regex("(?:" * deep + "a" + ")*" * deep, limits=Limits(max_nesting=deep))
    assert nested == parse_regex("a*")


def test_source_size_is_bounded() -> None:
    limits = Limits(max_source_bytes=10)
    parse_regex("a" * 10, limits=limits)
    with pytest.raises(LimitExceeded, match="max_source_bytes = 10"):
        parse_regex("é" * 6, limits=limits)


@pytest.mark.parametrize("pattern", ["a|" * 2000, r"\n" * 2000, "[" + "ab" * 1000 + "]", "(?i)" + "é" * 2000])
def test_the_number_of_parts_is_bounded(pattern: str) -> None:
    with pytest.raises(LimitExceeded, match="max_regex_nodes = 1000"):
        parse_regex(pattern, limits=Limits(max_regex_nodes=1000))


@pytest.mark.parametrize(
    "pattern",
    [
        "a|" * 600,
        "[a]" * 200,
        "(a)" * 210,
        "a*" * 350,
        r"[\w.]" * 20,
        r"(?i)[\Wa]" * 2,
        r"\d" * 1_010,
        "(?i)" + "é" * 4_000,
        "(?i)" + "[\\0-\U0001ffff]" * 8,
    ],
)
def test_parts_count_as_the_time_that_they_take(pattern: str) -> None:
    """Beside the nodes that the core makes of them, of which all grammars may have so many."""
    with pytest.raises(LimitExceeded, match=r"max_regex_nodes = 2000 .*parts of a regex"):
        parse_regex(pattern, limits=Limits(max_regex_nodes=2000))


@pytest.mark.parametrize(
    "pattern", [r"(?i:\p{L})" * 2_500, r"(?i:[\p{L}x])" * 700, r"[\w\s]" * 2_500, r"(?i:[\d])" * 700]
)
def test_sets_that_come_again_are_made_once(pattern: str) -> None:
    """Each has hundreds of ranges, which would take up to a millisecond."""
    assert parse_regex(pattern)


def test_counts_cost_nothing() -> None:
    assert parse_regex("(?:a{2,2147483647}b){2147483647}").__class__ is Repetition


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * 1_000_000,
        "[" + "a-z" * 20_000 + "]",
        "|".join(["foo"] * 20_000),
        "(?:^a|b$)" * 3_000,
        "(^|a?)" * 3_000,
        "(?:" * 190 + "^a?$" + "b?|c$|^)*" * 190,
        "{" + "1" * 1_000_000,
        "a{" + "0" * 1_000_000 + "1}",
        "(?" + "i" * 1_000_000 + ":a)",
        "(?x)" + " #\n" * 300_000,
        "(?i)" + "k" * 50_000,
    ],
    ids=lambda pattern: pattern[:12],
)
@pytest.mark.parametrize("read", READERS)
def test_large_patterns_take_linear_time(pattern: str, read: Callable[[str], object]) -> None:
    # The slowest takes a second; what is quadratic here would take minutes.
    read(pattern)


@pytest.mark.parametrize(
    "pattern", ["(?P<" * 20_000, r"\k<" * 20_000, "[[:a" * 20_000, r"\p{" * 20_000, "(?P=" * 20_000]
)
def test_large_nonsense_is_refused_in_linear_time(pattern: str) -> None:
    with pytest.raises((GrammarError, LimitExceeded)):
        parse_regex(pattern, limits=Limits(max_nesting=1_000_000))
