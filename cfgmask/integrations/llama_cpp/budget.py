"""The context, which bounds budgets of tokens."""

from __future__ import annotations

from typing import Any


def context_length(llm: Any) -> int:
    """How many tokens prompt and text may have together."""
    # llama.cpp rounds it up to a multiple of 256, the buffer that llama-cpp-python keeps the ids in stays as asked for.
    length: int = min(llm.n_ctx(), len(llm.input_ids))
    return length
