"""The hook for llama-cpp-python's own calls."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, Matcher
from cfgmask.compiler.named_ends import early_stops, named_ends
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.llama_cpp.budget import context_length
from cfgmask.integrations.llama_cpp.callback import Hook, own_candidates
from cfgmask.integrations.llama_cpp.caller import Caller, find_caller
from cfgmask.integrations.llama_cpp.checked_sample import (
    IN_TURNS,
    OWN_GRAMMAR,
    check_sampling,
    raise_in_sample,
    running_generation,
)
from cfgmask.integrations.llama_cpp.fail_closed import allow_only, warn_of
from cfgmask.integrations.llama_cpp.masking import apply_mask
from cfgmask.integrations.llama_cpp.model_checks import check_model, kept_tokens
from cfgmask.integrations.start import STALL_AFTER, matcher_within, starting_matcher
from cfgmask.integrations.tracking import TrackedText
from cfgmask.integrations.words import words_of

# Texts that loops outside of `Llama.generate` may write in turns with one processor.
_LOOSE_TEXTS = 16


class LogitsProcessor(Hook):
    """Masks the logits of llama-cpp-python: `create_completion`, `create_chat_completion`, `generate`, `sample`.

    compiled     a CompiledGrammar, or a Matcher from whose position every text starts
    max_tokens   the `max_tokens` of the call: every text is complete within this many tokens, and within the context;
                 end tokens don't count. If `create_completion` gets fewer, those count. None: texts may be cut off
    stall_after  guard against repetition, in tokens, as for `CompiledGrammar.matcher`. None: no guard. A Matcher has
                 its own budget and guard

    Use one processor for any number of calls, one after the other, or streaming in turns on several models. Each
    generation is a text of its own.

    Errors: the constructor raises BudgetTooSmall if no text can be completed within `max_tokens`. If the hook fails, or
    another processor of the list, the mask allows only end tokens, and `Llama.sample` raises the error in the same
    step. `error` holds it, and every later use of this processor raises it until you call `reset`.
    The hook fails for a grammar compiled for another vocabulary (VocabularyError), a token that the mask did not allow
    (TokenRejected), two generations in turns on one model, logits that are -inf for every allowed token, and a context
    without room for a text with `max_tokens` (IntegrationError, BudgetTooSmall). A call with a grammar of llama.cpp's
    own raises IntegrationError before it begins.
    Inside a function of yours, the hook is not seen before its first call. An error of the first step then can't reach
    the caller: a RuntimeWarning tells of it, or a `StoppingCriterion` raises it.

    Threads: a processor belongs to one thread at a time.

    Drafts of a `draft_model` are kept if they are what is sampled under the masks.

    In a loop of your own around `Llama.sample`, a text is recognised by its ids: one id more than last time goes on
    with the text, anything else begins a new one. Call `reset` before a text whose prompt is an earlier text plus one
    token.
    """

    def __init__(
        self,
        compiled: CompiledGrammar | Matcher,
        max_tokens: int | None = None,
        stall_after: int | None = STALL_AFTER,
    ) -> None:
        self._start = starting_matcher(compiled, max_tokens, stall_after)
        self._max_tokens = max_tokens
        self._stall_after = stall_after
        self._vocabulary = self._start.compiled.vocabulary
        self._end_tokens = list(self._vocabulary.end_tokens)
        self._named_ends = named_ends(self._start.compiled)
        self._error: BaseException | None = None
        self._generations: weakref.WeakKeyDictionary[Any, tuple[int, TrackedText]] = weakref.WeakKeyDictionary()
        self._loose: deque[TrackedText] = deque(maxlen=_LOOSE_TEXTS)
        self._checked: weakref.WeakSet[Any] = weakref.WeakSet()
        # The generation of the last call, its text, and the tokens that may stand in it.
        self._last: tuple[object, TrackedText, NDArray[np.uint32] | None] | None = None

    def __iter__(self) -> Iterator[LogitsProcessor]:
        """Yields the processor itself: llama-cpp-python iterates over `logits_processor`, which should be a list."""
        yield self

    def extend(self, processors: Iterable[Any]) -> list[Any]:
        """A list of the processors and itself; llama-cpp-python calls this for a `logit_bias`."""
        return [*processors, self]

    @property
    def error(self) -> BaseException | None:
        """The error of the hook; None if there was none."""
        return self._error

    def raise_error(self) -> None:
        """Raise `error` if there is one."""
        if self._error is not None:
            raise self._error

    def reset(self) -> None:
        """Forget `error` and every text. The next call begins a new text."""
        self._error = None
        self._generations.clear()
        self._loose.clear()
        self._last = None

    def __call__(self, input_ids: NDArray[np.intc], scores: NDArray[np.single]) -> NDArray[np.single]:
        """Mask `scores` in place and give it back.

        input_ids  prompt and output so far; drafts of a `draft_model`, which stand behind them, are left out
        scores     one logit a token, float32, of any stride; of no use afterwards where llama-cpp-python calls this as
                   the last of its processors: candidates that are not allowed are dropped then
        Cost: a comparison of the ids with those seen before, and the mask. What is looked at beyond that is looked at
        in the first two steps of a generation: after the model's own work nothing of it is in the caches any more, and
        the same code took 350 microseconds in each step.
        """
        caller = sys._getframe(1)
        self.mask(input_ids, scores, lambda: own_candidates(self, caller))
        return scores

    def mask(self, input_ids: NDArray[np.intc], scores: NDArray[np.single], candidates: Callable[[], Any]) -> None:
        """As a call; drops what is not allowed from llama.cpp's `candidates()` unless they are None."""
        caller = None
        try:
            own = candidates()
            if self._goes_on(input_ids, scores, own):
                return
            caller = find_caller()
            self.raise_error()
            self._mask(caller, input_ids if caller is None else input_ids[: caller.n_ids], scores, own)
        # Not only Exception: a KeyboardInterrupt would be swallowed too, and the token sampled without a mask.
        except BaseException as error:
            self._end_with(error, scores, caller or find_caller())

    def fail(self, error: BaseException, scores: NDArray[np.single]) -> None:
        """End the text with an error of another processor."""
        self._end_with(error, scores, find_caller())

    def _end_with(self, error: BaseException, scores: NDArray[np.single], caller: Caller | None) -> None:
        # A grammar of llama.cpp's own allows no end token here, and would end the process.
        if caller is None or not caller.has_grammar:
            allow_only(self._end_tokens, scores)
        if caller is None and error is self._error:
            raise error
        self._error = error
        if caller is None or not raise_in_sample(caller.llm, error):
            warn_of(error)

    def masked_text(self, input_ids: NDArray[np.intc]) -> TrackedText | None:
        """The text whose next token was last masked for exactly these ids; None if there is none.

        Called from within a generation, it is that generation's text or none.
        """
        caller = find_caller()
        if caller is not None and caller.sampler in self._generations:
            texts = [self._generations[caller.sampler][1]]
        elif caller is not None and caller.sampler is not None:
            texts = []
        else:
            texts = [text for _, text in self._generations.values()] + list(self._loose)
        # After the last token `create_completion` shows the drafts that follow it, too.
        shows_drafts = caller is not None and caller.sampler is None and caller.llm.draft_model is not None
        texts = [text for text in texts if shows_drafts or len(text) == len(input_ids)]
        return max((text for text in texts if text.is_start_of(input_ids)), key=len, default=None)

    def _goes_on(self, input_ids: NDArray[np.intc], scores: NDArray[np.single], candidates: Any) -> bool:
        """Mask the next step of the generation of the last call; False if it is not that, and nothing is done."""
        if self._last is None or self._error is not None:
            return False
        generation, text, among = self._last
        if generation is not running_generation() or len(input_ids) != len(text) + 1 or not text.is_start_of(input_ids):
            return False
        text.advance_to(input_ids)
        self._apply(text.matcher, scores, among, candidates)
        return True

    def _mask(
        self, caller: Caller | None, input_ids: NDArray[np.intc], scores: NDArray[np.single], candidates: Any
    ) -> None:
        if caller is not None and caller.has_grammar:
            check_sampling(caller.llm)
            raise IntegrationError(OWN_GRAMMAR)
        if caller is not None and caller.llm not in self._checked:
            check_sampling(caller.llm)
            check_model(caller.llm, self._vocabulary)
            self._checked.add(caller.llm)
        if caller is None or caller.sampler is None:
            text = self._loose_text(input_ids)
        else:
            text = self._text_of(caller, input_ids)
        text.advance_to(input_ids)
        among = None
        if caller is not None and caller.detokenizes:
            among = kept_tokens(caller.llm)[: -(-self._vocabulary.n_vocab // 32)]
        self._apply(text.matcher, scores, among, candidates)
        generation = running_generation()
        self._last = None if generation is None else (generation, text, among)

    def _apply(
        self, matcher: Matcher, scores: NDArray[np.single], among: NDArray[np.uint32] | None, candidates: Any
    ) -> None:
        # Where llama-cpp-python makes the text, it stops at every end token.
        if among is not None and self._named_ends:
            among = among & ~words_of(early_stops(matcher, self._named_ends), len(among))
        apply_mask(matcher, scores, among, candidates)

    def _text_of(self, caller: Caller, input_ids: NDArray[np.intc]) -> TrackedText:
        """The text of a generation, which shows one id more at each step, or something else moved the model."""
        known = self._generations.get(caller.sampler)
        if known is None:
            text = TrackedText(self._begin(caller, len(input_ids)), input_ids)
            self._generations[caller.sampler] = caller.generation_id, text
            return text
        generation_id, text = known
        goes_on = len(input_ids) == len(text) + 1 and text.is_start_of(input_ids)
        if generation_id != caller.generation_id or not goes_on:
            raise IntegrationError(IN_TURNS)
        return text

    def _begin(self, caller: Caller, n_prompt: int) -> Matcher:
        """A matcher at the start of a text after so many ids."""
        if self._max_tokens is None:
            return self._start.fork()
        room = context_length(caller.llm) - n_prompt
        # The call's has been cut to the context already, which a BudgetTooSmall is to name then.
        cuts = caller.max_tokens is not None and caller.max_tokens < min(self._max_tokens, room)
        max_tokens = caller.max_tokens if cuts and caller.max_tokens is not None else self._max_tokens
        if max_tokens == self._max_tokens <= room:
            return self._start.fork()
        return matcher_within(self._start.compiled, max_tokens, room, self._stall_after)

    def _loose_text(self, input_ids: NDArray[np.intc]) -> TrackedText:
        for text in self._loose:
            if len(text) + 1 == len(input_ids) and text.is_start_of(input_ids):
                return text
        text = TrackedText(self._start.fork(), input_ids)
        self._loose.append(text)
        return text


class StoppingCriterion:
    """Stops a text that has ended, and raises IntegrationError if a token was sampled without the processor.

    Pass it in `stopping_criteria`, which all calls except `create_chat_completion` take. With a `logit_bias`,
    llama-cpp-python loses the processors of a plain list; this finds out. It also raises the error of a processor
    inside a function of yours in the step of the error, even in the first step.
    """

    def __init__(self, processor: LogitsProcessor) -> None:
        self._processor = processor

    def __call__(self, input_ids: NDArray[np.intc], logits: NDArray[np.single]) -> bool:
        """Whether to stop: after an end token that llama-cpp-python did not stop at."""
        self._processor.raise_error()
        text = self._processor.masked_text(input_ids)
        if text is None:
            raise IntegrationError(
                "a token was sampled without its mask; if this call has a logit_bias, pass the processor in "
                "cfgmask.integrations.llama_cpp.LogitsProcessorList"
            )
        return text.matcher.is_finished
