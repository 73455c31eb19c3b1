"""llama-cpp-python's own calls with the hook: what they write is in the language, whatever was called before."""

from __future__ import annotations

import random
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import regex

import cfgmask
from tests.integrations.conftest import END_TOKENS

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import (  # noqa: E402
    IntegrationError,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriterion,
    generate,
)
from cfgmask.integrations.llama_cpp.checked_sample import check_sampling  # noqa: E402
from cfgmask.integrations.llama_cpp.masking import apply_mask  # noqa: E402
from tests.integrations.llama_calls import within  # noqa: E402

PATTERN = r'\{"name": "[a-z]{1,20}", "n": [1-9][0-9]{0,3}\}'


def compiled(llm: Any, pattern: str = PATTERN) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(pattern), cfgmask.Vocabulary.from_llama(llm))


def assert_in_language(text: str, finish_reason: str, pattern: str = PATTERN) -> None:
    assert regex.fullmatch(pattern, text, partial=finish_reason != "stop"), (text, finish_reason)


def complete(llm: Any, processor: LogitsProcessor, prompt: Any = "Hello", **options: Any) -> Any:
    options = {"max_tokens": 64, "temperature": 1.0} | options
    return llm.create_completion(
        prompt,
        logits_processor=LogitsProcessorList([processor]),
        stopping_criteria=llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)]),
        **options,
    )


def text_of(completion: Any) -> str:
    return completion["choices"][0]["text"]


def joined(chunks: Iterator[Any]) -> tuple[str, str]:
    """The text of a stream and why it ended."""
    pieces, reason = [], ""
    for chunk in chunks:
        pieces.append(text_of(chunk))
        reason = chunk["choices"][0]["finish_reason"] or reason
    return "".join(pieces), reason


@pytest.mark.parametrize("options", [{}, {"temperature": 0.0}, {"top_k": 5, "repeat_penalty": 1.3}, {"max_tokens": 9}])
def test_completion(llm: Any, options: dict[str, Any]) -> None:
    processor = LogitsProcessor(compiled(llm))
    for seed in range(5):
        completion = complete(llm, processor, seed=seed, **options)
        assert_in_language(text_of(completion), completion["choices"][0]["finish_reason"])
    assert processor.error is None


@pytest.mark.parametrize("max_tokens", range(21, 60, 6))
@pytest.mark.parametrize("stream", [True, False])
def test_text_is_complete_within_max_tokens(llm: Any, max_tokens: int, stream: bool) -> None:
    processor = LogitsProcessor(compiled(llm), max_tokens=max_tokens)
    for seed in range(3):
        written = complete(
            llm, processor, max_tokens=max_tokens, seed=seed, stream=stream, logit_bias=dict.fromkeys(END_TOKENS, -1e9)
        )
        assert_in_language(joined(written)[0] if stream else text_of(written), "stop")


@pytest.mark.parametrize("n_prompt", [200, 230, 235])
def test_the_context_is_part_of_the_budget(llm: Any, n_prompt: int) -> None:
    processor = LogitsProcessor(compiled(llm), max_tokens=500)
    written = complete(llm, processor, [72] * n_prompt, max_tokens=500, logit_bias=dict.fromkeys(END_TOKENS, -1e9))
    assert_in_language(text_of(written), "stop")
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="the context is 20, and the shortest completion found takes 21 tokens"
    ):
        complete(llm, processor, [72] * 236, max_tokens=500)


def test_a_budget_that_holds_no_text_is_refused_at_once(llm: Any) -> None:
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 20, and the shortest completion found takes 21 tokens"
    ):
        LogitsProcessor(compiled(llm), max_tokens=20)


@pytest.mark.parametrize("max_tokens", [21, 30, 44])
def test_the_calls_own_max_tokens_count_where_they_are_fewer(llm: Any, max_tokens: int) -> None:
    processor = LogitsProcessor(compiled(llm), max_tokens=60)
    for seed in range(3):
        written = complete(llm, processor, max_tokens=max_tokens, seed=seed, logit_bias=dict.fromkeys(END_TOKENS, -1e9))
        assert_in_language(text_of(written), "stop")
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 20, and the shortest completion found takes 21 tokens"
    ):
        complete(llm, processor, max_tokens=20)


