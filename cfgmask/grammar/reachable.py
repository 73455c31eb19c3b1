"""Which rules a text can use, and a grammar without the others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cfgmask.grammar.ir import GrammarIR, RuleRef
from cfgmask.grammar.walk import inside


def reachable_rules(grammar: GrammarIR) -> frozenset[str]:
    """The names of the rules that `start` leads to, itself included. Linear in the grammar."""
    rules = {rule.name: rule for rule in grammar.rules}
    reached = {grammar.start}
    pending = [grammar.start]
    while pending and len(reached) < len(rules):
        for expr in inside(rules[pending.pop()]):
            if isinstance(expr, RuleRef) and expr.name not in reached:
                reached.add(expr.name)
                pending.append(expr.name)
    return frozenset(reached)


def without_unreachable(grammar: GrammarIR, reached: Collection[str] | None = None) -> GrammarIR:
    """The same language without rules that no text uses. Linear.

    reached  what `reachable_rules` gave for this grammar, if it is known
    """
    if reached is None:
        reached = reachable_rules(grammar)
    if len(reached) == len(grammar.rules):
        return grammar
    return replace(grammar, rules=tuple(rule for rule in grammar.rules if rule.name in reached))
