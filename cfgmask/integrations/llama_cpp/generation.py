"""Constrained generation in one call."""

from __future__ import annotations

import codecs
import re
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

import cfgmask
from cfgmask import CompiledGrammar, Grammar, Matcher, Vocabulary
from cfgmask.compiler import notebook
from cfgmask.compiler.own_tokens import lend_encoder
from cfgmask.compiler.readings import parser_of
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.llama_cpp.arguments import (
    Sampling,
    check_model_and_grammar,
    check_sampling,
    checked_max_tokens,
    checked_processors,
    checked_seed,
    checked_temperature,
    prompt_ids,
)
from cfgmask.integrations.llama_cpp.budget import context_length, matcher_within
from cfgmask.integrations.llama_cpp.callback import Hook, own_candidates
from cfgmask.integrations.llama_cpp.chat import rendered
from cfgmask.integrations.llama_cpp.decoder import Decoder
from cfgmask.integrations.llama_cpp.guard import allow_only
from cfgmask.integrations.llama_cpp.masking import apply_mask
from cfgmask.integrations.llama_cpp.model_checks import check_model
from cfgmask.integrations.llama_cpp.model_lock import model_lock
from cfgmask.integrations.start import STALL_AFTER
from cfgmask.integrations.what import grammar_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

FinishReason = Literal["stop", "length"]
T = TypeVar("T")
Prompt: TypeAlias = str | Sequence[int] | Sequence[Mapping[str, Any]]
What: TypeAlias = Grammar | CompiledGrammar | type[Any] | dict[str, Any] | list[str] | tuple[str, ...] | re.Pattern[str]

_vocabularies: weakref.WeakKeyDictionary[Any, Vocabulary] = weakref.WeakKeyDictionary()


class GeneratedText(str, Generic[T]):
    """The text of a finished call, with its value and how it ended.

    value          what the text says: an instance of the type that was asked for, the JSON value of a schema, tool
                   calls, captures, or the text; see docs/how-to/values.md. Read when it is first asked for. ParseError
                   where the text is not complete
    captures       those of the grammar, as `Matcher.captures` gives them
    token_ids      the tokens it was written in, without the end token
    finish_reason  "stop": the model ended a complete text, or nothing could follow; "length": `max_tokens` or the
                   context ran out, or a stopping criterion of the caller's held
    is_complete    whether the text is in the grammar's language; with `max_tokens` it is, but for such a criterion
    n_stalled      how many of its tokens `stall_after` has narrowed the choice of
    n_forced       how many tokens `jump_forward` has written
    n_taken_back   how many it has taken back, since the tokenizer writes their text in others
    """

    token_ids: tuple[int, ...]
    finish_reason: FinishReason
    is_complete: bool
    n_stalled: int
    n_forced: int
    n_taken_back: int
    captures: list[tuple[str, bytes]]
    _compiled: CompiledGrammar

    @cached_property
    def value(self) -> T:
        """What the text says."""
        parser = parser_of(self._compiled)
        parser.feed(self.token_ids)
        parser.finish()
        value: T = parser.value
        return value

    def _repr_html_(self) -> str:
        """What notebooks show: the text, and how it ended."""
        return notebook.text(str(self), self.is_complete, self.finish_reason, len(self.token_ids))


