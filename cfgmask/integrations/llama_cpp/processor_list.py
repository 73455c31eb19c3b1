"""A list of logits processors that survives `logit_bias`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llama_cpp

from cfgmask.integrations.llama_cpp.processor import LogitsProcessor


class LogitsProcessorList(llama_cpp.LogitsProcessorList):  # type: ignore[misc]  # llama_cpp may be missing when checked
    """As `llama_cpp.LogitsProcessorList`, and masks are kept when a call has a `logit_bias` too.

    llama-cpp-python 0.3 adds the bias with `processors = processors.extend([bias])`, which is None for a list: the
    call then goes on with neither bias nor masks. Here that one `extend` gives a new list. It leaves this one as it
    is, or the bias of one call would stay for the next; and the bias comes first, so that no bias undoes a mask.
    Any other `extend` does and gives what that of a list does.

    Making a list raises the `error` of a LogitsProcessor in it: a call that could not raise it is not followed by
    another that fails the same way.
    """

    def __init__(self, processors: Iterable[Any] = ()) -> None:
        super().__init__(processors)
        for processor in self:
            if isinstance(processor, LogitsProcessor):
                processor.raise_error()

    def extend(self, processors: Iterable[Any]) -> Any:
        """Append the processors; give a new list if they are the bias of one call."""
        processors = list(processors)
        if [getattr(processor, "__name__", "") for processor in processors] == ["logit_bias_processor"]:
            return type(self)([*processors, *self])
        return super().extend(processors)
