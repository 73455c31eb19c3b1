"""A vocabulary from the tokenizer inside a GGUF file. Needs no library and loads no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import byte_level, llama_vocab_rules, sentencepiece_text
from cfgmask.tokenizers.gguf_file import GgufFile
from cfgmask.tokenizers.llama_vocab_rules import Kind
from cfgmask.tokenizers.parts import VocabularyParts

_PREFIX = "tokenizer.ggml."
_ROLE_KEYS = {
    "eos": ("eos_token_id",),
    "eot": ("eot_token_id",),
    "eom": ("eom_token_id",),
    "fim_pre": ("fim_pre_token_id", "prefix_token_id"),
    "fim_suf": ("fim_suf_token_id", "suffix_token_id"),
    "fim_mid": ("fim_mid_token_id", "middle_token_id"),
    "fim_pad": ("fim_pad_token_id",),
    "fim_rep": ("fim_rep_token_id",),
    "fim_sep": ("fim_sep_token_id",),
}
_NAMED_KINDS = (Kind.CONTROL, Kind.USER_DEFINED, Kind.UNKNOWN)
# Above this share of ordinary tokens that the scheme cannot read, the file does not follow the scheme that it names.
_MAX_UNREADABLE = 0.01
# A vocabulary of a language model has this many ordinary tokens; below it is one that was made for a test.
_LANGUAGE_MODEL_TOKENS = 1000


def read_gguf(path: str | PathLike[str]) -> VocabularyParts:
    """Read the tokenizer of a file.

    Raises OSError where the file cannot be read; VocabularyError where it is damaged, has no tokenizer or one of a kind
    that is not supported, or where its tokens are not what that kind says.
    Cost: 0.3 s for 128,256 tokens, 0.5 s for 262,144.
    """
    with GgufFile(path) as file:
        model = file.scalar(_PREFIX + "model")
        texts = file.strings(_PREFIX + "tokens")
        if not texts or not isinstance(model, str):
            raise VocabularyError(f"{path}: the file has no tokenizer")
        decode = _decoder(path, model)
        kinds = file.integers(_PREFIX + "token_type") or [Kind.NORMAL] * len(texts)
        if len(kinds) != len(texts):
            raise VocabularyError(f"{path}: {len(texts)} tokens have {len(kinds)} types")
        roles = _roles(file, len(texts))
    names = [text.decode("utf-8", errors="replace") for text in texts]
    # Later tokens must not take a name from earlier ones: llama.cpp refuses files with equal texts.
    ids = {name: token_id for token_id, name in reversed(list(enumerate(names)))}
    reading = llama_vocab_rules.read(model, ids, kinds, roles)
    if not reading.end_token_ids:
        raise VocabularyError(f"{path}: the tokenizer has no token that ends a text")
    tokens = _tokens(path, texts, reading, decode)
    _check_printable(path, tokens)
    special = {name: token_id for name, token_id in ids.items() if reading.kinds[token_id] in _NAMED_KINDS}
    return VocabularyParts(tokens, reading.end_token_ids, special, None, Path(path).name)


def _decoder(path: str | PathLike[str], model: str) -> Callable[[bytes], bytes | None]:
    """How an ordinary token's text becomes bytes; None for a text that the scheme cannot read."""
    if model == "gpt2":
        return _decode_byte_level
    if model in ("llama", "t5", "gemma4"):
        return sentencepiece_text.decode
    raise VocabularyError(f"{path}: GGUF tokenizers of the kind {model!r} are not supported; try from_llama")


def _decode_byte_level(text: bytes) -> bytes | None:
    return byte_level.decode(text.decode("utf-8", errors="replace"))


def _roles(file: GgufFile, n_vocab: int) -> dict[str, int]:
    roles = {}
    for role, keys in _ROLE_KEYS.items():
        for key in keys:
            token_id = file.integer(_PREFIX + key)
            if token_id is None:
                continue
            if not 0 <= token_id < n_vocab:
                raise VocabularyError(f"{file.path}: {key} is {token_id}, but there are {n_vocab} tokens")
            roles[role] = token_id
            break
    return roles


def _tokens(
    path: str | PathLike[str],
    texts: Sequence[bytes],
    reading: llama_vocab_rules.Reading,
    decode: Callable[[bytes], bytes | None],
) -> list[bytes]:
    tokens = [b""] * len(texts)
    ends = set(reading.end_token_ids)
    unreadable = []
    n_ordinary = 0
    for token_id, (text, kind) in enumerate(zip(texts, reading.kinds, strict=True)):
        if token_id in ends:
            continue
        if kind == Kind.USER_DEFINED:
            tokens[token_id] = text
        elif kind in (Kind.NORMAL, Kind.BYTE):
            n_ordinary += 1
            read = sentencepiece_text.decode_byte(text) if kind == Kind.BYTE else decode(text)
            if read is None:
                unreadable.append(token_id)
            else:
                tokens[token_id] = read
    # A few stray tokens (added by hand, typed as ordinary) have no text here and so are never allowed.
    if len(unreadable) > _MAX_UNREADABLE * n_ordinary:
        first = unreadable[0]
        raise VocabularyError(
            f"{path}: {len(unreadable)} of {n_ordinary} ordinary tokens cannot be read as the file says, "
            f"the first is {first}, {texts[first]!r}"
        )
    return tokens


def _check_printable(path: str | PathLike[str], tokens: Sequence[bytes]) -> None:
    """Raises VocabularyError if a large vocabulary cannot write some printable ASCII character, which all can."""
    if sum(map(bool, tokens)) < _LANGUAGE_MODEL_TOKENS:
        return
    missing = {bytes([byte]) for byte in range(0x20, 0x7F)}.difference(tokens)
    if missing:
        raise VocabularyError(f"{path}: no token is {min(missing)!r}; the tokens are not what the file says")
