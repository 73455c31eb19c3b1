"""A `Llama.sample` that raises where the library itself aborts the process, or swallows what a hook raised.

Two generations in turns on one model leave the first one with the sampler of the second, whose hooks are others or
none, and asking for logits that are not there any more, which llama.cpp answers with an assertion that ends the
process. No hook of the first is called before. And what a hook raises is printed by the bridge into C and forgotten.
All this can be raised in only one place that all of llama-cpp-python's calls, streaming or chat, go through with the
caller on the stack at each token: around `sample`, by an attribute of the one model object.
"""

from __future__ import annotations

import sys
import threading
import weakref
from types import FrameType
from typing import Any

import llama_cpp

from cfgmask.integrations.errors import IntegrationError

IN_TURNS = (
    "two generations use one Llama in turns, which llama-cpp-python mixes up; "
    "finish one before the next, or load the model twice"
)

OWN_GRAMMAR = (
    "this call has a grammar of llama-cpp-python's own beside the masks of cfgmask: from grammar=, response_format, "
    'tools with a tool_choice, or chat_format="chatml-function-calling"; llama.cpp ends the process where the two '
    "leave no token. Leave that out, and have the grammar of cfgmask say the form of the answer"
)
_SENT = (
    "tokens were sent into a generation, and the model has no logits after each of them; load it with logits_all=True, "
    "or begin a generation whose prompt has them"
)


class _Running(threading.local):
    generation: object | None = None


_running = _Running()


def running_generation() -> object | None:
    """The generation whose checked `sample` is running in this thread, or None."""
    return _running.generation


class CheckedSample:
    """The `sample` of one model. Does what that of its class does, and raises; the model is not kept alive."""

    def __init__(self, llm: Any) -> None:
        self._llm = weakref.ref(llm)
        self._is_running = False
        self._error: BaseException | None = None
        self._owners: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        # That of the last call: nearly every call is of the same.
        self._generation: object | None = None
        self._sampler: weakref.ref[Any] | None = None
        self._frame_id = 0

    def __call__(self, *arguments: Any, **options: Any) -> int:
        """Sample a token, with the arguments of `Llama.sample`.

        Raises IntegrationError where the sampler is another generation's or there are no logits to sample from, and
        what `fail` was given meanwhile.
        """
        llm: Any = self._llm()
        caller = sys._getframe(1)
        generation = self._generation_of(llm, caller, options.get("logits_processor"))
        _check_logits(llm, options.get("idx"), caller)
        self._is_running = True
        self._error = None
        outer, _running.generation = _running.generation, generation
        try:
            token_id: int = type(llm).sample(llm, *arguments, **options)
        finally:
            self._is_running = False
            _running.generation = outer
        error, self._error = self._error, None
        if error is not None:
            raise error
        return token_id

    def fail(self, error: BaseException) -> bool:
        """Have the running call raise; False if none is running."""
        self._error = error
        return self._is_running

    def _generation_of(self, llm: Any, caller: FrameType, processors: Any) -> object | None:
        """The generation that the call is of, one object for all its calls; None for a loop around `sample`."""
        sampler = llm._sampler
        if sampler is None:
            return None
        if self._sampler is not None and self._sampler() is sampler and self._frame_id == id(caller):
            return self._generation
        if caller.f_code.co_name == "generate" and caller.f_locals.get("self") is llm:
            # Its frame lives as long as a generation does, so no other has the same id until then.
            if self._owners.setdefault(sampler, id(caller)) != id(caller):
                raise IntegrationError(IN_TURNS)
            self._sampler, self._frame_id, self._generation = weakref.ref(sampler), id(caller), object()
            return self._generation
        if processors is not None:
            raise IntegrationError(
                "Llama.sample goes on with the sampler of the generation before, without the logits_processor of this "
                "call; use Llama.generate, or a model that has not generated yet"
            )
        return None


def check_sampling(llm: Any) -> None:
    """Have the model's `sample` checked from its next call on. Leaves a `sample` alone that others have replaced."""
    if "sample" not in vars(llm):
        llm.sample = CheckedSample(llm)


def raise_in_sample(llm: Any, error: BaseException) -> bool:
    """Have the model's running `sample` raise; False if that is not checked.

    It is not in the first step of a hook that `samplers` has not seen: one inside of another function.
    """
    sample = vars(llm).get("sample")
    return isinstance(sample, CheckedSample) and sample.fail(error)


def _check_logits(llm: Any, index: int | None, caller: FrameType) -> None:
    # The last position always has logits; asking llama.cpp is only for the others, which draft models make.
    if index is None or index == llm.n_tokens - 1:
        return
    if not llama_cpp.llama_get_logits_ith(llm.ctx, index - llm.n_tokens):
        was_sent = caller.f_code.co_name == "generate" and caller.f_locals.get("tokens_or_none") is not None
        raise IntegrationError(_SENT if was_sent else IN_TURNS)
