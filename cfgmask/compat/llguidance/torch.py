"""llguidance's functions over tensors of torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cfgmask.compat.llguidance._arrays import bitmask_shape, check_masks, require, with_rows
from cfgmask.compat.llguidance._executor import LLExecutor
from cfgmask.compat.llguidance._matcher import LLMatcher
from cfgmask.integrations.torch import bitmask as ours

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


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """Masks that allow everything, in memory that a GPU reads directly where there is one."""
    shape = bitmask_shape(batch_size, vocab_size)
    if torch.cuda.is_available():
        try:
            return torch.full(shape, -1, dtype=torch.int32, pin_memory=True)
        except RuntimeError:
            pass  # no more such memory is to be had
    return torch.full(shape, -1, dtype=torch.int32)


def apply_token_bitmask_inplace_kernel(logits: torch.Tensor, mask: torch.Tensor) -> None:
    """Set the logits outside the masks to -inf; both have rows."""
    ours.apply_token_bitmask_inplace(logits, mask)


def apply_token_bitmask_inplace(logits: torch.Tensor, mask: torch.Tensor) -> None:
    """Set the logits outside the masks, and beyond them, to -inf; one row may be given as such."""
    ours.apply_token_bitmask_inplace(*with_rows(logits, mask, torch.int32))


def fill_next_token_bitmask(interp: LLMatcher, bitmask: torch.Tensor, index: int = 0) -> None:
    """Write the mask of the next token into a row."""
    _check(bitmask)
    row = bitmask[index]
    interp.unsafe_compute_mask_ptr(row.data_ptr(), row.numel() * row.element_size())


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]], bitmask: torch.Tensor
) -> None:
    """Write the mask of each matcher into the row of its index."""
    _check(bitmask)
    executor.unsafe_compute_mask_ptr(matchers, *_memory(bitmask))


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int, Sequence[int]]], bitmask: torch.Tensor
) -> None:
    """Write the mask of each matcher into the row of its index, and those after its draft tokens behind it."""
    _check(bitmask)
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, *_memory(bitmask))


def consume_token_par(executor: LLExecutor, matchers: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
    """`LLMatcher.consume_token` of each."""
    return executor.consume_token_par(matchers)


def _check(bitmask: torch.Tensor) -> None:
    check_masks(bitmask, torch.int32)
    require(bitmask.device.type == "cpu", "Mask must be on CPU")
    require(bitmask.is_contiguous(), "Mask must be contiguous")


def _memory(bitmask: torch.Tensor) -> tuple[int, int, int]:
    return bitmask.data_ptr(), bitmask.shape[1] * 4, bitmask.shape[0]
