"""Regex trees to nodes of the compiled core's `RegexBuilder`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.regex_tree import (
    MAX_COUNT,
    Alternation,
    ByteClass,
    CharClass,
    Complement,
    Concatenation,
    Divisible,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask._core import RegexBuilder

# Front ends make about four levels of tree for one level of nesting; this leaves room for what others put around them.
_HEIGHT_PER_NESTING = 8


class _Known(NamedTuple):
    """A tree with its node. It is kept because its id stays its own only as long as it lives."""

    tree: RegexTree
    node: int
    height: int


class RegexLowering:
    """Lowers trees into one builder. A tree object is lowered once, however often it occurs, in however many trees.

    builder  the core's `RegexBuilder`, or a `GrammarBuilder`
    limits   `max_nesting` bounds how high a tree may be, for the sake of what recurses over nodes later
    """

    def __init__(self, builder: RegexBuilder, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
        self._builder = builder
        self._max_nesting = limits.max_nesting
        self._known: dict[int, _Known] = {}

    def node(self, tree: RegexTree) -> int:
        """The builder's node for `tree`.

        Raises LimitExceeded: max_nesting, and max_regex_nodes from the builder; GrammarError for counts beyond 31 bits.
        Linear in the objects not seen before; no recursion. A first mask waits for this, so it is one plain loop:
        half the time of the general fold over trees.
        """
        known = self._known
        pending = [tree]
        while pending:
            part = pending[-1]
            if id(part) in known:
                pending.pop()
                continue
            inner = _parts(part)
            missing = [p for p in inner if id(p) not in known]
            if missing:
                pending.extend(missing)
                continue
            pending.pop()
            lowered = [known[id(p)] for p in inner]
            height = 1 + max((p.height for p in lowered), default=0)
            if height > self._max_nesting * _HEIGHT_PER_NESTING:
                raise LimitExceeded("max_nesting", self._max_nesting, "in a regex")
            known[id(part)] = _Known(part, self._make(part, [p.node for p in lowered]), height)
        return known[id(tree)].node

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
            if max(tree.minimum, tree.maximum or 0) > MAX_COUNT:
                message = f"a repetition counts beyond {MAX_COUNT}"
                raise GrammarError([Diagnostic("count-too-large", message, help="leave the bound out, or lower it")])
            return builder.repetition(parts[0], tree.minimum, tree.maximum)
        if isinstance(tree, Intersection):
            return builder.intersection(parts)
        if isinstance(tree, Complement):
            return builder.complement(parts[0])
        if isinstance(tree, KeySet):
            return builder.key_set(tree.keys)
        if isinstance(tree, Divisible):
            return builder.divisible(tree.modulus)
        return builder.json_string(parts[0], tree.escapes)


def _parts(tree: RegexTree) -> tuple[RegexTree, ...]:
    if isinstance(tree, (Concatenation, Alternation, Intersection)):
        return tree.parts
    if isinstance(tree, (Repetition, Complement, JsonString)):
        return (tree.body,)
    return ()
