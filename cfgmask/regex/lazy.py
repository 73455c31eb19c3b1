"""Lazy repetitions of lexemes: they end where what follows them in the pattern can match for the first time.

`X*?R`, where R is all of the pattern behind the repetition, becomes `(?:(?!R)X)*R`: before each round that the counts
do not demand, the rest fails. A backtracking engine that looks for its first match ends such a repetition at the same
place, if the texts of a round are told apart by their length. Where nothing follows, no more rounds are taken than must
be. Whether R matches does not depend on which of its own repetitions are lazy, so inside of `(?!R)` they need not be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Atomic, Choice, Group, Lookaround, Node, Repeat, Sequence, children, fold

# How many nodes the guards of one pattern may come to; each lazy repetition repeats what follows it, which is something
# for each but one.
_MAX_NODES = 20_000
MAX_LAZY = _MAX_NODES


@dataclass(frozen=True, eq=False)
class _Rest:
    """What follows a node: a node, and what follows that; `size` is that of all of it, in nodes."""

    node: Node
    behind: _Rest | None
    size: int

    @property
    def nodes(self) -> tuple[Node, ...]:
        rest: _Rest | None = self
        found: list[Node] = []
        while rest is not None:
            found.append(rest.node)
            rest = rest.behind
        return tuple(found)


def walk(root: Node) -> Iterator[Node]:
    """All nodes that a match goes through; lookaround is left out, whose outcome no repetition in it decides."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Lookaround):
            pending.extend(children(node))


def is_lazy(root: Node) -> bool:
    """Whether the pattern has a lazy repetition that leaves it a choice."""
    return any(_is_lazy(node) for node in walk(root))


def without_lazy(root: Node, problems: Problems) -> Node:
    """The same texts without lazy repetitions, as lookahead says them. Reports what cannot be said.

    Quadratic in the number of lazy repetitions.
    """
    n_lazy = sum(map(_is_lazy, walk(root)))
    if not n_lazy:
        return root
    rests = _rests(root, problems) if n_lazy <= MAX_LAZY else None
    if rests is None or sum(rest.size for rest in rests.values() if rest is not None) > _MAX_NODES:
        report_too_many(root.start, root.end, problems)
        return root

    def combine(node: Node, parts: list[Node]) -> Node:
        if isinstance(node, (Sequence, Choice)):
            return replace(node, parts=tuple(parts))
        if isinstance(node, Repeat) and id(node) in rests:
            return _guarded(replace(node, body=parts[0]), rests[id(node)])
        if isinstance(node, (Group, Atomic, Repeat)):
            return replace(node, body=parts[0])
        return node

    return fold(root, _matched, combine)


def report_too_many(start: int, end: int, problems: Problems) -> None:
    """Say of what is between two offsets that it has more lazy repetitions than can be said by lookahead."""
    message, help = "the lazy repetitions here are too many", "write what a repetition may hold as a class"
    problems.report("lazy-too-many", start, end, message, help)


def _matched(node: Node) -> tuple[Node, ...]:
    return () if isinstance(node, Lookaround) else children(node)


def _is_lazy(node: Node) -> bool:
    return isinstance(node, Repeat) and node.mode == "lazy" and node.minimum != node.maximum


def _rests(root: Node, problems: Problems) -> dict[int, _Rest | None]:
    """What follows each lazy repetition, up to the end of the pattern."""
    sizes = _sizes(root)
    found: dict[int, _Rest | None] = {}
    pending: list[tuple[Node, _Rest | None]] = [(root, None)]
    while pending:
        node, rest = pending.pop()
        if _is_lazy(node):
            found[id(node)] = rest
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                pending.append((part, rest))
                rest = _before(part, rest, sizes[id(part)])
        elif isinstance(node, Repeat):
            pending.append((node.body, _after_round(node, rest, sizes[id(node)], problems)))
        else:
            pending.extend((part, rest) for part in _matched(node))
    return found


def _before(node: Node, rest: _Rest | None, size: int) -> _Rest:
    return _Rest(node, rest, size if rest is None else size + rest.size)


def _after_round(node: Repeat, rest: _Rest | None, size: int, problems: Problems) -> _Rest | None:
    """What follows a round of a repetition."""
    if node.maximum == 1:
        return rest
    if (node.minimum > 1 or node.maximum is not None) and is_lazy(node.body):
        problems.report(
            "lazy-in-count",
            node.start,
            node.end,
            "a lazy repetition inside of a counted one is not supported",
            "write the rounds one by one, or use `*` or `+`",
        )
    return _before(replace(node, minimum=0, maximum=None, mode="greedy"), rest, size)


def _guarded(node: Repeat, rest: _Rest | None) -> Node:
    """A lazy repetition as rounds that must be, and rounds before which the rest fails."""
    start, end = node.start, node.end
    must = replace(node, maximum=node.minimum, mode="greedy")
    if rest is None:
        return must
    guard = Lookaround(start, end, Sequence(start, end, rest.nodes), behind=False, negated=True, is_guard=True)
    more = None if node.maximum is None else node.maximum - node.minimum
    rounds = Repeat(start, end, Sequence(start, end, (guard, node.body)), 0, more, "greedy")
    return Sequence(start, end, (must, rounds) if node.minimum else (rounds,))


def _sizes(root: Node) -> dict[int, int]:
    """How many nodes each node comes to, by its identity."""
    sizes: dict[int, int] = {}

    def combine(node: Node, below: list[int]) -> int:
        sizes[id(node)] = 1 + sum(below)
        return sizes[id(node)]

    fold(root, children, combine)
    return sizes
