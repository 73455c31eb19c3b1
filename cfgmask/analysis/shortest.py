"""Shortest derivations (Knuth 1977): of each nonterminal, and of each that is not empty."""

from __future__ import annotations

import heapq

from cfgmask.analysis.flat import Flat
from cfgmask.grammar.ir import Terminal, TokenSet
from cfgmask.grammar.regex_tree import Literal

Piece = bytes | TokenSet
"""One lexeme of a text, or a token that is matched by its id."""


class Shortest:
    """Sizes in bytes; a token that is matched by its id counts as one. What derives nothing has no size."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._texts: dict[int, Piece] = {}
        self._leaf_sizes = [self._leaf_size(leaf) for leaf in range(len(flat.leaves))]
        self.sizes: dict[int, int] = {}
        self.choices: dict[int, tuple[int, ...]] = {}
        self._solve()
        self._visible: dict[int, tuple[int, tuple[int, ...], int]] = {}
        self._solve_visible()

    def leaf(self, leaf: int) -> Piece:
        """A shortest lexeme that is not empty."""
        if leaf not in self._texts:
            symbol = self._flat.leaves[leaf].symbol
            if isinstance(symbol, TokenSet):
                self._texts[leaf] = symbol
            elif isinstance(symbol.regex, Literal):
                self._texts[leaf] = symbol.regex.data
            else:
                self._texts[leaf] = self._flat.algebra.shortest_visible(symbol.regex) or b""
        return self._texts[leaf]

    def size(self, symbol: int) -> int | None:
        """The size of a shortest text of a symbol; None if there is none."""
        return self._leaf_sizes[symbol] if symbol >= 0 else self.sizes.get(~symbol)

    def total_size(self, symbols: tuple[int, ...]) -> int | None:
        """The size of a shortest text of symbols one after the other; None if there is none."""
        sizes = [size for size in map(self.size, symbols) if size is not None]
        return sum(sizes) if len(sizes) == len(symbols) else None

    def visible_size(self, symbol: int) -> int | None:
        """The size of a shortest text that is not empty; None if there is none."""
        if symbol >= 0:
            return self._leaf_sizes[symbol]
        return self._visible[~symbol][0] if ~symbol in self._visible else None

    def derive(self, symbol: int) -> list[Piece]:
        """The pieces of a shortest text of a symbol."""
        return self._expand([symbol])

    def derive_visible(self, symbol: int) -> list[Piece] | None:
        """The pieces of a shortest text that is not empty; None if there is none."""
        before: list[int] = []
        after: list[int] = []
        while symbol < 0:
            if ~symbol not in self._visible:
                return None
            _, alternative, chosen = self._visible[~symbol]
            before += alternative[:chosen]
            after += reversed(alternative[chosen + 1 :])
            symbol = alternative[chosen]
        return self._expand([*before, symbol, *reversed(after)])

    def _expand(self, symbols: list[int]) -> list[Piece]:
        pieces: list[Piece] = []
        pending = symbols[::-1]
        while pending:
            symbol = pending.pop()
            if symbol >= 0:
                pieces.append(self.leaf(symbol))
            else:
                pending += reversed(self.choices[~symbol])
        return pieces

    def _leaf_size(self, leaf: int) -> int:
        symbol = self._flat.leaves[leaf].symbol
        if leaf in self._flat.empty_leaves or not isinstance(symbol, Terminal):
            return 1
        piece = self.leaf(leaf)
        assert isinstance(piece, bytes)
        return len(piece)

    def _solve(self) -> None:
        """Dijkstra's algorithm over alternatives: each is looked at once all of its nonterminals are known."""
        missing: dict[tuple[int, int], int] = {}
        users: dict[int, list[tuple[int, int]]] = {}
        queue: list[tuple[int, int, int]] = []
        for n, nonterminal in enumerate(self._flat.nonterminals):
            for a, alternative in enumerate(nonterminal.alternatives):
                inner = {symbol for symbol in alternative if symbol < 0}
                missing[n, a] = len(inner)
                for symbol in inner:
                    users.setdefault(~symbol, []).append((n, a))
                if not inner:
                    heapq.heappush(queue, (self._total(alternative), n, a))
        while queue:
            size, n, a = heapq.heappop(queue)
            if n in self.sizes:
                continue
            self.sizes[n], self.choices[n] = size, self._flat.nonterminals[n].alternatives[a]
            for user in users.get(n, ()):
                missing[user] -= 1
                if not missing[user]:
                    total = self._total(self._flat.nonterminals[user[0]].alternatives[user[1]])
                    heapq.heappush(queue, (total, *user))

    def _total(self, alternative: tuple[int, ...]) -> int:
        return sum(self._leaf_sizes[s] if s >= 0 else self.sizes[~s] for s in alternative)

    def _solve_visible(self) -> None:
        """The same for texts that are not empty: one symbol of an alternative is not, the others as they may."""
        users: dict[int, list[tuple[int, int, tuple[int, ...], int]]] = {}
        queue: list[tuple[int, int, tuple[int, ...], int]] = []
        for n, nonterminal in enumerate(self._flat.nonterminals):
            for alternative in nonterminal.alternatives:
                total = self.total_size(alternative)
                if total is None:
                    continue
                for i, symbol in enumerate(alternative):
                    if symbol >= 0:
                        queue.append((total, n, alternative, i))
                    else:
                        users.setdefault(~symbol, []).append((total, n, alternative, i))
        heapq.heapify(queue)
        while queue:
            size, n, alternative, i = heapq.heappop(queue)
            if n in self._visible:
                continue
            self._visible[n] = (size, alternative, i)
            for total, user, using, at in users.get(n, ()):
                heapq.heappush(queue, (total - self.sizes[n] + size, user, using, at))
