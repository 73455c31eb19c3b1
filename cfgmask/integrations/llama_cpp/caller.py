"""Which generation of which model a hook is called for.

llama-cpp-python gives a hook the ids and the scores, not the model or the generation. Ids alone do not tell:
a prompt that goes on from an earlier output is exactly what the next step of that output would have shown, and draft
tokens that nobody has verified look like the next turn of a chat. Guessing there means masks of one text in another.
So the generation is read off the call stack, where it always is: llama.cpp calls back within `Llama.sample`.
Asking for the model in the constructor was the alternative; it would tell the model, but not the generation.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import llama_cpp

# The hook lies directly below the model's own frame, or below those of a user who wraps it.
_FRAMES_TO_MODEL = 24
# Sampler, chain and `Llama.sample` lie between.
_FRAMES_TO_GENERATION = 8


@dataclass(frozen=True)
class Caller:
    """Who calls the hook.

    llm            the model
    sampler        made anew by each `Llama.generate`; None outside of it (a loop around `Llama.sample`)
    generation_id  tells two generations apart while one of them uses the sampler of the other
    detokenizes    whether llama-cpp-python itself makes text of the tokens (`create_completion` does)
    n_ids          how many of the ids that it shows stand before the token to sample; the others are drafts. None: all
    max_tokens     after how many tokens llama-cpp-python ends the text; None where that is up to whoever asks for them
    has_grammar    whether a grammar of llama.cpp's own is in force beside the hook
    """

    llm: Any
    sampler: Any
    generation_id: int
    detokenizes: bool
    n_ids: int | None
    max_tokens: int | None = None
    has_grammar: bool = False


def find_caller() -> Caller | None:
    """The generation that the hook, which calls this, is called for; None if no `Llama` calls it.

    Cost: about 2 microseconds.
    """
    frame: FrameType | None = sys._getframe(2)
    llm = None
    for _ in range(_FRAMES_TO_MODEL):
        if frame is None:
            return None
        llm = _self_of(frame)
        if isinstance(llm, llama_cpp.Llama):
            break
        frame = frame.f_back
    else:
        return None
    n_ids, has_grammar = None, False
    for _ in range(_FRAMES_TO_GENERATION):
        if frame is None:
            break
        if frame.f_code.co_name == "sample" and _self_of(frame) is llm:
            index = frame.f_locals.get("idx")
            n_ids = None if index is None else index + 1
            has_grammar = frame.f_locals.get("grammar") is not None
        if frame.f_code.co_name == "generate" and _self_of(frame) is llm:
            outer = frame.f_back
            detokenizes = outer is not None and outer.f_code.co_name == "_create_completion"
            max_tokens = outer.f_locals.get("max_tokens") if outer is not None and detokenizes else None
            return Caller(llm, getattr(llm, "_sampler", None), id(frame), detokenizes, n_ids, max_tokens, has_grammar)
        frame = frame.f_back
    return Caller(llm, None, 0, False, n_ids, None, has_grammar)


def _self_of(frame: FrameType) -> Any:
    code = frame.f_code
    # Reading a frame's locals copies them; most frames on the way have no `self`.
    if "self" in code.co_freevars or "self" in code.co_varnames:
        return frame.f_locals.get("self")
    return None
