"""Why a vocabulary cannot write any match of a grammar: which bytes its tokens lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.vocabulary import Vocabulary

if TYPE_CHECKING:
    from cfgmask import _core

CODE = "grammar-bytes-missing"
_N_BYTES = 256
_MOST_NAMED = 8
_MOST_TRIES = 16


def missing_bytes(
    error: GrammarError,
    grammar: Any,
    vocabulary: Vocabulary,
    compile: Callable[[Any, Vocabulary], _core.CompiledGrammar],
) -> GrammarError | None:
    """The error that names the bytes of a match, as few as are found, if they are why there is none; else None.

    error    why the grammar could not be compiled for the vocabulary
    compile  compiles the grammar for a vocabulary
    Cost: compiles the grammar some times more, for the vocabulary with bytes that it lacks.
    """
    held = vocabulary.core.held_bytes
    if vocabulary.core.holds_every_byte or all(d.code != "grammar-empty" for d in error.diagnostics):
        return None

    def match_with(more: set[int]) -> bytes | None:
        """A match that the vocabulary could write with some bytes more; None if there is none."""
        # A byte that only longer tokens hold is not what is missing.
        tokens = [*vocabulary.tokens, *(bytes([byte]) for byte in more.union(held))]
        whole = Vocabulary.from_bytes(tokens, vocabulary.eos_token_ids, vocabulary.special_tokens)
        try:
            ids = compile(grammar, whole).matcher().completion()
        except (GrammarError, LimitExceeded):
            return None
        return None if ids is None else b"".join(whole.core.text(token) for token in ids)

    more = set(range(_N_BYTES)).difference(held)
    match = match_with(more)
    if match is None:
        return None
    # Of bytes that a match with other bytes can do without none is named, those beyond ASCII first.
    needed: set[int] = set()
    for _ in range(_MOST_TRIES):
        doubtful = set(match).difference(held, needed)
        if not doubtful:
            break
        byte = max(doubtful)
        other = match_with(more - {byte})
        if other is None:
            needed.add(byte)
        else:
            more.discard(byte)
            match = other
    lacking = sorted(set(match).difference(held))
    if not lacking:
        return None
    shown = shortened(repr(match.decode(errors="replace")))
    named = ", ".join(map(_named, lacking[:_MOST_NAMED])) + (", ..." if len(lacking) > _MOST_NAMED else "")
    message = f"this vocabulary cannot write any match of the grammar: {shown} needs {named}, which no token contains"
    help = "use a vocabulary in which some token contains these bytes"
    return GrammarError([Diagnostic(CODE, message, span=error.diagnostics[0].span, help=help)])


def _named(byte: int) -> str:
    is_shown = 0x20 < byte < 0x7F
    return f"{chr(byte)!r} (0x{byte:02X})" if is_shown else f"0x{byte:02X}"
