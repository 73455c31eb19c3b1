"""The text that a model writes under a grammar, as a result and as a stream: what the integrations have in common."""

from __future__ import annotations

import codecs
import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import UnionType
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypedDict, TypeVar, _SpecialForm

import numpy as np
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, Grammar, Matcher, notebook
from cfgmask.compiler.named_ends import last_tokens
from cfgmask.compiler.readings import parser_of
from cfgmask.integrations.logprobs import FORCED, Logprob, Scorer, TokenLogprob, has_captures, logprobs_of

FinishReason = Literal["stop", "length"]
T = TypeVar("T")
Prompt: TypeAlias = str | Sequence[int] | Sequence[Mapping[str, Any]]
# Type checkers take `Literal["a", "b"]` and `Annotated[…]` for special forms where values are expected.
Type: TypeAlias = type[Any] | UnionType | _SpecialForm | Callable[..., Any]
What: TypeAlias = Grammar | CompiledGrammar | Type | dict[str, Any] | list[str] | tuple[str, ...] | re.Pattern[str]


class Writing(TypedDict, total=False):
    """What every `generate` takes besides what to write and with which model; its own docstring says more."""

    max_tokens: int | None
    stall_after: int | None
    jump_forward: bool
    canonical: bool
    logprobs: bool | None
    temperature: float
    seed: int | None
    logits_processor: Iterable[Any]


class Decoder(Protocol):
    """A model that writes one text."""

    def sample(self) -> int | None:
        """The next token, under the mask; None where a stopping criterion of the caller's holds."""

    def logits(self) -> NDArray[np.float32]:
        """The model's own logits for the token that was just sampled. Valid until the next `sample`."""

    def write(self, ids: Sequence[int]) -> None:
        """Go on with these ids."""

    def replace(self, n: int, ids: Sequence[int]) -> None:
        """Go on with these ids, which were not sampled, instead of the last n."""


class GeneratedText(str, Generic[T]):
    """The text that `generate` wrote: a str, with its value and how it ended.

    value           its value: an instance of the type, the JSON value of a schema, tool calls, captures, or the text;
                    see docs/how-to/values.md. It is read when you first ask for it. ParseError if the text is not
                    complete
    captures        list of names and bytes, as `Matcher.captures` gives them
    logprobs        how likely each capture was, or each value of a JSON text; () if not measured
    token_ids       its tokens, without the end token
    token_logprobs  how likely each token was; () if not measured
    finish_reason   "stop": the model ended a complete text, or nothing could follow. "length": `max_tokens` or the
                    context was used up, or a stopping criterion of yours ended it
    is_complete     whether the grammar matches the text; with `max_tokens` it always does, except after a stopping
                    criterion
    n_stalled       number of tokens for which `stall_after` narrowed the mask
    n_forced        number of tokens that `jump_forward` wrote
    n_taken_back    number of tokens that it replaced, since the tokenizer writes their text in other tokens
    """

    token_ids: tuple[int, ...]
    token_logprobs: tuple[TokenLogprob, ...]
    finish_reason: FinishReason
    is_complete: bool
    n_stalled: int
    n_forced: int
    n_taken_back: int
    captures: list[tuple[str, bytes]]
    _compiled: CompiledGrammar

    @cached_property
    def value(self) -> T:
        """The value of the text."""
        parser = parser_of(self._compiled)
        parser.feed(self.token_ids)
        parser.finish()
        value: T = parser.value
        return value

    @property
    def text(self) -> str:
        """The text as a plain str."""
        return str.__str__(self)

    @cached_property
    def logprobs(self) -> tuple[Logprob, ...]:
        """How likely each capture was, in the order of `captures`; for a JSON text, each value in it, by its path."""
        return logprobs_of(self._compiled, self.token_ids, self.token_logprobs) if self.token_logprobs else ()

    def _repr_html_(self) -> str:
        """What notebooks show: the text, and how it ended."""
        return notebook.text(str(self), self.is_complete, self.finish_reason, len(self.token_ids))