def test_a_processor_is_a_list_of_itself(llm: Any) -> None:
    """llama-cpp-python would print that it is no list, and go on without masks."""
    processor = LogitsProcessor(compiled(llm), max_tokens=40)
    written = llm.create_completion("Hello", max_tokens=40, logits_processor=processor)
    assert processor.error is None
    assert_in_language(text_of(written), "stop")


def test_a_matcher_brings_its_own_budget(llm: Any) -> None:
    matcher = compiled(llm).matcher(max_tokens=21)
    written = complete(llm, LogitsProcessor(matcher), logit_bias=dict.fromkeys(END_TOKENS, -1e9))
    assert_in_language(text_of(written), "stop")
    with pytest.raises(TypeError, match="a Matcher has its own budget"):
        LogitsProcessor(matcher, max_tokens=21)


def test_stream_gives_the_same_text(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    for seed in range(5):
        streamed = joined(complete(llm, processor, seed=seed, stream=True))
        completion = complete(llm, processor, seed=seed)
        assert streamed == (text_of(completion), completion["choices"][0]["finish_reason"])


def test_chat(load: Callable[..., Any]) -> None:
    llm = load(chat_format="chatml")
    processor = LogitsProcessor(compiled(llm))
    messages = [{"role": "user", "content": "hello"}]
    processors = LogitsProcessorList([processor])
    for seed in range(3):
        answer = llm.create_chat_completion(messages, logits_processor=processors, max_tokens=64, seed=seed)
        content, reason = answer["choices"][0]["message"]["content"], answer["choices"][0]["finish_reason"]
        assert_in_language(content, reason)
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": "again"}]
        chunks = llm.create_chat_completion(
            messages[:1], logits_processor=processors, max_tokens=64, seed=seed, stream=True
        )
        pieces = [chunk["choices"][0]["delta"].get("content", "") for chunk in chunks]
        assert_in_language("".join(pieces), "length")
    assert processor.error is None


def test_every_end_token_ends_a_text(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm, "a?"))
    seen = []

    def note(input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
        seen.append({token_id for token_id in END_TOKENS if scores[token_id] > -np.inf})
        return scores

    llm.create_completion("Hello", logits_processor=LogitsProcessorList([processor, note]), max_tokens=4)
    assert seen
    assert all(ends == set(END_TOKENS) for ends in seen)


def test_a_prompt_may_be_all_that_the_next_step_would_have_shown(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    prompt = llm.tokenize(b"Hello")
    for cut in range(1, 12):
        # Greedy, so that the first output is known: its prompt and output are the prompt of the second call.
        output = [*prompt]
        for token_id in llm.generate(prompt, temp=0.0, logits_processor=LogitsProcessorList([processor])):
            output.append(token_id)
            if len(output) == len(prompt) + cut:
                break
        completion = complete(llm, processor, output, seed=cut)
        assert_in_language(text_of(completion), completion["choices"][0]["finish_reason"])


def test_prompt_cache(llm: Any) -> None:
    llm.set_cache(llama_cpp.LlamaRAMCache())
    processor = LogitsProcessor(compiled(llm))
    for prompt in ("Hello", "Hello", "Other", "Hello wor", "Hello", "Hello"):
        completion = complete(llm, processor, prompt, seed=len(prompt))
        assert_in_language(text_of(completion), completion["choices"][0]["finish_reason"])
    assert processor.error is None


def test_models_in_turns(load: Callable[..., Any]) -> None:
    models = [load(), load(), load()]
    processor = LogitsProcessor(compiled(models[0]))
    rng = random.Random(0)
    for _ in range(4):
        streams = [complete(llm, processor, rng.choice(["Hello", "Hel"]), stream=True, seed=7) for llm in models]
        texts = [""] * len(streams)
        reasons = [""] * len(streams)
        running = list(range(len(streams)))
        while running:
            index = rng.choice(running)
            chunk = next(streams[index], None)
            if chunk is None:
                running.remove(index)
            else:
                texts[index] += text_of(chunk)
                reasons[index] = chunk["choices"][0]["finish_reason"] or reasons[index]
        for text, reason in zip(texts, reasons, strict=True):
            assert_in_language(text, reason)
    assert processor.error is None


@pytest.mark.parametrize("prompts", [("Hello", "Hello"), ("Hello", "Hi"), ("Hi", "Hello there"), ("Hi", "Hello")])
def test_one_model_in_turns_is_refused(llm: Any, prompts: tuple[str, str]) -> None:
    processors = [LogitsProcessor(compiled(llm)), LogitsProcessor(compiled(llm))]
    first, second = (complete(llm, p, prompt, stream=True) for p, prompt in zip(processors, prompts, strict=True))
    next(first)
    next(second)
    with pytest.raises(IntegrationError):
        list(zip(first, second, strict=False))


def other_completion(llm: Any, **options: Any) -> None:
    llm.create_completion("Hello", **options)


def other_text(llm: Any, **_: Any) -> None:
    llm.create_completion("Something else", max_tokens=30, temperature=0.0)


def other_free_text(llm: Any, **_: Any) -> None:
    llm.create_completion("Hello", max_tokens=30, temperature=0.0)


def other_short_text(llm: Any, **_: Any) -> None:
    llm.create_completion("Hi", max_tokens=1)


def same_tokens(llm: Any, **options: Any) -> None:
    for number, _ in enumerate(
        llm.generate(llm.tokenize(b"Hello"), temp=0.0, logits_processor=options["logits_processor"])
    ):
        if number == 30:
            break


@pytest.mark.parametrize("other", [other_completion, other_text, other_free_text, other_short_text, same_tokens])
@pytest.mark.parametrize("criterion", [True, False])
def test_going_on_after_another_text_is_refused(llm: Any, criterion: bool, other: Callable[..., None]) -> None:
    # Where the other text begins as this one does, llama-cpp-python asks for logits that are not there any more, and
    # llama.cpp answers by aborting the process.
    processor = LogitsProcessor(compiled(llm, "[a-z]{100}"))
    options = {"logits_processor": LogitsProcessorList([processor]), "temperature": 0.0, "max_tokens": 40}
    if criterion:
        options["stopping_criteria"] = llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)])
    stream = llm.create_completion("Hello", stream=True, **options)
    for _ in range(5):
        next(stream)
    other(llm, **options)
    with pytest.raises(IntegrationError, match="two generations use one Llama in turns"):
        list(stream)


