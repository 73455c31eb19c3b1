"""exllamav3: a filter. docs/exllamav3.md says how to use it."""

from __future__ import annotations

from cfgmask.integrations.exllamav3.filter import Filter, vocabulary_of

__all__ = ["Filter", "vocabulary_of"]
