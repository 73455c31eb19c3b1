"""Where llama-cpp-python loses text, as `docs/llama_cpp.md` says, and the ways round it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cfgmask

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, generate  # noqa: E402
from tests.integrations.conftest import ADDED  # noqa: E402
from tests.integrations.llama_calls import chat, chat_stream, completion, completion_stream  # noqa: E402
from tests.integrations.random_llama import random_llama  # noqa: E402
from tests.tokenizers.small import NORMAL, byte_level_fields  # noqa: E402

EMOJI = "ab\U0001f600"


def processor_of(llm: Any, text: str) -> LogitsProcessor:
    return LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_choices([text]), cfgmask.Vocabulary.from_llama(llm)))


@pytest.mark.parametrize("text", [EMOJI, "\U0001f600", "é", "日本", f"{EMOJI}x", "aé\U0001f600\U0001f600"])
def test_characters_of_several_tokens(llm: Any, text: str) -> None:
    """Whole where nothing is streamed, and in `generate`; a stream of theirs may lack some, but has no others."""
    processor = processor_of(llm, text)
    assert completion(llm, [processor], max_tokens=40) == text
    grammar = cfgmask.Grammar.from_choices([text])
    assert generate(llm, "Hello", grammar) == text
    assert "".join(generate(llm, "Hello", grammar, stream=True)) == text
    streamed = iter(text)
    assert all(character in streamed for character in completion_stream(llm, [processor], max_tokens=40))
    assert processor.error is None


def test_a_stream_loses_a_last_character_of_halves(tmp_path: Path) -> None:
    """Fails once llama-cpp-python has mended it: then the docs may go, too."""
    halves = {"\u00f0\u0141": NORMAL, "\u013a\u0122": NORMAL}  # F0 9F and 98 80, as byte-level BPE spells them
    path = random_llama(tmp_path / "halves.gguf", byte_level_fields(ADDED | halves))
    llm = llama_cpp.Llama(str(path), n_ctx=256, n_threads=1, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)
    likes_halves = {vocabulary.tokens.index(half): 100.0 for half in (b"\xf0\x9f", b"\x98\x80")}
    for call, written in ((completion_stream, "ab"), (completion, EMOJI)):
        processors = LogitsProcessorList([processor_of(llm, EMOJI)])
        assert call(llm, processors, max_tokens=40, logit_bias=likes_halves) == written

    def prefers(input_ids: Any, scores: Any) -> Any:
        scores[list(likes_halves)] += 100.0
        return scores

    pieces = generate(llm, "Hello", cfgmask.Grammar.from_choices([EMOJI]), logits_processor=[prefers], stream=True)
    assert "".join(pieces) == EMOJI
    assert len(pieces.token_ids) == 4
    llm.close()


def test_chats_are_built_on_it(load: Any) -> None:
    llm = load(chat_format="chatml")
    processor = processor_of(llm, EMOJI)
    assert chat(llm, [processor], max_tokens=40) == EMOJI
    assert EMOJI.startswith(chat_stream(llm, [processor], max_tokens=40))
