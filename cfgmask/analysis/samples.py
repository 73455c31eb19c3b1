"""Short texts of single terminals, and texts that may stand between lexemes, for searches that try both."""

from __future__ import annotations

from cfgmask.analysis.flat import Flat
from cfgmask.grammar.ir import Scope, Terminal, TokenSet
from cfgmask.grammar.regex_tree import Alternation, Literal
from cfgmask.regex.algebra import Automaton

_MAX_STATES = 200
_MAX_SAMPLES = 12
_FEW_BYTES = 12
_MAX_LENGTH = 40
_SPACES = (b" ", b"\n", b"\t")
_MAX_SEPARATORS = 8
_PREFERRED = b"xabcdefghijklmnopqrstuvwyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ_ "
_PREFERENCE = {b: n for n, b in enumerate(dict.fromkeys((*_PREFERRED, *range(33, 127), *b"\n\t", *range(256))))}
"""Of each byte: the lower, the easier to read."""


class Samples:
    """Made once for a grammar; what it found for a leaf or a scope is remembered."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._of_leaf: dict[int, tuple[bytes, ...]] = {}
        self._separators: dict[int, tuple[bytes, ...]] = {}
        ranks = {_rank(leaf.symbol) for leaf in flat.leaves if isinstance(leaf.symbol, Terminal)}
        self._have_one_rank = len(ranks) < 2

    def of(self, leaf: int) -> tuple[bytes, ...]:
        """Texts of a leaf, shortest first: one for each way to end, as far as there are few. None of a token set."""
        if leaf not in self._of_leaf:
            symbol = self._flat.leaves[leaf].symbol
            found = [] if isinstance(symbol, TokenSet) else self._found(symbol)
            self._of_leaf[leaf] = tuple(text for text in found if self._is_taken_for(leaf, text))
        return self._of_leaf[leaf]

    def separators(self, scope: int) -> tuple[bytes, ...]:
        """Spaces, line breaks and comments that the scope ignores; comments have white space around them if they may.

        A comment that ends with its line has the line break.
        """
        if scope not in self._separators:
            self._separators[scope] = tuple(self._separating(self._flat.ir.scopes[scope])[:_MAX_SEPARATORS])
        return self._separators[scope]

    def _found(self, terminal: Terminal) -> list[bytes]:
        if isinstance(terminal.regex, Literal):
            return [terminal.regex.data]
        automaton = self._flat.algebra.automaton([terminal.regex], _MAX_STATES)
        if automaton is None:
            text = self._flat.algebra.shortest_visible(terminal.regex)
            return [text] if text else []
        return _texts(automaton, is_lazy=terminal.lazy)

    def _is_taken_for(self, leaf: int, text: bytes) -> bool:
        """Whether no terminal that is preferred has the same text."""
        if self._have_one_rank:
            return True
        own = _rank(self._flat.leaves[leaf].symbol)
        return not any(
            isinstance(other.symbol, Terminal)
            and _rank(other.symbol) > own
            and self._flat.algebra.matches(other.symbol.regex, text)
            for other in self._flat.leaves
        )

    def _separating(self, scope: Scope) -> list[bytes]:
        if not scope.ignore:
            return []
        algebra = self._flat.algebra
        ignored = Alternation(tuple(terminal.regex for terminal in scope.ignore))
        spaces = [space for space in _SPACES if algebra.matches(ignored, space)]
        found = list(spaces)
        found += [a + b for a, b in ((b" ", b"\n"), (b"\n", b" "), (b"\n", b"\n")) if {a, b} <= set(spaces)]
        begin = end = spaces[0] if spaces else b""
        if scope.ignore_once and spaces and not algebra.matches(ignored, begin + begin):
            begin = end = b""
        for terminal in scope.ignore:
            text = algebra.shortest_visible(terminal.regex)
            if text is None or not text.strip():
                continue
            behind = end
            if algebra.matches(terminal.regex, text + b"x"):
                if b"\n" not in spaces:
                    continue
                behind = b"\n"
            found.append(begin + text.strip() + behind)
        return found


def _rank(symbol: Terminal | TokenSet) -> tuple[bool, int]:
    return (symbol.lazy, symbol.priority) if isinstance(symbol, Terminal) else (False, 0)


def _texts(automaton: Automaton, *, is_lazy: bool) -> list[bytes]:
    """A shortest text to each state that matches, breadth first; several of one length where few bytes come next."""
    n_texts = [0] * len(automaton)
    lengths = [0] * len(automaton)
    pending = [(0, b"")]
    found: list[bytes] = []
    for state, text in pending:
        _, matched, moves = automaton[state]
        if matched and text:
            found.append(text)
            if len(found) == _MAX_SAMPLES:
                break
        if len(text) == _MAX_LENGTH or (matched and is_lazy):
            continue
        for bits, target in moves:
            members = sorted(_members(bits), key=_PREFERENCE.__getitem__)
            most = _FEW_BYTES if len(members) <= _FEW_BYTES else 1
            if lengths[target] not in (0, len(text) + 1):
                continue
            lengths[target] = len(text) + 1
            for byte in members[: max(most - n_texts[target], 0)]:
                n_texts[target] += 1
                pending.append((target, text + bytes([byte])))
    return found


def _members(bits: int) -> list[int]:
    return [byte for byte in range(256) if bits >> byte & 1]