class TextStream(Iterator[str]):
    """The pieces of a text while it is written; together they are the text. Whole characters only.

    text, token_ids, is_complete  as far as it is written
    finish_reason                 None until it ends, and where it was closed before
    n_forced                      how many tokens were written without asking the model
    n_taken_back                  how many were taken back for those

    Each piece is written when it is asked for, while no other thread writes with the model. Text that was given out is
    never taken back; with `jump_forward`, `token_ids` may be: other tokens then write the same text.
    """

    def __init__(
        self,
        begin: Callable[[_Hook], Decoder],
        matcher: Matcher,
        vocabulary: Vocabulary,
        limit: int,
        forced: Callable[[Matcher], tuple[int, list[int]]],
        lock: threading.RLock,
    ) -> None:
        self.text = ""
        self.token_ids: list[int] = []
        self.finish_reason: FinishReason | None = None
        self.n_forced = 0
        self.n_taken_back = 0
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._limit = limit
        self._forced = forced
        self._lock = lock
        self._pieces = self._run(begin)

    def __next__(self) -> str:
        with self._lock:
            piece = next(self._pieces)
            self.text += piece
        return piece

    @property
    def is_complete(self) -> bool:
        """Whether the text written so far is in the grammar's language."""
        return self._matcher.is_accepting or self._matcher.is_finished

    @property
    def n_stalled(self) -> int:
        """How many of the tokens `stall_after` has narrowed the choice of."""
        return self._matcher.n_stalled

    def close(self) -> None:
        """End generation here. A stream that is dropped ends by itself."""
        with self._lock:
            self._pieces.close()

    def _run(self, begin: Callable[[_Hook], Decoder]) -> Generator[str, None, None]:
        hook = _Hook(self._matcher)
        decoder = begin(hook)
        utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        data = self._jump(decoder)
        while True:
            piece = utf8.decode(data)
            if piece:
                yield piece
            if len(self.token_ids) == self._limit or (token_id := decoder.sample()) is None:
                self.finish_reason = "length" if self._can_go_on() else "stop"
                break
            hook.check_called_once()
            self._matcher.advance(token_id)
            if self._matcher.is_finished:
                self.finish_reason = "stop"
                break
            self.token_ids.append(token_id)
            decoder.write([token_id])
            data = self._vocabulary.tokens[token_id] + self._jump(decoder)
        piece = utf8.decode(b"", final=True)
        if piece:
            yield piece

    def _jump(self, decoder: Decoder) -> bytes:
        """Write what is forced. Returns the text that is new."""
        n_back, tokens = self._forced(self._matcher)
        kept = len(self.token_ids) - n_back
        if n_back == 0:
            tokens = tokens[: self._limit - kept]
        if not tokens or kept + len(tokens) > self._limit:
            return b""
        self._matcher.rollback(n_back)
        self._matcher.try_advance(tokens)
        decoder.replace(n_back, tokens)
        taken_back = self._bytes(self.token_ids[kept:])
        self.token_ids[kept:] = tokens
        self.n_forced += len(tokens)
        self.n_taken_back += n_back
        return self._bytes(tokens)[len(taken_back) :]

    def _bytes(self, tokens: Sequence[int]) -> bytes:
        return b"".join(self._vocabulary.tokens[token_id] for token_id in tokens)

    def _can_go_on(self) -> bool:
        return not self.is_complete or bool(self._matcher.expected())


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


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: type[T],
    *,
    max_tokens: int | None = ...,
    stall_after: int | None = ...,
    jump_forward: bool = ...,
    canonical: bool = ...,
    stream: Literal[False] = ...,
    temperature: float = ...,
    seed: int | None = ...,
    logits_processor: Iterable[Any] = ...,
    **sampling: Unpack[Sampling],
) -> GeneratedText[T]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: list[str] | tuple[str, ...] | re.Pattern[str],
    *,
    max_tokens: int | None = ...,
    stall_after: int | None = ...,
    jump_forward: bool = ...,
    canonical: bool = ...,
    stream: Literal[False] = ...,
    temperature: float = ...,
    seed: int | None = ...,
    logits_processor: Iterable[Any] = ...,
    **sampling: Unpack[Sampling],
) -> GeneratedText[str]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: Grammar | CompiledGrammar | dict[str, Any],
    *,
    max_tokens: int | None = ...,
    stall_after: int | None = ...,
    jump_forward: bool = ...,
    canonical: bool = ...,
    stream: Literal[False] = ...,
    temperature: float = ...,
    seed: int | None = ...,
    logits_processor: Iterable[Any] = ...,
    **sampling: Unpack[Sampling],
) -> GeneratedText[Any]: ...


