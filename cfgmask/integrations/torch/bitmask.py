"""A batch of masks on a batch of logits: by the core on the CPU, by one Triton kernel on CUDA, else by torch itself."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import torch

from cfgmask import _core

_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def apply_token_bitmask_inplace(
    logits: torch.Tensor, bits: torch.Tensor, indices: Sequence[int] | torch.Tensor | None = None
) -> None:
    """Set the logits outside the masks to -inf, in place.

    logits   of shape (rows, width) or (width,), float16, bfloat16, float32 or float64, on any device; what is beyond
             the words of the masks becomes -inf too
    bits     of shape (rows, words) or (words,), int32 or uint32, on the device of the logits, or else copied there;
             row i is for row i of `logits`, laid out as `Matcher.fill_mask` writes it
    indices  the rows to mask, each once; None: all

    Errors: TypeError and ValueError for other tensors, and for indices that are no rows where they can be seen without
    waiting for the device.
    Cost: one kernel on CUDA with Triton, without waiting for it; on the CPU 30 microseconds a row of 128k float32.
    """
    if logits.dtype not in _TYPES:
        raise TypeError(f"the logits must be float16, bfloat16, float32 or float64, not {logits.dtype}")
    if bits.dtype not in (torch.int32, torch.uint32):
        raise TypeError(f"the masks must be int32 or uint32, not {bits.dtype}")
    if logits.ndim != bits.ndim or logits.ndim not in (1, 2):
        raise ValueError(f"logits of {logits.ndim} dimensions do not go with masks of {bits.ndim}")
    if logits.ndim == 1:
        logits, bits = logits.unsqueeze(0), bits.unsqueeze(0)
    if len(logits) != len(bits):
        raise ValueError(f"there are {len(logits)} rows of logits and {len(bits)} masks")
    bits = bits.view(torch.int32)
    if logits.device.type == "cpu":
        rows = indices.tolist() if isinstance(indices, torch.Tensor) else indices
        _core.apply_masks(logits.detach(), bits.cpu(), rows)
        return
    bits = bits.to(logits.device, non_blocking=True)
    rows = _rows_on(logits, indices)
    if logits.is_cuda and importlib.util.find_spec("triton") is not None:
        from cfgmask.integrations.torch.kernel import mask_by_kernel

        mask_by_kernel(logits, bits, rows)
    else:
        mask_by_torch(logits, bits, rows)


def rejected_mass(logits: torch.Tensor, bits: torch.Tensor) -> list[float | None]:
    """The share of all probability that each row's mask takes away, measured before the masks are applied.

    logits, bits  two-dimensional, as of `apply_token_bitmask_inplace`; logits beyond the masks count as rejected
    returns       numbers from 0 to 1; None for a row of logits that give no probabilities
    Cost: a softmax of the logits, and on other devices than the CPU waiting for it.
    """
    words = bits.view(torch.int32).to(logits.device)
    places = torch.arange(32, dtype=torch.int32, device=logits.device)
    allowed = ((words.unsqueeze(-1) >> places) & 1).flatten(1)[:, : logits.shape[1]].bool()
    numbers = torch.where(logits.isnan(), -torch.inf, logits.double())
    shares = numbers.softmax(dim=1)[:, : allowed.shape[1]].masked_fill(~allowed, 0).sum(dim=1)
    return [None if share != share else min(max(1 - share, 0.0), 1.0) for share in shares.tolist()]


def mask_by_torch(logits: torch.Tensor, bits: torch.Tensor, rows: torch.Tensor | None) -> None:
    """The same by torch's operations, on any device: for those without Triton.

    logits, bits  two-dimensional, int32 words
    rows          the rows to mask, on the same device; None: all
    Cost: four bytes for each logit meanwhile, and five passes.
    """
    if rows is not None:
        bits = bits[rows]
    places = torch.arange(32, dtype=torch.int32, device=bits.device)
    allowed = ((bits.unsqueeze(-1) >> places) & 1).flatten(1)[:, : logits.shape[1]]
    forbidden = torch.ones(len(bits), logits.shape[1], dtype=torch.bool, device=bits.device)
    forbidden[:, : allowed.shape[1]] = allowed == 0
    if rows is None:
        logits.masked_fill_(forbidden, -torch.inf)
    else:
        logits[rows] = logits[rows].masked_fill(forbidden, -torch.inf)


def _rows_on(logits: torch.Tensor, indices: Sequence[int] | torch.Tensor | None) -> torch.Tensor | None:
    if indices is None:
        return None
    if isinstance(indices, torch.Tensor):
        rows = indices
    else:
        for row in indices:
            if not 0 <= row < len(logits):
                raise ValueError(f"index {row} lies beyond the {len(logits)} rows")
        rows = torch.tensor(indices, dtype=torch.int64)
    return rows.to(logits.device, non_blocking=True)
