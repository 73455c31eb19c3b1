"""llguidance's functions over arrays of numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import _core
from cfgmask.compat.llguidance._arrays import bitmask_shape, check_masks, require, with_rows
from cfgmask.compat.llguidance._executor import LLExecutor
from cfgmask.compat.llguidance._matcher import LLMatcher

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "apply_token_bitmask_inplace_kernel",
    "consume_token_par",
    "fill_next_token_bitmask",
    "fill_next_token_bitmask_par",
    "fill_next_token_bitmask_par_with_draft_tokens",
    "get_bitmask_shape",
]

get_bitmask_shape = bitmask_shape


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """Masks that allow everything."""
    return np.full(bitmask_shape(batch_size, vocab_size), -1, dtype=np.int32)


def apply_token_bitmask_inplace_kernel(logits: NDArray[Any], mask: NDArray[np.int32]) -> None:
    """Set the logits outside the masks to -inf; both have rows."""
    _core.apply_masks(logits, mask)


def apply_token_bitmask_inplace(logits: NDArray[Any], mask: NDArray[np.int32]) -> None:
    """Set the logits outside the masks, and beyond them, to -inf; one row may be given as such."""
    _core.apply_masks(*with_rows(logits, mask, np.int32))


def fill_next_token_bitmask(interp: LLMatcher, bitmask: NDArray[np.int32], index: int = 0) -> None:
    """Write the mask of the next token into a row."""
    check_masks(bitmask, np.int32)
    row = bitmask[index]
    require(row.flags["C_CONTIGUOUS"], "Mask must be contiguous")
    interp.unsafe_compute_mask_ptr(row.ctypes.data, row.nbytes)


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]], bitmask: NDArray[np.int32]
) -> None:
    """Write the mask of each matcher into the row of its index."""
    executor.unsafe_compute_mask_ptr(matchers, *_memory(bitmask))


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int, Sequence[int]]], bitmask: NDArray[np.int32]
) -> None:
    """Write the mask of each matcher into the row of its index, and those after its draft tokens behind it."""
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, *_memory(bitmask))


def consume_token_par(executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
    """`LLMatcher.consume_token` of each."""
    return executor.consume_token_par(matchers)


def _memory(bitmask: NDArray[np.int32]) -> tuple[int, int, int]:
    check_masks(bitmask, np.int32)
    require(bitmask.flags["C_CONTIGUOUS"], "Mask must be contiguous")
    return bitmask.ctypes.data, bitmask.shape[1] * 4, bitmask.shape[0]
