"""The parts that assertions are worked out with: splits of texts under a condition, reversals, ways through graphs."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from cfgmask.grammar.regex_tree import EMPTY_TEXT, CharClass, Literal, RegexTree
from cfgmask.regex.derivatives import Derivatives, common
from cfgmask.regex.paths import paths
from cfgmask.regex.splits import Splitter
from cfgmask.regex.trees import TreeBuilder
from tests.regex.tree_matcher import matches

TEXTS = ["".join(letters) for size in range(4) for letters in product("abé", repeat=size)]
SHORT = [text for text in TEXTS if len(text) < 3]

# What a tree is made of, for one builder or another: a name and parts.
Plan = tuple[str, "tuple[Plan, ...]"]


def _combined(plans: st.SearchStrategy[Plan]) -> st.SearchStrategy[Plan]:
    many = st.lists(plans, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.tuples(st.sampled_from(["concatenation", "alternation", "intersection"]), many),
        st.tuples(st.sampled_from(["complement", "star", "optional", "twice"]), st.tuples(plans)),
    )


_leaves = st.sampled_from(["a", "b", "é", "ab", ".", "[ab]", ""]).map(lambda name: (name, ()))
plans = st.recursive(_leaves, _combined, max_leaves=5)


def built(plan: Plan, trees: TreeBuilder) -> RegexTree:
    name, below = plan
    parts = [built(part, trees) for part in below]
    if not parts:
        if name in (".", "[ab]"):
            return trees.char_class(CharClass(((0x61, 0x62),) if name == "[ab]" else ((0, 0xD7FF), (0xE000, 0x10FFFF))))
        return trees.literal(name.encode())
    if name in ("star", "optional", "twice"):
        low, high = {"star": (0, None), "optional": (0, 1), "twice": (1, 2)}[name]
        return trees.repetition(parts[0], low, high)
    if name == "complement":
        return trees.complement(parts[0])
    return {
        "concatenation": trees.concatenation,
        "alternation": trees.alternation,
        "intersection": trees.intersection,
    }[name](parts)


@given(plans, plans)
def test_splits_partition_a_piece_by_what_is_left_to_be_met(piece_plan: Plan, condition_plan: Plan) -> None:
    trees = TreeBuilder()
    piece, condition = built(piece_plan, trees), built(condition_plan, trees)
    found = Splitter(trees).split(piece, condition)
    for front, rest in product(SHORT, repeat=2):
        ways = [left for part, left in found if matches(part, front)]
        assert len(ways) <= 1 or not matches(piece, front)
        expected = matches(piece, front) and matches(condition, front + rest)
        assert any(matches(left, rest) for left in ways) == expected, (front, rest)


@given(plans, plans)
def test_restrictions_are_intersections(piece_plan: Plan, condition_plan: Plan) -> None:
    trees = TreeBuilder()
    piece, condition = built(piece_plan, trees), built(condition_plan, trees)
    found = Splitter(trees).restrict(piece, condition)
    for text in TEXTS:
        assert matches(found, text) == (matches(piece, text) and matches(condition, text)), text


@given(plans)
def test_trees_read_backwards_and_from_their_first_character(plan: Plan) -> None:
    trees = TreeBuilder()
    tree, derivatives = built(plan, trees), Derivatives(trees)
    moves = derivatives.moves(tree)
    assert trees.is_nullable(tree) == matches(tree, "")
    for text in TEXTS:
        assert matches(derivatives.reversal(tree), text[::-1]) == matches(tree, text), text
        if text:
            first = CharClass(((ord(text[0]), ord(text[0])),))
            rests = [rest for members, rest in moves if common(members, first).ranges]
            assert len(rests) <= 1
            assert any(matches(rest, text[1:]) for rest in rests) == matches(tree, text), text


@given(st.dictionaries(st.tuples(*[st.integers(0, 3)] * 2), st.sampled_from(["a", "b", "é", "ab"]), max_size=8))
def test_paths_are_the_texts_of_all_ways(steps: dict[tuple[int, int], str]) -> None:
    trees = TreeBuilder()
    ways = paths(trees, 4, {ends: trees.literal(text.encode()) for ends, text in steps.items()})
    for start in range(4):
        reached = {(start, "")}
        while True:
            further = {
                (end, text + step) for at, text in reached for (begin, end), step in steps.items() if begin == at
            }
            further = {(at, text) for at, text in further if len(text) < 4} - reached
            if not further:
                break
            reached |= further
        for end, text in product(range(4), TEXTS):
            found = (start, end) in ways and matches(ways[start, end], text)
            assert found == ((end, text) in reached), (start, end, text)


def test_equal_trees_are_one_object_whatever_their_order() -> None:
    trees = TreeBuilder()
    a, star = trees.literal(b"ab"), trees.repetition(trees.literal(b"a"), 0, None)
    assert trees.alternation([a, star]) is trees.alternation([star, a])
    assert trees.intersection([a, star]) is trees.intersection([star, a, a])
    assert trees.complement(trees.complement(a)) is a
    assert trees.intersection([star, EMPTY_TEXT]) is EMPTY_TEXT
    assert trees.fixed_size(trees.concatenation([Literal("é".encode()), star])) is None
