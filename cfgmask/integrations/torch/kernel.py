"""The masks of a batch in one kernel of Triton."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Logits of one program.
_BLOCK = 4096


def mask_by_kernel(logits: torch.Tensor, bits: torch.Tensor, rows: torch.Tensor | None) -> None:
    """Launch the kernel on the current stream; one launch a batch.

    logits, bits  two-dimensional, int32 words, on one device
    rows          the rows to mask, there too; None: all
    """
    n_rows = len(logits) if rows is None else len(rows)
    if n_rows == 0 or logits.shape[1] == 0:
        return
    # Triton launches on the current device, wherever the tensors are.
    with torch.cuda.device_of(logits):
        _mask[n_rows, triton.cdiv(logits.shape[1], _BLOCK)](
            logits,
            bits,
            logits if rows is None else rows,
            logits.shape[1],
            bits.shape[1],
            *logits.stride(),
            *bits.stride(),
            SOME_ROWS=rows is not None,
            BLOCK=_BLOCK,
        )


# Triton reads the annotations, too, and takes none but those of its own modules.
@triton.jit  # type: ignore[untyped-decorator, unused-ignore]  # Triton may be missing when checked
def _mask(
    logits: tl.tensor,
    bits: tl.tensor,
    rows: tl.tensor,
    width: tl.tensor,
    n_words: tl.tensor,
    logits_row: tl.tensor,
    logits_column: tl.tensor,
    bits_row: tl.tensor,
    bits_column: tl.tensor,
    SOME_ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    row = tl.program_id(0)
    if SOME_ROWS:
        row = tl.load(rows + row)
    # 64 rows of 128k logits fit 32 bits; batches that do not are around.
    row = row.to(tl.int64)
    token = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    word = token // 32
    allowed = tl.load(bits + row * bits_row + word * bits_column, mask=word < n_words, other=0)
    forbidden = ((allowed >> (token % 32)) & 1) == 0
    # Only what is forbidden is touched: in a JSON string hardly any line of the logits.
    tl.store(
        logits + row * logits_row + token.to(tl.int64) * logits_column,
        float("-inf"),
        mask=forbidden & (token < width),
    )
