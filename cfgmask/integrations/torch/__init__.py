"""Masks on torch's logits, on any device.

from cfgmask.integrations.torch import MaskBuffer

masks = MaskBuffer(len(matchers), vocabulary.n_vocab, "cuda")
logits = model(input_ids).logits[:, -1]  # on CUDA this returns before the logits are there
masks.fill(matchers, threads=2)
masks.apply(logits)
"""

from __future__ import annotations

from cfgmask.tokenizers.library import require

require("torch", "torch")

from cfgmask.integrations.torch.bitmask import apply_token_bitmask_inplace, rejected_mass  # noqa: E402
from cfgmask.integrations.torch.buffer import MaskBuffer  # noqa: E402

__all__ = ["MaskBuffer", "apply_token_bitmask_inplace", "rejected_mass"]
