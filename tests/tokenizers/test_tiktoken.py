"""tiktoken encodings."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.self_check import SAMPLES
from tests.tokenizers.real import gguf_path, llama3_ranks_path

tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")

BYTES = {bytes([byte]): byte for byte in range(256)}


def encoding(special: dict[str, int], **changes: Any) -> Any:
    arguments = {"pat_str": r"\S+|\s+", "mergeable_ranks": BYTES | {b"he": 256, "é".encode(): 257}}
    return tiktoken.Encoding("small", **(arguments | changes), special_tokens=special)


def test_small() -> None:
    vocab = Vocabulary.from_tiktoken(encoding({"<|endoftext|>": 260, "<|fim|>": 261}))
    assert vocab.tokens == (*BYTES, b"he", "é".encode(), b"", b"", b"", b"")
    assert vocab.eos_token_ids == (260,)
    assert vocab.special_tokens == {"<|endoftext|>": 260, "<|fim|>": 261}
    assert vocab.encode is not None
    assert list(vocab.encode("hé<|fim|>"))[:2] == [ord("h"), 257]
    assert len(vocab.encode("<|fim|>")) == 7


@pytest.mark.parametrize(
    ("special", "eos_token_id", "expected"),
    [
        ({"<|return|>": 258, "<|call|>": 259, "<|end|>": 260}, None, (258, 259)),
        ({"<|x|>": 258}, 258, (258,)),
        ({"<|x|>": 258, "<|y|>": 259}, [259, 258], (259, 258)),
    ],
)
def test_end_tokens(special: dict[str, int], eos_token_id: Any, expected: tuple[int, ...]) -> None:
    assert Vocabulary.from_tiktoken(encoding(special), eos_token_id=eos_token_id).eos_token_ids == expected


def test_unknown_end_is_refused() -> None:
    with pytest.raises(VocabularyError, match="say which with eos_token_id"):
        Vocabulary.from_tiktoken(encoding({"<|x|>": 258}))


@pytest.mark.parametrize("eos_token_id", [259, -1, 270, [258, 259]])
def test_ends_that_no_token_has_are_refused(eos_token_id: Any) -> None:
    with pytest.raises(VocabularyError, match=r"end token (259|-1|270) is not an id"):
        Vocabulary.from_tiktoken(encoding({"</s>": 258, "<|y|>": 262}), eos_token_id=eos_token_id)


def test_ids_beyond_all_bounds_are_refused() -> None:
    """A list of all ids up to the last took all the memory there is."""
    with pytest.raises(VocabularyError, match="more than 4194304 ids"):
        Vocabulary.from_tiktoken(encoding({"<|endoftext|>": 2**31}))


def test_wrong_types_are_named() -> None:
    with pytest.raises(TypeError, match=r"takes a tiktoken\.Encoding, not int"):
        Vocabulary.from_tiktoken(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="eos_token_id must be an int, not str"):
        Vocabulary.from_tiktoken(encoding({"</s>": 258}), eos_token_id="258")  # type: ignore[arg-type]


def test_encoding_that_drops_text_is_refused() -> None:
    with pytest.raises(VocabularyError, match="not what its encoder means"):
        Vocabulary.from_tiktoken(encoding({"</s>": 258}, pat_str=r"\w+"))


def test_llama3_ranks_equal_the_gguf_file() -> None:
    lines = llama3_ranks_path().read_bytes().split(b"\n")
    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in lines if line)}
    reference = Vocabulary.from_gguf(gguf_path("llama-bpe"))
    special = {name: token_id for name, token_id in reference.special_tokens.items() if token_id >= len(ranks)}
    pattern = (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+"
    )
    llama3 = tiktoken.Encoding("llama3", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)
    vocab = Vocabulary.from_tiktoken(llama3)
    assert vocab.tokens == reference.tokens
    assert vocab.eos_token_ids == reference.eos_token_ids
    assert vocab.special_tokens == reference.special_tokens
    assert vocab.encode is not None
    for text in SAMPLES:
        assert b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text)) == text.encode()
