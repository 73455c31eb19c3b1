"""A shortest text that the grammar seems to take and behind which no way leads to the end."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from cfgmask.analysis.flat import ALL_BYTES
from cfgmask.analysis.lexing import Lexing, TooLarge
from cfgmask.analysis.reach import union
from cfgmask.analysis.sets import END

_MAX_NODES = 200_000


@dataclass(frozen=True)
class DeadText:
    """A text that leads to no end, and the leaves that are live behind it."""

    text: bytes
    live: frozenset[int]


def dead_text(lexing: Lexing) -> DeadText | None:
    """A shortest text that leads to where no end is reached, as far as contexts tell; None if there is none.

    Raises TooLarge. Linear in the states of all contexts.
    """
    graph = _Graph(lexing)
    alive = _backwards({node: [to for _, to in moves] for node, moves in graph.steps.items()}, graph.accepting)
    found = _path_to_dead(graph.steps, alive)
    return None if found is None else DeadText(found[1], graph.live(found[0]))


_Steps = dict[int, list[tuple[int, int]]]
"""Of each node the bytes to a next one; none for a token that is matched by its id."""


class _Graph:
    """Every state of the lexer in every context: the boundary of a context, then the states of its groups.

    accepting  nodes where the text may end
    """

    def __init__(self, lexing: Lexing) -> None:
        """Raises TooLarge."""
        self._contexts = lexing.contexts
        self._offsets: list[int] = []
        n_nodes = 0
        for context in lexing.contexts:
            self._offsets.append(n_nodes)
            n_nodes += 1 + sum(group.lexemes.n_states - 1 for group in context.groups)
        if n_nodes > _MAX_NODES:
            raise TooLarge
        groups = dict.fromkeys(group for context in lexing.contexts for group in context.groups)
        self._automata = {group: group.lexemes.automaton() for group in groups}
        self.steps: _Steps = {}
        self.accepting: set[int] = set()
        for number in range(len(lexing.contexts)):
            self._add(number)

    def live(self, node: int) -> frozenset[int]:
        """The leaves that are live at a node."""
        number = bisect_right(self._offsets, node) - 1
        state = node - self._offsets[number]
        if not state:
            return frozenset(leaf for group in self._contexts[number].groups for leaf in group.leaves)
        for group in self._contexts[number].groups:
            if state < group.lexemes.n_states:
                live = self._automata[group][state][0]
                return frozenset(group.leaves[element] for element in live if element < len(group.leaves))
            state -= group.lexemes.n_states - 1
        raise ValueError("no such node")

    def _add(self, number: int) -> None:
        context, boundary = self._contexts[number], self._offsets[number]
        self.steps[boundary] = self._begin(number)
        if context.live & END:
            self.accepting.add(boundary)
        offset = boundary
        for group, after in zip(context.groups, context.after, strict=True):
            behind = dict(zip(map(tuple, group.lexemes.matched_sets), after, strict=True))
            for q, (_, matched, moves) in enumerate(self._automata[group][1:], start=1):
                steps = self.steps[offset + q] = [(bits, offset + target) for bits, target in moves]
                if matched:
                    next_one = behind[tuple(matched)]
                    free = ~union(bits for bits, _ in moves)
                    steps += [(bits & free, to) for bits, to in self._begin(next_one) if bits & free or not bits]
                    if self._contexts[next_one].live & END:
                        self.accepting.add(offset + q)
            offset += group.lexemes.n_states - 1

    def _begin(self, number: int) -> list[tuple[int, int]]:
        """The steps from the boundary of a context."""
        offset = self._offsets[number]
        steps = [(0, self._offsets[after]) for after in self._contexts[number].by_token]
        for group in self._contexts[number].groups:
            steps += [(bits, offset + target) for bits, target in self._automata[group][0][2]]
            offset += group.lexemes.n_states - 1
        return steps


def _backwards(moves: dict[int, list[int]], good: set[int]) -> set[int]:
    """The nodes from which one of `good` can be reached."""
    before: dict[int, list[int]] = {}
    for node, targets in moves.items():
        for target in targets:
            before.setdefault(target, []).append(node)
    reached = set(good)
    pending = list(good)
    while pending:
        for node in before.get(pending.pop(), ()):
            if node not in reached:
                reached.add(node)
                pending.append(node)
    return reached


def _path_to_dead(steps: _Steps, alive: set[int]) -> tuple[int, bytes] | None:
    """A dead node and a text that leads there: breadth first, by bytes alone, since a text must be spelled."""
    texts = {0: b""}
    pending = [0]
    for node in pending:
        if node not in alive:
            return node, texts[node]
        for bits, target in steps[node]:
            if bits and target not in texts:
                texts[target] = texts[node] + bytes([_nice(bits)])
                pending.append(target)
    return None


def _nice(bits: int) -> int:
    """A byte of the set, a letter or a digit if there is one."""
    for preferred in (_LETTERS, _DIGITS, _PRINTABLE, ALL_BYTES):
        if bits & preferred:
            chosen = bits & preferred
            return (chosen & -chosen).bit_length() - 1
    raise ValueError("no byte")


_LETTERS = sum(1 << b for b in b"abcdefghijklmnopqrstuvwxyz")
_DIGITS = sum(1 << b for b in b"0123456789")
_PRINTABLE = sum(1 << b for b in range(32, 127))
