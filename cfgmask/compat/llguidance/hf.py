"""llguidance's way from a tokenizer of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cfgmask.compat.llguidance._tokenizer import LLTokenizer
from cfgmask.vocabulary import Vocabulary

__all__ = ["from_tokenizer"]


def from_tokenizer(
    hf_tokenizer: Any,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
    slices: Sequence[str] | None = None,
) -> LLTokenizer:
    """An `LLTokenizer` of a fast tokenizer of transformers; the arguments are those of `LLTokenizer`.

    Errors: ValueError for a slow one, and one that cannot be read exactly. Cost: as `Vocabulary.from_transformers`.
    """
    if not hasattr(hf_tokenizer, "backend_tokenizer"):
        raise ValueError("Only fast tokenizers are supported")
    made = LLTokenizer.from_vocabulary(Vocabulary.from_transformers(hf_tokenizer, eos_token_id=eos_token), n_vocab)
    return made if slices is None else made.with_slices(slices)
