"""Models with a `draft_model`: the text is the one that is written without it, whatever the drafts are."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import regex

import cfgmask
from tests.integrations.conftest import END_TOKENS

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from llama_cpp.llama_speculative import LlamaDraftModel, LlamaPromptLookupDecoding  # noqa: E402

from cfgmask.integrations.llama_cpp import (  # noqa: E402
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriterion,
    generate,
)

PATTERN = r'(\{"name": "[a-z]{1,6}", "n": [1-9][0-9]{0,3}\}\n){1,4}'
PROMPT = '{"name": "anna", "n": 12}\n'


class RandomDrafts(LlamaDraftModel):  # type: ignore[misc]  # llama_cpp may be missing when checked
    """Drafts of any kind: what the text goes on with without it, cut, changed, or ended somewhere; noise; nothing."""

    def __init__(self, seed: int, text: list[int]) -> None:
        self.rng = random.Random(seed)
        self.text = text
        self.n_given = 0

    def __call__(self, input_ids: Any, /, **_: Any) -> Any:
        rng, n = self.rng, self.rng.randrange(9)
        if len(input_ids) > len(self.text):
            drafts = []
        elif rng.random() < 0.7:
            drafts = self.text[len(input_ids) : len(input_ids) + n]
        else:
            drafts = rng.choices(range(1, 256), k=n)
        for index in range(len(drafts)):
            if rng.random() < 0.15:
                drafts[index] = rng.choice([*END_TOKENS, rng.randrange(1, 256)])
        self.n_given += len(drafts)
        return np.array(drafts, dtype=np.intc)


def compiled(llm: Any) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(PATTERN), cfgmask.Vocabulary.from_llama(llm))


def by_completion(llm: Any, processor: LogitsProcessor, **options: Any) -> str:
    completion = llm.create_completion(
        PROMPT,
        max_tokens=120,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)]),
        **options,
    )
    text: str = completion["choices"][0]["text"]
    return text


def by_stream(llm: Any, processor: LogitsProcessor, **options: Any) -> str:
    chunks = llm.create_completion(
        PROMPT, max_tokens=120, stream=True, logits_processor=LogitsProcessorList([processor]), **options
    )
    return "".join(chunk["choices"][0]["text"] for chunk in chunks)


def by_generate(llm: Any, processor: LogitsProcessor, temperature: float, **options: Any) -> str:
    """The library's own loop, which goes on after end tokens until it is left."""
    written: list[int] = []
    for token_id in llm.generate(
        llm.tokenize(PROMPT.encode()), temp=temperature, logits_processor=LogitsProcessorList([processor]), **options
    ):
        if token_id in END_TOKENS or len(written) == 120:
            break
        written.append(token_id)
    text: str = llm.detokenize(written).decode()
    return text


def by_our_own_loop(llm: Any, _: LogitsProcessor, **options: Any) -> str:
    return generate(llm, PROMPT, compiled(llm), **options)


WAYS = [by_completion, by_stream, by_generate, by_our_own_loop]


def no_drafts(*_: Any) -> Any:
    return np.array([], dtype=np.intc)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("penalty", [1.0, 1.2])
def test_the_greedy_text_is_the_same(load: Callable[..., Any], way: Callable[..., str], penalty: float) -> None:
    options = {"temperature": 0.0, "repeat_penalty": penalty}
    llm = load(draft_model=no_drafts, n_ctx=512)
    processor = LogitsProcessor(compiled(llm))
    expected = way(llm, processor, **options)
    whole = [*llm.tokenize((PROMPT + expected).encode()), *END_TOKENS]
    llm.draft_model = None
    assert way(llm, processor, **options) == expected
    llm.draft_model = LlamaPromptLookupDecoding(num_pred_tokens=7)
    assert way(llm, processor, **options) == expected
    n_given = 0
    for seed in range(6):
        llm.draft_model = drafts = RandomDrafts(seed, whole)
        assert way(llm, processor, **options) == expected
        n_given += drafts.n_given
    assert n_given > 60
    assert processor.error is None


@pytest.mark.parametrize("way", WAYS)
def test_sampled_texts_are_in_the_language(load: Callable[..., Any], way: Callable[..., str]) -> None:
    llm = load(draft_model=LlamaPromptLookupDecoding(num_pred_tokens=5), n_ctx=512)
    processor = LogitsProcessor(compiled(llm))
    for _ in range(4):
        assert regex.fullmatch(PATTERN, way(llm, processor, temperature=1.0), partial=True)
    assert processor.error is None


def test_drafts_that_are_right_are_not_evaluated_again(load: Callable[..., Any]) -> None:
    llm = load(draft_model=no_drafts, n_ctx=512)
    whole = [*llm.tokenize((PROMPT + generate(llm, PROMPT, compiled(llm), temperature=0.0)).encode())]
    evaluate, n_calls = llm.eval, []

    def counting(tokens: Any) -> None:
        n_calls.append(len(tokens))
        evaluate(tokens)

    llm.eval = counting
    llm.draft_model = lambda ids: np.array(whole[len(ids) : len(ids) + 4], dtype=np.intc)
    generate(llm, PROMPT, compiled(llm), temperature=0.0)
    assert len(n_calls) < (len(whole) - len(PROMPT)) / 3


@pytest.mark.parametrize("canonical", [False, True])
def test_drafts_and_jumps_go_together(load: Callable[..., Any], canonical: bool) -> None:
    llm = load(draft_model=LlamaPromptLookupDecoding(num_pred_tokens=5), n_ctx=512)
    drafted = generate(llm, PROMPT, compiled(llm), temperature=0.0, jump_forward=True, canonical=canonical)
    llm.draft_model = None
    plain = generate(llm, PROMPT, compiled(llm), temperature=0.0, jump_forward=True, canonical=canonical)
    assert (drafted, drafted.token_ids, drafted.n_forced) == (plain, plain.token_ids, plain.n_forced)
    assert plain.n_forced


def test_a_context_that_is_nearly_full(load: Callable[..., Any]) -> None:
    llm = load(draft_model=lambda _: np.full(20, ord("a"), dtype=np.intc), n_ctx=256)
    grammar = cfgmask.compile(cfgmask.Grammar.from_regex("a[ab]*"), cfgmask.Vocabulary.from_llama(llm))

    def no_end(_: Any, scores: Any) -> Any:
        scores[list(END_TOKENS)] = -1e9
        return scores

    text = generate(llm, "x" * 200, grammar, logits_processor=[no_end])
    assert (len(text.token_ids), text.finish_reason) == (56, "length")
