"""The reader of GGUF files: what it reads, and what it makes of damaged files."""

from __future__ import annotations

import contextlib
import os
import random
import struct
from pathlib import Path

import pytest

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import gguf_file
from cfgmask.tokenizers.gguf_file import GgufFile
from tests.tokenizers.gguf_writer import write_gguf

FIELDS = {"text": "ünïcode", "number": 7, "truth": True, "share": 0.5, "texts": ["a", "", "▁b"], "numbers": [1, -2, 3]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "x.gguf", FIELDS)


def test_values_come_back(path: Path) -> None:
    with GgufFile(path) as file:
        assert {key: file.scalar(key) for key in ("text", "number", "truth", "share")} == {
            key: FIELDS[key] for key in ("text", "number", "truth", "share")
        }
        assert file.strings("texts") == [b"a", b"", "▁b".encode()]
        assert file.integers("numbers") == [1, -2, 3]
        assert file.scalar("none") is file.integer("none") is file.strings("none") is file.integers("none") is None


def test_raw_is_the_value_with_its_type(path: Path) -> None:
    with GgufFile(path) as file:
        assert file.raw("number") == struct.pack("<II", 4, 7)


@pytest.mark.parametrize(
    ("read", "key"),
    [
        ("scalar", "texts"),
        ("integer", "text"),
        ("integer", "truth"),
        ("integer", "share"),
        ("strings", "numbers"),
        ("strings", "text"),
        ("integers", "texts"),
        ("integers", "number"),
    ],
)
def test_wrong_types_are_named(path: Path, read: str, key: str) -> None:
    with GgufFile(path) as file, pytest.raises(VocabularyError, match=key):
        getattr(file, read)(key)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"GG", "not a GGUF file"),
        (b"PK\x03\x04" + bytes(40), "not a GGUF file"),
        (b"GGUF", "cut off"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version 50331648"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "cut off"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**64 - 1), "cut off"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 4, 2**62), "cut off"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQQ", 3, 0, 1, 1, b"k", 9, 8, 2**62, 2**64 - 9), "cut off"),
        (b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"k", 77), "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"k", 9, 9, 1), "unknown type 9"),
        (b"GGUF" + struct.pack("<IQQQ1sIB", 3, 0, 1, 1, b"\xff", 0, 1), "damaged: a key is not UTF-8"),
    ],
)
def test_hostile_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(data)
    with pytest.raises(VocabularyError, match=message):
        GgufFile(path)


def test_every_truncation_is_refused(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    with GgufFile(path) as file:
        end = max(field.end for field in file.fields.values())
    for length in range(end):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(data[:length])
        with pytest.raises(VocabularyError, match=r"(cut off|not a GGUF file|is empty)$"):
            GgufFile(cut)


def test_flipped_bytes_never_give_another_error(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    rng = random.Random(0)
    for _ in range(500):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        bad = tmp_path / "bad.gguf"
        bad.write_bytes(damaged)
        try:
            with GgufFile(bad) as file:
                for key in file.fields:
                    for read in (file.scalar, file.integer, file.strings, file.integers):
                        with contextlib.suppress(VocabularyError):
                            read(key)
        except VocabularyError:
            pass


def test_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        GgufFile(tmp_path / "none.gguf")
    with pytest.raises(OSError, match="irectory"):
        GgufFile(tmp_path)


def test_a_file_that_shrinks_while_it_is_open(path: Path) -> None:
    """Mapped, it ended the process."""
    with GgufFile(path) as file:
        os.truncate(path, 0)
        assert file.strings("texts") == [b"a", b"", "▁b".encode()]
        assert file.integer("number") == 7


def test_large_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies beyond the part that is read first is read with it; no more than a bound."""
    monkeypatch.setattr(gguf_file, "_SIZES", (100, 10_000))
    large = write_gguf(tmp_path / "x.gguf", {"first": 1, "texts": ["a" * 50] * 100, "last": 2})
    with GgufFile(large) as file:
        assert (file.integer("first"), file.integer("last")) == (1, 2)
        assert file.strings("texts") == [b"a" * 50] * 100
    larger = write_gguf(tmp_path / "y.gguf", {"texts": ["a" * 50] * 200})
    with pytest.raises(VocabularyError, match="the metadata of the file are larger than 10000 bytes"):
        GgufFile(larger)


def test_bounds_on_what_a_file_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_gguf(tmp_path / "x.gguf", {"texts": ["a"] * 3, "numbers": [1] * 5, "more": ["b"] * 3})
    monkeypatch.setattr(gguf_file, "_MAX_ELEMENTS", 5)
    with pytest.raises(VocabularyError, match="more than 5 texts"):
        GgufFile(path)
    monkeypatch.setattr(gguf_file, "_MAX_ELEMENTS", 6)
    monkeypatch.setattr(gguf_file, "_MAX_FIELDS", 2)
    with pytest.raises(VocabularyError, match="more than 2 fields"):
        GgufFile(path)
    monkeypatch.setattr(gguf_file, "_MAX_FIELDS", 3)
    with GgufFile(path) as file:
        monkeypatch.setattr(gguf_file, "_MAX_ELEMENTS", 4)
        with pytest.raises(VocabularyError, match="numbers has more than 4 elements"):
            file.integers("numbers")
