"""Trees that share parts are as large as what they hold, not as the texts that would write them out."""

from __future__ import annotations

from cfgmask.grammar.regex_tree import (
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    Literal,
    RegexTree,
    Repetition,
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


def test_hashes_are_by_value() -> None:
    made = [
        (Repetition(shared(4), 0, 3), JsonString(shared(4)), Intersection((shared(4), Complement(shared(3)))))
        for _ in range(2)
    ]
    assert [hash(tree) for tree in made[0]] == [hash(tree) for tree in made[1]]
    assert set(made[0]) == set(made[1])
    assert Concatenation((Literal(b"a"),)) not in {Alternation((Literal(b"a"),))}
    assert len({Repetition(shared(2), 0, 3), Repetition(shared(2), 0, 4), JsonString(shared(2), "literal")}) == 3
