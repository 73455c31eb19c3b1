"""Questions about regex trees, answered by the compiled core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from cfgmask import _core
from cfgmask.grammar.regex_tree import EMPTY_TEXT, Complement, Intersection, RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.lowering import RegexLowering

Automaton: TypeAlias = "list[tuple[list[int], list[int], list[tuple[int, int]]]]"
"""Of each state: live trees, matched trees, and moves: the bits of a set of bytes, and a state."""

_VISIBLE = Complement(EMPTY_TEXT)


class LexemeEnds:
    """How the lexemes of some terminals end where all of them are live. Sets of bytes are the bits of integers.

    n_states      of the automaton of all of them
    matched_sets  the different sets of terminals that are complete together, as positions in what this is made of
    """

    def __init__(self, made: _core.LexemeEnds) -> None:
        self._made = made
        self.n_states = made.n_states
        self.matched_sets = made.matched_sets

    @property
    def first(self) -> list[tuple[int, list[int]]]:
        """What a lexeme may begin with: bytes, and the terminals that are live behind them."""
        return [(_number(bits), live) for bits, live in self._made.first]

    def ends(self, terminal: int) -> list[tuple[int, int]]:
        """The different ends of a terminal's lexemes: a number into `matched_sets`, and the bytes that are taken."""
        return [(matched, _number(bits)) for matched, bits in self._made.ends(terminal)]

    def always_reaches(self, terminal: int, good: Sequence[int]) -> bool:
        """Whether every beginning of a terminal's lexeme can go on to one of these ends, numbers into `ends`."""
        return self._made.always_reaches(terminal, good)

    def can_be_left(self, terminal: int, begin: int, wanted: int, chosen: Sequence[bool]) -> bool:
        """Whether a terminal's lexeme that begins with one of `begin` can end where a byte of `wanted` is not taken.

        chosen  for each of `matched_sets`, whether the parser is given the terminal there
        """
        return self._made.can_be_left(terminal, _bits(begin), _bits(wanted), chosen)

    def automaton(self) -> Automaton:
        """All of it."""
        return _with_numbers(self._made.states)


def _number(bits: bytes) -> int:
    return int.from_bytes(bits, "little")


def _bits(number: int) -> bytes:
    return number.to_bytes(32, "little")


def _with_numbers(states: list[tuple[list[int], list[int], list[tuple[bytes, int]]]]) -> Automaton:
    return [(live, matched, [(_number(bits), to) for bits, to in moves]) for live, matched, moves in states]


class RegexAlgebra:
    """Answers questions about trees, which share what the core learns about their parts.

    Every method raises LimitExceeded (max_regex_nodes, max_search_steps) where a question is too hard.
    Not for several threads at once.
    """

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
        self._builder = _core.RegexBuilder(vars(limits))
        self._lowering = RegexLowering(self._builder, limits)

    @property
    def search_steps(self) -> int:
        """The number of derivatives computed so far."""
        return self._builder.search_steps

    def is_empty(self, tree: RegexTree) -> bool:
        """Whether no text matches."""
        return self._builder.is_empty(self._lowering.node(tree))

    def is_infinite(self, tree: RegexTree) -> bool:
        """Whether infinitely many texts match."""
        return self._builder.is_infinite(self._lowering.node(tree))

    def is_endless(self, tree: RegexTree) -> bool:
        """Whether whatever begins a matching text begins infinitely many. Also False where that takes long."""
        return self._builder.is_endless(self._lowering.node(tree))

    def count(self, tree: RegexTree, at_most: int) -> int | None:
        """How many texts match; None for infinitely many or more than `at_most`."""
        return self._builder.count(self._lowering.node(tree), at_most)

    def matches(self, tree: RegexTree, data: bytes) -> bool:
        """Whether exactly these bytes match. One derivative a byte."""
        return self._builder.matches(self._lowering.node(tree), data)

    def is_prefix(self, tree: RegexTree, data: bytes) -> bool:
        """Whether some matching text starts with these bytes."""
        return self._builder.is_prefix(self._lowering.node(tree), data)

    @property
    def builder(self) -> _core.RegexBuilder:
        """The core's store of these regexes."""
        return self._builder

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
        return None if made is None else _with_numbers(made)

    def first(self, tree: RegexTree) -> int:
        """The bits of the bytes that a matching text may begin with, and perhaps of some more."""
        return _number(self._builder.first(self._lowering.node(tree)))

    def lexeme_ends(self, trees: Sequence[RegexTree], max_states: int) -> LexemeEnds | None:
        """What `automaton` gives, for questions about how its lexemes end; None beyond `max_states`."""
        made = self._builder.lexeme_ends([self._lowering.node(tree) for tree in trees], max_states)
        return None if made is None else LexemeEnds(made)

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
