"""Questions about trees, answered by the compiled core."""

from __future__ import annotations

import re
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    NOTHING,
    Alternation,
    ByteClass,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.limits import Limits
from cfgmask.regex import algebra, parse_regex
from tests.regex import tree_matcher
from tests.regex.judges import HAS_CORE
from tests.regex.test_against_re import plain_patterns

pytestmark = pytest.mark.skipif(not HAS_CORE, reason="the compiled core is not built")


def of(pattern: str) -> RegexTree:
    return parse_regex(pattern)


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (of("a*"), b""),
        (of("b|aa"), b"b"),
        (of("[^a]b{3}"), b"\x00bbb"),
        (of("(?i)k|zz"), b"K"),
        (of("é|zz"), b"zz"),
        (of("a{100000}"), b"a" * 100000),
        (NOTHING, None),
        (Intersection((of("a+"), of("b+"))), None),
        (Intersection((of("(?:ab)+"), of(".{6,}"))), b"ababab"),
        (Intersection((of("[a-c]+"), Complement(of("a.*|.")))), b"ba"),
        (Complement(ANY_TEXT), None),
        (Complement(of("")), b"\x00"),
        (KeySet((b"two", b"one")), b"one"),
        (JsonString(of("a{2}"), "literal"), b'"aa"'),
        (ByteClass(((0xFF, 0xFF),)), b"\xff"),
    ],
)
def test_shortest(tree: RegexTree, expected: bytes | None) -> None:
    assert algebra.shortest(tree) == expected
    assert algebra.is_empty(tree) == (expected is None)
    if expected is not None:
        assert algebra.matches(tree, expected)
        assert algebra.is_prefix(tree, expected[:1])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("a+", "b+", True),
        ("a*", "b*", False),
        ("[a-z]+", ".{3}", False),
        (r"[0-9]+", r"[0-9]+\.[0-9]+", True),
        ("(?:aa)*", "a(?:aa)*", True),
        ("(?:aaa)+", "(?:aa)+", False),
        (r"\w+", r"\W+", True),
        ("(?i)abc", "ABC", False),
    ],
)
def test_disjoint(first: str, second: str, expected: bool) -> None:
    assert algebra.disjoint(of(first), of(second)) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a*", True),
        ("ab|c*", False),
        ("(?:ab|c)*", True),
        ("[^a]*(?:x[^a]*|yz*)", True),
        ("[^a]*(?:x[^a]*|yz?)", True),
        ("x[^a]*|yz?", False),
        ("a{3,}", True),
        ("a{0,300}", False),
    ],
)
def test_endless(pattern: str, expected: bool) -> None:
    questions = algebra.RegexAlgebra()
    assert questions.is_endless(of(pattern)) == expected
    named = Complement(KeySet((b"x", b"y")))
    assert questions.is_endless(Intersection((of(pattern), named))) == expected


def test_thousands_of_parts_that_never_run_out() -> None:
    parts = tuple(of(f"a{i}b*") for i in range(16_000))
    assert algebra.RegexAlgebra().is_endless(Alternation(parts))
    assert not algebra.RegexAlgebra().is_endless(Alternation((*parts, of("c"))))


def test_ways_of_which_none_is_left_end_nothing() -> None:
    nothing = Intersection((of("a"), Complement(of("a|bc"))))
    assert not algebra.RegexAlgebra().is_endless(Concatenation((of("x"), Repetition(nothing, 0, None))))


