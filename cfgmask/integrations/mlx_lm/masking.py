"""Masks on the logits of MLX."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray


def apply_masks(logits: mx.array, words: NDArray[Any]) -> mx.array:
    """The logits with -inf outside the masks, and beyond them.

    logits  of shape (rows, width), of any type of floats
    words   of shape (rows, words), int32 or uint32, as `cfgmask.fill_masks` writes them
    """
    bits = mx.array(words.view(np.uint32))
    allowed = ((bits[:, :, None] >> mx.arange(32, dtype=mx.uint32)) & 1).astype(mx.bool_).reshape(len(words), -1)
    width, known = logits.shape[-1], allowed.shape[1]
    if known < width:
        allowed = mx.concatenate([allowed, mx.zeros((len(words), width - known), dtype=mx.bool_)], axis=1)
    return mx.where(allowed[:, :width], logits, mx.array(-mx.inf, dtype=logits.dtype))
