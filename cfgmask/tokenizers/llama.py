"""A vocabulary from a model that llama-cpp-python has loaded."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.first_space import without_first_space
from cfgmask.tokenizers.library import require
from cfgmask.tokenizers.parts import Encode, VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip

if TYPE_CHECKING:
    import llama_cpp

_LONGEST_PIECE = 1 << 20

fingerprints: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
"""`fingerprint` of the token table of each model that was read, so that none is read twice to be compared."""


def read_llama(llm: llama_cpp.Llama) -> VocabularyParts:
    """Read the vocabulary of a loaded model as llama.cpp itself uses it: its bytes, its end-of-generation set.

    Raises VocabularyError where the self-check fails (a tokenizer that changes its text, say), TypeError for what is no
    model of llama-cpp-python.
    Cost: one call for each token; 0.3 s for 128,256.
    """
    library: Any = require("llama_cpp", "llama")
    if not isinstance(llm, library.Llama):
        is_path = isinstance(llm, (str, Path))
        help = ": for a file call Vocabulary.from_gguf(path), or load it with llama_cpp.Llama(path)" if is_path else ""
        raise TypeError(f"from_llama takes a llama_cpp.Llama, not {type(llm).__name__}{help}")
    if llm.model is None:
        raise VocabularyError(f"{Path(llm.model_path).name}: the model is closed")
    api = library.llama_cpp
    vocab = api.llama_model_get_vocab(llm.model)
    describe = Path(llm.model_path).name
    n_vocab = api.llama_vocab_n_tokens(vocab)
    named = api.LLAMA_TOKEN_ATTR_CONTROL | api.LLAMA_TOKEN_ATTR_USER_DEFINED | api.LLAMA_TOKEN_ATTR_UNKNOWN
    tokens = _pieces(api, vocab, describe)
    special, unknown = {}, set()
    for token_id in range(n_vocab):
        attributes = api.llama_vocab_get_attr(vocab, token_id)
        if attributes & named:
            special[api.llama_vocab_get_text(vocab, token_id).decode("utf-8", errors="replace")] = token_id
        if attributes & api.LLAMA_TOKEN_ATTR_UNKNOWN:
            unknown.add(token_id)
    encode = _encoder(llm, api)
    # Before the end tokens lose their text: some vocabularies call a token an end that their encoder uses as text.
    check_round_trip(tokens, encode, describe, skip=unknown.__contains__)
    ends = _end_token_ids(api, vocab, n_vocab)
    if not ends:
        raise VocabularyError(f"{describe}: the model has no end-of-generation token")
    for token_id in ends:
        tokens[token_id] = b""
    return VocabularyParts(tokens, ends, special, encode, describe)


def read_texts(llm: llama_cpp.Llama) -> tuple[list[bytes], list[int]]:
    """The tokens and end tokens that `read_llama` reads, without its checks.

    Raises VocabularyError for a token of a size that no token has. Cost: 0.2 s for 128,256 tokens.
    """
    api: Any = require("llama_cpp", "llama").llama_cpp
    vocab = api.llama_model_get_vocab(llm.model)
    tokens = _pieces(api, vocab, Path(llm.model_path).name)
    ends = _end_token_ids(api, vocab, len(tokens))
    for token_id in ends:
        tokens[token_id] = b""
    return tokens, ends


def _pieces(api: Any, vocab: Any, describe: str) -> list[bytes]:
    """The text of each token in the middle of a text. CONTROL, UNKNOWN and UNUSED tokens have none."""
    read_piece = _piece_reader(api, vocab, describe)
    return [read_piece(token_id) for token_id in range(api.llama_vocab_n_tokens(vocab))]


def _end_token_ids(api: Any, vocab: Any, n_vocab: int) -> list[int]:
    """The whole end-of-generation set, the end-of-sequence token first."""
    eos = api.llama_vocab_eos(vocab)
    ends = [token_id for token_id in range(n_vocab) if api.llama_vocab_is_eog(vocab, token_id)]
    return sorted(ends, key=lambda token_id: (token_id != eos, token_id))


def _piece_reader(api: Any, vocab: Any, describe: str) -> Callable[[int], bytes]:
    """A function that gives the text of a token in the middle of a text; b"" for control tokens."""
    size = 256
    buffer = ctypes.create_string_buffer(size)

    def read(token_id: int) -> bytes:
        nonlocal size, buffer
        length = api.llama_token_to_piece(vocab, token_id, buffer, size, 0, False)
        if length < 0:
            size = -length
            if size > _LONGEST_PIECE:
                raise VocabularyError(f"{describe}: token {token_id} has {size} bytes")
            buffer = ctypes.create_string_buffer(size)
            length = api.llama_token_to_piece(vocab, token_id, buffer, size, 0, False)
        return ctypes.string_at(buffer, length)

    return read


def _encoder(llm: llama_cpp.Llama, api: Any) -> Encode:
    """Text to ids: no start token, no special tokens.

    Works as long as the model is loaded and does not keep it so.
    """
    model_of = weakref.ref(llm)

    def tokenize(text: str) -> list[int]:
        owner = model_of()
        if owner is None or owner.model is None:
            raise VocabularyError("the model whose tokenizer this vocabulary encodes with was closed")
        vocab = api.llama_model_get_vocab(owner.model)
        data = text.encode()
        room = len(data) + 8
        ids = (api.llama_token * room)()
        count = api.llama_tokenize(vocab, data, len(data), ids, room, False, False)
        if count < 0:
            raise VocabularyError(f"the tokenizer made more than {room} tokens of {len(data)} bytes")
        return list(ids[:count])

    vocab_type = api.llama_vocab_type(api.llama_model_get_vocab(llm.model))
    has_spaces = vocab_type in (api.LLAMA_VOCAB_TYPE_SPM, api.LLAMA_VOCAB_TYPE_UGM)
    return without_first_space(tokenize) if has_spaces else tokenize