@pytest.mark.parametrize(
    ("tree", "at_most", "expected"),
    [
        (of("[ab]{0,3}"), 15, 15),
        (of("[ab]{0,3}"), 14, None),
        (of("a|b|ab|a"), 9, 3),
        (of("a*"), 9, None),
        (of("[ä-ö]?x"), 99, 20),
        (NOTHING, 9, 0),
        (of(""), 9, 1),
        (KeySet((b"a", b"ab", b"b")), 9, 3),
        (Intersection((of("[a-z]{1,2}"), Complement(of(".*b.*")))), 999, 25 + 25 * 25),
        (Intersection((of("a*"), Complement(of("a{3}.*")))), 9, 3),
        (of(".{0,4}"), 2**16, None),
        (of("[ä-ö]{0,4}"), 999, None),
        (Intersection((of("a:[a-z-]+:[0-9]{12}:.+(-.+)?"), of(".{20,2048}"))), 2**16, None),
        (Intersection((of("(a|é)+(b|ü)+"), of(".{2,3}"))), 99, 4 + 2 * 8),
    ],
)
def test_count(tree: RegexTree, at_most: int, expected: int | None) -> None:
    assert algebra.RegexAlgebra().count(tree, at_most) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|bb)*c",
        "é{2}x?",
        "ab{2,3}(c|aé)",
        "a.*b",
        "(?:aé|b){2}",
        "[^:]*:[^:]*",
        "(éé|ab?)x",
        "(aa)*b",
        "(?:a|é{3}).*",
        "x",
    ],
)
def test_bounds_leave_a_pattern_a_text_where_one_is_as_long(pattern: str) -> None:
    """Also in what is left behind a text, of which the pattern may be asked for alone."""
    longest = 5
    texts = ["".join(letters) for n in range(longest + 1) for letters in product("abcxé:", repeat=n)]
    matching = [text for text in texts if re.fullmatch(pattern, text)]
    lengths = {len(text) for text in matching}
    begun = {text[:n] for text in matching[:200] for n in range(4)}
    for least, most in combinations_with_replacement(range(longest + 1), 2):
        tree = Intersection((of(pattern), of(f".{{{least},{most}}}")))
        known = algebra.RegexAlgebra()
        assert known.is_empty(tree) == (not lengths & {*range(least, most + 1)}), (least, most)
        for text in begun:
            goes_on = any(other.startswith(text) and least <= len(other) <= most for other in matching)
            assert known.is_prefix(tree, text.encode()) == goes_on, (least, most, text)


@given(plain_patterns)
def test_a_shortest_text_matches_and_no_tree_is_empty_without_reason(pattern: str) -> None:
    tree = of(pattern)
    text = algebra.shortest(tree)
    assert (text is None) == algebra.is_empty(tree) == (not tree_matcher.matches_something(tree))
    if text is not None:
        assert tree_matcher.matches(tree, text.decode())


@given(plain_patterns, plain_patterns, st.text("aAbk\n0_", max_size=4))
def test_a_text_of_both_shows_that_they_are_not_disjoint(first: str, second: str, text: str) -> None:
    trees = of(first), of(second)
    if all(tree_matcher.matches(tree, text) for tree in trees):
        assert not algebra.disjoint(*trees)
    if algebra.disjoint(*trees):
        assert algebra.is_empty(Intersection(trees))


def test_one_algebra_serves_many_questions() -> None:
    shared = algebra.RegexAlgebra()
    words = [of(f"w{i}") for i in range(20)]
    assert all(shared.disjoint(a, b) == (a is not b) for a in words for b in words)


@pytest.mark.long
def test_many_trees_are_lowered_one_by_one() -> None:
    """What was lowered before is not copied for the next one, which would take most of a minute."""
    shared = algebra.RegexAlgebra()
    assert not any(shared.is_empty(Intersection((Literal(b"%d" % n), ANY_TEXT))) for n in range(300_000))


def test_hard_questions_end_in_a_limit() -> None:
    blocks = "|".join(f"(?:[01]*1[01]{{{n}}})" for n in range(12, 20))
    tree = Intersection((of(blocks), Complement(of(f"{blocks}|1*"))))
    with pytest.raises(LimitExceeded):
        algebra.RegexAlgebra(Limits(max_search_steps=10)).is_empty(tree)


def test_shared_parts_are_lowered_once() -> None:
    tree: RegexTree = Literal(b"")
    for _ in range(200):
        tree = Concatenation((tree, tree))  # 2**200 parts if each were taken for itself
    assert algebra.shortest(tree) == b""


def test_the_height_of_a_tree_is_bounded() -> None:
    tree: RegexTree = Literal(b"a")
    for _ in range(100_000):
        tree = Repetition(tree, 2, 3)
    with pytest.raises(LimitExceeded, match="max_nesting"):
        algebra.is_empty(tree)


def test_searches_go_where_the_parts_of_an_intersection_end() -> None:
    """In any order of the letters there is an end, and there are more orders than steps."""
    tree = Intersection(tuple(of(f".*{chr(ord('a') + i)}.*") for i in range(26)))
    assert not algebra.RegexAlgebra(Limits(max_search_steps=200)).is_empty(tree)
