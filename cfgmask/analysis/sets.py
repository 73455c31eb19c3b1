"""What may come first of a symbol and next after a place in the rules.

A place is one leaf in one alternative. Sets of places are the bits of integers: grammars have hundreds of them, and all
that is done is to unite and to compare.
"""

from __future__ import annotations

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
    numbers     for each place, its nonterminal, alternative and symbol; in this order they are numbered
    bits        for each symbol of each alternative of each nonterminal, the set of its place; 0 for a nonterminal
    leafless    for each nonterminal, those of its alternatives that have no leaf
    """

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self.leaf: list[int] = []
        self._of_leaf: dict[int, int] = {}
        self._after: dict[int, int] = {}
        self._leaves: dict[int, tuple[int, ...]] = {}
        self.numbers: list[tuple[int, int, int]] = []
        self.leafless: list[list[tuple[int, ...]]] = [[] for _ in flat.nonterminals]
        self.bits = [
            [self._enter(n, a, alternative) for a, alternative in enumerate(nonterminal.alternatives)]
            for n, nonterminal in enumerate(flat.nonterminals)
        ]
        self.nullable = _nullable(self.leafless)
        self.first = self._first()
        self._rests: list[list[list[tuple[int, bool]]]] = []
        self.follow = self._follow()
        self.following = [
            found | self.follow[n] if empty else found
            for (n, a, i) in self.numbers
            for found, empty in (self._rests[n][a][i + 1],)
        ]

    def _enter(self, n: int, a: int, alternative: tuple[int, ...]) -> list[int]:
        if not alternative or max(alternative) < 0:
            self.leafless[n].append(alternative)
            return [0] * len(alternative)
        bits = []
        for i, symbol in enumerate(alternative):
            if symbol < 0:
                bits.append(0)
                continue
            bit = 2 << len(self.leaf)
            bits.append(bit)
            self.leaf.append(symbol)
            self.numbers.append((n, a, i))
            self._of_leaf[symbol] = self._of_leaf.get(symbol, 0) | bit
        return bits

    def places(self, members: int) -> list[int]:
        """The numbers of the places in a set, in order."""
        members >>= 1
        found = []
        # From the last one on, since what is left is then a shorter number each time.
        while members:
            place = members.bit_length() - 1
            found.append(place)
            members ^= 1 << place
        found.reverse()
        return found

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
            for alternative, bits in zip(nonterminal.alternatives, self.bits[n], strict=True):
                for symbol, bit in zip(alternative, bits, strict=True):
                    if bit:
                        own[n] |= bit
                        break
                    begins[n].append(~symbol)
                    if ~symbol not in self.nullable:
                        break
        return reached(own, begins)

    def _follow(self) -> list[int]:
        """Also what `first_of` says of each alternative, from each of its symbols on and from its end."""
        first, nullable = self.first, self.nullable
        own = [0] * len(first)
        own[~self.flat.start] = END
        # The nonterminals that others end: what follows those follows these.
        ended: list[list[int]] = [[] for _ in own]
        for n, nonterminal in enumerate(self.flat.nonterminals):
            of_alternatives = []
            for alternative, bits in zip(nonterminal.alternatives, self.bits[n], strict=True):
                if not alternative:
                    of_alternatives.append(_NOTHING)
                    continue
                found, empty = 0, True
                rests = [(found, empty)]
                for symbol, bit in zip(reversed(alternative), reversed(bits), strict=True):
                    if bit:
                        found, empty = bit, False
                    else:
                        own[~symbol] |= found
                        if empty:
                            ended[~symbol].append(n)
                        if ~symbol in nullable:
                            found |= first[~symbol]
                        else:
                            found, empty = first[~symbol], False
                    rests.append((found, empty))
                rests.reverse()
                of_alternatives.append(rests)
            self._rests.append(of_alternatives)
        return reached(own, ended)


_NOTHING = [(0, True)]
"""What is left of an alternative at its end."""


def _nullable(leafless: list[list[tuple[int, ...]]]) -> set[int]:
    # Most that are nullable have an empty alternative.
    found = {n for n, alternatives in enumerate(leafless) if () in alternatives}
    rest = [(n, alternatives) for n, alternatives in enumerate(leafless) if alternatives and n not in found][::-1]
    grew = True
    while grew:
        before = len(found)
        for n, alternatives in rest:
            if n not in found and any(all(~s in found for s in alternative) for alternative in alternatives):
                found.add(n)
        grew = len(found) > before
    return found
