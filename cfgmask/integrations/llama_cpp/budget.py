"""Budgets of tokens, which the context bounds too."""

from __future__ import annotations

from typing import Any

from cfgmask import BudgetTooSmall, CompiledGrammar, Matcher


def context_length(llm: Any) -> int:
    """How many tokens prompt and text may have together."""
    # llama.cpp rounds it up to a multiple of 256, the buffer that llama-cpp-python keeps the ids in stays as asked for.
    length: int = min(llm.n_ctx(), len(llm.input_ids))
    return length


def matcher_within(
    compiled: CompiledGrammar, max_tokens: int, room: int, stall_after: int | None, canonical: bool = False
) -> Matcher:
    """A matcher whose text is complete within `max_tokens`, and within the room in the context.

    Raises BudgetTooSmall, which says which of the two it is.
    """
    try:
        return compiled.matcher(max_tokens=min(max_tokens, room), stall_after=stall_after, canonical=canonical)
    except BudgetTooSmall as error:
        if max_tokens <= room:
            raise
        raise BudgetTooSmall(room, error.needed, "the room that the prompt leaves in the context") from None
