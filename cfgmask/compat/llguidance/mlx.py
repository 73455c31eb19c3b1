"""llguidance's functions over arrays of MLX."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from cfgmask.compat.llguidance._arrays import require
from cfgmask.compat.llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask, get_bitmask_shape
from cfgmask.integrations.mlx_lm.masking import apply_masks

__all__ = ["allocate_token_bitmask", "apply_token_bitmask", "fill_next_token_bitmask", "get_bitmask_shape"]


def apply_token_bitmask(logits: mx.array, mask_np: NDArray[np.int32]) -> mx.array:
    """The logits, as rows, with -inf outside the masks."""
    logits = logits if logits.ndim != 1 else logits[None]
    mask = mask_np if mask_np.ndim != 1 else mask_np[None]
    require(mask.dtype == np.int32, "Mask must be int32")
    require(logits.ndim == 2, "Logits must be 2D")
    require(logits.shape[0] == mask.shape[0], "Batch size mismatch")
    return apply_masks(logits, mask)
