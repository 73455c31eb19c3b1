"""Outlines: a logits processor. docs/outlines.md says how to use it."""

from __future__ import annotations

from cfgmask.integrations.outlines.processor import LogitsProcessor, vocabulary_of

__all__ = ["LogitsProcessor", "vocabulary_of"]
