"""A processor that is no longer used is freed, with all that it was made from, and keeps no model loaded."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import cfgmask

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import (  # noqa: E402
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriterion,
    generate,
)

GRAMMAR = cfgmask.Grammar.from_regex("[a-z]{30}")


def assert_freed(alive: list[weakref.ref[Any]]) -> None:
    gc.collect()
    assert [thing() for thing in alive] == [None] * len(alive)


@pytest.mark.parametrize("stream", [False, True])
def test_a_processor(model_path: Any, stream: bool) -> None:
    llm = llama_cpp.Llama(str(model_path), n_ctx=256, n_threads=1, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)
    compiled = cfgmask.compile(GRAMMAR, vocabulary)
    processor = LogitsProcessor(compiled)
    criterion = StoppingCriterion(processor)
    answer = llm.create_completion(
        "Hello",
        max_tokens=4,
        stream=stream,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([criterion]),
    )
    if stream:
        next(answer)  # and is left where it is
    used = [weakref.ref(thing) for thing in (processor, criterion, vocabulary, vocabulary.core, compiled)]
    del vocabulary, compiled, processor, criterion, answer
    # The model keeps its last sampler, and with it the processor.
    alive = [*used, weakref.ref(llm)]
    del llm
    assert_freed(alive)


@pytest.mark.parametrize("stream", [False, True])
def test_generate(model_path: Any, stream: bool) -> None:
    llm = llama_cpp.Llama(str(model_path), n_ctx=256, n_threads=1, verbose=False)
    compiled = cfgmask.compile(GRAMMAR, cfgmask.Vocabulary.from_llama(llm))
    text: Any = generate(llm, "Hello", compiled, max_tokens=40, stream=stream)
    if stream:
        next(text)
    alive = [weakref.ref(thing) for thing in (llm, compiled, compiled.vocabulary)]
    del llm, compiled, text
    assert_freed(alive)
