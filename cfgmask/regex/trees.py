"""Builds normalised regex trees."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY_TEXT,
    MAX_COUNT,
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

# Sequences and alternations in others of their kind are spliced in up to this size. A longer one may be shared by many
# trees, and copying it into each would be quadratic.
_MAX_SPLICE = 64

_R = TypeVar("_R")


class TreeBuilder:
    """Makes trees in which adjacent literals are one, single characters of an alternation are a class, what matches
    nothing, the empty text or any text is gone where it changes nothing, and equal trees are one object.

    The last holds for trees made by one builder; it makes `is` decide equality without a walk. Alternations and
    intersections are equal whatever the order of their parts.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, RegexTree] = {
            ANY_CHAR: ANY_CHAR,
            ("repetition", id(ANY_CHAR), 0, None): ANY_TEXT,
        }
        self._nullable: dict[int, bool] = {}
        self._fixed_size: dict[int, int | None] = {}
        self._weight: dict[int, int] = {}

    def literal(self, data: bytes) -> RegexTree:
        """Exactly these bytes."""
        return self._unique(data, Literal(data)) if data else EMPTY_TEXT

    def char_class(self, members: CharClass) -> RegexTree:
        """One character of a class."""
        if not members.ranges:
            return NOTHING
        low, high = members.ranges[0]
        if len(members.ranges) == 1 and low == high:
            return self.literal(chr(low).encode())
        return self._unique(members, members)

    def concatenation(self, parts: Iterable[RegexTree]) -> RegexTree:
        """The parts in order."""
        flat: list[RegexTree] = []
        literal: list[bytes] = []
        for part in parts:
            if part is NOTHING:
                return NOTHING
            nested = isinstance(part, Concatenation) and len(part.parts) <= _MAX_SPLICE
            for piece in part.parts if nested and isinstance(part, Concatenation) else (part,):
                if isinstance(piece, Literal):
                    if piece.data:
                        literal.append(piece.data)
                    continue
                if literal:
                    flat.append(self.literal(b"".join(literal)))
                    literal = []
                if piece is not ANY_TEXT or not flat or flat[-1] is not ANY_TEXT:
                    flat.append(piece)
        if literal:
            flat.append(self.literal(b"".join(literal)))
        if len(flat) < 2:
            return flat[0] if flat else EMPTY_TEXT
        if (flat[0] is ANY_TEXT or flat[-1] is ANY_TEXT) and all(map(self.is_nullable, flat)):
            return ANY_TEXT
        return self._unique(("concatenation", *map(id, flat)), Concatenation(tuple(flat)))

    def alternation(self, parts: Iterable[RegexTree]) -> RegexTree:
        """Any of the parts."""
        flat: dict[int, RegexTree] = {}
        characters: list[tuple[int, int]] = []
        for part in parts:
            nested = isinstance(part, Alternation) and len(part.parts) <= _MAX_SPLICE
            for piece in part.parts if nested and isinstance(part, Alternation) else (part,):
                if piece is ANY_TEXT:
                    return ANY_TEXT
                single = _as_characters(piece)
                if single is None:
                    flat[id(piece)] = piece
                elif not characters:
                    # The class of all single characters stands where the first of them stood.
                    flat[-1] = piece
                    characters += single
                else:
                    characters += single
        if characters:
            flat[-1] = self.char_class(char_class(characters))
        if len(flat) < 2:
            return next(iter(flat.values()), NOTHING)
        alternatives = tuple(flat.values())
        return self._unique(("alternation", *sorted(map(id, alternatives))), Alternation(alternatives))

    def repetition(self, body: RegexTree, minimum: int, maximum: int | None) -> RegexTree:
        """`body` from `minimum` to `maximum` times; None is without bound."""
        if maximum == 0 or body is EMPTY_TEXT or (body is NOTHING and minimum == 0):
            return EMPTY_TEXT
        if body is NOTHING or (minimum == 1 and maximum == 1):
            return body
        if isinstance(body, Repetition) and body.minimum <= 1:
            # The counts k * (0 or 1) to k * m leave no gap as k grows, so the two repetitions are one.
            product = None if maximum is None or body.maximum is None else maximum * body.maximum
            if product is None or product <= MAX_COUNT:
                return self.repetition(body.body, minimum * body.minimum, product)
        return self._unique(("repetition", id(body), minimum, maximum), Repetition(body, minimum, maximum))

    def intersection(self, parts: Iterable[RegexTree]) -> RegexTree:
        """What all of the parts match."""
        flat: dict[int, RegexTree] = {}
        for part in parts:
            for piece in part.parts if isinstance(part, Intersection) else (part,):
                if piece is NOTHING:
                    return NOTHING
                if piece is not ANY_TEXT:
                    flat[id(piece)] = piece
        if len(flat) < 2:
            return next(iter(flat.values()), ANY_TEXT)
        conditions = tuple(flat.values())
        if any(condition is EMPTY_TEXT for condition in conditions):
            return EMPTY_TEXT if all(map(self.is_nullable, conditions)) else NOTHING
        return self._unique(("intersection", *sorted(map(id, conditions))), Intersection(conditions))

    def complement(self, body: RegexTree) -> RegexTree:
        """Every text that `body` does not match."""
        if body is NOTHING:
            return ANY_TEXT
        if body is ANY_TEXT:
            return NOTHING
        if isinstance(body, Complement):
            return body.body
        return self._unique(("complement", id(body)), Complement(body))

    def is_nullable(self, tree: RegexTree) -> bool:
        """Whether the empty text matches. Linear in what was not asked about before."""

        def combine(part: RegexTree, below: list[bool]) -> bool:
            if isinstance(part, (Concatenation, Intersection)):
                return all(below)
            if isinstance(part, Alternation):
                return any(below)
            if isinstance(part, Repetition):
                return part.minimum == 0 or below[0]
            if isinstance(part, Complement):
                return not below[0]
            return part is EMPTY_TEXT or isinstance(part, Substring)

        return fold_tree(tree, self._nullable, combine)

    def fixed_size(self, tree: RegexTree) -> int | None:
        """How many characters every text has; None if they differ, or if it would take a search to know."""

        def combine(part: RegexTree, below: list[int | None]) -> int | None:
            if isinstance(part, Literal):
                return len(part.data.decode())
            if isinstance(part, CharClass):
                return 1
            known = [size for size in below if size is not None]
            if isinstance(part, Intersection):
                return known[0] if known else None
            if len(known) < len(below) or not known:
                return None
            if isinstance(part, Concatenation):
                return sum(known)
            if isinstance(part, Alternation):
                return known[0] if len(set(known)) == 1 else None
            if isinstance(part, Repetition) and part.minimum == part.maximum:
                return known[0] * part.minimum
            return None

        return fold_tree(tree, self._fixed_size, combine)

    def weight(self, tree: RegexTree) -> int:
        """How many leaves there are, shared ones as often as they occur."""

        def combine(part: RegexTree, below: list[int]) -> int:
            return sum(below) if below else 1

        return fold_tree(tree, self._weight, combine)

    def _unique(self, key: Hashable, tree: RegexTree) -> RegexTree:
        """The first tree of this key. Trees are kept, so the ids in keys stay theirs."""
        return self._known.setdefault(key, tree)


def parts_of(tree: RegexTree) -> tuple[RegexTree, ...]:
    """The trees right below `tree`, in order."""
    if isinstance(tree, (Concatenation, Alternation, Intersection)):
        return tree.parts
    return (tree.body,) if isinstance(tree, (Repetition, Complement)) else ()


def fold_tree(root: RegexTree, known: dict[int, _R], combine: Callable[[RegexTree, list[_R]], _R]) -> _R:
    """The value of a tree from the values of its parts, without recursion.

    known  values by identity, of trees that stay alive; joined by those worked out here
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


def _as_characters(tree: RegexTree) -> tuple[tuple[int, int], ...] | None:
    """The ranges of a tree that matches single characters, else None."""
    if isinstance(tree, CharClass):
        return tree.ranges
    if isinstance(tree, Literal) and 0 < len(tree.data) <= 4:
        text = tree.data.decode()
        if len(text) == 1:
            return ((ord(text), ord(text)),)
    return None
