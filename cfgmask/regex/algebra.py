"""Questions about regex trees, answered by the compiled core: the one place of the front ends that imports it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from cfgmask.grammar.regex_tree import EMPTY_TEXT, Complement, Intersection, RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.lowering import RegexLowering

if TYPE_CHECKING:
    from cfgmask._core import RegexBuilder


Automaton: TypeAlias = "list[tuple[list[int], list[int], list[tuple[int, int]]]]"
"""Of each state: live trees, matched trees, and moves: the bits of a set of bytes, and a state."""

_VISIBLE = Complement(EMPTY_TEXT)


class RegexAlgebra:
    """Answers questions about trees, which share what the core learns about their parts.

    Every method raises LimitExceeded (max_regex_nodes, max_search_steps) where a question is too hard.
    Not for several threads at once.
    """

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
        # Not at the top: reading grammars must not need the compiled module.
        from cfgmask._core import RegexBuilder

        self._builder: RegexBuilder = RegexBuilder(vars(limits))
        self._lowering = RegexLowering(self._builder, limits)

    def is_empty(self, tree: RegexTree) -> bool:
        """Whether no text matches."""
        return self._builder.is_empty(self._lowering.node(tree))

    def is_infinite(self, tree: RegexTree) -> bool:
        """Whether infinitely many texts match."""
        return self._builder.is_infinite(self._lowering.node(tree))

    def matches(self, tree: RegexTree, data: bytes) -> bool:
        """Whether exactly these bytes match. One derivative a byte."""
        return self._builder.matches(self._lowering.node(tree), data)

    def is_prefix(self, tree: RegexTree, data: bytes) -> bool:
        """Whether some matching text starts with these bytes."""
        return self._builder.is_prefix(self._lowering.node(tree), data)

    def shortest(self, tree: RegexTree) -> bytes | None:
        """A shortest matching text, the smallest of them bytewise; None if nothing matches."""
        return self._builder.shortest(self._lowering.node(tree))

    def shortest_visible(self, tree: RegexTree) -> bytes | None:
        """A shortest matching text that is not empty, the smallest of them bytewise; None if there is none."""
        text = self.shortest(tree)
        return self.shortest(Intersection((tree, _VISIBLE))) if text == b"" else text

    def automaton(self, trees: Sequence[RegexTree], max_states: int) -> Automaton | None:
        """What a lexer does in which these trees are live, without the empty text; None beyond `max_states`.

        For each state, the first being the one before any byte: the trees that may still match, those that match what
        was read, and for each next state the bytes that lead there.
        """
        made = self._builder.automaton([self._lowering.node(tree) for tree in trees], max_states)
        if made is None:
            return None
        return [
            (live, matched, [(int.from_bytes(bits, "little"), target) for bits, target in moves])
            for live, matched, moves in made
        ]

    def disjoint(self, first: RegexTree, second: RegexTree) -> bool:
        """Whether no text matches both."""
        return self.is_empty(Intersection((first, second)))


def is_empty(tree: RegexTree) -> bool:
    """Whether no text matches. Raises as all of `RegexAlgebra` does."""
    return RegexAlgebra().is_empty(tree)


def matches(tree: RegexTree, data: bytes) -> bool:
    """Whether exactly these bytes match."""
    return RegexAlgebra().matches(tree, data)


def is_prefix(tree: RegexTree, data: bytes) -> bool:
    """Whether some matching text starts with these bytes."""
    return RegexAlgebra().is_prefix(tree, data)


def shortest(tree: RegexTree) -> bytes | None:
    """A shortest matching text, the smallest of them bytewise; None if nothing matches."""
    return RegexAlgebra().shortest(tree)


def disjoint(first: RegexTree, second: RegexTree) -> bool:
    """Whether no text matches both."""
    return RegexAlgebra().disjoint(first, second)
