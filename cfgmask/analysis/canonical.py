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
        follow = self._follow()
        self.following = [0] * len(sets.leaf)
        for (n, a, i), place in sets.numbers.items():
            self.following[place] = (self._next(n, a, i + 1) or follow[n]) & ~END

    def _next(self, n: int, a: int, start: int) -> int:
        """The first place of what is left of an alternative; 0 where all of it may be empty."""
        alternative = self._flat.nonterminals[n].alternatives[a]
        for i in range(start, len(alternative)):
            symbol = alternative[i]
            if symbol >= 0:
                return 2 << self._sets.numbers[n, a, i]
            if ~symbol not in self._sets.nullable:
                return self._first_of(~symbol)
        return 0

    def _first_of(self, n: int) -> int:
        """The first place of the shortest text of a nonterminal that is not nullable."""
        path = []
        while n not in self._first:
            path.append(n)
            a = self._choices[n]
            if a < 0:
                return 0
            for i, symbol in enumerate(self._flat.nonterminals[n].alternatives[a]):
                if symbol >= 0:
                    self._first[n] = 2 << self._sets.numbers[n, a, i]
                    break
                if ~symbol not in self._sets.nullable:
                    n = ~symbol
                    break
        for caller in path:
            self._first[caller] = self._first[n]
        return self._first[n]

    def _follow(self) -> list[int]:
        own = [0] * len(self._flat.nonterminals)
        own[~self._flat.start] = END
        ended: list[list[int]] = [[] for _ in own]
        for n, nonterminal in enumerate(self._flat.nonterminals):
            for a, alternative in enumerate(nonterminal.alternatives):
                for i, symbol in enumerate(alternative):
                    if symbol < 0:
                        found = self._next(n, a, i + 1)
                        own[~symbol] |= found
                        if not found:
                            ended[~symbol].append(n)
        return reached(own, ended)
