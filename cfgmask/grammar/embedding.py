"""Rules of one grammar inside another one."""

from __future__ import annotations

from dataclasses import replace
from operator import is_

from cfgmask.grammar import ir
from cfgmask.grammar.walk import fold


def with_prefix(grammar: ir.GrammarIR, prefix: str) -> ir.GrammarIR:
    """The same grammar with `prefix` before the names of all rules and parts. Linear; operands stay shared."""

    def combine(expr: ir.Expr, operands: list[ir.Expr]) -> ir.Expr:
        if isinstance(expr, (ir.RuleRef, ir.Part)):
            return replace(expr, name=prefix + expr.name)
        return with_operands(expr, operands)

    rules = (replace(rule, name=prefix + rule.name, body=fold(rule.body, combine)) for rule in grammar.rules)
    return replace(grammar, rules=tuple(rules), start=prefix + grammar.start)


def include(grammar: ir.GrammarIR, rules: list[ir.Rule], scopes: list[ir.Scope]) -> str:
    """Put the rules and scopes of a grammar behind those of others; the name of its start rule."""
    first_scope = len(scopes)
    scopes += grammar.scopes
    rules += (replace(rule, scope=rule.scope + first_scope) for rule in grammar.rules)
    return grammar.start


def with_operands(expr: ir.Expr, operands: list[ir.Expr]) -> ir.Expr:
    """The expression with other operands; a leaf, and what has these operands already, stays what it is."""
    if isinstance(expr, (ir.Sequence, ir.Choice)):
        if all(map(is_, expr.parts, operands)):
            return expr
        return type(expr)(tuple(operands))
    if isinstance(expr, ir.Variants):
        return replace(expr, body=tuple(operands))
    return replace(expr, body=operands[0]) if isinstance(expr, (ir.Repeat, ir.Guarded)) else expr
