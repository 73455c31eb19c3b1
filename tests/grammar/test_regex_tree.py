"""Trees that share parts are as large as what they hold, not as the texts that would write them out; classes."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    Literal,
    RegexTree,
    Repetition,
    char_class,
    negated,
)


def shared(depth: int) -> RegexTree:
    """Each level holds the one below it twice."""
    tree: RegexTree = Literal(b"a")
    for n in range(depth):
        tree = Alternation((Concatenation((tree, Literal(b"b"))), Concatenation((Literal(b"%d" % n), tree))))
    return tree


def test_a_shared_tree_is_hashed_once() -> None:
    deep = shared(2_000)
    assert len({deep, deep, Complement(deep)}) == 2


def test_shared_trees_are_compared_once() -> None:
    assert shared(2_000) == shared(2_000)
    assert shared(2_000) != shared(1_999)
    assert {shared(60): 1}[shared(60)] == 1


def test_trees_are_compared_by_value() -> None:
    trees: list[RegexTree] = [
        *(Repetition(shared(2), low, high) for low in (0, 1) for high in (3, None)),
        *(JsonString(shared(2), escapes) for escapes in ("any", "yaml")),
        Complement(shared(2)),
        Complement(shared(3)),
        *(make(parts) for make in (Concatenation, Alternation, Intersection) for parts in ((), (shared(1),))),
        Concatenation((shared(1), shared(2))),
        Literal(b"a"),
    ]
    for i, one in enumerate(trees):
        assert [one == other for other in trees] == [i == j for j in range(len(trees))]
    assert shared(1) != "a"


def test_hashes_are_by_value() -> None:
    made = [
        (Repetition(shared(4), 0, 3), JsonString(shared(4)), Intersection((shared(4), Complement(shared(3)))))
        for _ in range(2)
    ]
    assert [hash(tree) for tree in made[0]] == [hash(tree) for tree in made[1]]
    assert set(made[0]) == set(made[1])
    assert Concatenation((Literal(b"a"),)) not in {Alternation((Literal(b"a"),))}
    assert len({Repetition(shared(2), 0, 3), Repetition(shared(2), 0, 4), JsonString(shared(2), "literal")}) == 3


# Around the surrogates, which are no characters.
codes = st.integers(0xD7F0, 0xD80F) | st.integers(0xDFF0, 0xE00F) | st.integers(0, 40)


@given(st.lists(st.tuples(codes, codes), max_size=6))
def test_a_class_has_the_characters_of_its_ranges(ranges: list[tuple[int, int]]) -> None:
    members = {code for low, high in ranges for code in range(low, high + 1)} - set(range(0xD800, 0xE000))
    made, others = char_class(ranges), negated(char_class(ranges))
    assert [code for low, high in made.ranges for code in range(low, high + 1)] == sorted(members)
    assert all(a_high + 1 < b_low for (_, a_high), (b_low, _) in pairwise(made.ranges))
    assert char_class([*made.ranges, *others.ranges]) == ANY_CHAR
    assert members.isdisjoint(code for low, high in others.ranges for code in range(low, min(high, 0xF000) + 1))
