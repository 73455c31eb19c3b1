"""Terminals that no sequence of a vocabulary's tokens can spell.

A text of a terminal may begin and end inside of tokens, so what counts is whether it is part of some sequence of them.
Most vocabularies have a token for each byte, and then there is nothing to look for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cfgmask.analysis.flat import Flat
from cfgmask.diagnostics import Diagnostic, quoted
from cfgmask.grammar.ir import Terminal
from cfgmask.regex.algebra import Automaton

_MAX_STATES = 5_000
_MAX_STEPS = 2_000_000


def unspellable_terminals(flat: Flat, tokens: Sequence[bytes]) -> Iterator[Diagnostic]:
    """A warning for each terminal of which no text is part of a sequence of tokens.

    tokens  the texts of the tokens; b"" for those without
    Cost: up to the bytes of all tokens for each state of a terminal that single bytes cannot spell.
    """
    texts = sorted({token for token in tokens if token})
    single = sum(1 << token[0] for token in texts if len(token) == 1)
    for number, leaf in enumerate(flat.leaves):
        if not isinstance(leaf.symbol, Terminal) or number in flat.empty_leaves:
            continue
        automaton = flat.algebra.automaton([leaf.symbol.regex], _MAX_STATES)
        if automaton is None or _is_spelled_by(single, automaton) or _is_spelled(texts, automaton):
            continue
        example = flat.algebra.shortest_visible(leaf.symbol.regex) or b""
        yield Diagnostic(
            "grammar-unspellable-terminal",
            f"no sequence of tokens of the vocabulary can spell {leaf.shown}, {quoted(example)} for one",
            leaf.symbol.span,
            severity="warning",
            help="what needs it can never be written with this vocabulary",
        )


def _is_spelled_by(single: int, automaton: Automaton) -> bool:
    """Whether single bytes lead to a match."""
    reached = {0}
    pending = [0]
    for state in pending:
        _, matched, moves = automaton[state]
        if matched:
            return True
        for bits, target in moves:
            if bits & single and target not in reached:
                reached.add(target)
                pending.append(target)
    return False


def _is_spelled(texts: list[bytes], automaton: Automaton) -> bool:
    """Whether a text is part of a sequence of tokens: a rest of one, whole ones, the beginning of one."""
    steps = [{byte: target for bits, target in moves for byte in _members(bits)} for _, _, moves in automaton]
    complete = [bool(matched) for _, matched, _ in automaton]
    cost = 0
    reached = {0}
    for text in texts:
        for start in range(len(text)):
            cost += len(text) - start
            state, matches = _read(text[start:], 0, steps, complete)
            if matches or cost > _MAX_STEPS:
                return True
            if state is not None:
                reached.add(state)
    pending = list(reached - {0})
    for at in pending:
        for text in texts:
            cost += len(text)
            state, matches = _read(text, at, steps, complete)
            if matches or cost > _MAX_STEPS:
                return True
            if state is not None and state not in reached:
                reached.add(state)
                pending.append(state)
    return False


def _read(text: bytes, state: int, steps: list[dict[int, int]], complete: list[bool]) -> tuple[int | None, bool]:
    """The state behind a token, None if it leaves the terminal before; and whether there was a match on the way."""
    at: int | None = state
    for byte in text:
        if at is None:
            return None, False
        at = steps[at].get(byte)
        if at is not None and complete[at]:
            return at, True
    return at, False


def _members(bits: int) -> Iterator[int]:
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
