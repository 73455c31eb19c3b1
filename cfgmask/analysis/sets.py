"""What may come first of a symbol and next after a place in the rules.

A place is one leaf in one alternative. Sets of places are the bits of integers: grammars have hundreds of them, and all
that is done is to unite and to compare.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.reach import reached, union

END = 1
"""The bit for the end of the text; places have the bits from 1."""


class Sets:
    """The places of a grammar, what they may begin with and be followed by.

    first[n]    places that a text of the nonterminal n may begin with
    follow[n]   places that may come after a text of the nonterminal n, and `END`
    following   for each place, those that may come next, and `END`: more than can, where rules are shared by callers
    leaf        for each place, its leaf
    numbers     of the places, by nonterminal, alternative and symbol
    """

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.leaf: list[int] = []
        self._of_leaf: dict[int, int] = {}
        self._after: dict[int, int] = {}
        self._leaves: dict[int, tuple[int, ...]] = {}
        self.numbers: dict[tuple[int, int, int], int] = {}
        for n, nonterminal in enumerate(flat.nonterminals):
            for a, alternative in enumerate(nonterminal.alternatives):
                for i, symbol in enumerate(alternative):
                    if symbol >= 0:
                        self.numbers[n, a, i] = len(self.leaf)
                        self._of_leaf[symbol] = self._of_leaf.get(symbol, 0) | 2 << len(self.leaf)
                        self.leaf.append(symbol)
        self.nullable = _nullable(flat)
        self.first = self._first()
        self._rests = [
            [self._rests_of(n, a) for a in range(len(nonterminal.alternatives))]
            for n, nonterminal in enumerate(flat.nonterminals)
        ]
        self.follow = self._follow()
        self.following = self._following()

    def places(self, members: int) -> Iterator[int]:
        """The numbers of the places in a set."""
        members >>= 1
        while members:
            low = members & -members
            yield low.bit_length() - 1
            members ^= low

    def places_of(self, leaf: int) -> int:
        """The set of all places of a leaf."""
        return self._of_leaf.get(leaf, 0)

    def after(self, members: int) -> int:
        """All that may come after some of these places. Remembered."""
        if members not in self._after:
            self._after[members] = union(map(self.following.__getitem__, self.places(members)))
        return self._after[members]

    def leaves(self, members: int) -> tuple[int, ...]:
        """The different leaves of these places. Remembered."""
        if members not in self._leaves:
            self._leaves[members] = tuple(dict.fromkeys(map(self.leaf.__getitem__, self.places(members))))
        return self._leaves[members]

    def places_in(self, scope: int) -> int:
        """The set of all places of the leaves of a scope."""
        return union(of_leaf for leaf, of_leaf in self._of_leaf.items() if self.flat.leaves[leaf].scope == scope)

    def first_of(self, n: int, a: int, start: int) -> tuple[int, bool]:
        """What an alternative may begin with from one of its symbols on, and whether all of that may be empty."""
        return self._rests[n][a][start]

    def _first(self) -> list[int]:
        own = [0] * len(self.flat.nonterminals)
        begins: list[list[int]] = [[] for _ in own]
        for n, nonterminal in enumerate(self.flat.nonterminals):
            for a, alternative in enumerate(nonterminal.alternatives):
                for i, symbol in enumerate(alternative):
                    if symbol >= 0:
                        own[n] |= 2 << self.numbers[n, a, i]
                        break
                    begins[n].append(~symbol)
                    if ~symbol not in self.nullable:
                        break
        return reached(own, begins)

    def _rests_of(self, n: int, a: int) -> list[tuple[int, bool]]:
        """What `first_of` says of an alternative, from each of its symbols on and from its end."""
        found, empty = 0, True
        rests = [(found, empty)]
        for i, symbol in reversed(list(enumerate(self.flat.nonterminals[n].alternatives[a]))):
            if symbol >= 0:
                found, empty = 2 << self.numbers[n, a, i], False
            elif ~symbol in self.nullable:
                found |= self.first[~symbol]
            else:
                found, empty = self.first[~symbol], False
            rests.append((found, empty))
        return rests[::-1]

    def _follow(self) -> list[int]:
        own = [0] * len(self.flat.nonterminals)
        own[~self.flat.start] = END
        # The nonterminals that others end: what follows those follows these.
        ended: list[list[int]] = [[] for _ in own]
        for n, nonterminal in enumerate(self.flat.nonterminals):
            for alternative, rests in zip(nonterminal.alternatives, self._rests[n], strict=True):
                for symbol, (found, empty) in zip(alternative, rests[1:], strict=True):
                    if symbol < 0:
                        own[~symbol] |= found
                        if empty:
                            ended[~symbol].append(n)
        return reached(own, ended)

    def _following(self) -> list[int]:
        following = [0] * len(self.leaf)
        for (n, a, i), place in self.numbers.items():
            found, empty = self.first_of(n, a, i + 1)
            following[place] = found | (self.follow[n] if empty else 0)
        return following


def _nullable(flat: Flat) -> set[int]:
    found: set[int] = set()
    # Of most nonterminals each alternative has a leaf.
    rest = [
        (n, leafless)
        for n, nonterminal in reversed(list(enumerate(flat.nonterminals)))
        if (leafless := [part for part in nonterminal.alternatives if not part or max(part) < 0])
    ]
    grew = True
    while grew:
        before = len(found)
        for n, leafless in rest:
            if n not in found and any(all(~s in found for s in part) for part in leafless):
                found.add(n)
        grew = len(found) > before
    return found
