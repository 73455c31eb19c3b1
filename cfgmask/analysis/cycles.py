"""Rules that derive themselves with nothing around them, and repetitions of what may be empty: endless derivations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from cfgmask.analysis.corrections import EmptyRules, starred, without_alternative
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.reach import components
from cfgmask.analysis.sets import Sets
from cfgmask.diagnostics import Diagnostic, Fix, Span
from cfgmask.grammar.ir import Choice, Expr, Guarded, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.walk import fold, walk

_SHOWN_RULES = 5


def cycles(flat: Flat, sets: Sets) -> Iterator[Diagnostic]:
    """A warning for each group of rules that derive one another, on its first rule.

    Linear where there are none, and for each of them in the rules that derive one another.
    """
    callees = _back([list(_alone(flat, sets, n)) for n in range(len(flat.nonterminals))])
    reported: set[int] = set()
    for n, nonterminal in enumerate(flat.nonterminals):
        if nonterminal.is_rule and n not in reported:
            path = _way_back(callees, n)
            if path is not None:
                reported |= set(path)
                rules = list({flat.nonterminals[m].rule.name: flat.nonterminals[m].rule for m in path}.values())
                yield _cycle(rules, None if _has_other_way(callees, path) else _without_way_back(flat, rules))


def endless_repetitions(flat: Flat, sets: Sets) -> Iterator[Diagnostic]:
    """A warning for each repetition of what may be empty. Linear."""

    def is_nullable(expr: Expr) -> bool:
        return _is_nullable(flat, sets, expr)

    empty_rules: EmptyRules | None = None
    for repeat, loop in flat.repeats():
        # A turn with a leaf is not empty.
        turns = sets.leafless[~loop.symbol] if repeat.maximum is None else ()
        if any(_is_empty_turn(sets, turn, loop.symbol) for turn in turns):
            empty_rules = empty_rules or EmptyRules(flat.ir, is_nullable)
            yield Diagnostic(
                "grammar-endless-repetition",
                f"what is repeated here may be empty, so each text of `{loop.rule.name}` has endless derivations",
                repeat.span,
                severity="warning",
                help="repeat what is not empty",
                fix=starred(repeat, is_nullable) or empty_rules.correction(repeat),
            )


def _alone(flat: Flat, sets: Sets, n: int) -> Iterator[int]:
    """The nonterminals that may be all that is left of a nonterminal. The next turn of a repetition is none."""
    is_loop = isinstance(flat.nonterminals[n].expr, Repeat)
    for alternative in sets.leafless[n]:
        visible = [symbol for symbol in alternative if ~symbol not in sets.nullable]
        for symbol in alternative if not visible else visible if len(visible) == 1 else ():
            if not (is_loop and ~symbol == n):
                yield ~symbol


def _back(callees: list[list[int]]) -> list[list[int]]:
    """Of the edges those that may be part of a way back."""
    group = [0] * len(callees)
    for number, members in enumerate(components(callees)):
        for n in members:
            group[n] = number
    return [[m for m in of_one if group[m] == group[n]] if of_one else of_one for n, of_one in enumerate(callees)]


def _way_back(callees: list[list[int]], start: int) -> list[int] | None:
    """A shortest path from a nonterminal to itself, breadth first; None if there is none."""
    came_from: dict[int, int] = {}
    pending = [start]
    for n in pending:
        for callee in callees[n]:
            if callee == start:
                path = [n]
                while path[-1] != start:
                    path.append(came_from[path[-1]])
                return path[::-1]
            if callee not in came_from:
                came_from[callee] = n
                pending.append(callee)
    return None


def _has_other_way(callees: list[list[int]], path: list[int]) -> bool:
    """Whether the cycle's first nonterminal derives itself even without the last step of the cycle."""
    others = [*callees]
    others[path[-1]] = [*callees[path[-1]]]
    others[path[-1]].remove(path[0])
    return _way_back(others, path[0]) is not None


def _cycle(rules: list[Rule], fix: Fix | None) -> Diagnostic:
    names, rule = [rule.name for rule in rules], rules[0]
    shown = [*names[:_SHOWN_RULES], "..."] if len(names) > _SHOWN_RULES else [*names, names[0]]
    return Diagnostic(
        "grammar-cycle",
        f"the rule `{rule.name}` can derive itself with nothing around it: {' -> '.join(shown)}",
        rule.span,
        severity="warning",
        help="it adds no text and makes each one ambiguous: take that alternative out",
        fix=fix,
    )


def _without_way_back(flat: Flat, rules: list[Rule]) -> Fix | None:
    """The last rule of a cycle without the first one as an alternative, where the first has the same texts without it.

    That is so where only the rule before it in the cycle uses each other rule, and as an alternative.
    """
    if any(rule.capture is not None or rule.temperature is not None for rule in rules):
        return None
    uses = [expr.name for rule in flat.ir.rules for expr in walk(rule.body) if isinstance(expr, RuleRef)]
    for user, rule in pairwise(rules):
        if rule.name == flat.ir.start or uses.count(rule.name) > 1 or rule.name not in _lone_rules(user):
            return None
    span = _lone_rules(rules[-1]).get(rules[0].name)
    return None if span is None else without_alternative(span)


def _lone_rules(rule: Rule) -> dict[str, Span | None]:
    """The rules that are alternatives of a rule by themselves, and where."""
    alternatives = rule.body.parts if isinstance(rule.body, Choice) else (rule.body,)
    return {expr.name: expr.span for expr in alternatives if isinstance(expr, RuleRef)}


def _is_nullable(flat: Flat, sets: Sets, expr: Expr) -> bool:
    """Whether an expression may be empty."""

    def combine(part: Expr, below: list[bool]) -> bool:
        if isinstance(part, RuleRef):
            return ~flat.symbol_of(part.name) in sets.nullable
        if isinstance(part, Terminal):
            return flat.algebra.matches(part.regex, b"")
        if isinstance(part, Repeat):
            return not part.minimum or below[0]
        if isinstance(part, Guarded):
            return below[0]
        return any(below) if isinstance(part, Choice) else isinstance(part, Sequence) and all(below)

    return fold(expr, combine)


def _is_empty_turn(sets: Sets, turn: tuple[int, ...], loop: int) -> bool:
    """Whether an alternative of a repetition comes round with what may be empty."""
    return turn[-1:] == (loop,) and all(~symbol in sets.nullable for symbol in turn)
