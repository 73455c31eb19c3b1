"""Parts of a grammar whose rules the core makes when a text first reaches them, and the same grammar without parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.embedding import include, with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Part, Rule, RuleRef, Variants
from cfgmask.grammar.variants import spread
from cfgmask.grammar.walk import fold, inside
from cfgmask.problems import Problems


def parts_of(grammar: GrammarIR) -> list[Part]:
    """The parts in the grammar's rules, each once, in the order in which they stand there. Linear."""
    return list({id(expr): expr for expr in _parts(grammar.rules)}.values())


def expanded(grammar: GrammarIR, which: Collection[Part] | None = None) -> GrammarIR:
    """The same grammar with rules in place of these parts, of all for None, and then with their notes. Linear in them.

    If there are such parts, it has no variants then.

    Raises LimitExceeded where the rules of a part take more than its limits allow.
    """
    starts: dict[int, str] = {}
    scopes = list(grammar.scopes)
    made: list[Rule] = []
    for part in parts_of(grammar) if which is None else which:
        starts[id(part)] = include(part.lower(part.name), made, scopes)
    if not starts:
        return grammar
    grammar = spread(grammar)

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, Part):
            return RuleRef(starts[id(expr)], expr.span) if id(expr) in starts else expr
        return with_operands(expr, parts)

    rules = [replace(rule, body=fold(rule.body, combine)) if any(_parts([rule])) else rule for rule in grammar.rules]
    notes = notes_of(grammar) if which is None else grammar.notes
    return replace(grammar, rules=(*rules, *made), scopes=tuple(scopes), notes=notes)


def notes_of(grammar: GrammarIR) -> tuple[Diagnostic, ...]:
    """The grammar's notes and those of its parts, in the order of the text. Linear in the schemas."""
    found = Problems("")
    found.extend(grammar.notes)
    for part in parts_of(grammar):
        found.extend(part.notes())
    return found.warnings


def with_lazy_parts(grammar: GrammarIR) -> GrammarIR:
    """The grammar with the parts alone that the core can leave until a text reaches them. Linear.

    Nonterminals with parameters are numbered behind all others.
    """
    # Most grammars have none, and are not searched for parts.
    is_parametric = any(rule.parametric for rule in grammar.rules)
    return expanded(grammar, parts_of(grammar)) if is_parametric else grammar


def without_limited_parts(grammar: GrammarIR) -> GrammarIR:
    """The grammar with rules in place of the parts that a rule with a limit on its tokens leads to. Linear in them."""
    return expanded(grammar, _within_limits(grammar))


def _parts(rules: Iterable[Rule]) -> Iterable[Part]:
    for rule in rules:
        for expr in inside(rule):
            if isinstance(expr, Part):
                yield expr
            elif isinstance(expr, Variants):
                yield from expr.rows.parts


def _within_limits(grammar: GrammarIR) -> list[Part]:
    """The parts that a rule with a limit on its tokens leads to."""
    rules = {rule.name: rule for rule in grammar.rules}
    pending = [rule.name for rule in grammar.rules if rule.max_tokens is not None]
    reached = set(pending)
    found: dict[int, Part] = {}
    while pending:
        for expr in inside(rules[pending.pop()]):
            if isinstance(expr, Part):
                found[id(expr)] = expr
            elif isinstance(expr, Variants):
                found.update((id(part), part) for part in expr.rows.parts)
            elif isinstance(expr, RuleRef) and expr.name not in reached:
                reached.add(expr.name)
                pending.append(expr.name)
    return list(found.values())
