"""GGUF tokenizers, compared token by token with llama.cpp, which loads the same files."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from tests.tokenizers.gguf_writer import write_gguf
from tests.tokenizers.real import NAMES, gguf_path
from tests.tokenizers.small import (
    BYTE,
    CONTROL,
    NORMAL,
    UNUSED,
    USER_DEFINED,
    byte_level_fields,
    sentencepiece_fields,
)


def vocabulary(tmp_path: Path, fields: dict[str, Any]) -> Vocabulary:
    return Vocabulary.from_gguf(write_gguf(tmp_path / "small.gguf", {"general.architecture": "llama"} | fields))


def assert_same_as_llama_cpp(path: Path) -> None:
    """Bytes, end tokens and names are those of llama.cpp; its encoder's tokens join to the text."""
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    llm = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    ours, theirs = Vocabulary.from_gguf(path), Vocabulary.from_llama(llm)
    different = [i for i, pair in enumerate(zip(ours.tokens, theirs.tokens, strict=True)) if pair[0] != pair[1]]
    assert not different, [(i, ours.tokens[i], theirs.tokens[i]) for i in different[:10]]
    assert ours.eos_token_ids == theirs.eos_token_ids
    assert ours.special_tokens == theirs.special_tokens
    llm.close()


@pytest.mark.parametrize("name", NAMES)
def test_real_vocabulary_equals_llama_cpp(name: str) -> None:
    assert_same_as_llama_cpp(gguf_path(name))


# Added tokens and what the file names, for every rule by which llama.cpp finds end tokens and tokens without text.
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "several ends": {"added": {"<|eot_id|>": CONTROL, "<|eom_id|>": NORMAL, "</s>": USER_DEFINED, "[EOS]": UNUSED}},
    "named roles": {"added": {"<e>": CONTROL, "<f>": NORMAL, "<g>": NORMAL}, "eos": 259, "eot": 260, "eom": 261},
    "fill in the middle": {"added": {"<|fim_prefix|>": NORMAL, "<|fim_suffix|>": USER_DEFINED, "<|fim_pad|>": NORMAL}},
    "fill roles": {"added": {"<a>": NORMAL, "<b>": NORMAL, "<|fim_pad|>": CONTROL}, "fim_pad": 260, "fim_pre": 259},
    "repository markers": {"added": {"<|repo_name|>": NORMAL, "<|file_sep|>": CONTROL, "<x>": CONTROL}, "eos": 261},
    "harmony": {
        "added": dict.fromkeys(
            ["<|return|>", "<|call|>", "<|end|>", "<|start|>", "<|message|>", "<|channel|>", "<|constrain|>"], CONTROL
        )
    },
    "half of harmony": {"added": dict.fromkeys(["<|return|>", "<|end|>", "<|start|>"], CONTROL)},
    "calls": {"added": dict.fromkeys(["<|calls|>", "<|flush|>", "<|end|>"], NORMAL)},
    "message end is the end": {"added": dict.fromkeys(["<|return|>", "<|call|>", "<|end|>"], CONTROL), "eos": 261},
    "tag": {"added": {"<|tool_response>": CONTROL, "</s>": CONTROL}},
    "tag is the end": {"added": {"<|tool_response>": CONTROL, "</s>": CONTROL}, "eos": 260},
    "added text": {"added": {"</x>": CONTROL, "<think>": USER_DEFINED, " two words ": USER_DEFINED, "[P]": UNUSED}},
    "default end": {"added": {"<a>": NORMAL}, "eos": None},
}


@pytest.mark.parametrize("name", VARIANTS)
def test_small_byte_level_equals_llama_cpp(tmp_path: Path, name: str) -> None:
    variant = dict(VARIANTS[name])
    fields = byte_level_fields(variant.pop("added", None), **variant)
    fields = {key: value for key, value in fields.items() if value is not None}
    assert_same_as_llama_cpp(write_gguf(tmp_path / "small.gguf", {"general.architecture": "llama"} | fields))


@pytest.mark.parametrize("space_first", [None, True, False])
def test_small_sentencepiece_equals_llama_cpp(tmp_path: Path, space_first: bool | None) -> None:
    added = {"<|im_end|>": CONTROL, "▁▁raw": USER_DEFINED, "[PAD]": UNUSED}
    fields = sentencepiece_fields(added, space_first=space_first)
    assert_same_as_llama_cpp(write_gguf(tmp_path / "small.gguf", {"general.architecture": "llama"} | fields))


