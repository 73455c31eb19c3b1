"""tekken files: small ones made on the spot, and the real ones of mistral-common where it is installed."""

from __future__ import annotations

import base64
import json
import random
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.ranked_bpe import RankedBpe
from cfgmask.tokenizers.self_check import SAMPLES

PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
WORDS = [b"he", b"ll", b" he", b"llo", b"hello", "é".encode(), b"  ", b" hello", b"rest"]
SPECIAL = ["<unk>", "<s>", "</s>", "[INST]"]


def tekken(**changes: Any) -> dict[str, Any]:
    tokens = [*(bytes([byte]) for byte in range(256)), *WORDS]
    document: dict[str, Any] = {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(tokens),
            # The last word is beyond the vocabulary.
            "default_vocab_size": len(tokens) + 5,
            "default_num_special_tokens": 6,
            "version": "v11",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
        "special_tokens": [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(SPECIAL)],
    }
    for key, value in changes.items():
        (document["config"] if key in document["config"] else document)[key] = value
    return document


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_small(tmp_path: Path) -> None:
    vocab = Vocabulary.from_tekken(written(tmp_path, tekken()))
    assert vocab.tokens == (*[b""] * 6, *(bytes([byte]) for byte in range(256)), *WORDS[:-1])
    assert vocab.eos_token_ids == (2,)
    assert vocab.special_tokens == {name: rank for rank, name in enumerate(SPECIAL)} | {
        "<SPECIAL_4>": 4,
        "<SPECIAL_5>": 5,
    }
    assert vocab.encode is not None
    assert [vocab.tokens[token_id] for token_id in vocab.encode("hello hellé</s>")] == [
        *(b"hello", b" he", b"ll", "é".encode()),
        *(b"<", b"/", b"s", b">"),
    ]
    for text in SAMPLES:
        assert b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text)) == text.encode()


def test_files_that_list_no_special_tokens_have_the_first_ones(tmp_path: Path) -> None:
    vocab = Vocabulary.from_tekken(written(tmp_path, tekken(special_tokens=None)))
    assert vocab.special_tokens["[AVAILABLE_TOOLS]"] == 5
    assert vocab.eos_token_ids == (2,)


def test_end_tokens(tmp_path: Path) -> None:
    path = written(tmp_path, tekken())
    assert Vocabulary.from_tekken(path, eos_token_id=[3, 2]).eos_token_ids == (3, 2)
    with pytest.raises(VocabularyError, match="end token 999 is not an id"):
        Vocabulary.from_tekken(path, eos_token_id=999)
    with pytest.raises(VocabularyError, match="say which with eos_token_id"):
        Vocabulary.from_tekken(written(tmp_path, tekken(special_tokens=[])))


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no tekken file"),
        ({"config": {}}, "no tekken file"),
        (tekken(pattern=3), "no tekken file"),
        (tekken(pattern="("), "pattern of the tokenizer cannot be read"),
        (tekken(pattern=r"\w+"), "not what its encoder means"),
        (tekken(default_num_special_tokens=-1), "cannot have -1 special ones"),
        (tekken(default_vocab_size=10**9), "cannot have"),
        (tekken(default_vocab_size=300), "rank 265 has no bytes"),
        (tekken(default_vocab_size=100), "no token is"),
        (tekken(vocab=tekken()["vocab"] * 2), "rank 0 is given twice"),
        (tekken(vocab=[{"rank": 0, "token_bytes": "***"}]), "rank 0 are not base64"),
        (tekken(vocab=[{"rank": "0"}]), "no tekken file"),
        (tekken(special_tokens=[{"rank": 7, "token_str": "</s>"}]), "'</s>' cannot have the id 7"),
        (tekken(special_tokens=[{"rank": r, "token_str": "</s>"} for r in (1, 2)]), "'</s>' cannot have the id 2"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, document: Any, message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_tekken(written(tmp_path, document))


@pytest.mark.parametrize("data", [b"", b"\xff", b"{", b"[" * 100_000, b"1" * 5_000])
def test_what_is_no_json_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tekken.json"
    path.write_bytes(data)
    with pytest.raises(VocabularyError):
        Vocabulary.from_tekken(path)
    with pytest.raises(FileNotFoundError):
        Vocabulary.from_tekken(tmp_path / "none.json")


# The encoder, against the obvious one: join the pair of lowest rank, the leftmost of these, until there is none.

RANKS = {bytes([byte]): byte for byte in range(256)} | {
    token: 256 + i for i, token in enumerate([b"ab", b"bc", b"abc", b"aa", b"aaaa", b"ca", b"bcab", b"cc", b"aaab"])
}


def slowly_encoded(data: bytes) -> list[int]:
    parts = [bytes([byte]) for byte in data]
    while len(parts) > 1 and data not in RANKS:
        pairs = [(RANKS.get(a + b, 1 << 30), i) for i, (a, b) in enumerate(pairwise(parts))]
        rank, i = min(pairs)
        if rank == 1 << 30:
            break
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
    return [RANKS[data]] if data in RANKS else [RANKS[part] for part in parts]


@given(st.text("abc", min_size=1, max_size=30))
def test_encoding_joins_the_lowest_rank_first(text: str) -> None:
    assert RankedBpe(".+", RANKS).encode(text) == slowly_encoded(text.encode())


def test_long_pieces_take_no_quadratic_time() -> None:
    assert len(RankedBpe(".+", RANKS).encode("ab" * 200_000)) == 200_000


def mistral_files() -> list[Path]:
    spec = find_spec("mistral_common")
    folders = spec.submodule_search_locations if spec is not None else None
    return sorted(path for folder in folders or () for path in Path(folder, "data").glob("tekken_*.json"))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in mistral_files()])
def test_real(path: Path) -> None:
    """Bytes, names and ids are those of the library."""
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason="mistral-common needs more")
    theirs = tekken.Tekkenizer.from_file(path)
    vocab = Vocabulary.from_tekken(path)
    assert vocab.n_vocab == theirs.n_words
    assert vocab.eos_token_ids == (theirs.eos_id,)
    assert vocab.tokens[theirs.num_special_tokens :] == tuple(
        theirs.id_to_byte_piece(i) for i in range(theirs.num_special_tokens, theirs.n_words)
    )
    assert {token_id: name for name, token_id in vocab.special_tokens.items()} == {
        i: theirs.id_to_piece(i) for i in range(theirs.num_special_tokens)
    }
    assert vocab.encode is not None
    rng = random.Random(0)
    words = [token.decode(errors="ignore") for token in vocab.tokens if token]
    for text in [*SAMPLES, *("".join(rng.choices(words, k=20)) for _ in range(200))]:
        assert vocab.encode(text) == theirs.encode(text, bos=False, eos=False)
