"""The shape of the tables: a grammar and what must be true of texts or tokens. No engine is named in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cfgmask.grammar.ir import GrammarIR


@dataclass(frozen=True)
class TextCase:
    """A grammar and texts.

    accepts   texts of the language
    prefixes  texts that may go on but not end
    refuses   texts that may not go on; without their last byte they may
    """

    name: str
    grammar: GrammarIR
    accepts: tuple[str | bytes, ...] = ()
    prefixes: tuple[str | bytes, ...] = ()
    refuses: tuple[str | bytes, ...] = ()


@dataclass(frozen=True)
class TokenCase:
    """A grammar, a vocabulary, and the mask after some tokens.

    masks  for each sequence of ids: the ids that may follow
    """

    name: str
    grammar: GrammarIR
    tokens: tuple[bytes, ...]
    end_tokens: tuple[int, ...]
    masks: Mapping[tuple[int, ...], set[int]]
    special: Mapping[str, int] = field(default_factory=dict)


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text
