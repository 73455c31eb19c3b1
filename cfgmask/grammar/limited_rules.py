"""Limits on tokens where terminals have conditions or lines are indented.

A lexeme has the limit of its terminal, which takes no more than a count of its tokens. Where something else decides as
well which lexemes there are, the limit is that of a rule around the terminal.
"""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Rule, RuleRef, Terminal
from cfgmask.grammar.walk import fold, inside


def with_limited_rules(grammar: GrammarIR) -> GrammarIR:
    """The same grammar with a limited rule for each limited terminal, if that is needed. Linear."""
    terminals = [expr for rule in grammar.rules for expr in inside(rule) if isinstance(expr, Terminal)]
    if all(terminal.max_tokens is None for terminal in terminals):
        return grammar
    conditional = (
        terminal.before is not None or terminal.after is not None
        for terminal in (*terminals, *(ignored for scope in grammar.scopes for ignored in scope.ignore))
    )
    if grammar.indenter is None and not any(conditional):
        return grammar
    limited: list[Rule] = []
    rules = tuple(replace(rule, body=_moved(rule, limited)) for rule in grammar.rules)
    return replace(grammar, rules=(*rules, *limited))


def _moved(rule: Rule, limited: list[Rule]) -> Expr:
    """The body of a rule, its limited terminals in rules of their own."""

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Terminal) and expr.max_tokens is not None:
            name = f"{rule.name}.max_tokens.{len(limited)}"
            body = replace(expr, max_tokens=None)
            limited.append(Rule(name, body, rule.scope, expr.span, max_tokens=expr.max_tokens))
            return RuleRef(name, expr.span)
        return with_operands(expr, parts)

    return fold(rule.body, combine)
