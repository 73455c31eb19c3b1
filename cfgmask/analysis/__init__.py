"""What `cfgmask check` finds out about a grammar: more than reading it should cost. One analysis a file."""

from __future__ import annotations

from cfgmask.analysis.findings import find

__all__ = ["find"]
