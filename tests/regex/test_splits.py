"""How a condition falls on what stands beside it: conditions and texts that are no patterns, against a slow matcher."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from hypothesis import assume, given
from hypothesis import strategies as st

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    EMPTY_TEXT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.regex.lexemes import Lexeme, LexemeCase, TooEntangled, in_sequence, repeated
from tests.regex.tree_matcher import matches

TEXTS = ["".join(letters) for size in range(4) for letters in product("abé", repeat=size)]
SHORT = [text for text in TEXTS if len(text) < 3]

AT_END = (LexemeCase(EMPTY_TEXT, after=EMPTY_TEXT),)


def _combined(parts: st.SearchStrategy[RegexTree]) -> st.SearchStrategy[RegexTree]:
    many = st.lists(parts, min_size=2, max_size=3).map(tuple)
    counts = st.sampled_from([(0, None), (0, 1), (1, 2)])
    return st.one_of(
        many.map(Concatenation),
        many.map(Alternation),
        many.map(Intersection),
        parts.map(Complement),
        st.builds(lambda part, count: Repetition(part, *count), parts, counts),
    )


_LEAVES = [*map(text, ["a", "b", "é", "ab", ""]), ANY_CHAR, CharClass(((0x61, 0x62),))]
trees = st.recursive(st.sampled_from(_LEAVES), _combined, max_leaves=5)


def joined(parts: Sequence[Lexeme]) -> Lexeme:
    """The parts one after the other; what is refused as too complex is no example."""
    try:
        return in_sequence(parts)
    except TooEntangled:
        assume(False)
        raise


def meets(condition: RegexTree | None, given: str) -> bool:
    return condition is None or matches(condition, given)


@given(trees, trees)
def test_a_condition_on_what_follows_is_split_by_what_is_left_of_it(piece: RegexTree, condition: RegexTree) -> None:
    found = joined([(LexemeCase(EMPTY_TEXT, after=condition),), (LexemeCase(piece),)])
    for front, rest in product(SHORT, repeat=2):
        assert all(meets(case.before, "") for case in found)
        ways = [case for case in found if matches(case.tree, front) and meets(case.after, rest)]
        assert len(ways) <= 1
        expected = matches(piece, front) and matches(condition, front + rest)
        assert bool(ways) == expected, (front, rest)


@given(trees, trees)
def test_a_condition_on_what_comes_before_is_split_backwards(piece: RegexTree, condition: RegexTree) -> None:
    found = joined([(LexemeCase(piece),), (LexemeCase(EMPTY_TEXT, before=condition),)])
    for before, end in product(SHORT, repeat=2):
        ways = [case for case in found if meets(case.before, before) and matches(case.tree, end)]
        expected = matches(piece, end) and matches(condition, before + end)
        assert bool(ways) == expected, (before, end)


@given(trees, trees)
def test_at_the_end_a_condition_is_an_intersection(piece: RegexTree, condition: RegexTree) -> None:
    found = joined([(LexemeCase(EMPTY_TEXT, after=condition),), (LexemeCase(piece),), AT_END])
    for given_text in TEXTS:
        ways = [case for case in found if matches(case.tree, given_text) and meets(case.after, "")]
        assert bool(ways) == (matches(piece, given_text) and matches(condition, given_text)), given_text


@given(st.lists(st.tuples(st.sampled_from(SHORT[1:]), st.sampled_from("abé.")), min_size=1, max_size=3))
def test_rounds_fall_on_the_rounds_beside_them(steps: list[tuple[str, str]]) -> None:
    """Each of some texts, if a certain character follows it, any number of times: ways through a graph."""
    rest = Repetition(ANY_CHAR, 0, None)
    body = tuple(
        LexemeCase(text(step), after=Concatenation((ANY_CHAR if first == "." else text(first), rest)))
        for step, first in steps
    )
    try:
        found = repeated(body, 0, None)
    except TooEntangled:
        assume(False)
    for whole, behind in product(TEXTS, ["", "a", "b", "éa"]):
        reached = {0}
        for place in range(len(whole)):
            for step, first in steps:
                end = place + len(step)
                follows = (whole + behind)[end : end + 1]
                if place in reached and whole[place:end] == step and follows and first in (".", follows):
                    reached.add(end)
        ways = [case for case in found if matches(case.tree, whole) and meets(case.after, behind)]
        assert bool(ways) == (len(whole) in reached), (whole, behind)
