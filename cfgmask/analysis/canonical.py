"""One way to the end from every place: what comes next if every rule is finished as shortly as can be."""

from __future__ import annotations

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.reach import reached
from cfgmask.analysis.sets import END, Sets
from cfgmask.analysis.shortest import Shortest


class Canonical:
    """following  for each place, what comes next on the way, one place for each caller that may wait; never `END`,
    which asks nothing of what comes before it
    """

    def __init__(self, flat: Flat, sets: Sets, shortest: Shortest) -> None:
        self._flat = flat
        self._sets = sets
        self._choices = [
            nonterminal.alternatives.index(shortest.choices[n]) if n in shortest.choices else -1
            for n, nonterminal in enumerate(flat.nonterminals)
        ]
        self._first: dict[int, int] = {}
        next_ones, follow = self._next_and_follow()
        self.following = [(found or follow[n]) & ~END for (n, _, _), found in zip(sets.numbers, next_ones, strict=True)]

    def _first_of(self, n: int) -> int:
        """The first place of the shortest text of a nonterminal that is not nullable."""
        path = []
        while n not in self._first:
            path.append(n)
            a = self._choices[n]
            if a < 0:
                return 0
            alternative = self._flat.nonterminals[n].alternatives[a]
            for symbol, bit in zip(alternative, self._sets.bits[n][a], strict=True):
                if bit:
                    self._first[n] = bit
                    break
                if ~symbol not in self._sets.nullable:
                    n = ~symbol
                    break
        for caller in path:
            self._first[caller] = self._first[n]
        return self._first[n]

    def _next_and_follow(self) -> tuple[list[int], list[int]]:
        """For each place the first one of what is left of its alternative, 0 where all of that may be empty; and for
        each nonterminal what comes behind it.
        """
        own = [0] * len(self._flat.nonterminals)
        own[~self._flat.start] = END
        ended: list[list[int]] = [[] for _ in own]
        next_ones: list[int] = []
        for n, nonterminal in enumerate(self._flat.nonterminals):
            for alternative, bits in zip(nonterminal.alternatives, self._sets.bits[n], strict=True):
                found = 0
                n_before = len(next_ones)
                for symbol, bit in zip(reversed(alternative), reversed(bits), strict=True):
                    if bit:
                        next_ones.append(found)
                        found = bit
                        continue
                    own[~symbol] |= found
                    if not found:
                        ended[~symbol].append(n)
                    if ~symbol not in self._sets.nullable:
                        found = self._first_of(~symbol)
                next_ones[n_before:] = reversed(next_ones[n_before:])
        return next_ones, reached(own, ended)
