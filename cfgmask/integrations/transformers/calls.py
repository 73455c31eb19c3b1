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
    unfinished   for each row whether it goes on, a tensor; None where the call does not say
    has_beams    whether rows are beams, some of which may have no hope
    criteria     what it stops at, a list; None where it does not say
    may_overwrite  whether the scores are the call's own copy, which nobody else looks at any more
    """

    processors: Any
    accepted: Any = None
    is_assistant: bool = False
    max_length: int | None = None
    unfinished: Any = None
    has_beams: bool = False
    criteria: Any = None
    may_overwrite: bool = False

    @property
    def end_tokens(self) -> Any:
        """Those that it stops at, a tensor; None where it stops at none."""
        if not isinstance(self.criteria, transformers.StoppingCriteriaList):
            return None
        return next((one.eos_token_id for one in self.criteria if isinstance(one, transformers.EosTokenCriteria)), None)

    def has_stopped(self, row: int) -> bool:
        """Whether what the row shows from here on is padding. On a device, this waits for it."""
        return self.unfinished is not None and not bool(self.unfinished[row])


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
        variables = step.f_back.f_locals
        return Call(
            processors,
            max_length=_max_length(variables),
            unfinished=variables.get("unfinished_sequences"),
            has_beams="beam" in step.f_back.f_code.co_name,
            criteria=variables.get("stopping_criteria"),
            may_overwrite=step is sys._getframe(2) and _keeps_no_scores(step.f_back, processors),
        )
    variables = assisted.f_locals
    is_assistant = processors is not variables["logits_processor"]
    return Call(
        variables["logits_processor"],
        variables["input_ids"],
        is_assistant,
        _max_length(variables),
        criteria=variables.get("stopping_criteria"),
    )


def _keeps_no_scores(loop: FrameType, processors: Any) -> bool:
    """Whether a loop over tokens has copied the logits for its processors alone.

    That of transformers does, and hands the copy out where raw logits are asked for. A processor of somebody else may
    have kept what it was given.
    """
    if loop.f_globals.get("__name__") != "transformers.generation.utils" or loop.f_code.co_name != "_sample":
        return False
    if loop.f_locals.get("raw_logits", ()) is not None:
        return False
    return all(type(one).__module__.startswith(("transformers.", "cfgmask.")) for one in processors)


def calling_tokenizer() -> Any:
    """The tokenizer that the call is given, or the pipeline that makes it has; None where nobody says."""
    pipelines = sys.modules.get("transformers.pipelines.base")  # which takes long to import, and nobody has otherwise
    for frame in _frames(sys._getframe(1), ("generate", "_forward")):
        given, owner = frame.f_locals.get("generation_mode_kwargs"), frame.f_locals.get("self")
        tokenizer = given.get("tokenizer") if isinstance(given, dict) else None
        if pipelines is not None and isinstance(owner, pipelines.Pipeline):
            tokenizer = owner.tokenizer
        if isinstance(tokenizer, transformers.PreTrainedTokenizerBase):
            return tokenizer
    return None


def _max_length(variables: dict[str, Any]) -> int | None:
    criteria = variables.get("stopping_criteria")
    return criteria.max_length if isinstance(criteria, transformers.StoppingCriteriaList) else None


def _frames(
    frame: FrameType | None, names: tuple[str, ...] = ("__call__", "_assisted_decoding")
) -> Iterator[FrameType]:
    """Of the frame and those that called it, those that tell something by their name."""
    while frame is not None:
        if frame.f_code.co_name in names:
            yield frame
        frame = frame.f_back


def _list_of(frame: FrameType) -> Any:
    """The list of processors that the frame is a call of by the library; None if it is anything else."""
    if frame.f_back is None or not str(frame.f_back.f_globals.get("__name__", "")).startswith("transformers."):
        return None
    processors = frame.f_locals.get("self")
    return processors if isinstance(processors, transformers.LogitsProcessorList) else None
