"""The public `Vocabulary`."""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.library import require

BYTES = [bytes([byte]) for byte in range(256)]


def test_from_bytes() -> None:
    vocab = Vocabulary.from_bytes([*BYTES, b"", b"", b"ab"], eos_token_id=[257, 256, 257], special_tokens={"<x>": 256})
    assert vocab.tokens[97:100] == (b"a", b"b", b"c")
    assert vocab.n_vocab == 259
    assert vocab.eos_token_ids == (257, 256)
    assert vocab.special_tokens == {"<x>": 256}
    assert vocab.encode is None
    assert repr(vocab) == "<Vocabulary of bytes: 259 tokens, ends with 257, 256>"


@pytest.mark.parametrize("ids", [5, np.int64(5), (5,), np.array([5]), np.array(5), range(5, 6), {5}])
def test_ids_of_any_kind(ids: Any) -> None:
    assert Vocabulary.from_bytes(BYTES, eos_token_id=ids).eos_token_ids == (5,)


def test_from_bytes_checks_its_encoder() -> None:
    Vocabulary.from_bytes([*BYTES, b""], 256, encode=lambda text: list(text.encode()))
    with pytest.raises(VocabularyError, match="not what its encoder means"):
        Vocabulary.from_bytes([*BYTES, b""], 256, encode=lambda text: [ord(c) % 256 for c in text])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], 0), "empty"),
        (([b"a", "b"], 0), "token 1 is of type str"),
        (([b"a"], []), "no end token"),
        (([b"a"], 1), "end token 1 is not an id: there are 1 tokens"),
        (([b"a"], -1), "end token -1 is not an id"),
        (([b"a"], 0, {"<x>": 9}), "special token 9 is not an id"),
    ],
)
def test_impossible_vocabularies_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_bytes(*arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": 3}, "tokens must be a list of bytes, not int"),
        ({"tokens": None}, "tokens must be a list of bytes, not NoneType"),
        ({"tokens": b"abc"}, "tokens must be a list of bytes, not bytes"),
        ({"eos_token_id": None}, "eos_token_id must be an int, not NoneType"),
        ({"eos_token_id": "1"}, "eos_token_id must be an int, not str"),
        ({"eos_token_id": b"1"}, "eos_token_id must be an int, not bytes"),
        ({"eos_token_id": 1.0}, "eos_token_id must be an int, not float"),
        ({"eos_token_id": True}, "eos_token_id must be an int, not bool"),
        ({"eos_token_id": [0, "1"]}, "eos_token_id must be an int, not str"),
        ({"special_tokens": {"<x>": "1"}}, "the id of special token '<x>' must be an int, not str"),
        ({"special_tokens": {b"<x>": 1}}, "the key b'<x>', which is no text"),
        ({"special_tokens": ["<x>"]}, "special_tokens must be a mapping from text to id, not list"),
        ({"special_tokens": 0}, "special_tokens must be a mapping from text to id, not int"),
        ({"encode": "utf-8"}, "encode must be a function, not str"),
    ],
)
def test_wrong_types_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        Vocabulary.from_bytes(**({"tokens": [b"a", b"b"], "eos_token_id": 0} | changes))


@pytest.mark.parametrize("encoded", ["abc", None, 3, [1.5], [b"a"]])
def test_encoders_that_give_no_ids_are_refused(encoded: Any) -> None:
    with pytest.raises(VocabularyError, match="not a list of ids"):
        Vocabulary.from_bytes([*BYTES, b""], 256, encode=lambda _: encoded)


def test_core_is_built_once_by_all_threads() -> None:
    vocab = Vocabulary.from_bytes([*BYTES, b""], 256)
    with ThreadPoolExecutor(8) as pool:
        cores = list(pool.map(lambda _: vocab.core, range(32)))
    assert len(set(map(id, cores))) == 1
    assert cores[0].n_vocab == 257
    assert list(cores[0].end_tokens) == [256]


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ImportError, match=r"pip install 'cfgmask\[llama\]'") as caught:
        require("llama_cpp", "llama")
    assert caught.value.name == "llama_cpp"
