"""The metadata of a GGUF file, read as it is asked for.

The `gguf` package makes an array object for every string and reads all of them: 28 s for the 262,144 tokens and
514,906 merges of Gemma 4, against 0.1 s here. A vocabulary needs seven of a file's fields, so this reader steps over
what nobody asks for, and it bounds what a hostile file can make it do by the size of that file.

The metadata are read into memory: a mapped file that another process makes shorter ends the process with SIGBUS.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from cfgmask.errors import VocabularyError

Scalar: TypeAlias = int | float | bool | str
_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LENGTH = struct.Struct("<Q")
# Metadata of up to so many bytes are read. The first is more than any published file needs (Gemma 4 has 15 MB of
# them), and takes 3 ms from the page cache.
_SIZES = (1 << 25, 1 << 28)
_MAX_FIELDS = 1 << 16
# Texts in all arrays of a file, tokens and merges: 0.4 s. And numbers in one array that is asked for.
_MAX_ELEMENTS = 1 << 22


class _EndsEarlyError(Exception):
    """The metadata go on behind what was read of the file."""


@dataclass(frozen=True)
class Field:
    """Where one value lies: `start` to `end` is its type and content, without its key."""

    kind: int
    start: int
    end: int


class GgufFile:
    """An open GGUF file: its fields by key. A context manager; values must be read before it is closed.

    Raises OSError where the file cannot be read, VocabularyError where it is not a whole little-endian GGUF file of
    version 2 or 3, or where its metadata are larger than 256 MiB. Cost: one step for each string of the file's arrays,
    about 0.1 microseconds.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = path
        self._data = b""
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for most in _SIZES:
                self._data += file.read(min(most, size) - len(self._data))
                is_whole = len(self._data) >= size or len(self._data) < most
                try:
                    self.fields = self._read_fields()
                except (_EndsEarlyError, struct.error, OverflowError) as error:
                    if is_whole:
                        raise VocabularyError(f"{path}: the file is cut off") from error
                except UnicodeDecodeError as error:
                    raise VocabularyError(f"{path}: the file is damaged: a key is not UTF-8") from error
                else:
                    return
        raise VocabularyError(f"{path}: the metadata of the file are larger than {_SIZES[-1]} bytes")

    def __enter__(self) -> GgufFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._data = b""

    def raw(self, key: str) -> bytes:
        """The bytes of a value, its type in front, as they stand in the file."""
        field = self.fields[key]
        return self._data[field.start : field.end]

    def scalar(self, key: str) -> Scalar | None:
        """A number, truth value or text; None where the key is missing. Raises VocabularyError for an array."""
        field = self.fields.get(key)
        if field is None:
            return None
        if field.kind == _STRING:
            return self._string(field.start + 4)[0].decode("utf-8", errors="replace")
        if field.kind == _ARRAY:
            raise VocabularyError(f"{self.path}: {key} is an array, not one value")
        value: Scalar = struct.unpack_from("<" + _FORMATS[field.kind], self._data, field.start + 4)[0]
        return value

    def integer(self, key: str) -> int | None:
        """A whole number; None where the key is missing. Raises VocabularyError for anything else."""
        value = self.scalar(key)
        if value is None or (isinstance(value, int) and not isinstance(value, bool)):
            return value
        raise VocabularyError(f"{self.path}: {key} is {value!r}, not a whole number")

    def strings(self, key: str) -> list[bytes] | None:
        """An array of texts; None where the key is missing. Raises VocabularyError for anything else."""
        header = self._array(key, "texts", _STRING)
        if header is None:
            return None
        offset, count, _ = header
        texts = []
        for _ in range(count):
            text, offset = self._string(offset)
            texts.append(text)
        return texts

    def integers(self, key: str) -> list[int] | None:
        """An array of whole numbers; None where the key is missing. Raises VocabularyError for anything else."""
        header = self._array(key, "whole numbers", 0, 1, 2, 3, 4, 5, 10, 11)
        if header is None:
            return None
        offset, count, kind = header
        return list(struct.unpack_from(f"<{count}{_FORMATS[kind]}", self._data, offset))

    def _array(self, key: str, what: str, *kinds: int) -> tuple[int, int, int] | None:
        """Offset of the first element, number of elements, their type."""
        field = self.fields.get(key)
        if field is None:
            return None
        if field.kind == _ARRAY:
            kind, count = struct.unpack_from("<IQ", self._data, field.start + 4)
            if count > _MAX_ELEMENTS:
                raise VocabularyError(f"{self.path}: {key} has more than {_MAX_ELEMENTS} elements")
            if kind in kinds:
                return field.start + 16, count, kind
        raise VocabularyError(f"{self.path}: {key} is not an array of {what}")

    def _read_fields(self) -> dict[str, Field]:
        if not self._data:
            raise VocabularyError(f"{self.path}: the file is empty")
        if self._data[:4] != _MAGIC:
            raise VocabularyError(f"{self.path}: not a GGUF file")
        version, _, count = struct.unpack_from("<IQQ", self._data, 4)
        if version not in _VERSIONS:
            raise VocabularyError(f"{self.path}: GGUF version {version} is not supported, little-endian 2 and 3 are")
        fields: dict[str, Field] = {}
        self._n_texts = 0
        offset = 24
        for n_fields in range(count):
            if n_fields >= _MAX_FIELDS:
                raise VocabularyError(f"{self.path}: the file has more than {_MAX_FIELDS} fields")
            name, offset = self._string(offset)
            (kind,) = struct.unpack_from("<I", self._data, offset)
            end = self._skip(kind, offset + 4)
            fields[name.decode("utf-8")] = Field(kind, offset, end)
            offset = end
        return fields

    def _skip(self, kind: int, offset: int) -> int:
        """Where the value of a type ends that starts at `offset`."""
        if kind == _STRING:
            return self._string_end(offset)
        if kind != _ARRAY:
            return self._inside(offset + self._size(kind))
        element, count = struct.unpack_from("<IQ", self._data, offset)
        offset += 12
        if element == _STRING:
            return self._skip_strings(offset, count)
        return self._inside(offset + count * self._size(element))

    def _skip_strings(self, offset: int, count: int) -> int:
        # Each takes 8 bytes at least, so a count beyond that is one of a damaged file.
        self._inside(offset + 8 * count)
        self._n_texts += count
        if self._n_texts > _MAX_ELEMENTS:
            raise VocabularyError(f"{self.path}: the arrays of the file have more than {_MAX_ELEMENTS} texts")
        # The loop that runs once for every token and merge of a file: no call for each of them.
        data, unpack = self._data, _LENGTH.unpack_from
        for _ in range(count):
            offset += 8 + unpack(data, offset)[0]
        return self._inside(offset)

    def _string(self, offset: int) -> tuple[bytes, int]:
        end = self._string_end(offset)
        return self._data[offset + 8 : end], end

    def _string_end(self, offset: int) -> int:
        length: int = _LENGTH.unpack_from(self._data, offset)[0]
        return self._inside(offset + 8 + length)

    def _size(self, kind: int) -> int:
        if kind not in _FORMATS:
            raise VocabularyError(f"{self.path}: a value has the unknown type {kind}")
        return struct.calcsize("<" + _FORMATS[kind])

    def _inside(self, offset: int) -> int:
        if offset > len(self._data):
            raise _EndsEarlyError
        return offset
