"""Fast tokenizers of transformers, built on the spot with the tokenizers library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cfgmask import Vocabulary
from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.gguf_file import GgufFile
from tests.tokenizers.real import gguf_path
from tests.tokenizers.small import CONTROL, USER_DEFINED, byte_characters

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers  # noqa: E402

pytestmark = pytest.mark.torch


def byte_level(merges: tuple[tuple[str, str], ...] = (("h", "e"), ("Ġ", "he"), ("Ã", "©"))) -> Any:
    vocab = {character: token_id for token_id, character in enumerate(byte_characters())}
    for left, right in merges:
        vocab[left + right] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab, list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken("</s>", special=True)])
    tokenizer.add_tokens([AddedToken("<tool>", special=False)])
    return tokenizer


def sentencepiece(*, legacy: bool) -> Any:
    """A Llama-2 tokenizer: legacy ones put the first space in their normalizer, others in their pre-tokenizer."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁", "h", "e", "he", "▁he", "▁h"]
    vocab = {piece: token_id for token_id, piece in enumerate(pieces)}
    merges = [("h", "e"), ("▁", "he"), ("▁", "h")]
    tokenizer = Tokenizer(models.BPE(vocab, merges, byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    if legacy:
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    replace = decoders.Replace("▁", " ")
    steps = [replace, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.add_special_tokens(
        [AddedToken(name, special=True, normalized=False) for name in ("<unk>", "<s>", "</s>")]
    )
    return tokenizer


def joined(vocab: Vocabulary, text: str) -> bytes:
    assert vocab.encode is not None
    return b"".join(vocab.tokens[token_id] for token_id in vocab.encode(text))


def test_byte_level() -> None:
    vocab = Vocabulary.from_transformers(byte_level(), eos_token_id=259)
    assert vocab.tokens == (*(bytes([byte]) for byte in range(256)), b"he", b" he", "é".encode(), b"", b"<tool>")
    assert vocab.special_tokens == {"</s>": 259, "<tool>": 260}
    assert joined(vocab, "he</s><tool> hé") == "he</s><tool> hé".encode()


@pytest.mark.parametrize("legacy", [True, False])
def test_sentencepiece(legacy: bool) -> None:
    tokenizer = sentencepiece(legacy=legacy)
    vocab = Vocabulary.from_transformers(tokenizer, eos_token_id=2)
    assert vocab.tokens[:5] == (b"", b"", b"", b"\0", b"\1")
    assert vocab.tokens[258:] == (b"\xff", b" ", b"h", b"e", b"he", b" he", b" h")
    assert joined(vocab, "he") == b"he"
    assert tokenizer.encode("he", add_special_tokens=False).tokens == ["▁he"]


def test_the_callers_tokenizer_stays_as_it_is() -> None:
    tokenizer = byte_level()
    before = tokenizer.to_str()
    Vocabulary.from_transformers(tokenizer, eos_token_id=259)
    assert tokenizer.to_str() == before
    assert tokenizer.encode("</s>").ids == [259]


def test_padding_between_ids_has_no_text() -> None:
    tokenizer = Tokenizer(models.BPE({c: i + 3 for i, c in enumerate(byte_characters())}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    vocab = Vocabulary.from_transformers(tokenizer, eos_token_id=258)
    assert vocab.n_vocab == 259
    assert vocab.tokens[:4] == (b"", b"", b"", b"\0")
    with pytest.raises(VocabularyError, match="end token 0 is not an id"):
        Vocabulary.from_transformers(tokenizer, eos_token_id=0)


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (decoders.WordPiece(), "'WordPiece' is not supported"),
        (None, "'None' is not supported"),
        (decoders.Sequence([decoders.Replace("x", "y")]), "'Replace' is not supported"),
        (decoders.Fuse(), "'None' is not supported"),
    ],
)
def test_other_decoders_are_refused(decoder: Any, message: str) -> None:
    tokenizer = byte_level()
    tokenizer.decoder = decoder
    with pytest.raises(VocabularyError, match=message):
        Vocabulary.from_transformers(tokenizer, eos_token_id=259)


def test_tokenizers_that_change_their_text_are_refused() -> None:
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(VocabularyError, match="not what its encoder means"):
        Vocabulary.from_transformers(tokenizer, eos_token_id=259)


def test_what_is_no_tokenizer_and_missing_ends_are_refused() -> None:
    with pytest.raises(TypeError, match="takes a tokenizer of transformers, not object"):
        Vocabulary.from_transformers(object())
    with pytest.raises(VocabularyError, match="say which with eos_token_id"):
        Vocabulary.from_transformers(byte_level())


def from_gguf_fields(path: Path, *, sentencepiece: bool) -> Any:
    """The tokenizer of a GGUF file as the tokenizers library has it."""
    with GgufFile(path) as file:
        texts = [text.decode() for text in file.strings("tokenizer.ggml.tokens") or []]
        merges = [tuple(merge.decode().split(" ")) for merge in file.strings("tokenizer.ggml.merges") or []]
        types = file.integers("tokenizer.ggml.token_type") or []
    unknown = {"byte_fallback": True, "fuse_unk": True, "unk_token": "<unk>"} if sentencepiece else {}
    vocab = {text: token_id for token_id, text in enumerate(texts)}
    tokenizer = Tokenizer(models.BPE(vocab, merges, **unknown))
    if sentencepiece:
        tokenizer.normalizer = normalizers.Replace(" ", "▁")
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
    added = [(text, kind) for text, kind in zip(texts, types, strict=True) if kind in (CONTROL, USER_DEFINED)]
    tokenizer.add_tokens([AddedToken(text, special=kind == CONTROL, normalized=False) for text, kind in added])
    return tokenizer


@pytest.mark.parametrize(
    ("name", "sentencepiece"),
    [
        ("gpt-2", False),
        pytest.param("llama-bpe", False, marks=pytest.mark.slow),
        pytest.param("gemma-4", True, marks=pytest.mark.slow),
    ],
)
def test_real_tokenizers_equal_the_gguf_file(name: str, sentencepiece: bool) -> None:
    reference = Vocabulary.from_gguf(gguf_path(name))
    tokenizer = from_gguf_fields(gguf_path(name), sentencepiece=sentencepiece)
    vocab = Vocabulary.from_transformers(tokenizer, eos_token_id=reference.eos_token_ids)
    different = [i for i, pair in enumerate(zip(vocab.tokens, reference.tokens, strict=True)) if pair[0] != pair[1]]
    # llama.cpp calls some added tokens an end, and they have no text there.
    assert set(different) <= set(reference.eos_token_ids)
    assert vocab.special_tokens.items() <= reference.special_tokens.items()


def test_fast_tokenizer_of_transformers() -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), eos_token="</s>", padding_side="left")
    vocab = Vocabulary.from_transformers(fast)
    assert vocab.eos_token_ids == (259,)
    assert vocab.tokens[:256] == tuple(bytes([byte]) for byte in range(256))
    ids = fast("he said <tool> é")["input_ids"]
    assert b"".join(vocab.tokens[token_id] for token_id in ids) == "he said <tool> é".encode()
