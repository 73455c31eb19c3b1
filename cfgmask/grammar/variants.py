"""Variants as the alternatives that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Rows, Rule, RuleRef, Sequence, Slot, Terminal, Variants
from cfgmask.grammar.regex_tree import text
from cfgmask.grammar.walk import fold, inside


def spread(grammar: GrammarIR) -> GrammarIR:
    """The same grammar with a `Choice` in place of each `Variants`, and rules for the texts and parts. Linear."""
    made: list[Rule] = []
    columns: dict[int, tuple[list[Expr], list[Expr]]] = {}

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        if not isinstance(expr, Variants):
            return with_operands(expr, operands)
        if id(expr.rows) not in columns:
            columns[id(expr.rows)] = _columns(expr.rows, made)
        return Choice(tuple(_row(operands, one, part) for one, part in zip(*columns[id(expr.rows)], strict=True)))

    rules = _with_variants(grammar, combine)
    return replace(grammar, rules=(*rules, *made)) if columns else grammar


def with_rows(grammar: GrammarIR, rows: Rows) -> GrammarIR:
    """The same grammar with other rows in all its variants. Linear in the rules."""

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        if isinstance(expr, Variants):
            return Variants(tuple(operands), rows)
        return with_operands(expr, operands)

    return replace(grammar, rules=_with_variants(grammar, combine))


def _with_variants(grammar: GrammarIR, combine: Callable[[Expr, list[Expr]], Expr]) -> tuple[Rule, ...]:
    """The rules; the bodies of those with variants are folded with `combine`."""

    def combined(rule: Rule) -> Rule:
        has_variants = any(isinstance(expr, Variants) for expr in inside(rule))
        return replace(rule, body=fold(rule.body, combine)) if has_variants else rule

    return tuple(map(combined, grammar.rules))


def _columns(rows: Rows, made: list[Rule]) -> tuple[list[Expr], list[Expr]]:
    """Rules for the texts and the parts of rows, and what refers to them."""
    texts: list[Expr] = [Terminal(shown_text(one), text(one)) for one in rows.texts]
    columns: tuple[list[Expr], list[Expr]] = ([], [])
    for column, bodies, capture in zip(columns, (texts, rows.parts), rows.captures, strict=True):
        for number, body in enumerate(bodies, 1):
            name = f"{capture or 'row'}#{rows.name}.{number}"
            made.append(Rule(name, body, capture=capture))
            column.append(RuleRef(name))
    return columns


def _row(body: list[Expr], one: Expr, part: Expr) -> Expr:
    return Sequence(tuple((one if expr.of == "text" else part) if isinstance(expr, Slot) else expr for expr in body))


def shown_text(text: str) -> str:
    """How messages show a fixed text."""
    return '"' + text.replace("\n", "\\n") + '"'
