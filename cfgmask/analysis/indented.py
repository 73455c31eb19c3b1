"""Derivations of an indented grammar as texts: what its indenter would write becomes the width of lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cfgmask.analysis.shortest import Piece
from cfgmask.grammar.ir import TokenSet

_BLOCK = b"  "


def indented(pieces: Sequence[Piece], is_newline: Callable[[bytes], bool]) -> list[Piece]:
    """The pieces with each newline as wide as the blocks around it, and nothing in place of indents and dedents."""
    written: list[Piece] = []
    depth = 0
    last_newline: int | None = None
    for piece in pieces:
        if isinstance(piece, TokenSet) and piece.kind in ("indent", "dedent"):
            depth += 1 if piece.kind == "indent" else -1
        else:
            last_newline = len(written) if isinstance(piece, bytes) and is_newline(piece) else None
            written.append(piece)
        if last_newline is not None:
            written[last_newline] = _begun(written[last_newline], depth)
    return written


def _begun(newline: Piece, depth: int) -> Piece:
    assert isinstance(newline, bytes)
    return newline[: newline.rfind(b"\n") + 1] + _BLOCK * depth
