"""llguidance's way from a vocabulary of llama.cpp."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cfgmask.compat.llguidance._tokenizer import SPECIAL, LLTokenizer
from cfgmask.tokenizers.library import require

__all__ = ["lltokenizer_from_vocab"]

_LONGEST_PIECE = 1 << 14


def lltokenizer_from_vocab(
    vocab: Any,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
    slices: Sequence[str] | None = None,
) -> LLTokenizer:
    """An `LLTokenizer` of what `llama_cpp.llama_model_get_vocab` gave; the other arguments are those of `LLTokenizer`.

    The model must stay loaded while texts are tokenized. `Vocabulary.from_llama` has all of its end tokens, too.
    Cost: a few calls for each token.
    """
    api = require("llama_cpp", "llama").llama_cpp
    tokens = [_marked_piece(api, vocab, i) for i in range(api.llama_vocab_n_tokens(vocab))]
    tokens += [b""] * ((n_vocab or 0) - len(tokens))

    def tokenize(text: str) -> list[int]:
        data = text.encode()
        room = len(data) + 8
        ids = (api.llama_token * room)()
        return list(ids[: max(0, api.llama_tokenize(vocab, data, len(data), ids, room, False, False))])

    ends = api.llama_vocab_eos(vocab) if eos_token is None else eos_token
    return LLTokenizer.from_llamacpp(tokens=tokens, tokenize=tokenize, eos_token=ends, slices=slices)


def _marked_piece(api: Any, vocab: Any, token_id: int) -> bytes:
    buffer = ctypes.create_string_buffer(_LONGEST_PIECE)
    size = api.llama_token_to_piece(vocab, token_id, buffer, _LONGEST_PIECE, 0, True)
    if size < 0:
        raise ValueError(f"token {token_id} has more than {_LONGEST_PIECE} bytes")
    piece = buffer.raw[:size]
    attributes = api.llama_vocab_get_attr(vocab, token_id)
    named = attributes & api.LLAMA_TOKEN_ATTR_USER_DEFINED and piece.startswith(b"<") and piece.endswith(b">")
    return SPECIAL + piece if named or attributes & api.LLAMA_TOKEN_ATTR_CONTROL else piece
