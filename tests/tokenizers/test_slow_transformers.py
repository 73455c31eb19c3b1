"""Slow tokenizers of transformers: over sentencepiece, and a byte-level one written here."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.self_check import SAMPLES
from tests.tokenizers.small import byte_characters

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

pytestmark = pytest.mark.torch


def assert_joins(vocab: Vocabulary) -> None:
    assert vocab.encode is not None
    for text in [*SAMPLES, "a </s> b<tool>c"]:
        assert b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text)) == text.encode()


@pytest.fixture
def over_sentencepiece(tmp_path: Path) -> Any:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    from transformers.tokenization_utils_sentencepiece import SentencePieceBackend

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world", "he said hello", "low lower lowest"] * 20),
        model_writer=model,
        model_type="bpe",
        vocab_size=290,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        control_symbols=["<|control|>"],
        minloglevel=2,
    )
    path = tmp_path / "small.model"
    path.write_bytes(model.getvalue())
    return SentencePieceBackend(vocab_file=str(path), eos_token="</s>", unk_token="<unk>", bos_token="<s>")


def test_over_sentencepiece(over_sentencepiece: Any) -> None:
    over_sentencepiece.add_tokens(["<tool>"])
    vocab = Vocabulary.from_transformers(over_sentencepiece)
    assert vocab.eos_token_ids == (2,)
    assert vocab.special_tokens == {"<unk>": 0, "<s>": 1, "</s>": 2, "<tool>": 290}
    ids = over_sentencepiece.get_vocab()
    assert [vocab.tokens[ids[name]] for name in ("<unk>", "<s>", "</s>", "<|control|>")] == [b""] * 4
    assert [vocab.tokens[ids[name]] for name in ("<0xC3>", "▁", "<tool>")] == [b"\xc3", b" ", b"<tool>"]
    assert_joins(vocab)


def byte_level(*, decoder: bool = True) -> Any:
    """As slow GPT-2 tokenizers are, but without merges."""

    class Bytes(transformers.PreTrainedTokenizer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self._characters = byte_characters()
            if decoder:
                self.byte_decoder = {character: byte for byte, character in enumerate(self._characters)}
            super().__init__(eos_token="</s>", unk_token=None)

        @property
        def vocab_size(self) -> int:
            return 256

        def get_vocab(self) -> dict[str, int]:
            return {character: byte for byte, character in enumerate(self._characters)} | self.added_tokens_encoder

        def _tokenize(self, text: str, **_: Any) -> list[str]:
            return [self._characters[byte] for byte in text.encode()]

        def _convert_token_to_id(self, token: str) -> int:
            return self._characters.index(token)

        def _convert_id_to_token(self, index: int) -> str:
            return self._characters[index]

    return Bytes()


def test_byte_level() -> None:
    vocab = Vocabulary.from_transformers(byte_level())
    assert vocab.tokens == (*(bytes([byte]) for byte in range(256)), b"")
    assert vocab.special_tokens == {"</s>": 256}
    assert vocab.eos_token_ids == (256,)
    assert_joins(vocab)


def test_ends_that_no_token_has_are_refused() -> None:
    with pytest.raises(VocabularyError, match="end token 999 is not an id"):
        Vocabulary.from_transformers(byte_level(), eos_token_id=999)


def test_other_kinds_are_refused() -> None:
    with pytest.raises(VocabularyError, match="only those over sentencepiece and byte-level BPE"):
        Vocabulary.from_transformers(byte_level(decoder=False))
