"""A vocabulary from a slow tokenizer of `transformers`: one that is written in Python, over sentencepiece or bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import byte_level, sentencepiece_text
from cfgmask.tokenizers.end_texts import check_ends
from cfgmask.tokenizers.first_space import without_first_space
from cfgmask.tokenizers.parts import VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip


def read_slow(tokenizer: Any, eos_token_id: Sequence[int], describe: str) -> VocabularyParts:
    """Read a slow tokenizer, whose pieces are sentencepiece's or those of byte-level BPE.

    eos_token_id  the ids that end a text
    Raises VocabularyError for tokenizers of another kind, for an end that is no id, and where the self-check fails.
    Cost: 0.3 s for 32,000 tokens.
    """
    decode = _decoder(tokenizer, describe)
    ids: dict[str, int] = tokenizer.get_vocab()
    check_ends(eos_token_id, set(ids.values()), describe)
    added = tokenizer.added_tokens_decoder
    unknown = {tokenizer.unk_token_id} - {None}
    tokens = [b""] * (max(ids.values(), default=-1) + 1)
    for text, token_id in ids.items():
        if token_id in unknown or token_id in added:
            continue
        tokens[token_id] = decode(text)
    for token_id, token in added.items():
        if not token.special:
            tokens[token_id] = token.content.encode()

    def tokenize(text: str) -> list[int]:
        encoded: list[int] = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return encoded

    encode = without_first_space(tokenize)
    check_round_trip(tokens, encode, describe, skip=unknown.__contains__)
    special = {token.content: token_id for token_id, token in added.items()}
    return VocabularyParts(tokens, eos_token_id, special, encode, describe)


def _decoder(tokenizer: Any, describe: str) -> Callable[[str], bytes]:
    """What a piece writes."""
    model = getattr(tokenizer, "sp_model", None)
    if model is not None:
        return lambda piece: _sentencepiece(model, piece)
    if hasattr(tokenizer, "byte_decoder"):
        return lambda piece: _byte_level(piece, describe)
    raise VocabularyError(
        f"{describe}: of slow tokenizers only those over sentencepiece and byte-level BPE are supported; try a fast one"
    )


def _sentencepiece(model: Any, piece: str) -> bytes:
    token_id = model.piece_to_id(piece)
    is_known = model.id_to_piece(token_id) == piece
    if is_known and (model.is_control(token_id) or model.is_unknown(token_id) or model.is_unused(token_id)):
        return b""
    byte = sentencepiece_text.decode_byte(piece.encode()) if is_known and model.is_byte(token_id) else None
    return sentencepiece_text.decode(piece.encode()) if byte is None else byte


def _byte_level(piece: str, describe: str) -> bytes:
    data = byte_level.decode(piece)
    if data is None:
        raise VocabularyError(f"{describe}: the piece {piece!r} is not in the alphabet of byte-level BPE")
    return data
