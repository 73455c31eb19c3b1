"""A vocabulary from a `sentencepiece.SentencePieceProcessor`, or from the file of its model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cfgmask.errors import VocabularyError
from cfgmask.source_file import read_at_most
from cfgmask.tokenizers import sentencepiece_text
from cfgmask.tokenizers.documents import MAX_BYTES
from cfgmask.tokenizers.end_texts import check_ends, known_ends
from cfgmask.tokenizers.first_space import without_first_space
from cfgmask.tokenizers.library import require
from cfgmask.tokenizers.parts import VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip

if TYPE_CHECKING:
    import sentencepiece

_METHODS = ("get_piece_size", "id_to_piece", "encode_as_ids", "eos_id", "serialized_model_proto")


class Kind(IntEnum):
    """`SentencePiece.Type` of sentencepiece's model format."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


_NAMED_KINDS = (Kind.UNKNOWN, Kind.CONTROL, Kind.USER_DEFINED)


def read_sentencepiece(
    model: sentencepiece.SentencePieceProcessor | str | os.PathLike[str], eos_token_id: Sequence[int] | None
) -> VocabularyParts:
    """Read a processor, or a model's file by the sentencepiece library.

    eos_token_id  the ids that end a text; None takes the model's own, and pieces whose names are known to end one
    Raises OSError where a file cannot be read; VocabularyError where no end token is known or one is no id, and where
    the self-check fails, as for models that normalise their text; TypeError for anything else.
    Cost: 0.1 s for 32,768 pieces.
    """
    processor, describe = _processor(model)
    kinds = _kinds(processor.serialized_model_proto())
    try:
        pieces = [processor.id_to_piece(token_id) for token_id in range(processor.get_piece_size())]
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{describe}: a piece is no text: {error}") from None
    if len(kinds) != len(pieces):
        raise VocabularyError(f"{describe}: {len(pieces)} pieces have {len(kinds)} types")
    tokens = [_bytes(piece, kind, describe) for piece, kind in zip(pieces, kinds, strict=True)]
    unknown = {token_id for token_id, kind in enumerate(kinds) if kind == Kind.UNKNOWN}
    special = {piece: token_id for token_id, piece in enumerate(pieces) if kinds[token_id] in _NAMED_KINDS}
    encode = without_first_space(processor.encode_as_ids)
    check_round_trip(tokens, encode, describe, skip=unknown.__contains__)
    ends = _ends(processor.eos_id(), special) if eos_token_id is None else eos_token_id
    if not ends:
        raise VocabularyError(f"{describe}: the model names no end token; say which with eos_token_id=")
    check_ends(ends, range(len(tokens)), describe)
    if eos_token_id is None:
        for token_id in ends:
            tokens[token_id] = b""
    return VocabularyParts(tokens, ends, special, encode, describe)


def _processor(model: Any) -> tuple[Any, str]:
    if all(hasattr(model, name) for name in _METHODS):
        return model, "sentencepiece model"
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"from_sentencepiece takes a SentencePieceProcessor or a path, not {type(model).__name__}")
    library = require("sentencepiece", "sentencepiece")
    path = Path(model)
    data = read_at_most(path, MAX_BYTES)
    if data is None:
        raise VocabularyError(f"{path}: the file is larger than {MAX_BYTES} bytes")
    processor = library.SentencePieceProcessor()
    try:
        loaded = processor.LoadFromSerializedProto(data)
    except (RuntimeError, UnicodeDecodeError) as error:  # the latter for a message that quotes what is no text
        raise VocabularyError(f"{path}: {error}") from None
    if not loaded:
        raise VocabularyError(f"{path}: this is no model of sentencepiece")
    return processor, path.name


def _bytes(piece: str, kind: int, describe: str) -> bytes:
    if kind in (Kind.NORMAL, Kind.USER_DEFINED):
        return sentencepiece_text.decode(piece.encode())
    if kind != Kind.BYTE:
        return b""
    byte = sentencepiece_text.decode_byte(piece.encode())
    if byte is None:
        raise VocabularyError(f"{describe}: the piece {piece!r} is no byte")
    return byte


def _ends(eos: int, special: dict[str, int]) -> list[int]:
    """The model's own end token first, if it has one."""
    return [*([eos] if eos >= 0 else []), *(token_id for token_id in known_ends(special) if token_id != eos)]


# The library has no question for user-defined pieces, so the kinds are read from the model: a protobuf message whose
# field 1 is a piece, and of a piece field 3 is its kind.
_PIECES, _KIND = 1, 3
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_MAX_VARINT_BITS = 63


def _kinds(model: bytes) -> list[int]:
    """The kind of each piece. Raises VocabularyError for a model that is not whole."""
    kinds = []
    try:
        for number, value in _fields(memoryview(model)):
            if number == _PIECES and isinstance(value, memoryview):
                found = [inner for field, inner in _fields(value) if field == _KIND and isinstance(inner, int)]
                kinds.append(found[-1] if found else Kind.NORMAL)
    except (IndexError, ValueError) as error:
        raise VocabularyError(f"the model cannot be read: {error}") from None
    return kinds


def _fields(message: memoryview) -> list[tuple[int, int | memoryview]]:
    """Number and value of each field: an int, or the bytes of anything else."""
    fields: list[tuple[int, int | memoryview]] = []
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, at = _varint(message, at)
            fields.append((number, value))
            continue
        if wire_type == _BYTES:
            length, at = _varint(message, at)
        elif wire_type in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if wire_type == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"there is no wire type {wire_type}")
        fields.append((number, message[at : at + length]))
        at += length
    return fields


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """A number of seven bits a byte, lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > _MAX_VARINT_BITS:
            raise ValueError("a number is too long")
