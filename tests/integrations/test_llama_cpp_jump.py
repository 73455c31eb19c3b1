"""Forced text in `generate`: written at once, in the tokenizer's own tokens, the text so far anew where they join."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cfgmask
import cfgmask.demo
from tests.integrations.random_llama import random_llama, tokenizer_of
from tests.tokenizers.real import gguf_path

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import generate  # noqa: E402

SCHEMA = {
    "type": "object",
    "properties": {
        "first_name": {"type": "string", "maxLength": 6},
        "favourite colour": {"enum": ["dark green", "dark red", "blüe", "blürred"]},
        "scores": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 99}, "maxItems": 3},
    },
    "required": ["first_name", "favourite colour", "scores"],
    "additionalProperties": False,
}
GRAMMARS = {
    "schema": cfgmask.Grammar.from_json_schema(SCHEMA),
    "words": cfgmask.Grammar.from_lark(
        r'start: ("The quick brown " ("fox" | "bear") " jumps over " NUMBER " dogs\n\n\n  and " /[a-z]{2}/)~1..3 "."'
        "\nNUMBER: /[0-9]{1,4}/"
    ),
    "characters": cfgmask.Grammar.from_choices(["日本語のテキスト", "日本人です😀", "日本語の文", "日😀😁", "日😀😂"]),
    "forced": cfgmask.Grammar.from_choices(["nothing to choose here at all"]),
}


@pytest.fixture(scope="module", params=["gpt-2", "llama-spm"])
def llm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A model of random weights over a real vocabulary."""
    path = tmp_path_factory.mktemp("models") / "model.gguf"
    model = random_llama(path, tokenizer_of(gguf_path(request.param)))
    loaded = llama_cpp.Llama(str(model), n_ctx=512, n_threads=1, verbose=False)
    yield loaded
    vocabulary_of.cache_clear()
    loaded.close()


@cache
def vocabulary_of(llm: Any) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_llama(llm)


def own_tokens(llm: Any, text: str) -> tuple[int, ...]:
    vocabulary = vocabulary_of(llm)
    assert vocabulary.encode is not None
    return tuple(vocabulary.encode(text))


def texts(llm: Any, name: str, **options: Any) -> list[Any]:
    compiled = cfgmask.compile(GRAMMARS[name], vocabulary_of(llm))
    return [generate(llm, prompt, compiled, max_tokens=120, **options) for prompt in ("Hello", "A text:\n", "{ 1")]


@pytest.mark.long
@pytest.mark.parametrize("name", GRAMMARS)
def test_greedy_canonical_texts_are_the_same_with_and_without_it(llm: Any, name: str) -> None:
    options = {"temperature": 0.0, "canonical": True}
    jumped = texts(llm, name, jump_forward=True, **options)
    plain = texts(llm, name, **options)
    assert jumped == plain
    assert [text.token_ids for text in jumped] == [text.token_ids for text in plain]
    assert all(text.n_forced == 0 for text in plain)
    if name != "characters":
        assert all(text.n_forced > 0 for text in jumped)


@pytest.mark.long
@pytest.mark.parametrize("penalty", [1.0, 1.4])
def test_penalties_count_forced_tokens(llm: Any, penalty: float) -> None:
    options = {"temperature": 0.0, "canonical": True, "repeat_penalty": penalty, "frequency_penalty": 0.5}
    assert texts(llm, "words", jump_forward=True, **options) == texts(llm, "words", **options)


@pytest.mark.long
@pytest.mark.parametrize("name", GRAMMARS)
def test_texts_are_in_the_language_and_streams_take_nothing_back(llm: Any, name: str) -> None:
    compiled = cfgmask.compile(GRAMMARS[name], vocabulary_of(llm))
    for seed in range(4):
        options = {"seed": seed, "temperature": 1.0, "jump_forward": True, "max_tokens": 120}
        stream = generate(llm, "Hello", compiled, stream=True, **options)
        written = ""
        for piece in stream:
            assert piece
            assert "\ufffd" not in piece
            written += piece
            assert stream.text == written
            assert "".join(map(bytes.decode, [spelled(llm, stream.token_ids)])) == written
        assert (stream.finish_reason, stream.is_complete) == ("stop", True)
        matcher = compiled.matcher()
        assert matcher.try_advance(stream.token_ids) == len(stream.token_ids)
        assert matcher.is_accepting
        assert generate(llm, "Hello", compiled, **options) == written


def spelled(llm: Any, token_ids: list[int]) -> bytes:
    """The bytes of the tokens, but for a character that is not whole."""
    tokens = vocabulary_of(llm).tokens
    return b"".join(tokens[token_id] for token_id in token_ids).decode(errors="ignore").encode()


def test_forced_texts_are_the_tokenizers_own(llm: Any) -> None:
    text = generate(llm, "Hello", GRAMMARS["forced"], jump_forward=True)
    assert text.token_ids[: text.n_forced] == own_tokens(llm, text)[: text.n_forced]
    assert text.n_forced >= 4


def test_what_joins_forced_text_is_written_anew(llm: Any) -> None:
    """A hook has the model write letter by letter; the words come out in the tokenizer's own tokens."""
    vocabulary = vocabulary_of(llm)
    letters = [token_id for token_id, token in enumerate(vocabulary.tokens) if len(token) == 1]

    def letter_by_letter(_: Any, scores: Any) -> Any:
        scores[letters] += 1000.0
        return scores

    grammar = cfgmask.Grammar.from_choices([f"{start}national text" for start in ("inter", "supra", "trans")])
    text = generate(llm, "Hello", grammar, jump_forward=True, logits_processor=[letter_by_letter])
    assert text.token_ids[:-1] == own_tokens(llm, text)[: len(text.token_ids) - 1]
    plain = generate(llm, "Hello", grammar, logits_processor=[letter_by_letter])
    assert len(plain.token_ids) == len(plain) > len(text.token_ids)
    assert text.n_taken_back > plain.n_taken_back == 0


