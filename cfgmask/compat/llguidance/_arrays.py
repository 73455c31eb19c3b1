"""What arrays of numpy and tensors of torch have in common here."""

from __future__ import annotations

from typing import Any


def require(holds: object, message: str) -> None:
    """Raises AssertionError, as llguidance does for arrays of another kind."""
    if not holds:
        raise AssertionError(message)


def bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """Rows, and words of 32 bits."""
    return batch_size, -(-vocab_size // 32)


def check_masks(bitmask: Any, int32: Any) -> None:
    """Raises AssertionError unless they are rows of int32."""
    require(bitmask.dtype == int32, "Mask must be int32")
    require(len(bitmask.shape) == 2, "Mask must be 2D")


def with_rows(logits: Any, mask: Any, int32: Any) -> tuple[Any, Any]:
    """Both as rows. Raises AssertionError where they do not go together."""
    logits = logits if len(logits.shape) != 1 else logits[None]
    mask = mask if len(mask.shape) != 1 else mask[None]
    require(mask.dtype == int32, "Mask must be int32")
    require(len(logits.shape) == 2, "Logits must be 2D")
    require(logits.shape[0] == mask.shape[0], "Batch size mismatch")
    return logits, mask
