"""Masks in transformers' `generate`, for one sequence.

from cfgmask.integrations.transformers import LogitsProcessor

vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer, eos_token_id=model.generation_config.eos_token_id)
processor = LogitsProcessor(cfgmask.compile(grammar, vocabulary))
model.generate(**tokenizer("A prompt", return_tensors="pt"), logits_processor=[processor])
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import CompiledGrammar, Matcher, TokenRejected
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.start import starting_matcher
from cfgmask.integrations.tracking import TrackedText
from cfgmask.tokenizers.library import require

# transformers itself brings no torch, so one command that names both serves whichever is missing.
require("torch", "transformers,torch")
require("transformers", "transformers,torch")

import torch  # noqa: E402
import transformers  # noqa: E402

__all__ = ["IntegrationError", "LogitsProcessor"]


class LogitsProcessor(transformers.LogitsProcessor):  # type: ignore[misc]  # transformers may be missing when checked
    """Masks the scores of one sequence, greedy or sampled, on any device.

    compiled  a CompiledGrammar, or a Matcher to start every text from

    One processor serves any number of `generate` calls, one after the other; each call is a text of its own.
    It belongs to one thread at a time.

    In a loop of your own a text is recognised by its ids: one id more than last time goes on with the text, anything
    else begins a new one. Call `reset` before a text whose prompt is an earlier text plus one token.

    Errors: IntegrationError for a batch or beams, and for assisted generation, whose tokens may be taken back;
    TokenRejected for a token that the mask did not allow; what a mask raises, LimitExceeded above all.
    The grammar's end tokens must be among those that `generate` stops at, or it goes on with end tokens alone.
    """

    def __init__(self, compiled: CompiledGrammar | Matcher) -> None:
        self._start = starting_matcher(compiled)
        n_vocab = self._start.compiled.vocabulary.n_vocab
        self._bits = np.zeros(-(-n_vocab // 32), dtype=np.uint32)
        self._text: TrackedText | None = None
        self._call: weakref.ref[Any] | None = None
        self._earlier_calls: list[weakref.ref[Any]] = []

    def reset(self) -> None:
        """Forget the text. The next call begins a new one."""
        self._text = None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """The scores with -inf outside the mask, in a new tensor: `generate` may still hand out the raw ones.

        input_ids  prompt and output so far, of shape (1, length)
        scores     of shape (1, at least the vocabulary); what is beyond the vocabulary becomes -inf too
        """
        if input_ids.shape[0] != 1:
            raise IntegrationError(
                f"{input_ids.shape[0]} sequences at once (a batch, beams or several return sequences) are not "
                "supported yet; generate one at a time"
            )
        text = self._follow(_calling_generate(), input_ids[0].cpu().numpy())
        text.matcher.fill_mask(self._bits)
        forbidden = _forbidden(self._bits, scores.shape[1])
        return scores.masked_fill(torch.from_numpy(forbidden).to(scores.device), -torch.inf)

    def _follow(self, call: Any, input_ids: NDArray[np.int64]) -> TrackedText:
        """The text, brought up to `input_ids`.

        call  what is made anew by each `generate`; None outside of it
        """
        same_call = call is not None and self._call is not None and self._call() is call
        if not same_call:
            self._begin_call(call)
        text = self._text
        goes_on = text is not None and len(input_ids) == len(text) + 1 and text.is_start_of(input_ids)
        if same_call and not goes_on:
            raise IntegrationError(
                "the ids are not those of the last step and one more; generation that takes tokens back (assisted, "
                "prompt lookup) is not supported yet"
            )
        if text is None or not goes_on or (call is not None and not same_call):
            text = self._text = TrackedText(self._start.fork(), input_ids)
        try:
            text.advance_to(input_ids)
        except TokenRejected:
            self._text = None
            raise
        return text

    def _begin_call(self, call: Any) -> None:
        """Note which call goes on from here. Raises IntegrationError if it is one that another came after."""
        self._earlier_calls = [earlier for earlier in self._earlier_calls if earlier() is not None]
        if call is not None and any(earlier() is call for earlier in self._earlier_calls):
            raise IntegrationError(
                "two `generate` calls use one processor in turns; give each its own. Assisted generation does so, one "
                "call for each model, and is not supported yet"
            )
        if self._call is not None:
            self._earlier_calls.append(self._call)
        self._call = None if call is None else weakref.ref(call)


def _calling_generate() -> Any:
    """The list of processors that calls this one, which `generate` makes anew each time; None in other loops.

    Ids do not tell one call from the next: its prompt may be just what one more step would have shown.
    """
    frame = sys._getframe(2)
    caller = frame.f_locals.get("self")
    outer = frame.f_back
    if not isinstance(caller, transformers.LogitsProcessorList) or outer is None:
        return None
    return caller if outer.f_globals.get("__name__", "").startswith("transformers.") else None


def _forbidden(bits: NDArray[np.uint32], width: int) -> NDArray[np.bool_]:
    """Whether each of `width` tokens is outside the mask. Ids that the scores lack cannot be chosen anyway."""
    # The first byte of a word must hold its lowest bits, whatever the machine's order.
    allowed = np.unpackbits(bits.astype("<u4", copy=False).view(np.uint8), bitorder="little", count=width)
    if not allowed.any():
        raise IntegrationError(
            f"the {width} scores have no token that the grammar allows here; is the model another one?"
        )
    forbidden: NDArray[np.bool_] = allowed == 0
    return forbidden
