"""Rules that derive themselves with nothing around them, and repetitions of what may be empty: endless derivations."""

from __future__ import annotations

from collections.abc import Iterator

from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.diagnostics import Diagnostic, Fix
from cfgmask.grammar.ir import Repeat, Rule

_SHOWN_RULES = 5


def cycles(flat: Flat, sets: Sets) -> Iterator[Diagnostic]:
    """A warning for each group of rules that derive one another, on its first rule. Linear."""
    callees = [list(_alone(flat, sets, n)) for n in range(len(flat.nonterminals))]
    reported: set[int] = set()
    for n, nonterminal in enumerate(flat.nonterminals):
        if nonterminal.is_rule and n not in reported:
            path = _way_back(callees, n)
            if path is not None:
                reported |= set(path)
                yield _cycle(list(dict.fromkeys(flat.nonterminals[m].rule.name for m in path)), nonterminal.rule)


def endless_repetitions(flat: Flat, sets: Sets) -> Iterator[Diagnostic]:
    """A warning for each repetition of what may be empty. Linear."""
    for repeat, nonterminal in flat.repeats():
        if repeat.maximum is None:
            repeated = _repeated(flat, nonterminal.symbol)
            if repeated is not None and ~repeated in sets.nullable:
                name = nonterminal.rule.name
                yield Diagnostic(
                    "grammar-endless-repetition",
                    f"what is repeated here may be empty, so each text of `{name}` has endless derivations",
                    repeat.span,
                    severity="warning",
                    help="repeat what is not empty",
                    fix=_without_option(repeat),
                )


def _alone(flat: Flat, sets: Sets, n: int) -> Iterator[int]:
    """The nonterminals that may be all that is left of a nonterminal. The next turn of a repetition is none."""
    is_loop = isinstance(flat.nonterminals[n].expr, Repeat)
    for alternative in flat.nonterminals[n].alternatives:
        visible = [symbol for symbol in alternative if symbol >= 0 or ~symbol not in sets.nullable]
        for symbol in alternative if not visible else visible if len(visible) == 1 else ():
            if symbol < 0 and not (is_loop and ~symbol == n):
                yield ~symbol


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


def _cycle(names: list[str], rule: Rule) -> Diagnostic:
    shown = [*names[:_SHOWN_RULES], "..."] if len(names) > _SHOWN_RULES else [*names, names[0]]
    return Diagnostic(
        "grammar-cycle",
        f"the rule `{rule.name}` can derive itself with nothing around it: {' -> '.join(shown)}",
        rule.span,
        severity="warning",
        help="it adds no text and makes each one ambiguous: take that alternative out",
    )


def _repeated(flat: Flat, symbol: int) -> int | None:
    """The nonterminal that a repetition repeats; None for a leaf."""
    for alternative in flat[symbol].alternatives:
        if alternative and alternative[0] < 0:
            return alternative[0] if alternative[0] != symbol else None
    return None


def _without_option(repeat: Repeat) -> Fix | None:
    """`("a"?)*` as `("a")*`."""
    inner = repeat.body
    if repeat.span is None or not isinstance(inner, Repeat) or inner.span is None or inner.minimum:
        return None
    outer_text, inner_text = repeat.span.text, inner.span.text
    if outer_text[-1] not in "*+":
        return None
    bare = inner_text[:-1] if inner_text[-1] in "?*" else f"({inner_text[1:-1]})" if inner_text[0] == "[" else None
    return None if bare is None else Fix(repeat.span, outer_text[:-1].replace(inner_text, bare, 1) + "*")
