"""Builds normalised regex trees."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    MAX_COUNT,
    NOTHING,
    Alternation,
    CharClass,
    Concatenation,
    Literal,
    RegexTree,
    Repetition,
    char_class,
)

# Sequences and alternations in others of their kind are spliced in up to this size. A longer one may be shared by many
# trees, and copying it into each would be quadratic.
_MAX_SPLICE = 64


class TreeBuilder:
    """Makes trees in which adjacent literals are one, single characters of an alternation are a class, what matches
    nothing or the empty text is gone where it changes nothing, and equal trees are one object.

    The last holds for trees made by one builder; it makes `is` decide equality without a walk.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, RegexTree] = {}

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
                    literal.append(piece.data)
                    continue
                if literal:
                    flat.append(self.literal(b"".join(literal)))
                    literal = []
                flat.append(piece)
        if literal:
            flat.append(self.literal(b"".join(literal)))
        flat = [piece for piece in flat if piece is not EMPTY_TEXT]
        if len(flat) < 2:
            return flat[0] if flat else EMPTY_TEXT
        return self._unique(("concatenation", *map(id, flat)), Concatenation(tuple(flat)))

    def alternation(self, parts: Iterable[RegexTree]) -> RegexTree:
        """Any of the parts."""
        flat: dict[int, RegexTree] = {}
        characters: list[tuple[int, int]] = []
        for part in parts:
            nested = isinstance(part, Alternation) and len(part.parts) <= _MAX_SPLICE
            for piece in part.parts if nested and isinstance(part, Alternation) else (part,):
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
        return self._unique(("alternation", *map(id, alternatives)), Alternation(alternatives))

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

    def _unique(self, key: Hashable, tree: RegexTree) -> RegexTree:
        """The first tree of this key. Trees are kept, so the ids in keys stay theirs."""
        return self._known.setdefault(key, tree)


def _as_characters(tree: RegexTree) -> tuple[tuple[int, int], ...] | None:
    """The ranges of a tree that matches single characters, else None."""
    if isinstance(tree, CharClass):
        return tree.ranges
    if isinstance(tree, Literal) and 0 < len(tree.data) <= 4:
        text = tree.data.decode()
        if len(text) == 1:
            return ((ord(text), ord(text)),)
    return None
