"""Whether a grammar was compiled for the model that writes, as far as a call of `generate` tells."""

from __future__ import annotations

import weakref
from typing import Any

from cfgmask import VocabularyError, _core
from cfgmask.integrations.transformers.calls import Call
from cfgmask.tokenizers.transformers import read_texts

# Of each tokenizer, the vocabularies that were found to be its own.
_own: weakref.WeakKeyDictionary[Any, weakref.WeakSet[_core.TokenTable]] = weakref.WeakKeyDictionary()


def check_vocabulary(vocabulary: _core.TokenTable, width: int, call: Call | None, tokenizer: Any) -> None:
    """Raises VocabularyError where a grammar's vocabulary is that of another model.

    width      how many scores a row has
    call       the call of `generate`; None: a loop that may leave scores out, and stops where it likes
    tokenizer  the model's; None: nobody knows
    Cost: a pass over the tokens once for each vocabulary and tokenizer, and 1.3 s for 128,256 tokens where
    `Vocabulary.from_transformers` has not read the tokenizer.
    """
    beyond = next((i for i in range(width, vocabulary.n_vocab) if vocabulary.text(i)), None)
    if call is not None and beyond is not None:
        raise VocabularyError(
            f"the grammar was compiled for {vocabulary.n_vocab} tokens, {beyond} is "
            f"{vocabulary.text(beyond)!r}, and the model has {width}; compile it with the vocabulary of this model"
        )
    end_tokens = None if call is None else call.end_tokens
    stops = [] if end_tokens is None else end_tokens.tolist()
    if stops and not set(stops) & set(vocabulary.end_tokens):
        raise VocabularyError(
            f"`generate` stops at the tokens {sorted(stops)}, and none of them ends a text in the vocabulary that the "
            f"grammar was compiled for, where {vocabulary.end_tokens} do; give eos_token_id= to "
            "Vocabulary.from_transformers, or to `generate`"
        )
    if tokenizer is not None:
        _check_tokenizer(vocabulary, tokenizer)


def _check_tokenizer(vocabulary: _core.TokenTable, tokenizer: Any) -> None:
    known = _own.setdefault(tokenizer, weakref.WeakSet())
    if vocabulary in known:
        return
    tokens = read_texts(tokenizer)
    if tokens is not None:
        padded = [*tokens, *[b""] * (vocabulary.n_vocab - len(tokens))][: vocabulary.n_vocab]
        if _core.TokenTable.fingerprint_of(padded, vocabulary.end_tokens) != vocabulary.fingerprint:
            _check_each(vocabulary, padded)
    known.add(vocabulary)


def _check_each(vocabulary: _core.TokenTable, tokens: list[bytes]) -> None:
    """Tokens without text are never allowed, so it does not matter what they are to the tokenizer."""
    for token_id, token in enumerate(tokens):
        text = vocabulary.text(token_id)
        if text and text != token:
            raise VocabularyError(
                f"token {token_id} is {text!r} in the vocabulary that the grammar was compiled for, and {token!r} in "
                "that of the tokenizer; compile it with Vocabulary.from_transformers of this tokenizer"
            )
