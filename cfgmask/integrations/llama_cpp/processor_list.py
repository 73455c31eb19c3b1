"""A list of logits processors that survives `logit_bias`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llama_cpp

from cfgmask.integrations.llama_cpp.processor import LogitsProcessor


class LogitsProcessorList(llama_cpp.LogitsProcessorList):  # type: ignore[misc]  # llama_cpp may be missing when checked
    """Like `llama_cpp.LogitsProcessorList`, but keeps the masks in a call with a `logit_bias`.

    llama-cpp-python 0.3 adds the bias by `processors = processors.extend([bias])`, which is None for a list, so the
    call goes on with neither bias nor masks. Here, this one `extend` returns a new list, with the bias first, so that
    no bias
    undoes a mask. Any other `extend` works like that of a list.

    Errors: making a list raises the `error` of a LogitsProcessor in it, so a call after a failed one fails too.
    """

    def __init__(self, processors: Iterable[Any] = ()) -> None:
        super().__init__(processors)
        for processor in self:
            if isinstance(processor, LogitsProcessor):
                processor.raise_error()

    def extend(self, processors: Iterable[Any]) -> Any:
        """Append the processors; returns a new list if they are the bias of a call."""
        processors = list(processors)
        if [getattr(processor, "__name__", "") for processor in processors] == ["logit_bias_processor"]:
            return type(self)([*processors, *self])
        return super().extend(processors)
