"""Texts of a grammar: a shortest one of each rule, and random ones. What is given was tried on the grammar."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.indented import indented
from cfgmask.analysis.shortest import Piece, Shortest
from cfgmask.compiler import compile
from cfgmask.compiler.token_sets import resolve
from cfgmask.grammar.ir import GrammarIR, Terminal, TokenSet
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.regex.algebra import Automaton

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar, Matcher
    from cfgmask.vocabulary import Vocabulary

_MAX_STATES = 20_000
_EXPANSIONS = 60
"""After so many steps a derivation goes the shortest way to its end, if it has not ended before."""
_TRIES = 20
_GO_ON = 0.75
_LONG = 12
_PRINTED = 0.95
_PRINTABLE = sum(1 << byte for byte in range(32, 127))


@dataclass(frozen=True)
class Text:
    """Pieces in order; tokens that are matched by their ids stand between bytes."""

    pieces: tuple[Piece, ...]

    @property
    def shown(self) -> bytes:
        """The text, with tokens as the grammar writes them."""
        return b"".join(piece.text.encode() if isinstance(piece, TokenSet) else piece for piece in self.pieces)


class Texts:
    """Makes texts of one grammar.

    vocabulary  any that has the tokens that the grammar names; single bytes are written whatever its tokens are
    Raises LimitExceeded where a terminal is too hard a regex.
    """

    def __init__(self, flat: Flat, vocabulary: Vocabulary) -> None:
        self._flat = flat
        self._vocabulary = vocabulary
        self._shortest = Shortest(flat)
        self._walks: dict[int, _Walks | None] = {}

    def example(self, rule: str) -> Text | None:
        """A shortest text of a rule, not empty if it has another; None if none was found that the grammar takes.

        It is shortest but for ignored text that keeps lexemes apart.
        """
        found = next(n for n in self._flat.nonterminals if n.is_rule and n.rule.name == rule)
        symbol = found.symbol
        # A rule with a parameter has texts only where it is used.
        if found.rule.parametric or self._shortest.size(symbol) is None:
            return None
        pieces = self._shortest.derive_visible(symbol) or self._shortest.derive(symbol)
        compiled = compile(_starting_at(self._flat.ir, rule), self._vocabulary)
        return self._written(compiled, pieces)

    def samples(self, compiled: CompiledGrammar, count: int, seed: int) -> Iterator[Text]:
        """Random texts of the grammar, the same for the same seed; fewer where none was found in some tries.

        compiled  the grammar, for the vocabulary
        """
        rng = random.Random(seed)
        if self._shortest.size(self._flat.start) is None:
            return
        for _ in range(count):
            tries = (self._written(compiled, self._derived(rng)) for _ in range(_TRIES))
            text = next((text for text in tries if text is not None), None)
            if text is not None:
                yield text

    def _derived(self, rng: random.Random) -> list[Piece]:
        pieces: list[Piece] = []
        pending = [self._flat.start]
        steps = 0
        while pending:
            symbol = pending.pop()
            if symbol >= 0:
                pieces.append(self._lexeme(symbol, rng))
                continue
            steps += 1
            possible = [
                a for a in self._flat[symbol].alternatives if all(self._shortest.size(s) is not None for s in a)
            ]
            chosen = rng.choice(possible) if steps <= _EXPANSIONS else self._shortest.choices[~symbol]
            pending += reversed(chosen)
        return pieces

    def _lexeme(self, leaf: int, rng: random.Random) -> Piece:
        symbol = self._flat.leaves[leaf].symbol
        if isinstance(symbol, TokenSet):
            return symbol
        if leaf not in self._walks:
            automaton = self._flat.algebra.automaton([symbol.regex], _MAX_STATES)
            self._walks[leaf] = None if automaton is None else _Walks(automaton, symbol)
        walks = self._walks[leaf]
        return self._shortest.leaf(leaf) if walks is None else walks.walk(rng)

    def _written(self, compiled: CompiledGrammar, pieces: list[Piece]) -> Text | None:
        """The pieces as a text that the grammar accepts, with ignored text between them where that is needed."""
        indenter = self._flat.ir.indenter
        if indenter is not None:
            newline = indenter.newline.regex
            pieces = indented(pieces, lambda piece: self._flat.algebra.matches(newline, piece))
        separators = self._separators()
        for everywhere in (False, True) if separators else (False,):
            text = self._joined(compiled.matcher(), pieces, separators, everywhere)
            if text is not None:
                return text
        return None

    def _joined(self, matcher: Matcher, pieces: list[Piece], separators: list[bytes], everywhere: bool) -> Text | None:
        written: list[Piece] = []
        for number, piece in enumerate(pieces):
            tried = [*separators, b""] if everywhere and number else [b"", *separators]
            for separator in tried:
                fork = matcher.fork()
                if fork.advance_bytes(separator) == len(separator) and self._advance(fork, piece):
                    matcher = fork
                    written += [separator, piece] if separator else [piece]
                    break
            else:
                return None
        return Text(tuple(written)) if matcher.is_accepting else None

    def _advance(self, matcher: Matcher, piece: Piece) -> bool:
        if isinstance(piece, bytes):
            return matcher.advance_bytes(piece) == len(piece)
        return any(matcher.try_advance([token]) for token in resolve(piece, self._vocabulary, []))

    def _separators(self) -> list[bytes]:
        ignored = [terminal for scope in self._flat.ir.scopes for terminal in scope.ignore]
        texts = [self._flat.algebra.shortest_visible(terminal.regex) for terminal in ignored]
        return list(dict.fromkeys(text for text in texts if text))


class _Walks:
    """Random texts of one terminal, by its automaton."""

    def __init__(self, automaton: Automaton, terminal: Terminal) -> None:
        self._automaton = automaton
        self._is_lazy = terminal.lazy
        self._distance = _distances(automaton)

    def walk(self, rng: random.Random) -> bytes:
        """A matching text, not empty. Long ones are rarer; after `_LONG` bytes it takes the shortest way to an end."""
        text = bytearray()
        state = 0
        while True:
            _, matched, moves = self._automaton[state]
            if matched and (self._is_lazy or not moves or rng.random() > _GO_ON):
                return bytes(text)
            if len(text) >= _LONG:
                if matched:
                    return bytes(text)
                moves = [move for move in moves if self._distance[move[1]] < self._distance[state]]
            bits, state = rng.choice(moves)
            printable = bits & _PRINTABLE
            text.append(_random_byte(printable if printable and rng.random() < _PRINTED else bits, rng))


def _distances(automaton: Automaton) -> list[int]:
    """For each state how many bytes it is away from a match."""
    before: list[list[int]] = [[] for _ in automaton]
    for state, (_, _, moves) in enumerate(automaton):
        for _, target in moves:
            before[target].append(state)
    distances = [-1] * len(automaton)
    pending = [state for state, (_, matched, _) in enumerate(automaton) if matched]
    for state in pending:
        distances[state] = 0
    for state in pending:
        for earlier in before[state]:
            if distances[earlier] < 0:
                distances[earlier] = distances[state] + 1
                pending.append(earlier)
    return distances


def _random_byte(bits: int, rng: random.Random) -> int:
    return rng.choice([byte for byte in range(256) if bits >> byte & 1])


def _starting_at(ir: GrammarIR, rule: str) -> GrammarIR:
    return without_unreachable(replace(ir, start=rule))
