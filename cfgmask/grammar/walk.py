"""Going through expressions of the IR without recursion: they may be deep, and share parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from cfgmask.grammar.ir import Choice, Expr, Guarded, Repeat, Rule, RuleRef, Sequence, Terminal, Variants

T = TypeVar("T")


def children(expr: Expr) -> tuple[Expr, ...]:
    """The parts of an expression, in order; none for a leaf."""
    if isinstance(expr, (Sequence, Choice)):
        return expr.parts
    if isinstance(expr, (Repeat, Guarded)):
        return (expr.body,)
    if isinstance(expr, Variants):
        return expr.body
    return ()


def inside(rule: Rule) -> tuple[Expr, ...]:
    """What `walk` gives of a rule's body. It is kept with the rule: five questions of a grammar ask it."""
    kept = vars(rule)
    if "_inside" not in kept:
        kept["_inside"] = tuple(walk(rule.body))
    found: tuple[Expr, ...] = kept["_inside"]
    return found


def walk(root: Expr) -> Iterator[Expr]:
    """Every expression in `root`, parents first; one that is shared comes once."""
    seen: set[int] = set()
    pending = [root]
    while pending:
        expr = pending.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        yield expr
        kind = type(expr)
        # Most expressions are one of these.
        if kind is Terminal or kind is RuleRef:
            continue
        if isinstance(expr, (Sequence, Choice)):
            pending += expr.parts[::-1]
        elif isinstance(expr, (Repeat, Guarded)):
            pending.append(expr.body)
        elif isinstance(expr, Variants):
            pending += expr.body[::-1]


def fold(root: Expr, combine: Callable[[Expr, list[T]], T]) -> T:
    """Combine an expression from its leaves up: `combine(expr, results of its parts)`, once for what is shared."""
    parts = children(root)
    if not parts:
        return combine(root, [])  # as many are
    results: dict[int, T] = {}
    pending = [root]
    while pending:
        expr = pending[-1]
        parts = children(expr)
        missing: list[Expr] = []
        for part in parts:
            if id(part) in results:
                continue
            # Most expressions are one of these; in the order of all parts.
            if not missing and isinstance(part, (Terminal, RuleRef)):
                results[id(part)] = combine(part, [])
            else:
                missing.append(part)
        if missing:
            pending.extend(reversed(missing))
            continue
        pending.pop()
        if id(expr) not in results:
            results[id(expr)] = combine(expr, [results[id(part)] for part in parts])
    return results[id(root)]
