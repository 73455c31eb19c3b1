"""Writes small GGUF files for tests: fields, and tensors of 16-bit floats."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_ALIGNMENT = 32
_UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_TENSOR_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}

Value: TypeAlias = str | bool | int | float | Sequence[str] | Sequence[bytes] | Sequence[int] | Sequence[float]


class Raw(bytes):
    """A value as it stands in another file, its type in front."""


def write_gguf(path: Path, fields: Mapping[str, Value | Raw], tensors: Mapping[str, NDArray] | None = None) -> Path:
    """Write a file. Whole numbers become uint32 (int32 in arrays); tensors are row-major, the last axis innermost."""
    tensors = tensors or {}
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(fields))
    header += b"".join(_string(key) + _field(value) for key, value in fields.items())
    offset = 0
    for name, tensor in tensors.items():
        shape = tensor.shape[::-1]
        header += _string(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        header += struct.pack("<IQ", _TENSOR_TYPES[tensor.dtype], offset)
        offset += _padded(tensor.nbytes)
    with path.open("wb") as file:
        file.write(header.ljust(_padded(len(header)), b"\0"))
        for tensor in tensors.values():
            file.write(tensor.tobytes().ljust(_padded(tensor.nbytes), b"\0"))
    return path


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _string(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def _field(value: Value | Raw) -> bytes:
    if isinstance(value, Raw):
        return value
    if isinstance(value, str | bytes):
        return struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, bool):
        return struct.pack("<I?", _BOOL, value)
    if isinstance(value, int):
        return struct.pack("<II", _UINT32, value)
    if isinstance(value, float):
        return struct.pack("<If", _FLOAT32, value)
    return struct.pack("<I", _ARRAY) + _array(value)


def _array(values: Sequence) -> bytes:
    first = values[0] if values else 0
    if isinstance(first, str | bytes):
        return struct.pack("<IQ", _STRING, len(values)) + b"".join(map(_string, values))
    kind, letter = (_INT32, "i") if isinstance(first, int) else (_FLOAT32, "f")
    return struct.pack(f"<IQ{len(values)}{letter}", kind, len(values), *values)