@overload
def generate(
    llm: Any,
    prompt: Prompt,
    grammar: What,
    *,
    max_tokens: int | None = ...,
    stall_after: int | None = ...,
    jump_forward: bool = ...,
    canonical: bool = ...,
    stream: Literal[True],
    temperature: float = ...,
    seed: int | None = ...,
    logits_processor: Iterable[Any] = ...,
    **sampling: Unpack[Sampling],
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
    stream: bool = False,
    temperature: float = 0.8,
    seed: int | None = None,
    logits_processor: Iterable[Any] = (),
    **sampling: Unpack[Sampling],
) -> GeneratedText[Any] | TextStream:
    """Let a model write a text of a grammar after a prompt.

    llm               a `llama_cpp.Llama`
    prompt            text, read with its special tokens, or ids; or messages, a list of dicts with `role` and
                      `content`, which the model's own chat template writes
    grammar           what to write: a Grammar, compiled here, or a CompiledGrammar, which saves that on every call but
                      the first; or what makes one: a type, a JSON Schema as a dict, a pattern of `re`, or a list of
                      texts, one of which is written
    max_tokens        at least 1; the text is complete when they, or the context, are used up, end tokens not counted;
                      None: until the context is full, where the text may be cut off
    stall_after       at least 1; a text that has only repeated itself for so many tokens is led to its end, as in
                      `CompiledGrammar.matcher`; None: it may go on
    jump_forward      whether text that the grammar forces is written in the tokenizer's own tokens at once, without
                      asking the model, and what joins it, of the text so far, anew; the model's own tokenizer serves
                      a grammar that was compiled without one
    canonical         whether masks in forced text hold the tokenizer's own token alone, and nothing is written anew:
                      at temperature 0 the text is the same then with `jump_forward` as without it
    stream            give a `TextStream` of pieces at once, instead of a `GeneratedText` at the end
    seed              from 0 to 2**32 - 2, for this text alone; None: the model's own
    logits_processor  processors of llama-cpp-python's kind, called before the masks
    sampling          what `Llama.generate` takes: top_k, top_p, min_p, repeat_penalty, …; it has no logit_bias and no
                      stop, for which there are processors and the grammar

    Errors: those of `cfgmask.compile`; TypeError for arguments of another type; ValueError for a `max_tokens` below 1,
    a seed or temperature out of range, a prompt that does not fit the context or the vocabulary, and a model that is
    closed; BudgetTooSmall for a `max_tokens` in which no text can be completed; VocabularyError for a grammar compiled
    for another vocabulary; IntegrationError where another generation used the model in between, and where nothing is
    left to sample; whatever a mask raises, LimitExceeded above all. Nothing is swallowed.
    Cost: the model's vocabulary is read once for each model, 0.3 s for 128,256 tokens.
    Threads: any may call. Calls on one model wait for each other; a stream that another call came between of raises
    IntegrationError. llama-cpp-python's own calls know nothing of that: no other thread may be in one meanwhile.

    The text is made from the tokens' own bytes, so tokens of any length and parts of characters come out right.

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
    if max_tokens is None:
        matcher = compiled.matcher(stall_after=stall_after, canonical=canonical)
    else:
        matcher = matcher_within(compiled, max_tokens, room, stall_after, canonical)

    def begin(hook: _Hook) -> Decoder:
        return Decoder(llm, ids, {**sampling, "temp": temperature, "logits_processor": [*processors, hook]}, seed)

    text_stream = TextStream(begin, matcher, vocabulary, limit, _forcing(jump_forward, canonical), lock)
    if stream:
        return text_stream
    with lock:
        text = GeneratedText[Any]("".join(text_stream))
    assert text_stream.finish_reason is not None
    text.token_ids = tuple(text_stream.token_ids)
    text.finish_reason = text_stream.finish_reason
    text.is_complete = text_stream.is_complete
    text.n_stalled = text_stream.n_stalled
    text.n_forced = text_stream.n_forced
    text.n_taken_back = text_stream.n_taken_back
    text.captures = matcher.captures()
    text._compiled = compiled
    return text


def _forcing(jump_forward: bool, canonical: bool) -> Callable[[Matcher], tuple[int, list[int]]]:
    """What to write without asking the model: how many tokens to take back, and those to write."""
    if not jump_forward:
        return lambda _: (0, [])
    if canonical:
        return lambda matcher: (0, matcher.forced_tokens())
    return lambda matcher: matcher.jump()


def vocabulary_of(llm: Any) -> Vocabulary:
    """The vocabulary of a model, read once for each. The caller holds the model's lock."""
    if llm not in _vocabularies:
        _vocabularies[llm] = Vocabulary.from_llama(llm)
    return _vocabularies[llm]
