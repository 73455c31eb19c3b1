"""Shortest derivations (Knuth 1977): of each nonterminal, and of each that may be empty one that is not."""

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
        total = 0
        for symbol in symbols:
            size = self._leaf_sizes[symbol] if symbol >= 0 else self.sizes.get(~symbol)
            if size is None:
                return None
            total += size
        return total

    def visible_size(self, symbol: int) -> int | None:
        """The size of a shortest text that is not empty; None if there is none."""
        size = self.size(symbol)
        if size:
            return size
        return self._visible[~symbol][0] if ~symbol in self._visible else None

    def derive(self, symbol: int) -> list[Piece]:
        """The pieces of a shortest text of a symbol."""
        return self._expand([symbol])

    def derive_visible(self, symbol: int) -> list[Piece] | None:
        """The pieces of a shortest text that is not empty; None if there is none."""
        before: list[int] = []
        after: list[int] = []
        while not self.size(symbol):
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
        owners: list[int] = []
        alternatives: list[tuple[int, ...]] = []
        missing: list[int] = []
        users: list[list[int]] = [[] for _ in self._flat.nonterminals]
        queue: list[tuple[int, int]] = []
        for n, nonterminal in enumerate(self._flat.nonterminals):
            for alternative in nonterminal.alternatives:
                n_inner = 0
                for symbol in alternative:
                    if symbol < 0:
                        users[~symbol].append(len(owners))
                        n_inner += 1
                if not n_inner:
                    queue.append((self._total(alternative), len(owners)))
                missing.append(n_inner)
                owners.append(n)
                alternatives.append(alternative)
        heapq.heapify(queue)
        while queue:
            size, at = heapq.heappop(queue)
            n = owners[at]
            if n in self.sizes:
                continue
            self.sizes[n], self.choices[n] = size, alternatives[at]
            for user in users[n]:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(queue, (self._total(alternatives[user]), user))

    def _total(self, alternative: tuple[int, ...]) -> int:
        return sum(self._leaf_sizes[s] if s >= 0 else self.sizes[~s] for s in alternative)

    def _solve_visible(self) -> None:
        """The same for the others: one symbol of an alternative is not empty, the rest as they may."""
        users: dict[int, list[tuple[int, int, tuple[int, ...], int]]] = {}
        queue: list[tuple[int, int, tuple[int, ...], int]] = []
        for n, size in self.sizes.items():
            for alternative in self._flat.nonterminals[n].alternatives if not size else ():
                total = self.total_size(alternative)
                if total is None:
                    continue
                for i, symbol in enumerate(alternative):
                    if self.size(symbol):
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
