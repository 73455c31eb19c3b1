"""Generation in one call."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import pytest
import regex

import cfgmask
from tests.integrations.conftest import END_TOKENS

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp import IntegrationError, LogitsProcessor, LogitsProcessorList, generate  # noqa: E402
from cfgmask.integrations.llama_cpp.callback import Callback  # noqa: E402

PATTERN = r'\{"name": "[a-zé😀]{1,20}", "n": [1-9][0-9]{0,3}\}'
GRAMMAR = cfgmask.Grammar.from_regex(PATTERN)
LETTERS = cfgmask.Grammar.from_regex("a[a-z]*")


def test_text_is_in_the_language(llm: Any) -> None:
    for seed in range(5):
        text = generate(llm, "Hello", GRAMMAR, seed=seed, temperature=1.0)
        assert isinstance(text, str)
        assert set(json.loads(text)) == {"name", "n"}
        assert (text.finish_reason, text.is_complete) == ("stop", True)
        assert not set(text.token_ids) & set(END_TOKENS)


@pytest.mark.parametrize("max_tokens", range(21, 60, 3))
def test_text_is_complete_within_max_tokens(llm: Any, max_tokens: int) -> None:
    text = generate(llm, "Hello", GRAMMAR, seed=max_tokens, max_tokens=max_tokens, logits_processor=[no_end])
    assert regex.fullmatch(PATTERN, text)
    assert len(text.token_ids) <= max_tokens
    assert (text.is_complete, text.finish_reason) == (True, "stop")


def test_a_text_that_could_go_on_says_so(llm: Any) -> None:
    text = generate(llm, "Hello", LETTERS, max_tokens=5, logits_processor=[no_end])
    assert (len(text.token_ids), text.is_complete, text.finish_reason) == (5, True, "length")


def test_a_text_that_only_repeats_is_led_to_its_end(llm: Any) -> None:
    def favour_zero(input_ids: Any, scores: Any) -> Any:
        scores[ord("0")] += 100.0
        return scores

    grammar = cfgmask.Grammar.from_regex("1[0-9]*;[a-z]")
    text = generate(llm, "Hello", grammar, stall_after=30, logits_processor=[favour_zero])
    assert regex.fullmatch("10{30};[a-z]", text)
    assert (text.finish_reason, text.n_stalled) == ("stop", 1)
    endless = generate(llm, "Hello", grammar, stall_after=None, logits_processor=[favour_zero])
    assert (endless.is_complete, endless.n_stalled) == (False, 0)


@pytest.mark.parametrize("stream", [True, False])
def test_max_tokens_that_hold_no_text_are_refused(llm: Any, stream: bool) -> None:
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 20, and the shortest completion found takes 21 tokens"
    ):
        generate(llm, "Hello", GRAMMAR, max_tokens=20, stream=stream)
    with pytest.raises(
        cfgmask.BudgetTooSmall,
        match="the room that the prompt leaves in the context is 6, and the shortest completion found takes 21 tokens",
    ):
        generate(llm, [72] * 250, GRAMMAR, max_tokens=100, stream=stream)


@pytest.mark.parametrize("n_prompt", [216, 225, 235])
def test_text_that_is_cut_off_by_the_context_is_a_viable_prefix(llm: Any, n_prompt: int) -> None:
    text = generate(llm, [72] * n_prompt, GRAMMAR, seed=n_prompt, logits_processor=[no_end, no_quote])
    assert len(text.token_ids) == 256 - n_prompt
    # A cut character is shown as U+FFFD.
    assert regex.fullmatch(PATTERN, text.rstrip("\ufffd"), partial=True)
    assert text.finish_reason == ("stop" if text.is_complete else "length")


def test_stream_gives_the_same_text(llm: Any) -> None:
    compiled = cfgmask.compile(GRAMMAR, cfgmask.Vocabulary.from_llama(llm))
    for seed in range(5):
        stream = generate(llm, "Hello", compiled, seed=seed, stream=True)
        assert stream.finish_reason is None
        pieces = list(stream)
        assert all(pieces)
        text = generate(llm, "Hello", compiled, seed=seed)
        assert "".join(pieces) == stream.text == text
        assert (tuple(stream.token_ids), stream.finish_reason, stream.is_complete) == (text.token_ids, "stop", True)


def test_stream_gives_whole_characters(llm: Any) -> None:
    pieces = list(generate(llm, "Hello", cfgmask.Grammar.from_regex("[é😀]{8}"), stream=True))
    assert pieces
    assert set("".join(pieces)) <= set("é😀")
    assert all(len(piece) == 1 for piece in pieces)


def test_tokens_of_any_length_are_written(llm: Any) -> None:
    grammar = cfgmask.Grammar.from_regex("-{80}a{70}b")

    def favour_long(input_ids: Any, scores: Any) -> Any:
        scores[[262, 263]] += 100.0
        return scores

    text = generate(llm, "Hello", grammar, logits_processor=[favour_long])
    assert text == "-" * 80 + "a" * 70 + "b"
    assert text.token_ids[:2] == (262, 262)


def test_special_tokens_are_in_the_ids_not_in_the_text(llm: Any) -> None:
    text = generate(llm, "Hello", cfgmask.Grammar.from_lark('start: "a" <[261]> "b"'))
    assert text == "ab"
    assert text.token_ids == (ord("a"), 261, ord("b"))


@pytest.mark.parametrize("prompt", ["Hello", [72, 101], "", []])
def test_prompts(load: Callable[..., Any], prompt: Any) -> None:
    llm = load()
    llm.token_bos = lambda: 11
    assert json.loads(generate(llm, prompt, GRAMMAR))


def test_wrong_prompts(llm: Any) -> None:
    with pytest.raises(ValueError, match="the prompt has 300 tokens, the context 256"):
        generate(llm, [1] * 300, GRAMMAR)
    llm.token_bos = lambda: -1
    with pytest.raises(ValueError, match="no token that begins a text"):
        generate(llm, "", GRAMMAR)


def test_the_context_is_a_limit(llm: Any) -> None:
    text = generate(llm, "x" * 200, LETTERS, max_tokens=1000, logits_processor=[no_end])
    assert text.finish_reason == "length"
    assert text.is_complete
    assert len(text.token_ids) == 56


@pytest.mark.parametrize("max_tokens", [None, 100])
def test_a_context_is_as_long_as_it_was_asked_for(load: Callable[..., Any], max_tokens: int | None) -> None:
    llm = load(n_ctx=10)
    assert llm.n_ctx() > 10, "llama.cpp no longer rounds up"
    text = generate(llm, [72] * 5, LETTERS, max_tokens=max_tokens, logits_processor=[no_end])
    assert (len(text.token_ids), text.finish_reason) == (5, "length")
    with pytest.raises(ValueError, match="the prompt has 10 tokens, the context 10"):
        generate(llm, [72] * 10, LETTERS)


def test_the_context_of_the_model_itself(load: Callable[..., Any]) -> None:
    llm = load(n_ctx=0)
    length = llm.n_ctx()
    text = generate(llm, [72] * (length - 3), LETTERS, logits_processor=[no_end])
    assert (len(text.token_ids), text.finish_reason) == (3, "length")


def no_end(input_ids: Any, scores: Any) -> Any:
    scores[list(END_TOKENS)] = -1e9
    return scores


def no_quote(input_ids: Any, scores: Any) -> Any:
    scores[ord('"')] -= 20.0
    return scores


def test_options_reach_the_sampler(llm: Any) -> None:
    greedy = {generate(llm, "Hello", GRAMMAR, temperature=0.0, seed=seed) for seed in range(4)}
    top = {generate(llm, "Hello", GRAMMAR, top_k=1, seed=seed) for seed in range(4)}
    free = {generate(llm, "Hello", GRAMMAR, temperature=2.0, seed=seed) for seed in range(4)}
    assert greedy == top
    assert (len(greedy), len(free)) == (1, 4)


def test_failures_in_the_hook_are_raised(llm: Any) -> None:
    limits = cfgmask.Limits(max_lexer_states=60)
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("[a-z]{400}"), cfgmask.Vocabulary.from_llama(llm), limits)
    with pytest.raises(cfgmask.LimitExceeded):
        generate(llm, "Hello", compiled)


@pytest.mark.parametrize(
    ("asks_the_hook", "error"), [(True, cfgmask.TokenRejected), (False, IntegrationError)], ids=["asked", "not asked"]
)
def test_tokens_that_no_mask_allowed_are_raised(
    llm: Any, monkeypatch: pytest.MonkeyPatch, asks_the_hook: bool, error: type[Exception]
) -> None:
    class WritesX:
        def __init__(self, logits_processor: list[Any], **_: Any) -> None:
            self._hook = logits_processor[-1]

        def sample(self, *_: Any) -> int:
            if asks_the_hook:
                self._hook(np.array([1], dtype=np.intc), np.zeros(llm.n_vocab(), dtype=np.single))
            return ord("x")

    monkeypatch.setattr(llm, "_init_sampler", WritesX)
    with pytest.raises(error):
        generate(llm, "Hello", cfgmask.Grammar.from_regex("abc"))


def test_two_streams_on_one_model_are_refused(llm: Any) -> None:
    first, second = (generate(llm, prompt, GRAMMAR, stream=True) for prompt in ("Hello", "Hi"))
    next(first)
    next(second)
    with pytest.raises(IntegrationError, match="two generations use one Llama in turns"):
        next(first)


@pytest.mark.parametrize("stream", [True, False])
def test_going_on_after_the_same_text_is_refused(llm: Any, stream: bool) -> None:
    grammar = cfgmask.Grammar.from_regex("[a-z]{100}")
    first = generate(llm, "Hello", grammar, stream=True, temperature=0.0)
    next(first)
    written = first.text + next(first)
    assert "".join(generate(llm, "Hello", grammar, stream=stream, temperature=0.0, max_tokens=40)).startswith(written)
    with pytest.raises(IntegrationError, match="two generations use one Llama in turns"):
        list(first)


def test_a_model_that_was_moved_is_refused(llm: Any) -> None:
    stream = generate(llm, "Hello", GRAMMAR, stream=True)
    next(stream)
    llm.reset()
    with pytest.raises(IntegrationError, match="two generations use one Llama in turns"):
        next(stream)


def test_a_stream_that_has_its_tokens_ends_whatever_came_after(llm: Any) -> None:
    stream = generate(llm, "Hello", LETTERS, stream=True, max_tokens=2, logits_processor=[no_end])
    pieces = [next(stream), next(stream)]
    generate(llm, "Hello", GRAMMAR)
    assert list(stream) == []
    assert (stream.text, stream.finish_reason) == ("".join(pieces), "length")


def test_nothing_left_to_sample_is_an_error(llm: Any) -> None:
    def no_b(input_ids: Any, scores: Any) -> Any:
        scores[ord("b")] = -np.inf
        return scores

    with pytest.raises(IntegrationError, match="no token is left to sample"):
        generate(llm, "Hello", cfgmask.Grammar.from_regex("abc"), logits_processor=[no_b])


def test_a_processor_that_raises_leaves_no_token_without_its_mask(llm: Any) -> None:
    def broken(input_ids: Any, scores: Any) -> Any:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        generate(llm, "Hello", GRAMMAR, logits_processor=[broken])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"grammar": 'start: "a"'}, TypeError, "not str; Grammar.from_lark reads the text of one"),
        ({"grammar": None}, TypeError, "grammar must be a Grammar or a CompiledGrammar, not NoneType"),
        ({"llm": 3}, TypeError, "llm must be a llama_cpp.Llama, not int"),
        ({"prompt": [99999]}, ValueError, "the prompt has token 99999, but the model has 264 tokens"),
        ({"prompt": [1, -1]}, ValueError, "the prompt has token -1"),
        ({"prompt": ["a"]}, TypeError, "'a' is no id"),
        ({"prompt": [True]}, TypeError, "True is no id"),
        ({"prompt": b"Hello"}, TypeError, "must be a str or token ids, not bytes"),
        ({"prompt": None}, TypeError, "must be a str or token ids, not NoneType"),
        ({"max_tokens": 0}, ValueError, "max_tokens must be at least 1, or None for all"),
        ({"max_tokens": -1}, ValueError, "not -1"),
        ({"max_tokens": 2.5}, TypeError, "max_tokens must be an int or None, not float"),
        ({"max_tokens": True}, TypeError, "max_tokens must be an int or None, not bool"),
        ({"prompt": "a\ud800"}, ValueError, r"character 1 is the lone surrogate U\+D800"),
        ({"prompt": {72: 1}}, TypeError, "must be a str or token ids, not dict"),
        ({"seed": "1"}, TypeError, "seed must be an int or None, not str"),
        ({"seed": True}, TypeError, "not bool"),
        ({"seed": -1}, ValueError, "seed must be from 0 to 4294967294"),
        ({"seed": 2**32 - 1}, ValueError, "seed must be from 0 to 4294967294"),
        ({"temperature": "hot"}, TypeError, "temperature must be a number, not str"),
        ({"temperature": None}, TypeError, "temperature must be a number, not NoneType"),
        ({"temperature": float("nan")}, ValueError, "temperature must be finite, not nan"),
        ({"temperature": float("inf")}, ValueError, "temperature must be finite, not inf"),
        ({"logits_processor": len}, TypeError, "must be a list of functions, not builtin_function_or_method"),
        ({"logits_processor": [3]}, TypeError, "must be a list of functions; 3 is none"),
        ({"stop": ["x"]}, TypeError, "no option 'stop': a grammar ends by itself"),
        ({"logit_bias": {1: 2.0}}, TypeError, "no option 'logit_bias': give a function"),
        ({"temp": 0.5}, TypeError, "no option 'temp': it is called temperature here"),
        ({"reset": False}, TypeError, "no option 'reset'"),
        ({"top_q": 1}, TypeError, "no option 'top_q', nor has Llama.generate"),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
def test_wrong_arguments_are_named(
    llm: Any, arguments: dict[str, Any], error: type[Exception], message: str, stream: bool
) -> None:
    with pytest.raises(error, match=message):
        generate(**({"llm": llm, "prompt": "Hello", "grammar": GRAMMAR, "stream": stream} | arguments))


def test_integers_of_any_type(llm: Any) -> None:
    text = generate(llm, np.array([72, 101]), LETTERS, max_tokens=np.int64(3), logits_processor=[no_end])
    assert len(text.token_ids) == 3


def test_a_stream_may_be_dropped(llm: Any) -> None:
    for _ in range(3):
        stream = generate(llm, "Hello", GRAMMAR, stream=True)
        next(stream)
        stream.close()
        assert list(stream) == []
    assert json.loads(generate(llm, "Hello", GRAMMAR))


def test_a_closed_stream_says_how_far_it_came(llm: Any) -> None:
    stream = generate(llm, "Hello", GRAMMAR, stream=True)
    piece = next(stream)
    stream.close()
    assert (stream.text, stream.finish_reason, stream.is_complete) == (piece, None, False)


def test_a_seed_is_that_of_one_text(load: Callable[..., Any]) -> None:
    llm = load(seed=5)
    grammar = cfgmask.Grammar.from_regex("[a-z]{12}")
    own = generate(llm, "Hello", grammar, temperature=2.0)
    seeded = generate(llm, "Hello", grammar, temperature=2.0, seed=6)
    next(generate(llm, "Hello", grammar, temperature=2.0, seed=7, stream=True))
    assert seeded != own
    assert generate(llm, "Hello", grammar, temperature=2.0) == own
    assert generate(llm, "Hello", grammar, temperature=2.0, seed=np.int64(5)) == own
    assert generate(llm, "Hello", grammar, temperature=2.0, seed=6) == seeded


def test_a_stopping_criterion_of_the_callers(llm: Any) -> None:
    stop = llama_cpp.StoppingCriteriaList([lambda ids, _: ids[-1] == ord("e")])
    text = generate(llm, "Hello", GRAMMAR, stopping_criteria=stop)
    assert (text, text.finish_reason, text.is_complete) == ('{"name', "length", False)


def test_a_closed_model_is_refused(load: Callable[..., Any]) -> None:
    llm = load()
    begun, unbegun = (generate(llm, "Hello", GRAMMAR, stream=True) for _ in range(2))
    next(begun)
    llm.close()
    for stream in (begun, unbegun):
        with pytest.raises(IntegrationError, match="the model was closed before the text was finished"):
            next(stream)
    with pytest.raises(ValueError, match="the model is closed"):
        generate(llm, "Hello", GRAMMAR)
    with pytest.raises(cfgmask.VocabularyError, match="the model is closed"):
        cfgmask.Vocabulary.from_llama(llm)


def test_a_model_without_weights_is_refused(load: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="loaded with vocab_only"):
        generate(load(vocab_only=True), "Hello", GRAMMAR)


def test_threads_wait_for_each_other(llm: Any) -> None:
    def write(seed: int) -> list[str]:
        return [generate(llm, "Hello", GRAMMAR, seed=10 * seed + n, temperature=1.0) for n in range(5)]

    alone = [write(seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(write, range(3))) == alone


def test_streams_of_two_threads_do_not_mix(llm: Any) -> None:
    def write(_: int) -> str:
        stream = generate(llm, "Hello", GRAMMAR, temperature=1.0, stream=True)
        try:
            return "".join(stream)
        except IntegrationError as error:
            return str(error)

    with ThreadPoolExecutor(2) as pool:
        for text in pool.map(write, range(6)):
            assert text.startswith("two generations use one Llama in turns") or regex.fullmatch(PATTERN, text)


def test_one_call_and_the_hook_write_the_same(llm: Any) -> None:
    compiled = cfgmask.compile(GRAMMAR, cfgmask.Vocabulary.from_llama(llm))
    text = generate(llm, "Hello", compiled, temperature=0.0)
    completion = llm.create_completion(
        "Hello", max_tokens=200, temperature=0.0, logits_processor=[LogitsProcessor(compiled)]
    )
    assert completion["choices"][0]["text"] == text


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_is_raised_before_the_first_line_of_the_hook_ends_the_text(
    llm: Any, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Where a signal handler may raise: in no `try` of the hook's."""
    apply, calls = Callback._apply, count()

    def interrupted(self: Callback, sampler: Any, candidates: Any) -> None:
        if next(calls) == 3:
            raise error
        apply(self, sampler, candidates)

    monkeypatch.setattr(Callback, "_apply", interrupted)
    grammar = cfgmask.Grammar.from_regex("[ab]{20}")
    with pytest.raises(error):
        generate(llm, "Hello", grammar)
    compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_llama(llm))
    processor = LogitsProcessor(compiled)
    calls = count()
    with pytest.raises(error):
        llm.create_completion("Hello", max_tokens=50, logits_processor=LogitsProcessorList([processor]))
    assert len(generate(llm, "Hello", grammar)) == 20