def test_small_byte_level(tmp_path: Path) -> None:
    vocab = vocabulary(tmp_path, byte_level_fields({"<|im_end|>": CONTROL, "<tool>": USER_DEFINED}))
    assert vocab.tokens[:259] == (*(bytes([byte]) for byte in range(256)), b"he", b"ll", b" he")
    assert vocab.tokens[259:] == (b"", b"<tool>")
    assert vocab.eos_token_ids == (259,)
    assert vocab.special_tokens == {"<|im_end|>": 259, "<tool>": 260}
    assert vocab.encode is None


def test_small_sentencepiece(tmp_path: Path) -> None:
    vocab = vocabulary(tmp_path, sentencepiece_fields())
    assert vocab.tokens[:4] == (b"", b"", b"", b"\0")
    assert vocab.tokens[258:261] == (b"\xff", b" ", b"h")
    assert vocab.tokens[-1] == b" hello"
    assert vocab.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2}


def test_several_candidates_for_one_role_have_no_text_and_are_no_end(tmp_path: Path) -> None:
    vocab = vocabulary(tmp_path, byte_level_fields({"</x>": CONTROL, "<fim_pad>": NORMAL, "<|fim_pad|>": NORMAL}))
    assert vocab.eos_token_ids == (259,)
    assert vocab.tokens[259:] == (b"", b"", b"")


def test_a_few_unreadable_tokens_have_no_text(tmp_path: Path) -> None:
    vocab = vocabulary(tmp_path, byte_level_fields({"</x>": CONTROL, "<｜x▁y｜>": NORMAL}))
    assert vocab.tokens[260] == b""


def changed(fields: dict[str, Any], **changes: Any) -> dict[str, Any]:
    fields = fields | {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    return {key: value for key, value in fields.items() if value is not None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tokens": None}, "no tokenizer"),
        ({"tokens": []}, "not an array of texts"),
        ({"model": None}, "no tokenizer"),
        ({"model": 5}, "no tokenizer"),
        ({"model": "bert"}, "'bert' are not supported"),
        ({"tokens": [1, 2]}, "tokens is not an array of texts"),
        ({"token_type": ["a"]}, "token_type is not an array of whole numbers"),
        ({"token_type": [1, 1]}, "260 tokens have 2 types"),
        ({"eos_token_id": 260}, "eos_token_id is 260, but there are 260 tokens"),
        ({"eos_token_id": "x"}, "eos_token_id is 'x', not a whole number"),
        ({"eos_token_id": True}, "eos_token_id is True, not a whole number"),
        ({"model": "gemma4", "eos_token_id": None, "tokens": [f"t{i}" for i in range(260)]}, "no token that ends"),
        ({"tokens": [f"▁{i}" for i in range(260)]}, "259 of 259 ordinary tokens cannot be read"),
        ({"token_type": [BYTE] * 260}, "259 of 259 ordinary tokens cannot be read"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        vocabulary(tmp_path, changed(byte_level_fields(), **changes))


def test_large_vocabulary_that_cannot_write_ascii_is_refused(tmp_path: Path) -> None:
    tokens = [f"Ġword{i}" for i in range(2000)] + ["</s>"]
    fields = changed(byte_level_fields(), model="llama", tokens=tokens, token_type=[NORMAL] * 2001, eos_token_id=2000)
    with pytest.raises(VocabularyError, match=r"no token is b' '"):
        vocabulary(tmp_path, fields)


def test_damaged_files_never_give_another_error(tmp_path: Path) -> None:
    added = {"</x>": CONTROL, "<think>": USER_DEFINED}
    path = write_gguf(tmp_path / "whole.gguf", {"general.architecture": "llama"} | byte_level_fields(added))
    data = path.read_bytes()
    rng = random.Random(0)
    damaged_path = tmp_path / "damaged.gguf"
    for _ in range(300):
        damaged = bytearray(data[: rng.choice([len(data), rng.randrange(len(data))])])
        for _ in range(rng.randint(1, 8)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        damaged_path.write_bytes(damaged)
        with contextlib.suppress(VocabularyError):
            Vocabulary.from_gguf(damaged_path)