class TextStream(Iterator[str]):
    """An iterator over the pieces of a text; joined, they are the text. Pieces contain whole characters only.

    text, token_ids, is_complete  the text so far, its tokens, and whether the grammar matches it
    finish_reason                 as of `GeneratedText`; None until the text ends, and if you closed the stream before
    n_stalled, n_forced, n_taken_back  as of `GeneratedText`
    token_logprobs                how likely each token was, if measured

    A piece is written when you ask for it. Other threads that call the same model wait meanwhile.
    Text that was given out is never taken back. With `jump_forward`, `token_ids` may change: other tokens then write
    the same text.
    """

    def __init__(
        self,
        begin: Callable[[], Decoder],
        matcher: Matcher,
        limit: int,
        forced: Callable[[Matcher], tuple[int, list[int]]],
        lock: threading.RLock,
        logprobs: bool | None = None,
    ) -> None:
        """`logprobs`: whether they are found; None: where the grammar has captures."""
        self.text = ""
        self.token_ids: list[int] = []
        self.finish_reason: FinishReason | None = None
        self.n_forced = 0
        self.n_taken_back = 0
        self.token_logprobs: list[TokenLogprob] = []
        wants = has_captures(matcher.compiled) if logprobs is None else logprobs
        self._scorer = Scorer(matcher) if wants else None
        self._matcher = matcher
        self._text_of = matcher.compiled.vocabulary.text
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
        """Whether the text so far is a complete text of the grammar."""
        return self._matcher.is_accepting or self._matcher.is_finished

    @property
    def n_stalled(self) -> int:
        """Number of tokens for which `stall_after` narrowed the mask."""
        return self._matcher.n_stalled

    def _repr_html_(self) -> str:
        """HTML for notebooks: the text so far, and how it ended if it has."""
        return notebook.text(self.text, self.is_complete, self.finish_reason, len(self.token_ids))

    def close(self) -> None:
        """End generation here. A stream that you drop ends by itself."""
        with self._lock:
            self._pieces.close()

    def _run(self, begin: Callable[[], Decoder]) -> Generator[str, None, None]:
        decoder = begin()
        utf8 = codecs.getincrementaldecoder("utf-8")(errors="replace")
        last = last_tokens(self._matcher.compiled)
        data = self._jump(decoder, last)
        while True:
            piece = utf8.decode(data)
            if piece:
                yield piece
            if len(self.token_ids) == self._limit or (token_id := decoder.sample()) is None:
                self.finish_reason = "length" if self._can_go_on() else "stop"
                break
            score = None if self._scorer is None else self._scorer.logprob(decoder.logits(), token_id)
            self._matcher.advance(token_id)
            if self._matcher.is_finished or (token_id in last and self._matcher.is_accepting):
                self.finish_reason = "stop"
                break
            self.token_ids.append(token_id)
            if score is not None:
                self.token_logprobs.append(score)
            decoder.write([token_id])
            data = self._text_of(token_id) + self._jump(decoder, last)
        piece = utf8.decode(b"", final=True)
        if piece:
            yield piece

    def _jump(self, decoder: Decoder, last: frozenset[int]) -> bytes:
        """Write what is forced. Returns the text that is new."""
        n_back, tokens = self._forced(self._matcher)
        if tokens and tokens[-1] in last:
            tokens = tokens[:-1]  # the model ends the text
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
        if self._scorer is not None:
            self.token_logprobs[kept:] = [FORCED] * len(tokens)
        self.n_forced += len(tokens)
        self.n_taken_back += n_back
        return self._bytes(tokens)[len(taken_back) :]

    def _bytes(self, tokens: Sequence[int]) -> bytes:
        return b"".join(map(self._text_of, tokens))

    def _can_go_on(self) -> bool:
        return not self.is_complete or bool(self._matcher.expected())

    def finished(self) -> GeneratedText[Any]:
        """The whole text, once it has been written."""
        with self._lock:
            text = GeneratedText[Any]("".join(self))
        assert self.finish_reason is not None
        text.token_ids = tuple(self.token_ids)
        text.token_logprobs = tuple(self.token_logprobs)
        text.finish_reason = self.finish_reason
        text.is_complete = self.is_complete
        text.n_stalled = self.n_stalled
        text.n_forced = self.n_forced
        text.n_taken_back = self.n_taken_back
        text.captures = self._matcher.captures()
        text._compiled = self._matcher.compiled
        return text


def forcing(jump_forward: bool, canonical: bool) -> Callable[[Matcher], tuple[int, list[int]]]:
    """What to write without asking the model: how many tokens to take back, and those to write."""
    if not jump_forward:
        return lambda _: (0, [])
    if canonical:
        return lambda matcher: (0, matcher.forced_tokens())
    return lambda matcher: matcher.jump()
