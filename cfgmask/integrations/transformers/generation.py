"""Constrained generation in one call, as in llama.cpp's integration."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, overload

import transformers

import cfgmask
from cfgmask import CompiledGrammar, Grammar
from cfgmask.compiler.own_tokens import lend_encoder
from cfgmask.integrations.generated import GeneratedText, Prompt, T, TextStream, Type, What, Writing, forcing
from cfgmask.integrations.options import (
    checked_logprobs,
    checked_max_tokens,
    checked_processors,
    checked_seed,
    checked_temperature,
)
from cfgmask.integrations.start import STALL_AFTER, matcher_within
from cfgmask.integrations.transformers.decoder import Decoder, Processor
from cfgmask.integrations.transformers.prompts import (
    check_compiled,
    check_writer,
    context_length,
    prompt_ids,
    vocabulary_of,
)
from cfgmask.integrations.what import check_grammar, grammar_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Sampling(TypedDict, total=False):
    """How transformers samples from what the mask leaves, by the names of its generation config. Left out: not at all.

    repetition_penalty is for prompt and text, before the mask; stopping_criteria are functions of transformers' kind.
    """

    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    repetition_penalty: float
    stopping_criteria: Any


class Options(Writing, Sampling, total=False):
    """What `generate` takes by name, but for `stream`, which says what it gives."""


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    grammar: type[T] | Grammar[T],
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[T]: ...


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    grammar: list[str] | tuple[str, ...] | re.Pattern[str],
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[str]: ...


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    grammar: CompiledGrammar | dict[str, Any] | Type,
    *,
    stream: Literal[False] = ...,
    **options: Unpack[Options],
) -> GeneratedText[Any]: ...


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompt: Prompt,
    grammar: What,
    *,
    stream: Literal[True],
    **options: Unpack[Options],
) -> TextStream: ...


def generate(
    model: Any,
    tokenizer: Any,
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

    model             a causal language model of transformers, on any device
    tokenizer         its tokenizer, or the `cfgmask.Vocabulary` of it; then a prompt is ids
    prompt            text, encoded as the tokenizer does by default, or ids; or messages, a list of dicts with `role`
                      and `content`, which the tokenizer's chat template writes
    grammar           the format: a Grammar, which is compiled here; a CompiledGrammar, which saves that; or a type, a
                      JSON Schema as a dict, a pattern of `re`, or a list of texts
    max_tokens        at least 1; the text is complete within this many tokens, and within the context; end tokens don't
                      count. None: until the context is full; then the text may be cut off
    stall_after, jump_forward, canonical, logprobs, stream  as for `cfgmask.integrations.llama_cpp.generate`
    temperature       0: the likeliest token, always
    seed              from 0 to 2**32 - 2, for this text alone; None: torch's own state
    logits_processor  processors of transformers' kind, called before the masks
    sampling          top_k, top_p, min_p, typical_p, repetition_penalty, stopping_criteria

    returns           a `GeneratedText`, or with `stream=True` a `TextStream`

    Only the end tokens of the model's generation config are used. For batches, beams and assistants, pass a
    `LogitsProcessor` to the model's own `generate`.
    Errors: those of `cfgmask.compile`; TypeError for arguments of another type; ValueError for a `max_tokens` below 1,
    a missing `max_tokens` if the model does not state the size of its context, a seed or temperature out of range, a
    prompt that does not fit the context or the vocabulary, and messages without a chat template; BudgetTooSmall if no
    text can be completed within `max_tokens`; VocabularyError for a grammar compiled for another vocabulary;
    IntegrationError if no token is left to sample; LimitExceeded.
    Cost: the vocabulary is read once per tokenizer, 1.3 s for 128,256 tokens. The prompt is evaluated once, if the
    model has a cache.

    Example: generate(model, tokenizer, "2 + 3 = ", cfgmask.Grammar.from_regex("[0-9]+"), max_tokens=8, temperature=0)
    """
    wanted: Grammar | CompiledGrammar = grammar_of(grammar)
    check_writer(model)
    check_grammar(wanted)
    seed, temperature = checked_seed(seed), checked_temperature(temperature)
    if temperature < 0:
        raise ValueError(f"temperature must be at least 0, not {temperature}")
    max_tokens, processors = checked_max_tokens(max_tokens), checked_processors(logits_processor)
    penalties, warpers, criteria = _samplers(temperature, sampling)
    vocabulary, ids = vocabulary_of(model, tokenizer), prompt_ids(model, tokenizer, prompt)
    compiled = cfgmask.compile(wanted, vocabulary) if isinstance(wanted, Grammar) else wanted
    check_compiled(compiled, vocabulary, tokenizer, _width(model))
    if jump_forward or canonical:
        lend_encoder(compiled, vocabulary)
    limit = _limit(max_tokens, context_length(model), len(ids))
    matcher = matcher_within(compiled, max_tokens, limit, stall_after, canonical)

    def decoder() -> Decoder:
        return Decoder(
            model,
            ids,
            matcher,
            before=[*penalties, *processors],
            after=warpers,
            criteria=criteria,
            is_greedy=temperature == 0,
            seed=seed,
        )

    lock, forced = threading.RLock(), forcing(jump_forward, canonical)
    text_stream = TextStream(decoder, matcher, limit, forced, lock, checked_logprobs(logprobs))
    return text_stream if stream else text_stream.finished()


def _samplers(temperature: float, sampling: Sampling) -> tuple[list[Processor], list[Processor], list[Any]]:
    """What comes before the mask, what after it in transformers' own order, and the criteria to stop. Raises TypeError
    for other options, and what the samplers raise for values out of range.
    """
    given: dict[str, Any] = dict(sampling)
    penalty, criteria = given.pop("repetition_penalty", None), given.pop("stopping_criteria", None)
    before: list[Processor] = [] if penalty is None else [transformers.RepetitionPenaltyLogitsProcessor(penalty)]
    warpers = [] if temperature in (0, 1) else [transformers.TemperatureLogitsWarper(temperature)]
    kinds: dict[str, Callable[[Any], Any]] = {
        "top_k": lambda k: transformers.TopKLogitsWarper(k) if k else None,
        "top_p": transformers.TopPLogitsWarper,
        "min_p": transformers.MinPLogitsWarper,
        "typical_p": transformers.TypicalLogitsWarper,
    }
    for name in given:
        if name not in kinds:
            raise TypeError(f"generate has no option {name!r}; it has {', '.join(Sampling.__annotations__)}")
    made = (make(given[name]) for name, make in kinds.items() if name in given)
    return before, [*warpers, *(one for one in made if one is not None)], list(criteria or ())


def _width(model: Any) -> int:
    """How many scores the model gives for a token."""
    head = model.get_output_embeddings()
    return int(model.get_input_embeddings().num_embeddings if head is None else head.weight.shape[0])


def _limit(max_tokens: int | None, context: int | None, n_prompt: int) -> int:
    if context is None:
        if max_tokens is None:
            raise ValueError("the model does not say how long its context is: give max_tokens")
        return max_tokens
    if n_prompt >= context:
        raise ValueError(f"the prompt has {n_prompt} tokens, the context {context}")
    return context - n_prompt if max_tokens is None else min(max_tokens, context - n_prompt)