def test_logits_that_are_not_there_are_refused(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm, "[a-z]{100}"))
    prompt = llm.tokenize(b"Hello")
    generation = llm.generate(prompt, temp=0.0, logits_processor=LogitsProcessorList([processor]))
    output = [next(generation) for _ in range(3)]
    llm.eval([*output[-1:], *prompt])
    with pytest.raises(IntegrationError, match="two generations use one Llama in turns"):
        next(generation)


def test_a_loop_that_would_lose_its_processors_is_refused(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    complete(llm, processor)
    with pytest.raises(IntegrationError, match="goes on with the sampler of the generation before"):
        llm.sample(logits_processor=LogitsProcessorList([processor]))


def test_the_check_does_not_keep_a_model() -> None:
    class Model:
        _sampler = None

        def sample(self, temp: float, idx: int | None = None) -> int:
            return 7

    model = Model()
    check_sampling(model)
    assert model.sample(temp=0.0) == 7
    gone = weakref.ref(model)
    del model
    assert gone() is None


def test_the_check_leaves_a_replaced_sample_alone(llm: Any) -> None:
    llm.sample = sample = lambda *_, **__: END_TOKENS[0]
    check_sampling(llm)
    assert llm.sample is sample


def test_an_abandoned_stream_does_no_harm(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    for seed in range(5):
        stream = complete(llm, processor, stream=True, seed=seed)
        for _ in range(seed):
            next(stream)
        completion = complete(llm, processor, seed=seed)
        assert_in_language(text_of(completion), completion["choices"][0]["finish_reason"])
        stream.close()
    assert processor.error is None


def test_bias_and_masks_together(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    token_id = ord("q")
    completion = complete(llm, processor, logit_bias={token_id: 100.0}, seed=3)
    assert text_of(completion).startswith('{"name": "qqqqqqqqqq')
    assert_in_language(text_of(completion), completion["choices"][0]["finish_reason"])
    later = complete(llm, processor, seed=3)
    assert "qqqq" not in text_of(later)


def test_the_criterion_tells_a_lost_mask(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    plain = llama_cpp.LogitsProcessorList([processor])
    criteria = llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)])
    llm.create_completion("Hello", logits_processor=plain, stopping_criteria=criteria, max_tokens=1)
    with pytest.raises(IntegrationError, match="logit_bias"):
        llm.create_completion(
            "Hello", logits_processor=plain, stopping_criteria=criteria, max_tokens=1, logit_bias={1: 1.0}
        )


def failing_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on the hook fails at every so-many-th call, however many it has had."""
    steps = 0

    def fails(matcher: cfgmask.Matcher, scores: Any, *rest: Any) -> None:
        nonlocal steps
        steps += 1
        if steps % step == 0:
            raise ValueError(f"broken at {steps}")
        apply_mask(matcher, scores, *rest)

    monkeypatch.setattr("cfgmask.integrations.llama_cpp.processor.apply_mask", fails)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("chat", [False, True])
def test_failures_are_raised_in_the_step_itself(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, chat: bool, stream: bool
) -> None:
    llm = load(chat_format="chatml")
    processor = LogitsProcessor(compiled(llm))
    options = {"logits_processor": LogitsProcessorList([processor]), "max_tokens": 64, "stream": stream}
    failing_at(5, monkeypatch)
    with pytest.raises(ValueError, match="broken at 5"):
        list(llm.create_chat_completion([], **options) if chat else llm.create_completion("Hello", **options))
    assert str(processor.error) == "broken at 5"


def test_a_failure_in_the_very_first_step_is_raised(llm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = LogitsProcessor(compiled(llm))
    failing_at(1, monkeypatch)
    with pytest.raises(ValueError, match="broken at 1"):
        llm.create_completion("Hello", logits_processor=LogitsProcessorList([processor]), max_tokens=64)
    with pytest.raises(ValueError, match="broken at 1"):
        processor.raise_error()


def test_a_failure_within_a_function_is_told_and_raised_next(llm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = LogitsProcessor(compiled(llm))
    processors = LogitsProcessorList([lambda input_ids, scores: processor(input_ids, scores)])
    failing_at(1, monkeypatch)
    with pytest.warns(RuntimeWarning, match="ends early, outside the grammar: ValueError: broken at 1") as caught:
        completion = llm.create_completion("Hello", logits_processor=processors, max_tokens=64)
    assert caught[0].filename == __file__
    assert text_of(completion) == ""
    assert completion["choices"][0]["finish_reason"] == "stop"
    for use_again in (
        processor.raise_error,
        lambda: LogitsProcessorList([processor]),
        lambda: llm.create_completion("Hello", logits_processor=processors),
        lambda: llm.create_completion("Hello", logits_processor=processors, logit_bias={1: 1.0}),
        lambda: llm.create_completion("Hello", logits_processor=[processor]),
    ):
        with pytest.raises(ValueError, match="broken at 1"):
            use_again()
    processor.reset()
    assert list(LogitsProcessorList([processor])) == [processor]


def test_the_criterion_raises_in_the_first_step_within_a_function(llm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = LogitsProcessor(compiled(llm))
    criteria = llama_cpp.StoppingCriteriaList([StoppingCriterion(processor)])
    failing_at(1, monkeypatch)
    with pytest.warns(RuntimeWarning), pytest.raises(ValueError, match="broken at 1"):
        llm.create_completion("Hello", logits_processor=[within(processor)], stopping_criteria=criteria)


def test_the_hook_is_given_the_logits_of_the_model(llm: Any) -> None:
    """Nothing sampled them before, on a device or in the chain; `docs/llama_cpp.md` builds on it."""
    seen = []

    def compare(input_ids: Any, scores: Any) -> Any:
        logits = np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(llm.ctx, -1), shape=(llm.n_vocab(),))
        seen.append(np.array_equal(scores, logits))
        return scores

    llm.create_completion("Hello", max_tokens=5, logits_processor=LogitsProcessorList([compare]))
    assert len(seen) > 1
    assert all(seen)


@pytest.mark.filterwarnings("ignore:masking failed:RuntimeWarning")
@pytest.mark.parametrize(
    ("n_tokens", "end_token", "message"),
    [(258, 257, "token 257 ends a text"), (300, 259, "compiled for 300 tokens, the model has 264")],
)
def test_grammars_for_another_vocabulary_are_refused(llm: Any, n_tokens: int, end_token: int, message: str) -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes([b"x"] * n_tokens, end_token)
    processor = LogitsProcessor(cfgmask.compile(cfgmask.Grammar.from_regex("x+"), vocabulary))
    with pytest.raises(cfgmask.VocabularyError, match=message):
        complete(llm, processor)


def test_text_that_the_detokenizer_loses_is_written_otherwise(llm: Any) -> None:
    assert llm.detokenize([262]) == b"", "llama-cpp-python keeps long tokens now; `kept_tokens` may go"
    processor = LogitsProcessor(compiled(llm, "-{80}a{70}b"))
    # With a bias that would have the long tokens win wherever they are allowed.
    completion = complete(llm, processor, logit_bias={262: 100.0, 263: 100.0}, max_tokens=200)
    assert text_of(completion) == "-" * 80 + "a" * 70 + "b"


def test_nothing_left_to_sample_is_an_error(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm, "abc"))
    with pytest.raises(IntegrationError, match="no token is left to sample"):
        llm.create_completion(
            "Hello", logits_processor=LogitsProcessorList([processor]), logit_bias={ord("b"): -np.inf}
        )


@pytest.mark.parametrize(
    ("lark", "text", "in_one_call"),
    [
        ('start: "a" <|im_end|>', "a", "a"),
        ('start: "a" (<|im_end|> "b" | "c") "d"', "acd", "abd"),
        ('start: ("a" <|im_end|>) ~ 2', None, "aa"),
        ('start: "a" (<|im_end|> "b")*', "a", None),
    ],
)
@pytest.mark.parametrize("max_tokens", [None, 8])
def test_end_tokens_that_a_grammar_goes_on_after(
    llm: Any, lark: str, text: str | None, in_one_call: str | None, max_tokens: int | None
) -> None:
    """`create_completion` stops at them, whatever the grammar says."""
    grammar = cfgmask.compile(cfgmask.Grammar.from_lark(lark), cfgmask.Vocabulary.from_llama(llm))
    processor = LogitsProcessor(grammar, max_tokens=max_tokens)
    options = {"logit_bias": {END_TOKENS[1]: 50.0}, "max_tokens": 8}
    if text is None:
        with pytest.raises(IntegrationError, match="goes on after it"):
            complete(llm, processor, **options)
    else:
        assert text_of(complete(llm, processor, **options)) == text
    if in_one_call is not None:

        def likes_the_end(input_ids: np.ndarray, scores: np.ndarray) -> np.ndarray:
            scores[END_TOKENS[1]] += 50
            return scores

        written = generate(llm, "Hello", grammar, max_tokens=8, logits_processor=[likes_the_end])
        assert (str(written), written.is_complete) == (in_one_call, True)


def test_tokens_sent_into_a_generation_are_drafts(load: Callable[..., Any]) -> None:
    llm = load(logits_all=True)
    processor = LogitsProcessor(compiled(llm, "[ab]{2}cd[ef]{4}"))
    generation = llm.generate(llm.tokenize(b"Hello"), temp=1.0, logits_processor=LogitsProcessorList([processor]))
    text = [next(generation), next(generation)]
    text.append(generation.send(list(b"cdex")))
    text += [next(generation) for _ in range(5)]
    assert regex.fullmatch("[ab]{2}cd[ef]{4}", bytes(text).decode())


def test_a_loop_of_ones_own(llm: Any) -> None:
    processor = LogitsProcessor(compiled(llm))
    for prompt in (b"Hello", b"Hi", b"Hello"):
        llm.reset()
        llm.eval(llm.tokenize(prompt))
        output = []
        while (token_id := llm.sample(temp=1.0, logits_processor=LogitsProcessorList([processor]))) not in END_TOKENS:
            output.append(token_id)
            llm.eval([token_id])
        assert_in_language(llm.detokenize(output).decode(), "stop")
    assert processor.error is None
