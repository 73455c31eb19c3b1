"""llguidance's way from GBNF to Lark."""

from __future__ import annotations

from cfgmask.compat.llguidance._grammars import any_to_lark, gbnf_to_lark

__all__ = ["any_to_lark", "gbnf_to_lark"]
