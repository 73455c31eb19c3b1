"""Constrained generation in one call."""

from __future__ import annotations

import re
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

import cfgmask
from cfgmask import CompiledGrammar, Grammar, Matcher, Vocabulary
from cfgmask.compiler.own_tokens import lend_encoder
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.generated import GeneratedText, Prompt, T, TextStream, Type, What, Writing, forcing
from cfgmask.integrations.llama_cpp.arguments import Sampling, check_model_and_grammar, check_sampling, prompt_ids
from cfgmask.integrations.llama_cpp.budget import context_length
from cfgmask.integrations.llama_cpp.callback import Hook, own_candidates
from cfgmask.integrations.llama_cpp.chat import rendered
from cfgmask.integrations.llama_cpp.decoder import Decoder
from cfgmask.integrations.llama_cpp.fail_closed import allow_only
from cfgmask.integrations.llama_cpp.masking import apply_mask
from cfgmask.integrations.llama_cpp.model_checks import check_model
from cfgmask.integrations.llama_cpp.model_lock import model_lock
from cfgmask.integrations.options import (
    checked_logprobs,
    checked_max_tokens,
    checked_processors,
    checked_seed,
    checked_temperature,
)
from cfgmask.integrations.start import STALL_AFTER, matcher_within
from cfgmask.integrations.what import grammar_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

_vocabularies: weakref.WeakKeyDictionary[Any, Vocabulary] = weakref.WeakKeyDictionary()


class _Masked:
    """A decoder that samples under the masks of a matcher, which is advanced elsewhere."""

    def __init__(self, make: Callable[[Hook], Decoder], matcher: Matcher) -> None:
        self._hook = _Hook(matcher)
        self._decoder = make(self._hook)

    def sample(self) -> int | None:
        """The next token; None where a stopping criterion holds. Raises what happened in the hook."""
        token_id = self._decoder.sample()
        if token_id is not None:
            self._hook.check_called_once()
        return token_id

    def logits(self) -> NDArray[np.float32]:
        """The model's own logits for the token that was just sampled."""
        return self._decoder.logits()

    def write(self, ids: Sequence[int]) -> None:
        """Go on with these ids."""
        self._decoder.write(ids)

    def replace(self, n: int, ids: Sequence[int]) -> None:
        """Go on with these ids instead of the last n."""
        self._decoder.replace(n, ids)


class _Hook(Hook):
    """Masks with a matcher that the stream itself advances, so there are no ids to follow."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self._end_tokens = list(matcher.compiled.vocabulary.end_tokens)
        self._error: BaseException | None = None
        self._calls = 0

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        caller = sys._getframe(1)
        self.mask(input_ids, scores, lambda: own_candidates(self, caller))
        return scores

    def mask(self, input_ids: NDArray[np.intc], scores: NDArray[np.single], candidates: Callable[[], Any]) -> None:
        """As a call; drops what is not allowed from llama.cpp's `candidates()` unless they are None."""
        self._calls += 1
        try:
            apply_mask(self._matcher, scores, candidates=candidates())
        # Not only Exception: a KeyboardInterrupt would be swallowed too, and the token sampled without a mask.
        except BaseException as error:
            self.fail(error, scores)

    def fail(self, error: BaseException, scores: NDArray[np.single]) -> None:
        """End the text with an error of the mask, or of another processor, for `check_called_once` to raise."""
        self._error = error
        allow_only(self._end_tokens, scores)

    def check_called_once(self) -> None:
        """Raises what happened in the hook, or IntegrationError if it was not called. To be called after each token."""
        if self._error is not None:
            raise self._error
        if self._calls != 1:
            raise IntegrationError(
                "a token was sampled without its mask; did a processor in logits_processor raise? llama-cpp-python "
                "prints such an exception and skips the processors after it"
            )
        self._calls = 0


class Options(Writing, Sampling, total=False):
    """What `generate` takes by name, but for `stream`, which says what it gives."""


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: type[T] | Grammar[T],
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[T]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: list[str] | tuple[str, ...] | re.Pattern[str],
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[str]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: CompiledGrammar | dict[str, Any] | Type,
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[Any]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: What,
    *,
    stream: Literal[True],
    **options: Unpack[Options],
) -> TextStream: ...


