"""A `Llama.sample` that raises where the library itself aborts the process, or swallows what a hook raised.

Two generations in turns on one model leave the first one asking for logits that are not there any more. No hook is
called before llama.cpp finds that out, with an assertion that ends the process. And what a hook raises is printed by
the bridge into C and forgotten. Both can be raised in only one place that all of llama-cpp-python's calls, streaming or
chat, go through with the caller on the stack: around `sample`, by an attribute of the one model object.
"""

from __future__ import annotations

import weakref
from typing import Any

import llama_cpp

from cfgmask.integrations.errors import IntegrationError

IN_TURNS = (
    "two generations use one Llama in turns, which llama-cpp-python mixes up; "
    "finish one before the next, or load the model twice"
)


class CheckedSample:
    """The `sample` of one model. Does what that of its class does, and raises; the model is not kept alive."""

    def __init__(self, llm: Any) -> None:
        self._llm = weakref.ref(llm)
        self._is_running = False
        self._error: BaseException | None = None

    def __call__(self, *arguments: Any, **options: Any) -> int:
        """Sample a token, with the arguments of `Llama.sample`.

        Raises IntegrationError where there are no logits to sample from, and what `fail` was given meanwhile.
        """
        llm: Any = self._llm()
        _check_logits(llm, options.get("idx"))
        self._is_running = True
        self._error = None
        try:
            token_id: int = type(llm).sample(llm, *arguments, **options)
        finally:
            self._is_running = False
        error, self._error = self._error, None
        if error is not None:
            raise error
        return token_id

    def fail(self, error: BaseException) -> bool:
        """Have the running call raise; False if none is running."""
        self._error = error
        return self._is_running


def check_sampling(llm: Any) -> None:
    """Have the model's `sample` checked from its next call on. Leaves a `sample` alone that others have replaced."""
    if "sample" not in vars(llm):
        llm.sample = CheckedSample(llm)


def raise_in_sample(llm: Any, error: BaseException) -> bool:
    """Have the model's running `sample` raise; False if that is not checked, as in the first step with a hook."""
    sample = vars(llm).get("sample")
    return isinstance(sample, CheckedSample) and sample.fail(error)


def _check_logits(llm: Any, index: int | None) -> None:
    # The last position always has logits; asking llama.cpp is only for the others, which draft models make.
    if index is None or index == llm.n_tokens - 1:
        return
    if not llama_cpp.llama_get_logits_ith(llm.ctx, index - llm.n_tokens):
        raise IntegrationError(IN_TURNS)
