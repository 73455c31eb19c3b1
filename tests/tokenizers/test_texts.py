"""The two ways in which token texts stand for bytes, and the names of end tokens."""

from __future__ import annotations

import unicodedata

import pytest

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers import byte_level, end_texts, sentencepiece_text
from cfgmask.tokenizers.first_space import without_first_space
from cfgmask.tokenizers.self_check import SAMPLES, check_round_trip
from tests.tokenizers.small import byte_characters


def test_byte_level_map_has_every_byte() -> None:
    assert [byte_level.decode(character) for character in byte_characters()] == [bytes([byte]) for byte in range(256)]


@pytest.mark.parametrize("text", [" ", "\n", "\xa0", "\xad", "▁", "\u0144", "a😀"])
def test_byte_level_refuses_foreign_characters(text: str) -> None:
    assert byte_level.decode(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("▁the", b" the"), ("▁▁", b"  "), ("the", b"the"), ("", b""), ("Ġ", "Ġ".encode())],
)
def test_sentencepiece_space(text: str, expected: bytes) -> None:
    assert sentencepiece_text.decode(text.encode()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"<0x0A>", b"\n"),
        (b"<0xff>", b"\xff"),
        (b"<0x0G>", None),
        (b"<0x 1>", None),
        (b"<0xA>", None),
        (b"<0x0A", None),
        (b"<0x\xc3\xa9>", None),
        (b"", None),
    ],
)
def test_sentencepiece_byte(text: bytes, expected: bytes | None) -> None:
    assert sentencepiece_text.decode_byte(text) == expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["<|im_start|>", "<|im_end|>", "<|endoftext|>"], [1, 2]),
        (["<|return|>", "<|end|>"], [0, 1]),
        (["<|return|>", "<|end|>", "<|call|>"], [0, 2]),
        (["<|flush|>", "<|end|>", "<|calls|>"], [0, 2]),
        (["hello"], []),
    ],
)
def test_end_tokens_by_name(names: list[str], expected: list[int]) -> None:
    assert end_texts.known_ends({name: token_id for token_id, name in enumerate(names)}) == expected


def test_first_space_is_left_out() -> None:
    def tokenize(text: str) -> list[int]:
        return [ord(character) for character in " " + text]

    assert without_first_space(tokenize)("hi") == [ord("h"), ord("i")]


def test_encoder_without_the_rule_stays_as_it_is() -> None:
    def tokenize(text: str) -> list[int]:
        return [ord(character) for character in text]

    assert without_first_space(tokenize) is tokenize


def test_encoder_that_joins_line_breaks_is_refused() -> None:
    pairs = {"\n\n": [1000]}

    def tokenize(text: str) -> list[int]:
        return [32, *pairs.get(text[:2], map(ord, text[:2])), *map(ord, text[2:])]

    with pytest.raises(VocabularyError, match="joins a line break"):
        without_first_space(tokenize)("\nx")


def test_samples_are_in_normal_form() -> None:
    assert [unicodedata.normalize("NFC", text) for text in SAMPLES] == list(SAMPLES)


BYTES = [bytes([byte]) for byte in range(256)]


def test_self_check_passes_an_exact_vocabulary() -> None:
    check_round_trip(BYTES, lambda text: list(text.encode()), "it", skip=lambda _: False)


def test_self_check_names_what_came_back() -> None:
    wrong = [*BYTES[: ord("w")], b"W", *BYTES[ord("x") :]]
    with pytest.raises(VocabularyError, match=r"it: .*'Hello, world' became \[72, .* make b'Hello, World'"):
        check_round_trip(wrong, lambda text: list(text.encode()), "it", skip=lambda _: False)


def test_self_check_refuses_ids_outside() -> None:
    with pytest.raises(VocabularyError, match="token 300 of 256"):
        check_round_trip(BYTES, lambda text: [300], "it", skip=lambda _: False)


def test_self_check_needs_one_text_that_can_be_written() -> None:
    with pytest.raises(VocabularyError, match="none of the sample texts"):
        check_round_trip(BYTES, lambda text: [0], "it", skip=lambda token_id: token_id == 0)
