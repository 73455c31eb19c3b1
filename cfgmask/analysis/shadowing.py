"""Terminals that the longest match never hands to the parser, because others take their place.

A terminal is shadowed at a place where, for each text that it matches, another terminal that is live wherever it is
either matches too and has a higher priority, or takes every byte that could come next. Others are counted only if they
are live for certain, and what could come next is counted rather twice than not at all, so what is found here is so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import END, Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.diagnostics import Diagnostic, Fix, Related, Span
from cfgmask.grammar.ir import Terminal
from cfgmask.regex.algebra import Automaton

_MAX_STATES = 5_000


def shadowed_terminals(flat: Flat, sets: Sets, shortest: Shortest) -> Iterator[Diagnostic]:
    """A warning for each terminal that is shadowed at all of its places, in lexer mode longest."""
    if flat.ir.lexer == "complete":
        return
    shadows = _Shadows(flat, sets, shortest)
    for number, leaf in enumerate(flat.leaves):
        if isinstance(leaf.symbol, Terminal) and sets.places_of(number) and number not in flat.empty_leaves:
            found = shadows.everywhere(number)
            if found is None:
                continue
            reason, by = found
            span = flat.leaves[by].symbol.span
            yield Diagnostic(
                "grammar-shadowed-terminal",
                f"the terminal {leaf.shown} is never chosen: {flat.leaves[by].shown} {_REASONS[reason]}",
                leaf.symbol.span,
                severity="warning",
                related=() if span is None else (Related(span, f"{flat.leaves[by].shown} is defined here"),),
                help=_HELP[reason],
                fix=_with_priority_of(flat, number, by) if shadows.is_free_with_priority_of(number, by) else None,
            )


_REASONS = {
    "priority": "matches the same texts and has a higher priority",
    "longest": "takes every byte that could come behind it",
}
_HELP = {
    "priority": "give it the same priority, or take its texts out of the other (`OTHER & ~THIS`)",
    "longest": "let something stand between it and what follows, or choose lexer: complete",
}


def _with_priority_of(flat: Flat, leaf: int, other: int) -> Fix | None:
    """`NAME: ...` as `NAME.2: ...`, where the other terminal is `OTHER.2`; or else the other as `OTHER: ...`."""
    symbol, by = flat.leaves[leaf].symbol, flat.leaves[other].symbol
    assert isinstance(symbol, Terminal)
    assert isinstance(by, Terminal)
    for changed, priority in ((symbol, by.priority), (by, symbol.priority)):
        span = changed.span
        # What stands in a rule has no priority of its own.
        if span is not None and span.text == changed.name and (head := _HEAD.match(span.source.text, span.end)):
            return Fix(Span(span.source, span.end, head.end()), f".{priority}:" if priority else ":")
    return None


_HEAD = re.compile(r"(?:\.-?[0-9]+)?[ \t]*:")


class _Shadows:
    def __init__(self, flat: Flat, sets: Sets, shortest: Shortest) -> None:
        self._flat = flat
        self._sets = sets
        self._shortest = shortest
        self._certain = _certainly_live(flat, sets)
        self._automata: dict[tuple[int, ...], Automaton | None] = {}
        self._assumed: dict[int, int] = {}

    def everywhere(self, leaf: int) -> tuple[str, int] | None:
        """Why and by which terminal the first place of a leaf is shadowed; None if one of them is not."""
        first: tuple[str, int] | None = None
        for place in self._sets.places(self._sets.places_of(leaf)):
            found = self._of(place)
            if found is None:
                return None
            first = first or found
        return first

    def is_free_with_priority_of(self, leaf: int, other: int) -> bool:
        """Whether a leaf is not shadowed at all of its places if it has the priority of another one."""
        self._assumed = {leaf: self._priority(other)}
        found = self.everywhere(leaf)
        self._assumed = {}
        return found is None

    def _of(self, place: int) -> tuple[str, int] | None:
        """Why and by which terminal a place is shadowed; None if it is not, or if that is too hard to tell."""
        leaf = self._sets.leaf[place]
        if not self._is_plain(leaf):
            return None
        own = self._flat.first_bytes(leaf)
        others = sorted(
            other
            for other in self._sets.leaves(self._certain[place])
            if other != leaf and self._flat.first_bytes(other) & own and self._is_plain(other)
        )
        if not others:
            return None
        after = self._bytes_after(self._sets.following[place])
        others = [other for other in others if after is not None or self._priority(other) > self._priority(leaf)]
        automaton = self._automaton(leaf, *others) if self._may_be_shadowed(leaf, others, after) else None
        if automaton is None:
            return None
        reason: tuple[str, int] | None = None
        for _, matched, moves in automaton:
            if 0 in matched:
                found = self._higher(leaf, matched, others) or self._longer(moves, automaton, others, after)
                if found is None:
                    return None
                reason = reason or found
        return reason

    def _may_be_shadowed(self, leaf: int, others: list[int], after: int | None) -> bool:
        """Whether others take the place of the shortest text of a leaf, as far as two bytes behind it can tell."""
        algebra, shortest = self._flat.algebra, self._shortest.leaf(leaf)
        assert isinstance(shortest, bytes)
        alike = [
            (other, symbol.regex)
            for other in others
            if isinstance(symbol := self._symbol(other), Terminal) and algebra.is_prefix(symbol.regex, shortest)
        ]
        if any(
            self._priority(other) > self._priority(leaf) and algebra.matches(tree, shortest) for other, tree in alike
        ):
            return True
        return bool(after) and all(
            any(algebra.is_prefix(tree, shortest + bytes([byte])) for _, tree in alike)
            for byte in _outermost(after or 0)
        )

    def _higher(self, leaf: int, matched: list[int], others: list[int]) -> tuple[str, int] | None:
        for element in matched[1:]:
            if self._priority(others[element - 1]) > self._priority(leaf):
                return "priority", others[element - 1]
        return None

    def _longer(
        self, moves: list[tuple[int, int]], automaton: Automaton, others: list[int], after: int | None
    ) -> tuple[str, int] | None:
        if after is None:
            return None
        by = None
        for bits, target in moves:
            taking = [element for element in automaton[target][0] if element]
            if taking and bits & after:
                after &= ~bits
                by = others[taking[0] - 1]
        return None if after or by is None else ("longest", by)

    def _bytes_after(self, following: int) -> int | None:
        """The bytes that may come behind a place; None where something else may: the end, or a token by its id."""
        if following & END:
            return None
        found = 0
        scopes = set()
        for leaf in self._sets.leaves(following):
            if not isinstance(self._symbol(leaf), Terminal):
                return None
            found |= self._flat.first_bytes(leaf)
            scopes.add(self._flat.leaves[leaf].scope)
        for scope in scopes:
            for ignored in self._flat.ir.scopes[scope].ignore:
                found |= self._flat.algebra.first(ignored.regex)
        return found

    def _automaton(self, *leaves: int) -> Automaton | None:
        if leaves not in self._automata:
            trees = [symbol.regex for leaf in leaves if isinstance(symbol := self._symbol(leaf), Terminal)]
            self._automata[leaves] = self._flat.algebra.automaton(trees, _MAX_STATES)
        return self._automata[leaves]

    def _symbol(self, leaf: int) -> object:
        return self._flat.leaves[leaf].symbol

    def _is_plain(self, leaf: int) -> bool:
        """Whether it is a terminal that ends where the longest match does."""
        symbol = self._symbol(leaf)
        return isinstance(symbol, Terminal) and not symbol.lazy

    def _priority(self, leaf: int) -> int:
        if leaf in self._assumed:
            return self._assumed[leaf]
        symbol = self._symbol(leaf)
        return symbol.priority if isinstance(symbol, Terminal) else 0


def _outermost(members: int) -> tuple[int, int]:
    """The least and the greatest byte of a set."""
    return (members & -members).bit_length() - 1, members.bit_length() - 1


def _certainly_live(flat: Flat, sets: Sets) -> list[int]:
    """For each place, places that are live wherever it is.

    A place that begins an alternative is live where its nonterminal was predicted, and with that all that may come
    first of it, or of what is left of every alternative in which it is called.
    """
    everything = (2 << len(sets.leaf)) - 1
    # The calls in the middle of alternatives say at once what is live there; those at their beginnings ask on.
    predicted = [everything] * len(flat.nonterminals)
    predicted[~flat.start] = sets.first[~flat.start]
    callers: list[set[int]] = [set() for _ in flat.nonterminals]
    for m, nonterminal in enumerate(flat.nonterminals):
        for a, alternative in enumerate(nonterminal.alternatives):
            for i, symbol in enumerate(alternative):
                if symbol < 0 and i:
                    predicted[~symbol] &= sets.first_of(m, a, i)[0] | sets.first[~symbol]
                elif symbol < 0:
                    callers[~symbol].add(m)
    changed = True
    while changed:
        changed = False
        for n, heads in enumerate(callers):
            common = predicted[n]
            for m in heads:
                common &= predicted[m] | sets.first[n]
            if common != predicted[n]:
                predicted[n], changed = common, True
    return [predicted[n] if i == 0 else sets.first_of(n, a, i)[0] for n, a, i in sets.numbers]
