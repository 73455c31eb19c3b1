"""The hook itself, called without a model: its array in place, its texts by their ids, its failures."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import (  # noqa: E402
    IntegrationError,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriterion,
)

pytestmark = pytest.mark.filterwarnings("ignore:masking failed:RuntimeWarning")

N_VOCAB = 258
VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b"", b""], eos_token_id=[256, 257])
RECORD = np.dtype([("id", np.intc), ("logit", np.single), ("p", np.single)], align=True)


def compiled(pattern: str = "(ab)*c") -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(pattern), VOCABULARY)


def ids(prompt: list[int], text: bytes = b"", *more: int) -> np.ndarray:
    return np.array([*prompt, *text, *more], dtype=np.intc)


def allowed(processor: Any, shown: np.ndarray, width: int = N_VOCAB) -> set[int]:
    scores = np.zeros(width, dtype=np.single)
    assert processor(shown, scores) is scores
    return set(np.flatnonzero(scores > -np.inf).tolist())


def failing(error: BaseException) -> LogitsProcessor:
    """A processor whose next mask fails; the error goes where those of the core would."""
    processor = LogitsProcessor(compiled())

    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise error

    processor._start = Broken()  # type: ignore[assignment]
    return processor


def test_the_mask_follows_the_text() -> None:
    processor = LogitsProcessor(compiled())
    assert allowed(processor, ids([1, 2])) == {ord("a"), ord("c")}
    assert allowed(processor, ids([1, 2], b"a")) == {ord("b")}
    assert allowed(processor, ids([1, 2], b"ab")) == {ord("a"), ord("c")}
    assert allowed(processor, ids([1, 2], b"abc")) == {256, 257}
    assert allowed(processor, ids([1, 2], b"abc", 257)) == {256, 257}
    assert processor.error is None


def test_records_are_masked_in_place() -> None:
    records = np.recarray(N_VOCAB, dtype=RECORD)
    records.id = np.arange(N_VOCAB)
    records.logit = 1.5
    records.p = 0.25
    scores = records.logit
    assert scores.strides == (12,)
    assert LogitsProcessor(compiled())(ids([1]), scores) is scores
    assert set(np.flatnonzero(records.logit == 1.5)) == {ord("a"), ord("c")}
    assert np.isneginf(np.delete(records.logit, [ord("a"), ord("c")])).all()
    assert (records.id == np.arange(N_VOCAB)).all()
    assert (records.p == 0.25).all()


def test_logits_wider_than_the_vocabulary() -> None:
    assert allowed(LogitsProcessor(compiled()), ids([1]), width=300) == {ord("a"), ord("c")}


def test_a_matcher_sets_the_start() -> None:
    matcher = compiled().matcher()
    matcher.advance(ord("a"))
    processor = LogitsProcessor(matcher)
    matcher.advance(ord("b"))
    assert allowed(processor, ids([1])) == {ord("b")}
    assert allowed(processor, ids([2])) == {ord("b")}


@pytest.mark.parametrize("second", [[1, 2], [1], [3, 4, 5], [1, 2, ord("a"), ord("b"), 9, 9], []])
def test_another_prompt_begins_anew(second: list[int]) -> None:
    processor = LogitsProcessor(compiled())
    for text in (b"", b"a", b"ab"):
        allowed(processor, ids([1, 2], text))
    assert allowed(processor, ids(second)) == {ord("a"), ord("c")}
    assert allowed(processor, ids(second, b"a")) == {ord("b")}


def test_texts_in_turns() -> None:
    processor = LogitsProcessor(compiled())
    for text in (b"", b"a", b"ab", b"aba"):
        for prompt in ([1], [2, 2], [3]):
            expected = {ord("b")} if text.endswith(b"a") else {ord("a"), ord("c")}
            assert allowed(processor, ids(prompt, text)) == expected


def test_reset_begins_anew_where_ids_cannot_tell() -> None:
    processor = LogitsProcessor(compiled())
    allowed(processor, ids([1]))
    assert allowed(processor, ids([1], b"a")) == {ord("b")}
    processor.reset()
    assert allowed(processor, ids([1], b"ab")) == {ord("a"), ord("c")}


@pytest.mark.parametrize("error", [ValueError("broken"), MemoryError(), KeyboardInterrupt()])
def test_failures_leave_only_end_tokens_and_are_raised_afterwards(error: BaseException) -> None:
    processor = failing(error)
    assert allowed(processor, ids([1])) == {256, 257}
    assert processor.error is error
    scores = np.zeros(N_VOCAB, dtype=np.single)
    with pytest.raises(type(error)):
        processor(ids([1]), scores)
    assert set(np.flatnonzero(scores > -np.inf)) == {256, 257}
    with pytest.raises(type(error)):
        processor.raise_error()
    with pytest.raises(type(error)):
        StoppingCriterion(processor)(ids([1]), scores)


def test_reset_forgets_a_failure() -> None:
    processor = LogitsProcessor(compiled())
    allowed(processor, ids([1]))
    assert allowed(processor, ids([1], b"x")) == {256, 257}
    assert isinstance(processor.error, cfgmask.TokenRejected)
    processor.reset()
    assert processor.error is None
    assert allowed(processor, ids([1])) == {ord("a"), ord("c")}


def test_logits_narrower_than_the_vocabulary_fail_closed() -> None:
    processor = LogitsProcessor(compiled())
    assert allowed(processor, ids([1]), width=257) == {256}
    assert processor.error is not None


@pytest.mark.parametrize(
    ("logits", "token_ids"),
    [(np.zeros(N_VOCAB), {ord("a"), ord("c")}), (np.full(N_VOCAB, -np.inf), {256, 257})],
    ids=["some left", "none left"],
)
def test_something_must_be_left_to_sample(logits: np.ndarray, token_ids: set[int]) -> None:
    processor = LogitsProcessor(compiled())
    scores = processor(ids([1]), logits.astype(np.single))
    assert set(np.flatnonzero(scores > -np.inf).tolist()) == token_ids
    assert isinstance(processor.error, IntegrationError) == (token_ids == {256, 257})


@pytest.mark.parametrize("token_id", [0, 31, 32, 4095, 9000])
def test_one_token_left_of_many_is_enough(token_id: int) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([*(b"%d" % number for number in range(9001)), b""], 9001)
    processor = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex("[0-9]+"), vocabulary))
    scores = np.full(9002, -np.inf, dtype=np.single)
    scores[token_id] = -3.0
    processor(ids([1]), scores)
    assert processor.error is None
    assert np.flatnonzero(scores > -np.inf).tolist() == [token_id]


def test_a_vocabulary_that_cannot_write_what_must_follow() -> None:
    # It has the byte, but only in a token that does not fit.
    vocabulary = cfgmask.Vocabulary.from_bytes([b"a", b"", b"bb"], 1)
    processor = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_lark('start: "a" "b"'), vocabulary))
    assert allowed(processor, ids([1]), width=3) == {0}
    scores = np.zeros(3, dtype=np.single)
    with pytest.warns(RuntimeWarning, match="none that writes what must follow"):
        processor(ids([1], b"", 0), scores)
    assert set(np.flatnonzero(scores > -np.inf)) == {1}


@pytest.mark.parametrize("wrong", ['start: "a"', None, cfgmask.Grammar.from_regex("a")])
def test_wrong_types_are_named(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"takes what cfgmask\.compile gives"):
        LogitsProcessor(wrong)


def test_warnings_as_errors_do_no_harm() -> None:
    processor = failing(ValueError("broken"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert allowed(processor, ids([1])) == {256, 257}
    with pytest.raises(ValueError, match="broken"):
        LogitsProcessorList([processor])


def test_criterion_tells_a_token_without_a_mask() -> None:
    processor = LogitsProcessor(compiled())
    criterion = StoppingCriterion(processor)
    scores = np.zeros(N_VOCAB, dtype=np.single)
    allowed(processor, ids([1]))
    assert not criterion(ids([1]), scores)
    with pytest.raises(cfgmask.CfgmaskError, match="sampled without its mask"):
        criterion(ids([1], b"a"), scores)


def test_criterion_stops_after_an_end_token() -> None:
    processor = LogitsProcessor(compiled("a?"))
    criterion = StoppingCriterion(processor)
    for text, more, expected in ((b"", (), False), (b"a", (), False), (b"a", (256,), True)):
        allowed(processor, ids([1], text, *more))
        assert criterion(ids([1], text, *more), np.zeros(N_VOCAB, dtype=np.single)) is expected


def logit_bias_processor(input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """As llama-cpp-python makes one for a bias, that of an infinite bias for a token here."""
    scores = np.copy(scores)
    scores[ord("x")] = np.inf
    return scores


def test_list_survives_a_bias_and_forgets_it() -> None:
    processors = LogitsProcessorList([LogitsProcessor(compiled())])
    biased = processors.extend(llama_cpp.LogitsProcessorList([logit_bias_processor]))
    assert isinstance(biased, LogitsProcessorList)
    assert len(biased) == 2
    assert len(processors) == 1
    assert biased(ids([1]), np.zeros(N_VOCAB, dtype=np.single))[ord("x")] == -np.inf


def test_list_extends_as_any_other() -> None:
    def other(input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        return scores

    processors = LogitsProcessorList()
    assert processors.extend([other, other]) is None
    assert list(processors) == [other, other]
    assert isinstance(processors, llama_cpp.LogitsProcessorList)


def test_wrapped_hooks_work() -> None:
    processor = LogitsProcessor(compiled())
    wrapped: Callable[..., Any] = lambda shown, scores: processor(shown, scores)  # noqa: E731
    assert allowed(LogitsProcessorList([wrapped]), ids([1])) == {ord("a"), ord("c")}


def test_rejected_mass_is_measured_if_asked_for() -> None:
    grammar = compiled()
    processor = LogitsProcessor(grammar)
    allowed(processor, ids([1, 2]))
    assert grammar.stats()["rejected_masses"] == 0
    grammar.observe(rejected_mass=True)
    allowed(processor, ids([1, 2], b"a"))
    assert grammar.stats()["rejected_mass"] == pytest.approx((N_VOCAB - 1) / N_VOCAB)
