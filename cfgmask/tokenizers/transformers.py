"""A vocabulary from a tokenizer of `transformers`, or from the `tokenizers.Tokenizer` inside a fast one."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import byte_level, sentencepiece_text
from cfgmask.tokenizers.end_texts import check_ends
from cfgmask.tokenizers.first_space import without_first_space
from cfgmask.tokenizers.parts import VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip
from cfgmask.tokenizers.slow_transformers import read_slow

_texts: weakref.WeakKeyDictionary[Any, tuple[int, Sequence[bytes]]] = weakref.WeakKeyDictionary()

_SENTENCEPIECE_STEPS = ("Replace", "Metaspace", "ByteFallback", "Fuse", "Strip")


def read_transformers(tokenizer: Any, eos_token_id: Sequence[int] | None) -> VocabularyParts:
    """Read a tokenizer. Neither transformers nor tokenizers is imported: the tokenizer brings all that is needed.

    eos_token_id  the ids that end a text; None takes the tokenizer's own
    Raises VocabularyError for tokenizers whose decoders do more than join bytes (WordPiece, CTC), where no end token is
    known or one is an id that no token has, and where the self-check fails; TypeError for what is no tokenizer.
    """
    describe = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    is_fast = hasattr(backend, "to_str")
    if not is_fast and not hasattr(tokenizer, "get_vocab"):
        help = ""
        if isinstance(tokenizer, str):
            help = f": load it first with transformers.AutoTokenizer.from_pretrained({tokenizer!r})"
        elif hasattr(tokenizer, "generate"):
            help = ", which is a model: give the tokenizer that belongs to it"
        raise TypeError(f"from_transformers takes a tokenizer of transformers, not {type(tokenizer).__name__}{help}")
    if eos_token_id is None:
        own = getattr(tokenizer, "eos_token_id", None)
        eos_token_id = [] if own is None else [own]
    if not eos_token_id:
        raise VocabularyError(f"{describe}: the tokenizer names no end token; say which with eos_token_id=")
    parts = _read_fast(backend, eos_token_id, describe) if is_fast else read_slow(tokenizer, eos_token_id, describe)
    with suppress(TypeError):  # one of `tokenizers` itself can be given to no model, nor be referenced weakly
        _texts[tokenizer] = len(tokenizer), parts.tokens
    return parts


def read_texts(tokenizer: Any) -> Sequence[bytes] | None:
    """What each token of a tokenizer of transformers writes; None where it cannot be read.

    Cost: none where `read_transformers` has read the tokenizer, and no token was added since.
    """
    n_tokens, tokens = _texts.get(tokenizer, (None, None))
    if n_tokens == len(tokenizer):
        return tokens
    try:
        return read_transformers(tokenizer, [min(tokenizer.get_vocab().values())]).tokens
    except VocabularyError:
        return None


def _read_fast(backend: Any, eos_token_id: Sequence[int], describe: str) -> VocabularyParts:
    # A copy, since the encoder must read the text of special tokens as text and the caller's one must go on as it is.
    settings = backend.to_str()
    encoder = type(backend).from_str(settings)
    encoder.encode_special_tokens = True
    encoder.no_padding()
    encoder.no_truncation()
    configuration = json.loads(settings)
    ids: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    check_ends(eos_token_id, set(ids.values()), describe)
    added = backend.get_added_tokens_decoder()
    unknown = _unknown_ids(configuration["model"], ids)
    decode = _decoder(configuration["decoder"], describe)
    tokens = [b""] * (max(ids.values(), default=-1) + 1)
    for text, token_id in ids.items():
        if token_id not in unknown and not (token_id in added and added[token_id].special):
            tokens[token_id] = decode(text)
    encode = without_first_space(lambda text: encoder.encode(text, add_special_tokens=False).ids)
    check_round_trip(tokens, encode, describe, skip=unknown.__contains__)
    special = {token.content: token_id for token_id, token in added.items()}
    return VocabularyParts(tokens, eos_token_id, special, encode, describe)


def _decoder(configuration: dict[str, Any] | None, describe: str) -> Callable[[str], bytes]:
    """How the tokenizer's decoder turns one token in the middle of a text into bytes."""
    steps = _steps(configuration)
    names = [step["type"] for step in steps]
    if "ByteLevel" in names:
        return _decode_byte_level
    foreign = [name for name in names if name not in _SENTENCEPIECE_STEPS]
    replacements = [step for step in steps if step["type"] == "Replace"]
    foreign += ["Replace" for step in replacements if (step["pattern"], step["content"]) != ({"String": "\u2581"}, " ")]
    if foreign or not ("Metaspace" in names or replacements):
        raise VocabularyError(f"{describe}: the decoder {foreign[0] if foreign else 'None'!r} is not supported")
    return _decode_sentencepiece if "ByteFallback" in names else _decode_spaces


def _steps(configuration: dict[str, Any] | None) -> list[dict[str, Any]]:
    if configuration is None:
        return []
    if configuration["type"] == "Sequence":
        return [step for inner in configuration["decoders"] for step in _steps(inner)]
    return [configuration]


def _decode_byte_level(text: str) -> bytes:
    # A token with a character that stands for no byte (added tokens have such) is its own text.
    read = byte_level.decode(text)
    return text.encode() if read is None else read


def _decode_spaces(text: str) -> bytes:
    return sentencepiece_text.decode(text.encode())


def _decode_sentencepiece(text: str) -> bytes:
    byte = sentencepiece_text.decode_byte(text.encode())
    return _decode_spaces(text) if byte is None else byte


def _unknown_ids(model: dict[str, Any], ids: dict[str, int]) -> set[int]:
    """The id that the model gives for what it cannot write, if it has one: its text is never in a text."""
    if model.get("unk_id") is not None:
        return {model["unk_id"]}
    unknown = model.get("unk_token")
    return {ids[unknown]} if unknown in ids else set()
