"""What a model must be like for its text to be in the grammar, and where llama-cpp-python loses text."""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from cfgmask import VocabularyError, _core
from cfgmask.tokenizers.llama import fingerprints, read_texts

# The size of the buffer that llama-cpp-python's detokenizer has for one token.
_DETOKENIZER_BUFFER = 32

_kept_tokens: weakref.WeakKeyDictionary[Any, NDArray[np.uint32]] = weakref.WeakKeyDictionary()


def check_model(llm: Any, vocabulary: _core.TokenTable) -> None:
    """Raises VocabularyError where the vocabulary is that of another model: a permuted or shortened one too.

    Cost: a call for each end token. Once for each model that `Vocabulary.from_llama` has not read, 0.2 s for 128,256
    tokens.
    """
    difference = _difference(llm, vocabulary)
    if difference is not None:
        raise VocabularyError(f"{difference}; compile it with Vocabulary.from_llama of this model")


def _difference(llm: Any, vocabulary: _core.TokenTable) -> str | None:
    if vocabulary.n_vocab > llm.n_vocab():
        return _sizes(llm, vocabulary)
    model = llama_cpp.llama_model_get_vocab(llm.model)
    for token_id in vocabulary.end_tokens:
        if not llama_cpp.llama_vocab_is_eog(model, token_id):
            return (
                f"token {token_id} ends a text in the vocabulary that the grammar was compiled for, but the model does "
                "not stop at it"
            )
    if vocabulary.n_vocab < llm.n_vocab():
        return _sizes(llm, vocabulary)
    return None if vocabulary.fingerprint == _fingerprint_of(llm) else _first_difference(llm, vocabulary)


def _sizes(llm: Any, vocabulary: _core.TokenTable) -> str:
    return f"the grammar was compiled for {vocabulary.n_vocab} tokens, the model has {llm.n_vocab()}"


def _fingerprint_of(llm: Any) -> int:
    if llm not in fingerprints:
        fingerprints[llm] = _core.TokenTable.fingerprint_of(*read_texts(llm))
    return fingerprints[llm]


def _first_difference(llm: Any, vocabulary: _core.TokenTable) -> str:
    tokens, _ = read_texts(llm)
    token_id = next(i for i, token in enumerate(tokens) if vocabulary.text(i) != token)
    return (
        f"token {token_id} is {vocabulary.text(token_id)!r} in the vocabulary that the grammar was compiled for, and "
        f"{tokens[token_id]!r} in the model's"
    )


def kept_tokens(llm: Any) -> NDArray[np.uint32]:
    """A mask of the tokens whose text `create_completion` keeps: llama-cpp-python drops what is longer than 32 bytes.

    In Llama-3 these are 231, mostly runs of blanks and dashes; in Gemma 4 379, words of Indian languages among them.
    Every text can be written without them, and must be, or what the caller is given is not what was constrained.
    Cost: one call for each token of the vocabulary when a model is first asked about, 0.1 s for 128,256.
    """
    if llm not in _kept_tokens:
        model = llama_cpp.llama_model_get_vocab(llm.model)
        buffer = ctypes.create_string_buffer(_DETOKENIZER_BUFFER)
        long = [
            token_id
            for token_id in range(llm.n_vocab())
            if llama_cpp.llama_token_to_piece(model, token_id, buffer, _DETOKENIZER_BUFFER, 0, False) < 0
        ]
        is_kept = np.ones(-(-llm.n_vocab() // 32) * 32, dtype=np.bool_)
        is_kept[[token_id for token_id in long if not llm.detokenize([token_id])]] = False
        _kept_tokens[llm] = np.packbits(is_kept, bitorder="little").view(np.uint32)
    return _kept_tokens[llm]
