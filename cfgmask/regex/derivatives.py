"""Derivatives of trees by characters (Brzozowski 1964), on the normalised trees of one `TreeBuilder`.

They answer what a condition on a text is after some characters of it. The conditions are small (what a lookahead
demands, what may stand before a word boundary); whole patterns are left to the compiled core.
"""

from __future__ import annotations

import itertools

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
    Substring,
    char_class,
)
from cfgmask.regex.trees import TreeBuilder, fold_tree

# What one pattern may cost here; some tenths of a second.
_MAX_STEPS = 50_000


class TooEntangled(Exception):
    """Assertions whose meaning takes more states, cases or steps than are allowed for one pattern."""


class Derivatives:
    """Derivatives and reversals, each worked out once. Raises TooEntangled after `_MAX_STEPS` of them."""

    def __init__(self, trees: TreeBuilder) -> None:
        self._trees = trees
        self._steps = 0
        self._after: dict[int, dict[int, RegexTree]] = {}
        self._moves: dict[int, list[tuple[CharClass, RegexTree]]] = {}
        self._fronts: dict[int, frozenset[CharClass]] = {}
        self._partitions: dict[frozenset[CharClass], list[CharClass]] = {}
        self._reversed: dict[int, RegexTree] = {}

    def moves(self, tree: RegexTree) -> list[tuple[CharClass, RegexTree]]:
        """Disjoint classes of first characters, each with what may follow it; nothing follows any other character."""
        if id(tree) not in self._moves:
            found: dict[int, tuple[list[tuple[int, int]], RegexTree]] = {}
            for members in self._partition(self._front(tree)):
                rest = self.after(tree, members.ranges[0][0])
                if rest is not NOTHING:
                    found.setdefault(id(rest), ([], rest))[0].extend(members.ranges)
            self._moves[id(tree)] = [(char_class(ranges), rest) for ranges, rest in found.values()]
        return self._moves[id(tree)]

    def after(self, tree: RegexTree, code: int) -> RegexTree:
        """What may follow the character `code` in texts of `tree`."""

        def combine(part: RegexTree, below: list[RegexTree]) -> RegexTree:
            self._steps += 1
            if self._steps > _MAX_STEPS:
                raise TooEntangled
            return self._combine(part, below, code)

        return fold_tree(tree, self._after.setdefault(code, {}), combine)

    def reversal(self, tree: RegexTree) -> RegexTree:
        """The texts of `tree` read backwards."""
        return fold_tree(tree, self._reversed, self._reverse)

    def _combine(self, part: RegexTree, below: list[RegexTree], code: int) -> RegexTree:
        trees = self._trees
        if isinstance(part, Literal):
            first = chr(code).encode(errors="replace")
            return trees.literal(part.data[len(first) :]) if part.data.startswith(first) else NOTHING
        if isinstance(part, CharClass):
            return EMPTY_TEXT if any(low <= code <= high for low, high in part.ranges) else NOTHING
        if isinstance(part, Alternation):
            return trees.alternation(below)
        if isinstance(part, Intersection):
            return trees.intersection(below)
        if isinstance(part, Complement):
            return trees.complement(below[0])
        if isinstance(part, Repetition):
            maximum = None if part.maximum is None else part.maximum - 1
            return trees.concatenation([below[0], trees.repetition(part.body, max(part.minimum - 1, 0), maximum)])
        if isinstance(part, Substring):
            raise TooEntangled
        assert isinstance(part, Concatenation)
        ways = []
        for place, rest in enumerate(below):
            ways.append(trees.concatenation([rest, *part.parts[place + 1 :]]))
            if not trees.is_nullable(part.parts[place]):
                break
        return trees.alternation(ways)

    def _reverse(self, part: RegexTree, below: list[RegexTree]) -> RegexTree:
        trees = self._trees
        if isinstance(part, Literal):
            return trees.literal(part.data.decode()[::-1].encode())
        if isinstance(part, Concatenation):
            return trees.concatenation(reversed(below))
        if isinstance(part, Alternation):
            return trees.alternation(below)
        if isinstance(part, Intersection):
            return trees.intersection(below)
        if isinstance(part, Complement):
            return trees.complement(below[0])
        if isinstance(part, Repetition):
            return trees.repetition(below[0], part.minimum, part.maximum)
        return Substring(part.chunks[::-1]) if isinstance(part, Substring) else part

    def _front(self, tree: RegexTree) -> frozenset[CharClass]:
        """The classes by which the first character of a text is told from others."""

        def combine(part: RegexTree, below: list[frozenset[CharClass]]) -> frozenset[CharClass]:
            if isinstance(part, Literal):
                first = ord(part.data.decode()[0]) if part.data else 0
                return frozenset([CharClass(((first, first),))]) if part.data else frozenset()
            if isinstance(part, CharClass):
                return frozenset([part])
            if isinstance(part, Substring):
                raise TooEntangled
            if isinstance(part, Concatenation):
                for place, member in enumerate(part.parts):
                    if not self._trees.is_nullable(member):
                        return frozenset().union(*below[: place + 1])
            return frozenset().union(*below)

        return fold_tree(tree, self._fronts, combine)

    def _partition(self, classes: frozenset[CharClass]) -> list[CharClass]:
        """The coarsest partition of all characters that each of the classes is a union of."""
        if classes not in self._partitions:
            self._partitions[classes] = _partition([ANY_CHAR, *classes])
        return self._partitions[classes]


def common(left: CharClass, right: CharClass) -> CharClass:
    """The characters of both classes. Linear."""
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(left.ranges) and j < len(right.ranges):
        low = max(left.ranges[i][0], right.ranges[j][0])
        high = min(left.ranges[i][1], right.ranges[j][1])
        if low <= high:
            found.append((low, high))
        if left.ranges[i][1] < right.ranges[j][1]:
            i += 1
        else:
            j += 1
    return CharClass(tuple(found))


def _partition(classes: list[CharClass]) -> list[CharClass]:
    """The characters of the first class, apart where some other class tells them apart."""
    edges: dict[int, int] = {}
    for number, members in enumerate(classes):
        for low, high in members.ranges:
            edges[low] = edges.get(low, 0) ^ (1 << number)
            edges[high + 1] = edges.get(high + 1, 0) ^ (1 << number)
    found: dict[int, list[tuple[int, int]]] = {}
    inside, points = 0, sorted(edges)
    for point, following in itertools.pairwise(points):
        inside ^= edges[point]
        if inside & 1:
            found.setdefault(inside, []).append((point, following - 1))
    return [char_class(ranges) for ranges in found.values()]
