"""sentencepiece models: small ones trained on the spot, and the real ones of mistral-common where it is installed."""

from __future__ import annotations

import io
import random
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.self_check import SAMPLES

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")

TEXT = ["hello world, hello low world", "he said hello", "low lower lowest", "a  b", "wörld"] * 20
BPE = {
    "model_type": "bpe",
    "vocab_size": 300,
    "hard_vocab_limit": False,
    "byte_fallback": True,
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "user_defined_symbols": ["<tool>", "  "],
    "control_symbols": ["<|im_end|>"],
    "minloglevel": 2,
}


def trained(**changes: Any) -> bytes:
    """A model, as the bytes of its file."""
    model = io.BytesIO()
    arguments = {key: value for key, value in (BPE | changes).items() if value is not None}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(TEXT), model_writer=model, **arguments)
    return model.getvalue()


def processor(data: bytes) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=data)


def assert_joins(vocab: Vocabulary, text: str) -> None:
    assert vocab.encode is not None
    assert b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text)) == text.encode()


@pytest.mark.parametrize(
    "changes", [{}, {"model_type": "unigram"}, {"add_dummy_prefix": False}, {"model_type": "char"}]
)
def test_small(changes: dict[str, Any]) -> None:
    model = processor(trained(**changes))
    vocab = Vocabulary.from_sentencepiece(model)
    assert vocab.n_vocab == model.get_piece_size()
    assert vocab.eos_token_ids == (model.eos_id(), model.piece_to_id("<|im_end|>"))
    names = ("<unk>", "<s>", "</s>", "<tool>", "  ", "<|im_end|>")
    assert vocab.special_tokens == {name: model.piece_to_id(name) for name in names}
    assert vocab.tokens[model.piece_to_id("<tool>")] == b"<tool>"
    assert [vocab.tokens[model.piece_to_id(name)] for name in ("<unk>", "<s>", "</s>", "<|im_end|>")] == [b""] * 4
    assert vocab.tokens[model.piece_to_id("<0xE2>")] == b"\xe2"
    assert vocab.tokens[model.piece_to_id("▁")] == b" "
    for text in SAMPLES:
        assert_joins(vocab, text)


def assert_decodes_to_its_bytes(model: Any, vocab: Vocabulary) -> None:
    """Random ids of whole characters, and bytes that make some, after a letter: a text's first space is dropped."""
    rng = random.Random(1)
    whole = [token_id for token_id, token in enumerate(vocab.tokens) if token and is_text(token)]
    start = vocab.tokens.index(b"e")
    for _ in range(300):
        data = [model.piece_to_id(f"<0x{byte:02X}>") for byte in rng.choice("é€😀\n").encode()]
        ids = [start, *rng.choices(whole, k=rng.randint(1, 8)), *data, *rng.choices(whole, k=3)]
        assert model.decode(ids) == b"".join(vocab.tokens[token_id] for token_id in ids).decode()


def is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_random_ids_decode_to_the_join_of_their_bytes() -> None:
    model = processor(trained())
    assert_decodes_to_its_bytes(model, Vocabulary.from_sentencepiece(model))


def test_end_tokens() -> None:
    model = processor(trained())
    assert Vocabulary.from_sentencepiece(model, eos_token_id=[5, 2]).eos_token_ids == (5, 2)
    with pytest.raises(VocabularyError, match="end token 9999 is not an id"):
        Vocabulary.from_sentencepiece(model, eos_token_id=9999)
    endless = processor(trained(eos_id=-1, control_symbols=None))
    with pytest.raises(VocabularyError, match="say which with eos_token_id"):
        Vocabulary.from_sentencepiece(endless)


def test_from_file(tmp_path: Path) -> None:
    path = tmp_path / "small.model"
    path.write_bytes(trained())
    vocab = Vocabulary.from_sentencepiece(path)
    assert vocab.tokens == Vocabulary.from_sentencepiece(processor(trained())).tokens
    assert repr(vocab).startswith(f"<Vocabulary of small.model: {vocab.n_vocab} tokens")


def test_models_that_change_their_text_are_refused() -> None:
    with pytest.raises(VocabularyError, match="joins a line break"):
        Vocabulary.from_sentencepiece(processor(trained(normalization_rule_name="nmt_nfkc_cf")))


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    for data in (b"", b"nothing", trained()[:-100], b"\xff" * 100):
        path.write_bytes(data)
        with pytest.raises(VocabularyError):
            Vocabulary.from_sentencepiece(path)
    with pytest.raises(FileNotFoundError):
        Vocabulary.from_sentencepiece(tmp_path / "none.model")
    with pytest.raises(TypeError, match="takes a SentencePieceProcessor or a path, not int"):
        Vocabulary.from_sentencepiece(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", [b"hello", b"<tool>", b"<0x41>"])
def test_pieces_that_are_no_text_are_refused(tmp_path: Path, piece: bytes) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(trained().replace(piece, b"\xff" * len(piece)))
    with pytest.raises(VocabularyError):
        Vocabulary.from_sentencepiece(path)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(ImportError, match=r"pip install 'cfgmask\[sentencepiece\]'"):
        Vocabulary.from_sentencepiece("x.model")


def mistral_models() -> list[Path]:
    spec = find_spec("mistral_common")
    folders = spec.submodule_search_locations if spec is not None else None
    return sorted(
        Path(folder, "data") / path.name for folder in folders or () for path in Path(folder, "data").glob("*.model.v*")
    )


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in mistral_models()])
def test_real(path: Path) -> None:
    vocab = Vocabulary.from_sentencepiece(path)
    model = processor(path.read_bytes())
    assert vocab.eos_token_ids == (2,)
    assert_decodes_to_its_bytes(model, vocab)
    for text in SAMPLES:
        assert_joins(vocab, text)
