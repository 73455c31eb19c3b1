"""mlx-lm: a logits processor. docs/mlx_lm.md says how to use it."""

from __future__ import annotations

from cfgmask.integrations.mlx_lm.processor import LogitsProcessor

__all__ = ["LogitsProcessor"]
