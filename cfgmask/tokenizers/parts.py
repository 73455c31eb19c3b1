"""What every adapter hands to `cfgmask.Vocabulary`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Encode: TypeAlias = Callable[[str], Sequence[int]]


@dataclass(frozen=True)
class VocabularyParts:
    """A tokenizer, read.

    tokens          bytes of each id; b"" for an id without text
    end_token_ids   ids that end a text, the tokenizer's own first
    special_tokens  id of each control or added token, by its exact text
    encode          text -> ids whose bytes, joined, are that text; None where the library has no encoder
    description     where it comes from, for `repr` and messages
    """

    tokens: Sequence[bytes]
    end_token_ids: Sequence[int]
    special_tokens: dict[str, int] = field(default_factory=dict)
    encode: Encode | None = None
    description: str = "bytes"
