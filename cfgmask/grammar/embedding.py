"""Rules of one grammar inside another one."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar import ir
from cfgmask.grammar.walk import fold


def with_prefix(body: ir.Expr, prefix: str) -> ir.Expr:
    """The expression with `prefix` before the names of all rules. Parts stay shared."""

    def combine(expr: ir.Expr, parts: list[ir.Expr]) -> ir.Expr:
        if isinstance(expr, ir.RuleRef):
            return replace(expr, name=prefix + expr.name)
        if isinstance(expr, (ir.Sequence, ir.Choice)):
            return replace(expr, parts=tuple(parts))
        return replace(expr, body=parts[0]) if isinstance(expr, (ir.Repeat, ir.Guarded)) else expr

    return fold(body, combine)
