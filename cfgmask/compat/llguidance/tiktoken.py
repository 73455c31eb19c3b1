"""llguidance's way from an encoding of tiktoken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cfgmask.compat.llguidance._tokenizer import LLTokenizer
from cfgmask.vocabulary import Vocabulary

if TYPE_CHECKING:
    import tiktoken

__all__ = ["lltokenizer_from_encoding"]


def lltokenizer_from_encoding(
    encoding: tiktoken.Encoding,
    *,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
    slices: Sequence[str] | None = None,
) -> LLTokenizer:
    """An `LLTokenizer` of an encoding; the other arguments are those of `LLTokenizer`.

    eos_token  None takes `encoding.eot_token`
    """
    ends = encoding.eot_token if eos_token is None else eos_token
    made = LLTokenizer.from_vocabulary(Vocabulary.from_tiktoken(encoding, eos_token_id=ends), n_vocab)
    return made if slices is None else made.with_slices(slices)
