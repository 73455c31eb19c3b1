"""How deep the values of a grammar of JSON are nested."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, RuleRef, Sequence
from cfgmask.grammar.walk import fold, walk
from tests.reference.json_schema import lexemes


def is_deeper(grammar: GrammarIR, depth: int) -> bool:
    """Whether some rule may be reached inside of more than so many brackets. Linear, times the depth."""
    flat: dict[str, set[str]] = {}
    opened: dict[str, set[str]] = {}
    for rule in grammar.rules:
        opened[rule.name] = {ref.name for expr in walk(rule.body) if _is_block(expr) for ref in _references(expr)}
        flat[rule.name] = {ref.name for ref in _references(rule.body)} - opened[rule.name]
    level = _closure({grammar.start}, flat)
    for _ in range(depth):
        deeper = _closure({name for outer in level for name in opened[outer]}, flat)
        if deeper == level:
            break
        level = deeper
    return any(opened[name] for name in level)


def least_depth(grammar: GrammarIR) -> float:
    """How deep the least nested value is. A few times linear, but for values that all are deep."""
    depths = dict.fromkeys((rule.name for rule in grammar.rules), math.inf)

    def combine(expr: Expr, parts: list[float]) -> float:
        if isinstance(expr, RuleRef):
            return depths[expr.name]
        if isinstance(expr, Sequence):
            return max(parts, default=0) + _is_block(expr)
        if isinstance(expr, Choice):
            return min(parts, default=math.inf)
        if isinstance(expr, Repeat):
            return parts[0] if expr.minimum else 0
        return 0

    # Rules stand before those that they lead to.
    last_first = grammar.rules[::-1]
    is_changed = True
    while is_changed:
        is_changed = False
        for rule in last_first:
            depth = fold(rule.body, combine)
            is_changed |= depth < depths[rule.name]
            depths[rule.name] = depth
    return depths[grammar.start]


def _is_block(expr: Expr) -> bool:
    return isinstance(expr, Sequence) and bool(expr.parts) and lexemes.mark(expr.parts[0]) in lexemes.OPEN


def _references(expr: Expr) -> Iterator[RuleRef]:
    return (part for part in walk(expr) if isinstance(part, RuleRef))


def _closure(names: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    found = set(names)
    todo = list(found)
    while todo:
        new = edges[todo.pop()] - found
        found |= new
        todo.extend(new)
    return found
