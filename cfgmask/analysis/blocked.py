"""A short text that `lexer: complete` takes and longest match rejects, if the grammar is read with longest match.

Longest match is meant to reject some of what every cut of the text would allow: `ifx` for `if x`, `a--b` for `a - -b`.
So lexemes are tried with ignored text between them wherever the grammar has some; and without it only where longest
match ends in the middle of the next lexeme, as in `1..2` where a number may be `1.`.
The search goes breadth first over places in the rules, with a matcher of each kind; of each place it goes on from a few
texts. What is found was tried on both. Nothing found within the bound proves nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.samples import Samples
from cfgmask.analysis.sets import END, Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.compiler import compile
from cfgmask.compiler.byte_vocabulary import byte_vocabulary
from cfgmask.compiler.token_sets import resolve
from cfgmask.errors import CfgmaskError
from cfgmask.grammar.ir import TokenSet

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar, Matcher
    from cfgmask.vocabulary import Vocabulary

_MAX_NODES = 4
"""Texts to go on from, for each place."""
_MAX_PIECES = 60
_MAX_FAILED = 5


@dataclass(frozen=True)
class Piece:
    """A lexeme of a text, a token that is matched by its id, or ignored text (`leaf` is None) of a scope."""

    data: bytes | TokenSet
    leaf: int | None
    scope: int

    @property
    def is_space(self) -> bool:
        """True if the piece is only white space."""
        return isinstance(self.data, bytes) and not self.data.strip()


@dataclass(frozen=True)
class Blocked:
    """A text that longest match rejects.

    pieces   its lexemes, as the rules have them, and the ignored text between them
    n_taken  how many bytes longest match takes
    live     for each piece the names of the terminals that are live before it and one byte behind it
    """

    pieces: tuple[Piece, ...]
    n_taken: int
    live: tuple[frozenset[str], ...]

    @property
    def text(self) -> bytes:
        """All of it, with tokens as they are written in the grammar."""
        return shown_text(self.pieces)


def shown_text(pieces: Iterable[Piece]) -> bytes:
    """The pieces one after the other, with tokens as they are written in the grammar."""
    return b"".join(p.data if isinstance(p.data, bytes) else p.data.text.encode() for p in pieces)


@dataclass(frozen=True)
class _Node:
    """A text to go on from. `place` is that of its last lexeme, None at the start."""

    place: int | None
    complete: Matcher
    longest: Matcher
    pieces: tuple[Piece, ...]


def find_blocked(flat: Flat, sets: Sets, shortest: Shortest, max_tries: int) -> Blocked | None:
    """A short blocked text, if one is found.

    max_tries  how many lexemes are tried, each behind some text
    """
    is_open = flat.ir.lexer == "complete" or flat.ir.indenter is not None or flat.has_limits
    if is_open or shortest.size(flat.start) is None:
        return None
    vocabulary = byte_vocabulary(flat.ir)
    try:
        complete, longest = (compile(replace(flat.ir, lexer=lexer), vocabulary) for lexer in ("complete", "longest"))
    except CfgmaskError:
        return None
    return _Search(flat, sets, shortest, vocabulary, complete, longest, max_tries).find()


class _Search:
    def __init__(
        self,
        flat: Flat,
        sets: Sets,
        shortest: Shortest,
        vocabulary: Vocabulary,
        complete: CompiledGrammar,
        longest: CompiledGrammar,
        max_tries: int,
    ) -> None:
        self._flat = flat
        self._sets = sets
        self._samples = Samples(flat)
        self._vocabulary = vocabulary
        self._longest = longest
        self._tries = max_tries
        self._n_failed = 0
        self._queue = deque([_Node(None, complete.matcher(), longest.matcher(), ())])
        self._seen: set[tuple[int | None, int, int]] = set()
        self._n_nodes: dict[tuple[int | None, tuple[str, ...]], int] = {}

    def find(self) -> Blocked | None:
        while self._queue and self._tries > 0 and self._n_failed < _MAX_FAILED:
            for found in self._examine(self._queue.popleft()):
                blocked = self._finished(found)
                if blocked is not None:
                    return blocked
                self._n_failed += 1
                if self._n_failed >= _MAX_FAILED:
                    break
        return None

    def _examine(self, node: _Node) -> Iterator[_Node]:
        """Texts that seem blocked, after pushing those to go on from."""
        by_scope: dict[int, list[_Node]] = {}
        for place in self._sets.places(self._next(node.place) & ~END):
            leaf = self._sets.leaf[place]
            if leaf in self._flat.empty_leaves:
                continue
            if self._tries <= 0:
                return
            scope = self._flat.leaves[leaf].scope
            if scope not in by_scope:
                by_scope[scope] = []
                for separated, is_taken in self._separated(node, scope):
                    if is_taken:
                        by_scope[scope].append(separated)
                    else:
                        yield separated
            for before in by_scope[scope]:
                yield from self._try(before, place, leaf, scope)
            if node.pieces and by_scope[scope] and by_scope[scope][0] is not node:
                yield from self._try_joined(node, place, leaf, scope, self._samples.separators(scope))

    def _next(self, place: int | None) -> int:
        return self._sets.first[~self._flat.start] if place is None else self._sets.following[place]

    def _separated(self, node: _Node, scope: int) -> Iterator[tuple[_Node, bool]]:
        """The text with ignored text behind it, one for all that come to the same; as it is if there is none.

        With each, whether longest match takes the ignored text.
        """
        is_separated = not node.pieces or node.pieces[-1].is_space
        separators = () if is_separated else self._samples.separators(scope)
        seen = set()
        is_any = False
        for separator in separators:
            complete = node.complete.fork()
            self._tries -= 1
            if complete.advance_bytes(separator) < len(separator):
                continue
            is_any = True
            longest = node.longest.fork()
            is_taken = longest.advance_bytes(separator) == len(separator)
            states = complete.state, longest.state, is_taken
            if states not in seen:
                seen.add(states)
                pieces = (*node.pieces, Piece(separator, None, scope))
                yield replace(node, complete=complete, longest=longest, pieces=pieces), is_taken
        if not is_any:
            yield node, True

    def _try(self, before: _Node, place: int, leaf: int, scope: int) -> Iterator[_Node]:
        """The text with each sample of the leaf after it."""
        symbol = self._flat.leaves[leaf].symbol
        if isinstance(symbol, TokenSet):
            self._try_token(before, place, symbol, scope, leaf)
            return
        for sample in self._samples.of(leaf):
            self._tries -= 1
            complete = before.complete.fork()
            if complete.advance_bytes(sample) < len(sample):
                continue
            longest = before.longest.fork()
            n_taken = longest.advance_bytes(sample)
            found = _Node(place, complete, longest, (*before.pieces, Piece(sample, leaf, scope)))
            if n_taken < len(sample) or (complete.is_accepting and not longest.is_accepting):
                yield found
            if n_taken == len(sample):
                self._push(found)

    def _try_joined(
        self, node: _Node, place: int, leaf: int, scope: int, separators: Sequence[bytes]
    ) -> Iterator[_Node]:
        """Samples directly behind the last lexeme of which longest match reads a part as that: it cuts them in two."""
        data = node.pieces[-1].data
        last = data[-1:] if isinstance(data, bytes) else b""
        for sample in self._samples.of(leaf):
            if len(sample) < 2 or (_is_word(last) and _is_word(sample[:1])):
                continue
            self._tries -= 1
            longest = node.longest.fork()
            n_taken = longest.advance_bytes(sample)
            if not n_taken:
                continue
            complete = node.complete.fork()
            if complete.advance_bytes(sample) < len(sample):
                continue
            found = _Node(place, complete, longest, (*node.pieces, Piece(sample, leaf, scope)))
            if n_taken < len(sample) or any(
                not longest.fork().advance_bytes(s) and complete.fork().advance_bytes(s) == len(s) for s in separators
            ):
                yield found

    def _try_token(self, before: _Node, place: int, symbol: TokenSet, scope: int, leaf: int) -> None:
        self._tries -= 1
        complete, longest = before.complete.fork(), before.longest.fork()
        if self._advance(complete, symbol) and self._advance(longest, symbol):
            self._push(_Node(place, complete, longest, (*before.pieces, Piece(symbol, leaf, scope))))

    def _advance(self, matcher: Matcher, data: bytes | TokenSet) -> bool:
        if isinstance(data, bytes):
            return matcher.advance_bytes(data) == len(data)
        return any(matcher.try_advance([token]) for token in resolve(data, self._vocabulary, [])[:1])

    def _push(self, node: _Node) -> None:
        states = node.place, node.complete.state, node.longest.state
        if states in self._seen:
            return
        self._seen.add(states)
        kind = node.place, tuple(sorted(node.longest.expected()))
        self._n_nodes[kind] = self._n_nodes.get(kind, 0) + 1
        if self._n_nodes[kind] <= _MAX_NODES and len(node.pieces) < _MAX_PIECES:
            self._queue.append(node)

    def _finished(self, node: _Node) -> Blocked | None:
        """The text with a way to the end, if the grammar has one and longest match rejects it."""
        complete, place, pieces = node.complete, node.place, node.pieces
        while not complete.is_accepting:
            completion = complete.completion()
            if completion is None:
                return None
            rest = b"".join(self._vocabulary.tokens[token] for token in completion)
            step = self._step(complete, place, pieces, rest) if len(pieces) < 2 * _MAX_PIECES else None
            if step is None:
                pieces = (*pieces, Piece(rest, None, 0))
                break
            complete, place, pieces = step
        return None if self._is_match(pieces) else self._blocked(pieces)

    def _blocked(self, pieces: tuple[Piece, ...]) -> Blocked:
        """A token counts as many bytes as it is written with."""
        longest, n_taken, live = self._longest.matcher(), 0, [frozenset[str]()] * len(pieces)
        for number, piece in enumerate(pieces):
            if isinstance(piece.data, TokenSet):
                if not self._advance(longest, piece.data):
                    break
                n_taken += len(piece.data.text.encode())
                continue
            before = frozenset(longest.expected())
            n_here = longest.advance_bytes(piece.data)
            n_taken += n_here
            if n_here < len(piece.data):
                break
            behind = pieces[number + 1].data if number + 1 < len(pieces) else b""
            fork = longest.fork()
            if isinstance(behind, bytes) and fork.advance_bytes(behind[:1]):
                live[number] = before & frozenset(fork.expected())
        return Blocked(pieces, n_taken, tuple(live))

    def _is_match(self, pieces: tuple[Piece, ...]) -> bool:
        longest = self._longest.matcher()
        return all(self._advance(longest, piece.data) for piece in pieces) and longest.is_accepting

    def _step(
        self, complete: Matcher, place: int | None, pieces: tuple[Piece, ...], rest: bytes
    ) -> tuple[Matcher, int, tuple[Piece, ...]] | None:
        """The next lexeme of a way to the end, with ignored text before it where there may be some."""
        for following in self._sets.places(self._next(place) & ~END):
            leaf = self._sets.leaf[following]
            sample = next((sample for sample in self._samples.of(leaf) if rest.startswith(sample)), None)
            if sample is None:
                continue
            scope = self._flat.leaves[leaf].scope
            is_separated = not pieces or pieces[-1].is_space or not sample.strip()
            for separator in (b"",) if is_separated else (*self._samples.separators(scope)[:1], b""):
                fork = complete.fork()
                if self._advance(fork, separator) and self._advance(fork, sample):
                    added = (Piece(separator, None, scope),) if separator else ()
                    return fork, following, (*pieces, *added, Piece(sample, leaf, scope))
        return None


def _is_word(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"
