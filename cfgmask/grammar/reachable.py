"""Which rules a text can use, and a grammar without the others."""

from __future__ import annotations

from dataclasses import replace

from cfgmask.grammar.ir import GrammarIR, RuleRef
from cfgmask.grammar.walk import walk


def reachable_rules(grammar: GrammarIR) -> frozenset[str]:
    """The names of the rules that `start` leads to, itself included. Linear in the grammar."""
    bodies = {rule.name: rule.body for rule in grammar.rules}
    reached = {grammar.start}
    pending = [grammar.start]
    while pending:
        for expr in walk(bodies[pending.pop()]):
            if isinstance(expr, RuleRef) and expr.name not in reached:
                reached.add(expr.name)
                pending.append(expr.name)
    return frozenset(reached)


def without_unreachable(grammar: GrammarIR) -> GrammarIR:
    """The same language without rules that no text uses. Linear."""
    reached = reachable_rules(grammar)
    return replace(grammar, rules=tuple(rule for rule in grammar.rules if rule.name in reached))
