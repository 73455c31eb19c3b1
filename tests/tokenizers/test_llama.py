"""Vocabularies of loaded llama.cpp models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.self_check import SAMPLES
from tests.tokenizers.gguf_writer import write_gguf
from tests.tokenizers.real import NAMES, gguf_path
from tests.tokenizers.small import byte_level_fields, sentencepiece_fields

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")


def load(path: Path) -> Any:
    return llama_cpp.Llama(str(path), vocab_only=True, verbose=False)


def small(tmp_path: Path, fields: dict[str, Any]) -> Any:
    return load(write_gguf(tmp_path / "small.gguf", {"general.architecture": "llama"} | fields))


def joined(vocab: Vocabulary, text: str) -> bytes:
    assert vocab.encode is not None
    return b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text))


@pytest.mark.parametrize("name", NAMES)
def test_real_vocabulary(name: str) -> None:
    llm = load(gguf_path(name))
    vocab = Vocabulary.from_llama(llm)
    api, model = llama_cpp.llama_cpp, llama_cpp.llama_cpp.llama_model_get_vocab(llm.model)
    ends = {token_id for token_id in range(vocab.n_vocab) if api.llama_vocab_is_eog(model, token_id)}
    assert set(vocab.eos_token_ids) == ends
    assert vocab.eos_token_ids[0] == llm.token_eos()
    # The pieces as llama-cpp-python's own detokenizer gives them, one by one.
    for token_id in range(0, vocab.n_vocab, 101):
        # It loses what is longer than 32 bytes, the size of its buffer.
        if token_id not in ends and len(vocab.tokens[token_id]) <= 32:
            assert vocab.tokens[token_id] == llm.detokenize([token_id], special=False)
    for text in SAMPLES:
        assert joined(vocab, text) == text.encode()
        ids = llm.tokenize(text.encode(), add_bos=False, special=False)
        assert b"".join(vocab.tokens[token_id] for token_id in ids) in (text.encode(), b" " + text.encode())


@pytest.mark.parametrize("space_first", [None, True, False])
def test_first_token_rule(tmp_path: Path, space_first: bool | None) -> None:
    llm = small(tmp_path, sentencepiece_fields(space_first=space_first))
    vocab = Vocabulary.from_llama(llm)
    # In a text that goes on, a word without a space is a token without a space, whatever the tokenizer does at a start.
    assert joined(vocab, "hello") == b"hello"
    assert joined(vocab, " hello") == b" hello"
    starts_with_space = llm.tokenize(b"hello", add_bos=False) == llm.tokenize(b" hello", add_bos=False)[-1:]
    assert starts_with_space == (space_first is not False)


def test_special_tokens_in_text_stay_text(tmp_path: Path) -> None:
    llm = small(tmp_path, byte_level_fields({"<|im_end|>": 3}))
    vocab = Vocabulary.from_llama(llm)
    assert joined(vocab, "a<|im_end|>b") == b"a<|im_end|>b"


def test_encoder_does_not_outlive_the_model(tmp_path: Path) -> None:
    llm = small(tmp_path, byte_level_fields())
    vocab = Vocabulary.from_llama(llm)
    assert vocab.encode is not None
    llm.close()
    with pytest.raises(VocabularyError, match="was closed"):
        vocab.encode("x")
    del llm
    with pytest.raises(VocabularyError, match="was closed"):
        vocab.encode("x")


def test_parts_of_characters(tmp_path: Path) -> None:
    fields = byte_level_fields({"</x>": 3}, words=("he", "ll", "Ã©"))
    llm = small(tmp_path, fields)
    vocab = Vocabulary.from_llama(llm)
    assert vocab.tokens[258] == "é".encode()
    assert vocab.tokens[0xC3] == b"\xc3"
    assert joined(vocab, "é") == "é".encode()


@pytest.mark.parametrize("wrong", [3, None, "model.gguf"])
def test_what_is_no_model_is_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"takes a llama_cpp\.Llama, not "):
        Vocabulary.from_llama(wrong)
