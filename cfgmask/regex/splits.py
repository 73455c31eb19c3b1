"""What a condition on a text becomes when a part of the text is taken off its front.

A condition is the tree of the texts that meet it. `split` answers, for a piece `T` and a condition `L` on the whole of
the piece and what follows it: which texts of `T` are possible, and what do they leave to be met? The answers `(T', L')`
partition `T`: some text `v w` with `v` in `T` meets `L` exactly where `v` is in some `T'` and `w` in its `L'`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Concatenation,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.regex.derivatives import Derivatives, TooEntangled, common
from cfgmask.regex.paths import paths
from cfgmask.regex.trees import TreeBuilder

Split: TypeAlias = tuple[RegexTree, RegexTree]

# States of one condition. Lookarounds in use have one for each character of a word that they look for.
_MAX_STATES = 24
# Into how many alternatives a piece is taken apart by its first character, instead of intersecting it as a whole.
_MAX_STARTS = 3
# A search that takes longer than this is given up: what may be empty is kept, which is right but larger.
_EMPTINESS_LIMITS = Limits(max_search_steps=500, max_regex_nodes=20_000)
_MAX_GIVEN_UP = 10


class Splitter:
    """Splits pieces by conditions, each once. All methods raise TooEntangled."""

    def __init__(self, trees: TreeBuilder) -> None:
        self._trees = trees
        self._derivatives = Derivatives(trees)
        self._algebra: RegexAlgebra | None = None  # until it is needed: most patterns have no use for it
        self._given_up = 0
        self._splits: dict[tuple[int, int], list[Split]] = {}
        self._empty: dict[int, bool] = {}
        self._automata: dict[int, list[Split]] = {}

    def split(self, piece: RegexTree, condition: RegexTree) -> list[Split]:
        """The texts of `piece` by what they leave of a condition on them and what follows them."""
        key = id(piece), id(condition)
        if key not in self._splits:
            self._splits[key] = self._split(piece, condition)
        return self._splits[key]

    def split_back(self, piece: RegexTree, condition: RegexTree) -> list[Split]:
        """As `split`, of a condition on `piece` and what comes before it. Such conditions are on reversed texts."""
        if condition is ANY_TEXT:
            return [(piece, condition)]
        reversal = self._derivatives.reversal
        return [(reversal(part), rest) for part, rest in self.split(reversal(piece), condition)]

    def reversal(self, tree: RegexTree) -> RegexTree:
        """The texts of `tree` read backwards."""
        return self._derivatives.reversal(tree)

    def both(self, first: RegexTree, second: RegexTree) -> RegexTree:
        """What meets both conditions; NOTHING where nothing does."""
        tree = self._trees.intersection([first, second])
        return NOTHING if tree is not first and tree is not second and self._is_empty(tree) else tree

    def restrict(self, piece: RegexTree, condition: RegexTree) -> RegexTree:
        """The texts of `piece` that meet a condition."""
        if condition is ANY_TEXT or piece is NOTHING:
            return piece
        if isinstance(piece, (Literal, CharClass)) or _alternatives(piece) or self._decides_at_once(condition):
            met = (part for part, rest in self.split(piece, condition) if self._trees.is_nullable(rest))
            return self._trees.alternation(met)
        return self.both(piece, condition)

    def _split(self, piece: RegexTree, condition: RegexTree) -> list[Split]:
        if piece is NOTHING or condition is NOTHING:
            return []
        if piece is EMPTY_TEXT or condition is ANY_TEXT:
            return [(piece, condition)]
        if condition is EMPTY_TEXT:
            return [(EMPTY_TEXT, EMPTY_TEXT)] if self._trees.is_nullable(piece) else []
        if isinstance(piece, Literal):
            rest = self._after_text(condition, piece.data.decode())
            return [] if rest is NOTHING else [(piece, rest)]
        if isinstance(piece, CharClass):
            found = [(common(piece, members), rest) for members, rest in self._derivatives.moves(condition)]
            return [(self._trees.char_class(members), rest) for members, rest in found if members.ranges]
        if isinstance(piece, Concatenation):
            return self._split_sequence(piece.parts, condition)
        alternatives = _alternatives(piece)
        if alternatives:
            return self._merged(found for part in alternatives for found in self.split(part, condition))
        if self._decides_at_once(condition):
            return self._split_at_first(piece, condition)
        return self._split_anywhere(piece, condition)

    def _after_text(self, condition: RegexTree, text: str) -> RegexTree:
        for character in text:
            if condition is NOTHING or condition is ANY_TEXT:
                break
            condition = self._derivatives.after(condition, ord(character))
        return condition

    def _split_sequence(self, parts: tuple[RegexTree, ...], condition: RegexTree) -> list[Split]:
        ways: list[Split] = [(EMPTY_TEXT, condition)]
        for part in parts:
            ways = self._merged(
                (self._trees.concatenation([before, text]), rest)
                for before, left in ways
                for text, rest in self.split(part, left)
            )
        return ways

    def _decides_at_once(self, condition: RegexTree) -> bool:
        """Whether the first character decides."""
        return all(rest is ANY_TEXT for _, rest in self._derivatives.moves(condition))

    def _split_at_first(self, piece: RegexTree, condition: RegexTree) -> list[Split]:
        trees = self._trees
        ways: list[Split] = [(EMPTY_TEXT, condition)] if trees.is_nullable(piece) else []
        for good, _ in self._derivatives.moves(condition):
            started = self._after_first(piece, good)
            if started is not NOTHING:
                ways.append((started, ANY_TEXT))
        return ways

    def _after_first(self, piece: RegexTree, good: CharClass) -> RegexTree:
        """The texts of `piece` that begin with a character of a class."""
        trees = self._trees
        if isinstance(piece, Repetition) and isinstance(piece.body, CharClass):
            starts = [(common(members, good), rest) for members, rest in self._derivatives.moves(piece)]
            starts = [(members, rest) for members, rest in starts if members.ranges]
            if len(starts) <= _MAX_STARTS:
                return trees.alternation(
                    trees.concatenation([trees.char_class(members), rest]) for members, rest in starts
                )
        return self.both(piece, trees.concatenation([trees.char_class(good), ANY_TEXT]))

    def _split_anywhere(self, piece: RegexTree, condition: RegexTree) -> list[Split]:
        """By the states of the condition's automaton: the texts of `piece` that lead to each of them."""
        found = [(self.both(piece, texts), state) for texts, state in self._automaton(condition)]
        return [(texts, state) for texts, state in found if texts is not NOTHING]

    def _automaton(self, condition: RegexTree) -> list[Split]:
        """Every state that some text leads to, with these texts."""
        if id(condition) not in self._automata:
            states = {id(condition): (0, condition)}
            pending = [condition]
            edges: dict[tuple[int, int], RegexTree] = {}
            while pending:
                state = pending.pop()
                for members, rest in self._derivatives.moves(state):
                    if id(rest) not in states:
                        states[id(rest)] = len(states), rest
                        pending.append(rest)
                    edges[states[id(state)][0], states[id(rest)][0]] = self._trees.char_class(members)
                if len(states) > _MAX_STATES:
                    raise TooEntangled
            ways = paths(self._trees, len(states), edges)
            self._automata[id(condition)] = [(ways[0, number], state) for number, state in states.values()]
        return self._automata[id(condition)]

    def _merged(self, splits: Iterable[Split]) -> list[Split]:
        """The same with one split for each rest."""
        found: dict[int, tuple[list[RegexTree], RegexTree]] = {}
        for text, rest in splits:
            if text is not NOTHING:
                found.setdefault(id(rest), ([], rest))[0].append(text)
        return [(self._trees.alternation(texts), rest) for texts, rest in found.values()]

    def _is_empty(self, tree: RegexTree) -> bool:
        if id(tree) not in self._empty:
            found = self._searched(tree)
            if found is None:
                # The nodes of earlier questions count as well.
                self._algebra = None
                found = self._searched(tree)
            if found is None:
                self._given_up += 1
                if self._given_up > _MAX_GIVEN_UP:
                    raise TooEntangled
            self._empty[id(tree)] = bool(found)
        return self._empty[id(tree)]

    def _searched(self, tree: RegexTree) -> bool | None:
        """Whether nothing matches; None if it takes too long to find out."""
        if self._algebra is None:
            self._algebra = RegexAlgebra(_EMPTINESS_LIMITS)
        try:
            return self._algebra.is_empty(tree)
        except LimitExceeded:
            return None


def _alternatives(piece: RegexTree) -> tuple[RegexTree, ...]:
    """The alternatives of a piece that is made of some."""
    if isinstance(piece, Alternation):
        return piece.parts
    optional = isinstance(piece, Repetition) and (piece.minimum, piece.maximum) == (0, 1)
    return (EMPTY_TEXT, piece.body) if optional and isinstance(piece, Repetition) else ()
