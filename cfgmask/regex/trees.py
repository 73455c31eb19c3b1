"""Walks through regex trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cfgmask.grammar.regex_tree import (
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
)

_R = TypeVar("_R")


def parts_of(tree: RegexTree) -> tuple[RegexTree, ...]:
    """The trees right below `tree`, in order."""
    if isinstance(tree, (Concatenation, Alternation, Intersection)):
        return tree.parts
    return (tree.body,) if isinstance(tree, (Repetition, Complement)) else ()


def fold_tree(
    root: RegexTree,
    known: dict[int, _R],
    combine: Callable[[RegexTree, list[_R]], _R],
    parts_of: Callable[[RegexTree], tuple[RegexTree, ...]] = parts_of,
) -> _R:
    """The value of a tree from the values of its parts, without recursion.

    known     values by identity, of trees that stay alive; joined by those worked out here
    parts_of  those whose values matter
    """
    pending = [root]
    while pending:
        tree = pending[-1]
        if id(tree) in known:
            pending.pop()
            continue
        parts = parts_of(tree)
        missing = []
        for part in parts:
            if id(part) in known:
                continue
            # Most trees are leaves: those need no second look.
            if parts_of(part):
                missing.append(part)
            else:
                known[id(part)] = combine(part, [])
        if missing:
            pending.extend(missing)
            continue
        pending.pop()
        known[id(tree)] = combine(tree, [known[id(part)] for part in parts])
    return known[id(root)]
