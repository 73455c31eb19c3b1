"""Which `generate` a hook is called for.

Ids do not tell one call from the next: its prompt may be just what one more step would have shown. So it is read off
the call stack: each call makes a list of processors of its own, and the list calls the hook.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import transformers


@dataclass(frozen=True)
class Call:
    """A call of `generate`, or of an assistant's within it.

    processors   the list that is made anew by each call, of an assistant's the list of the call that it assists
    accepted     the ids that stand, where there are drafts behind them; None where there are never drafts
    is_assistant whether the scores are those of an assistant, whose tokens are drafts
    max_length   how many ids, those of the prompt included, it ends a row after; None where it does not say
    """

    processors: Any
    accepted: Any = None
    is_assistant: bool = False
    max_length: int | None = None


def calling_generate() -> Call | None:
    """The call that the hook, which calls this, is called for, by a processor around it or not; None in other loops."""
    frames = list(_frames(sys._getframe(2)))
    step = next((frame for frame in frames if _list_of(frame) is not None), None)
    if step is None or step.f_back is None:
        return None
    processors = _list_of(step)
    # The outermost: an assistant may be assisted itself.
    assisted = next((frame for frame in reversed(frames) if frame.f_code.co_name == "_assisted_decoding"), None)
    if assisted is None:
        return Call(processors, max_length=_max_length(step.f_back.f_locals))
    variables = assisted.f_locals
    is_assistant = processors is not variables["logits_processor"]
    return Call(variables["logits_processor"], variables["input_ids"], is_assistant, _max_length(variables))


def _max_length(variables: dict[str, Any]) -> int | None:
    criteria = variables.get("stopping_criteria")
    return criteria.max_length if isinstance(criteria, transformers.StoppingCriteriaList) else None


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Of the frame and those that called it, those that tell something by their name."""
    while frame is not None:
        if frame.f_code.co_name in ("__call__", "_assisted_decoding"):
            yield frame
        frame = frame.f_back


def _list_of(frame: FrameType) -> Any:
    """The list of processors that the frame is a call of by the library; None if it is anything else."""
    if frame.f_back is None or not str(frame.f_back.f_globals.get("__name__", "")).startswith("transformers."):
        return None
    processors = frame.f_locals.get("self")
    return processors if isinstance(processors, transformers.LogitsProcessorList) else None
