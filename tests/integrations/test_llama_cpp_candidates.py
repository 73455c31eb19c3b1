"""What llama.cpp samples from after the hook: candidates are dropped where nobody else looks at them, else masked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask import _core

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import LogitsProcessor, LogitsProcessorList, generate  # noqa: E402

N_VOCAB = 70
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([32 + i]) for i in range(N_VOCAB - 1)), b""], N_VOCAB - 1)
RECORD = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)
LOGITS = st.floats(-9, 9, width=32) | st.just(-np.inf)


def matcher_of(allowed: set[int]) -> cfgmask.Matcher:
    choices = [chr(32 + token) for token in sorted(allowed)]
    return cfgmask.compile(cfgmask.Grammar.from_choices(choices), VOCABULARY).matcher()


def words_of(tokens: set[int]) -> np.ndarray:
    bits = np.zeros(96, dtype=np.bool_)
    bits[sorted(tokens)] = True
    return np.packbits(bits, bitorder="little").view(np.uint32)


def records_of(logits: list[float]) -> Any:
    records = np.recarray(len(logits), dtype=RECORD)
    records.id, records.logit, records.p = np.arange(len(logits)), logits, 0.25
    return records


@given(
    st.sets(st.integers(0, N_VOCAB - 2), min_size=1),
    st.none() | st.sets(st.integers(0, N_VOCAB - 1)),
    st.lists(LOGITS, min_size=N_VOCAB, max_size=N_VOCAB + 40),
    st.booleans(),
)
def test_what_is_left(allowed: set[int], among: set[int] | None, logits: list[float], may_move: bool) -> None:
    """One by one: the tokens of the mask with their logits, in their order."""
    records = records_of(logits)
    words = None if among is None else words_of(among)
    n_left = _core.mask_candidates(matcher_of(allowed), records.logit, words, may_move)
    kept = sorted(allowed if among is None else allowed & among)
    wanted = [(token, np.float32(logits[token])) for token in kept if logits[token] > -np.inf]
    if not wanted:
        assert n_left == 0
        return
    left = records[:n_left]
    assert [(int(r.id), r.logit) for r in left if r.logit > -np.inf] == wanted
    if may_move and len(kept) <= len(logits) // 2:
        assert left.id.tolist() == kept
    else:
        assert n_left == len(logits)


def test_candidates_in_another_order_stay_where_they_are() -> None:
    records = records_of([1.0] * N_VOCAB)
    records.id[:2] = [1, 0]
    assert _core.mask_candidates(matcher_of({1, 5}), records.logit, None, True) == N_VOCAB
    assert np.flatnonzero(records.logit > -np.inf).tolist() == [1, 5]
    assert records.id[:3].tolist() == [1, 0, 2]


def test_only_records_are_moved() -> None:
    with pytest.raises(ValueError, match="no logits of candidates"):
        _core.mask_candidates(matcher_of({1}), np.zeros(N_VOCAB, np.float32), None, True)


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many candidates each callback leaves to the samplers."""
    found: list[int] = []
    function_type = llama_cpp.llama_cpp.llama_sampler_i_apply

    def watched(apply: Callable[[Any, Any], None]) -> Any:
        def call(sampler: Any, candidates: Any) -> None:
            apply(sampler, candidates)
            found.append(candidates.contents.size)

        return function_type(call)

    monkeypatch.setattr(llama_cpp.llama_cpp, "llama_sampler_i_apply", watched)
    return found


def compiled(llm: Any) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(
        cfgmask.Grammar.from_regex(r"[0-4]{3}[\x00-\x7f][5-9]{4}"), cfgmask.Vocabulary.from_llama(llm)
    )


def texts(llm: Any, processors: list[Any], **options: Any) -> Iterator[str]:
    for seed in range(4):
        answer = llm.create_completion(
            "Hello", seed=seed, max_tokens=20, logits_processor=LogitsProcessorList(processors), **options
        )
        yield answer["choices"][0]["text"]


def looks(input_ids: Any, scores: Any) -> Any:
    assert len(scores) > 5
    return scores


SAMPLING = [
    {"temperature": 0.0},
    {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0},
    {"temperature": 1.5, "top_k": 3, "typical_p": 0.7},
    {"temperature": 1.0, "mirostat_mode": 1},
    {"temperature": 1.0, "mirostat_mode": 2},
    {"temperature": 1.0, "repeat_penalty": 1.4, "frequency_penalty": 0.5},
]


@pytest.mark.parametrize("options", SAMPLING, ids=str)
def test_samplers_are_given_few_and_write_what_the_grammar_allows(
    llm: Any, sizes: list[int], options: dict[str, Any]
) -> None:
    processor = LogitsProcessor(compiled(llm))
    for text in texts(llm, [processor], **options):
        assert len(text) == 8
        assert set(text[:3]) <= set("01234")
        assert set(text[4:]) <= set("56789")
    # Five digits, five digits and more, or the end tokens; all where most of the bytes are allowed.
    assert set(sizes) <= {5, 2, 128, llm.n_vocab()}
    assert sizes.count(5) == 4 * 7


@pytest.mark.parametrize("options", SAMPLING[:2], ids=str)
def test_the_text_is_that_of_masked_candidates(llm: Any, sizes: list[int], options: dict[str, Any]) -> None:
    processor = LogitsProcessor(compiled(llm))
    dropped = list(texts(llm, [processor], **options))
    assert 5 in sizes
    sizes.clear()
    masked = list(texts(llm, [processor, looks], **options))
    assert set(sizes) == {llm.n_vocab()}, "a processor behind must see all scores"
    assert dropped == masked


def test_nothing_is_dropped_where_somebody_may_look(llm: Any, sizes: list[int]) -> None:
    processor = LogitsProcessor(compiled(llm))
    assert all(len(text) == 8 for text in texts(llm, [lambda ids, scores: processor(ids, scores)]))
    assert set(sizes) == {llm.n_vocab()}


def test_a_processor_that_comes_later_is_called(llm: Any, sizes: list[int]) -> None:
    seen = []

    def also(input_ids: Any, scores: Any) -> Any:
        seen.append(len(scores))
        return scores

    processors = LogitsProcessorList([LogitsProcessor(compiled(llm))])
    chunks = llm.create_completion("Hello", max_tokens=20, logits_processor=processors, stream=True)
    text = "".join(next(chunks)["choices"][0]["text"] for _ in range(3))
    assert set(sizes) == {5}
    processors.append(also)
    text += "".join(chunk["choices"][0]["text"] for chunk in chunks)
    assert len(text) == 8
    assert set(seen) == {llm.n_vocab()}
    assert sizes[-1] == llm.n_vocab()


def test_generate_drops_too(llm: Any, sizes: list[int]) -> None:
    text = generate(llm, "Hello", compiled(llm), seed=1)
    assert len(text) == 8
    assert sizes.count(5) == 7