@pytest.mark.parametrize("canonical", [False, True])
def test_the_context_holds_what_was_written(llm: Any, canonical: bool) -> None:
    """After jumps and tokens taken back, the next logits are those of evaluating all of it at once."""
    seen: list[tuple[list[int], np.ndarray]] = []

    def note(input_ids: Any, scores: Any) -> Any:
        seen.append((input_ids.tolist(), np.array(scores)))
        return scores

    options = {"jump_forward": True, "canonical": canonical, "temperature": 1.0, "seed": 3, "max_tokens": 120}
    text = generate(llm, "Hello", GRAMMARS["schema"], logits_processor=[note], **options)
    prompt = llm.tokenize(b"Hello", special=True)
    assert seen[-1][0][: len(prompt)] == prompt
    assert tuple(seen[-1][0][len(prompt) :]) == text.token_ids[: len(seen[-1][0]) - len(prompt)]
    for ids, scores in seen[:: max(1, len(seen) // 5)]:
        llm.reset()
        llm.eval(ids)
        alone = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(llm.ctx, -1), shape=(llm.n_vocab(),))
        assert np.allclose(scores, alone, atol=0.05, rtol=0.01)


def test_it_asks_the_model_less_often(llm: Any) -> None:
    def count(jump_forward: bool) -> int:
        calls = 0

        def counting(_: Any, scores: Any) -> Any:
            nonlocal calls
            calls += 1
            return scores

        text = generate(
            llm, "Hello", GRAMMARS["schema"], jump_forward=jump_forward, seed=1, logits_processor=[counting]
        )
        assert json.loads(text)
        return calls

    assert count(True) < count(False)


@pytest.mark.parametrize("canonical", [False, True])
@pytest.mark.parametrize("max_tokens", range(18, 40, 3))
def test_budgets_hold(llm: Any, max_tokens: int, canonical: bool) -> None:
    text = generate(
        llm, "Hello", GRAMMARS["words"], jump_forward=True, canonical=canonical, max_tokens=max_tokens, temperature=1.5
    )
    assert len(text.token_ids) <= max_tokens
    assert text.is_complete


def test_the_context_is_a_limit(tmp_path: Path, llm: Any) -> None:
    prompt = [*llm.tokenize(b"x") * 505][:505]
    for canonical in (False, True):
        text = generate(llm, prompt, GRAMMARS["words"], jump_forward=True, canonical=canonical)
        assert (len(text.token_ids), text.finish_reason, text.is_complete) == (7, "length", False)


def test_a_stream_with_a_jump_may_be_dropped(llm: Any) -> None:
    stream = generate(llm, "Hello", GRAMMARS["words"], jump_forward=True, stream=True)
    assert "The quick brown ".startswith(next(stream))
    stream.close()
    assert generate(llm, "Hello", GRAMMARS["forced"], jump_forward=True) == "nothing to choose here at all"


@pytest.mark.parametrize("options", [{"jump_forward": True}, {"jump_forward": True, "canonical": True}], ids=str)
def test_the_model_brings_its_encoder(llm: Any, options: dict[str, bool]) -> None:
    vocabulary = vocabulary_of(llm)
    compiled = cfgmask.compile(
        GRAMMARS["forced"], cfgmask.Vocabulary.from_bytes(vocabulary.tokens, vocabulary.eos_token_ids)
    )
    assert compiled.matcher().forced_tokens() == []
    text = generate(llm, "Hello", compiled)
    assert (text, text.n_forced) == ("nothing to choose here at all", 0)
    text = generate(llm, "Hello", compiled, **options)
    assert (text, text.n_forced) == ("nothing to choose here at all", len(own_tokens(llm, text)))


def test_a_grammar_outlives_the_model_that_it_was_compiled_for(tmp_path: Path, llm: Any) -> None:
    closed = llama_cpp.Llama(llm.model_path, n_ctx=256, n_threads=1, verbose=False)
    compiled = cfgmask.compile(GRAMMARS["forced"], cfgmask.Vocabulary.from_llama(closed))
    closed.close()
    assert compiled.matcher().forced_tokens() == []
    text = generate(llm, "Hello", compiled, jump_forward=True)
    assert (text, text.n_forced) == ("nothing to choose here at all", len(own_tokens(llm, text)))


def test_the_model_that_ships() -> None:
    """Its vocabulary as of the file, which has no encoder."""
    llm = llama_cpp.Llama(str(cfgmask.demo.model_path()), n_ctx=256, n_threads=1, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_gguf(cfgmask.demo.model_path())
    assert vocabulary.encode is None
    compiled = cfgmask.compile(GRAMMARS["schema"], vocabulary)
    for seed in range(3):
        text = generate(llm, "Hello", compiled, jump_forward=True, max_tokens=120, seed=seed)
        assert set(json.loads(text)) == set(SCHEMA["required"])
        assert text.n_forced > 10
    llm.close()


def test_stopping_criteria_see_forced_tokens(llm: Any) -> None:
    seen: list[list[int]] = []
    criteria: Callable[..., bool] = lambda ids, _: seen.append(ids.tolist()) or len(seen) == 2  # noqa: E731
    text = generate(llm, "Hello", GRAMMARS["schema"], jump_forward=True, stopping_criteria=criteria)
    assert text.finish_reason == "length"
    assert not text.is_complete
    assert len(seen) == 2
