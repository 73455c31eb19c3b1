"""What may come first of a symbol and next after a place in the rules.

A place is one leaf in one alternative. Sets of places are the bits of integers: grammars have hundreds of them, and all
that is done is to unite and to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cfgmask.analysis.flat import Flat

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
        """All that may come after some of these places."""
        found = 0
        for place in self.places(members):
            found |= self.following[place]
        return found

    def first_of(self, n: int, a: int, start: int) -> tuple[int, bool]:
        """What an alternative may begin with from one of its symbols on, and whether all of that may be empty."""
        found = 0
        alternative = self.flat.nonterminals[n].alternatives[a]
        for i in range(start, len(alternative)):
            symbol = alternative[i]
            if symbol >= 0:
                return found | 2 << self.numbers[n, a, i], False
            found |= self.first[~symbol]
            if ~symbol not in self.nullable:
                return found, False
        return found, True

    def _first(self) -> list[int]:
        self.first = [0] * len(self.flat.nonterminals)

        def grow(n: int) -> int:
            found = 0
            for a in range(len(self.flat.nonterminals[n].alternatives)):
                found |= self.first_of(n, a, 0)[0]
            return found

        _least(self.first, grow)
        return self.first

    def _following(self) -> list[int]:
        follow = self.follow = [0] * len(self.flat.nonterminals)
        follow[~self.flat.start] = END
        # The nonterminals that end others: what follows those follows these.
        ends: list[list[int]] = [[] for _ in follow]
        for n, nonterminal in enumerate(self.flat.nonterminals):
            for a, alternative in enumerate(nonterminal.alternatives):
                for i, symbol in enumerate(alternative):
                    if symbol < 0:
                        found, empty = self.first_of(n, a, i + 1)
                        follow[~symbol] |= found
                        if empty:
                            ends[~symbol].append(n)
        _least(follow, lambda n: union(follow[m] for m in ends[n]))
        following = [0] * len(self.leaf)
        for (n, a, i), place in self.numbers.items():
            found, empty = self.first_of(n, a, i + 1)
            following[place] = found | (follow[n] if empty else 0)
        return following


def _nullable(flat: Flat) -> set[int]:
    found: set[int] = set()
    grew = True
    while grew:
        before = len(found)
        for n, nonterminal in reversed(list(enumerate(flat.nonterminals))):
            if n not in found and any(all(~s in found for s in part) for part in nonterminal.alternatives):
                found.add(n)
        grew = len(found) > before
    return found


def union(sets: Iterable[int]) -> int:
    """All members of some sets."""
    found = 0
    for members in sets:
        found |= members
    return found


def _least(values: list[int], grow: Callable[[int], int]) -> None:
    """The least fixpoint above `values`. Front ends name callers first, so rounds go from both ends in turn."""
    order = list(range(len(values)))
    changed = True
    while changed:
        changed = False
        order.reverse()
        for n in order:
            found = values[n] | grow(n)
            if found != values[n]:
                values[n], changed = found, True
