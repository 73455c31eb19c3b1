"""Vocabularies written into a file and read back."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask import Vocabulary
from cfgmask.demo import model_path
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import saved

SMALL = {
    "format": "cfgmask vocabulary",
    "version": 1,
    "description": "three tokens",
    "end_token_ids": [2],
    "special_tokens": {"<end>": 2},
    "lengths": [1, 2, 0],
    "bytes": base64.b64encode(b"abc").decode(),
}


def written(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_what_a_file_says(tmp_path: Path) -> None:
    vocabulary = Vocabulary.load(written(tmp_path / "v", SMALL))
    assert vocabulary.tokens == (b"a", b"bc", b"")
    assert vocabulary.eos_token_ids == (2,)
    assert vocabulary.special_tokens == {"<end>": 2}
    assert vocabulary.encode is None
    assert repr(vocabulary) == "<Vocabulary of three tokens: 3 tokens, ends with 2>"


@given(
    tokens=st.lists(st.binary(max_size=5), min_size=1, max_size=20),
    names=st.lists(st.text(max_size=4), unique=True, max_size=3),
    data=st.data(),
)
def test_all_of_it_comes_back(
    tokens: list[bytes], names: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ids = st.integers(0, len(tokens) - 1)
    ends = data.draw(st.lists(ids, min_size=1, max_size=3))
    special = {name: data.draw(ids) for name in names}
    before = Vocabulary.from_bytes(tokens, ends, special)
    path = tmp_path_factory.mktemp("saved") / "v"
    before.save(path)
    after = Vocabulary.load(path)
    for name in ("tokens", "n_vocab", "eos_token_ids", "special_tokens"):
        assert getattr(after, name) == getattr(before, name)
    assert repr(after) == repr(before)


def test_masks_are_the_same(tmp_path: Path) -> None:
    before = Vocabulary.from_gguf(model_path())
    before.save(tmp_path / "v")
    grammar = cfgmask.Grammar.from_json_schema({"type": "string", "maxLength": 5})
    masks = []
    for vocabulary in (before, Vocabulary.load(tmp_path / "v")):
        bits = np.zeros((vocabulary.n_vocab + 31) // 32, np.uint32)
        cfgmask.compile(grammar, vocabulary).matcher().fill_mask(bits)
        masks.append(bits)
    assert masks[0].any()
    assert np.array_equal(*masks)


def test_a_save_replaces_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = written(tmp_path / "v", "old")
    Vocabulary.from_bytes([b"x", b""], 1).save(path)
    assert Vocabulary.load(path).tokens == (b"x", b"")
    assert list(tmp_path.iterdir()) == [path]


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Vocabulary.from_bytes([b"x", b""], 1).save(tmp_path / "missing" / "v")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        Vocabulary.from_bytes([b"x", b""], 1).save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_an_encoder_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "v"
    Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], 256).save(path)
    loaded = Vocabulary.load(path, encode=lambda text: list(text.encode()))
    assert loaded.encode is not None
    assert loaded.encode("ab") == [97, 98]
    with pytest.raises(VocabularyError, match="not what its encoder means"):
        Vocabulary.load(path, encode=lambda text: [97] * len(text))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "damaged"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "this is no saved vocabulary"),
        ("[]", "this is no saved vocabulary"),
        (SMALL | {"format": "other"}, "this is no saved vocabulary"),
        (SMALL | {"version": 2}, "version 2 of the format is not known; save it again"),
        (SMALL | {"lengths": [1, 3, 0]}, "the lengths of its tokens"),
        (SMALL | {"lengths": [4, -1, 0]}, "the lengths of its tokens"),
        (SMALL | {"lengths": [True, 2, 0]}, "the lengths of its tokens"),
        (SMALL | {"lengths": []}, "the lengths of its tokens"),
        (SMALL | {"lengths": [], "bytes": ""}, "the vocabulary is empty"),
        (SMALL | {"lengths": "12"}, "damaged"),
        (SMALL | {"bytes": "%"}, "not base64"),
        (SMALL | {"bytes": None}, "damaged"),
        (SMALL | {"end_token_ids": []}, "no end token"),
        (SMALL | {"end_token_ids": [3]}, "end token 3 is not an id"),
        (SMALL | {"end_token_ids": [True]}, "damaged"),
        (SMALL | {"special_tokens": {"<end>": -1}}, "special token -1 is not an id"),
        (SMALL | {"special_tokens": {"<end>": 1.5}}, "damaged"),
        (SMALL | {"special_tokens": []}, "damaged"),
        ({key: value for key, value in SMALL.items() if key != "version"}, "damaged"),
    ],
)
def test_damaged_files(tmp_path: Path, document: Any, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.load(written(tmp_path / "v", document))


def test_too_many_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "MAX_TOKENS", 2)
    with pytest.raises(VocabularyError, match="more than 2 tokens"):
        Vocabulary.load(written(tmp_path / "v", SMALL))


def test_a_binary_file(tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(bytes(range(256)))
    with pytest.raises(VocabularyError, match="damaged"):
        Vocabulary.load(tmp_path / "v")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Vocabulary.load(tmp_path / "v")


def test_a_symlink_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / "v").symlink_to(target)
    Vocabulary.from_bytes([b"x", b""], 1).save(tmp_path / "v")
    assert target.read_text() == "mine"
    assert not (tmp_path / "v").is_symlink()
    assert Vocabulary.load(tmp_path / "v").tokens == (b"x", b"")


@pytest.mark.parametrize("name", ["v.{pid}.{thread}", ".{token}.tmp"], ids=["as it was", "as it is"])
def test_a_symlink_in_the_place_of_the_temporary_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Somebody who may write to the folder knows or guesses the name that the file has until it is whole."""
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    target = tmp_path / "target"
    target.write_text("mine")
    planted = tmp_path / name.format(pid=os.getpid(), thread=threading.get_ident(), token="0" * 32)
    planted.symlink_to(target)
    with contextlib.suppress(FileExistsError):
        Vocabulary.from_bytes([b"x", b""], 1).save(tmp_path / "v")
    assert target.read_text() == "mine"
    assert planted.is_symlink()
