"""Regex trees to nodes of the compiled core's `RegexBuilder`."""

from __future__ import annotations

from typing import Protocol

from cfgmask.grammar.regex_tree import (
    Alternation,
    ByteClass,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.regex.syntax import fold


class NodeBuilder(Protocol):
    """The part of the core's `RegexBuilder` that makes nodes; see `_core.pyi`."""

    def literal(self, data: bytes, /) -> int: ...
    def char_class(self, ranges: tuple[tuple[int, int], ...], /) -> int: ...
    def byte_class(self, ranges: tuple[tuple[int, int], ...], /) -> int: ...
    def concatenation(self, parts: list[int], /) -> int: ...
    def alternation(self, parts: list[int], /) -> int: ...
    def repetition(self, body: int, minimum: int, maximum: int | None, /) -> int: ...
    def intersection(self, parts: list[int], /) -> int: ...
    def complement(self, body: int, /) -> int: ...
    def key_set(self, keys: tuple[bytes, ...], /) -> int: ...
    def json_string(self, body: int, escapes: str, /) -> int: ...


class RegexLowering:
    """Lowers trees into one builder. A tree object is lowered once, however often it occurs, in however many trees."""

    def __init__(self, builder: NodeBuilder) -> None:
        self._builder = builder
        # Trees are kept beside their nodes: an id stays that of one object only as long as the object lives.
        self._known: dict[int, tuple[RegexTree, int]] = {}

    def node(self, tree: RegexTree) -> int:
        """The builder's node for `tree`.

        Raises LimitExceeded (max_regex_nodes), from the builder. Linear in the objects not seen before; any depth.
        """
        return fold(tree, self._unknown_parts, self._lower)

    def _unknown_parts(self, tree: RegexTree) -> tuple[RegexTree, ...]:
        return () if id(tree) in self._known else _parts(tree)

    def _lower(self, tree: RegexTree, _: list[int]) -> int:
        if id(tree) not in self._known:
            self._known[id(tree)] = tree, self._make(tree, [self._known[id(part)][1] for part in _parts(tree)])
        return self._known[id(tree)][1]

    def _make(self, tree: RegexTree, parts: list[int]) -> int:
        builder = self._builder
        if isinstance(tree, Literal):
            return builder.literal(tree.data)
        if isinstance(tree, CharClass):
            return builder.char_class(tree.ranges)
        if isinstance(tree, ByteClass):
            return builder.byte_class(tree.ranges)
        if isinstance(tree, Concatenation):
            return builder.concatenation(parts)
        if isinstance(tree, Alternation):
            return builder.alternation(parts)
        if isinstance(tree, Repetition):
            return builder.repetition(parts[0], tree.minimum, tree.maximum)
        if isinstance(tree, Intersection):
            return builder.intersection(parts)
        if isinstance(tree, Complement):
            return builder.complement(parts[0])
        if isinstance(tree, KeySet):
            return builder.key_set(tree.keys)
        return builder.json_string(parts[0], tree.escapes)


def _parts(tree: RegexTree) -> tuple[RegexTree, ...]:
    if isinstance(tree, (Concatenation, Alternation, Intersection)):
        return tree.parts
    if isinstance(tree, (Repetition, Complement, JsonString)):
        return (tree.body,)
    return ()