def generate(
    llm: Any,
    prompt: Prompt,
    grammar: What,
    *,
    max_tokens: int | None = None,
    stall_after: int | None = STALL_AFTER,
    jump_forward: bool = False,
    canonical: bool = False,
    logprobs: bool | None = None,
    stream: bool = False,
    temperature: float = 0.8,
    seed: int | None = None,
    logits_processor: Iterable[Any] = (),
    **sampling: Unpack[Sampling],
) -> GeneratedText[Any] | TextStream:
    """Let a model write a text that matches a grammar, after a prompt.

    llm               a `llama_cpp.Llama`
    prompt            text, in which special tokens are read; or ids; or messages, a list of dicts with `role` and
                      `content`, which the model's chat template writes
    grammar           the format: a Grammar, which is compiled here; a CompiledGrammar, which saves that; or a type, a
                      JSON Schema as a dict, a pattern of `re`, or a list of texts, one of which is written
    max_tokens        at least 1; the text is complete within this many tokens, and within the context; end tokens don't
                      count. None: until the context is full; then the text may be cut off
    stall_after       guard against repetition, in tokens, as for `CompiledGrammar.matcher`. None: no guard
    jump_forward      if true, text that the grammar forces is written at once, in the tokenizer's own tokens, without
                      asking the model. The end of the text before it is rewritten if the tokenizer joins the two
    canonical         if true, masks in forced text allow only the tokenizer's own token. At temperature 0, the text is
                      then the same with and without `jump_forward`
    logprobs          whether the result has the log probability of each capture, or of each value of a JSON text. None:
                      only if the grammar has captures. Takes two passes over the logits per token
    stream            if true, returns a `TextStream` of pieces, which writes as you read it
    seed              from 0 to 2**32 - 2, for this text alone; None: the model's own
    logits_processor  processors of llama-cpp-python, called before the masks
    sampling          arguments of `Llama.generate`: top_k, top_p, min_p, repeat_penalty, … It has no logit_bias and no
                      stop: use a processor, or the grammar
    returns           a `GeneratedText`, or with `stream=True` a `TextStream`

    Errors: those of `cfgmask.compile`; TypeError for arguments of another type; ValueError for a `max_tokens` below 1,
    a seed or temperature out of range, a prompt that does not fit the context or the vocabulary, and a closed model;
    BudgetTooSmall if no text can be completed within `max_tokens`; VocabularyError for a grammar compiled for another
    vocabulary; IntegrationError if another generation used the model in between, or no token is left to sample;
    LimitExceeded.
    Cost: the model's vocabulary is read once per model, 0.3 s for 128,256 tokens.
    Threads: calls on one model wait for each other. A stream raises IntegrationError if another call used its model in
    between. llama-cpp-python's own calls don't wait, so no other thread may be in one at the same time.

    The text is made of the bytes of the tokens, so parts of characters and tokens of any length come out right.

    Example: generate(llm, "2 + 3 = ", cfgmask.Grammar.from_regex("[0-9]+"), max_tokens=8, temperature=0)
    """
    wanted: Grammar | CompiledGrammar = grammar_of(grammar)
    check_model_and_grammar(llm, wanted)
    check_sampling(sampling)
    seed, temperature = checked_seed(seed), checked_temperature(temperature)
    max_tokens, processors = checked_max_tokens(max_tokens), checked_processors(logits_processor)
    lock = model_lock(llm)
    with lock:
        vocabulary, ids = vocabulary_of(llm), prompt_ids(llm, rendered(llm, prompt))
    compiled = cfgmask.compile(wanted, vocabulary) if isinstance(wanted, Grammar) else wanted
    check_model(llm, compiled.vocabulary)
    if jump_forward or canonical:
        lend_encoder(compiled, vocabulary)
    room = context_length(llm) - len(ids)
    if room <= 0:
        raise ValueError(f"the prompt has {len(ids)} tokens, the context {context_length(llm)}")
    limit = room if max_tokens is None else min(max_tokens, room)
    matcher = matcher_within(compiled, max_tokens, room, stall_after, canonical)

    def decoder(hook: Hook) -> Decoder:
        return Decoder(llm, ids, {**sampling, "temp": temperature, "logits_processor": [*processors, hook]}, seed)

    forced = forcing(jump_forward, canonical)
    text_stream = TextStream(
        lambda: _Masked(decoder, matcher), matcher, limit, forced, lock, checked_logprobs(logprobs)
    )
    return text_stream if stream else text_stream.finished()


def vocabulary_of(llm: Any) -> Vocabulary:
    """The vocabulary of a model, read once for each. The caller holds the model's lock."""
    if llm not in _vocabularies:
        _vocabularies[llm] = Vocabulary.from_llama(llm)
    return _vocabularies[llm]
