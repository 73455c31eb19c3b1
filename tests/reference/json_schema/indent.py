"""Indentation as `json.dumps(indent=n)` writes it: a pass over the finished grammar.

How far a line is indented depends on how deep it is, which a context-free grammar can only know by having rules of each
depth. So every rule is copied for each depth at which it is reached, and depth is bounded. A second thing that copies
know is whether a bracket was just opened: `[]` has no line break inside.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, SetBounds, Terminal
from cfgmask.grammar.productive import productive_rules, without_nonproductive
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.grammar.regex_tree import text
from cfgmask.grammar.walk import children, walk
from cfgmask.json_schema.problems import MAX_DEPTH, TOO_DEEP, too_deep
from cfgmask.limits import Limits
from tests.reference.json_schema import lexemes


class _At(NamedTuple):
    """depth  how many brackets are open
    opened  whether the last of them was just written
    """

    depth: int
    opened: bool


# An expression and where it leads, for each place that it may lead to.
_Ways = list[tuple[Expr, _At]]


def indented(grammar: GrammarIR, width: int, limits: Limits) -> GrammarIR:
    """The texts of the grammar with line breaks, each line indented by so many blanks a depth.

    The grammar is one of JSON values without white space. Values that are nested deeper than `MAX_DEPTH` are left out,
    which a note says where there may be any.
    Errors: GrammarError where every value is so deep; LimitExceeded(max_rules).
    Cost: linear in the rules that are reached, times the depths at which they are.
    """
    copies = _Copies(grammar, width, limits)
    start = copies.name(grammar.start, _At(0, opened=False))
    rules = copies.make()
    made = replace(grammar, rules=tuple(rules), start=start)
    if not copies.left_out:
        return made
    live = productive_rules(made)
    if start not in live:
        problem = Diagnostic("schema-indent-depth", TOO_DEEP, pointer="", help="leave indent out")
        raise GrammarError([problem])
    made = without_unreachable(without_nonproductive(made, live))
    return replace(made, notes=(*made.notes, too_deep()))


class _Copies:
    """The copies of rules while they are made."""

    def __init__(self, grammar: GrammarIR, width: int, limits: Limits) -> None:
        self.left_out = False
        self._rules = {rule.name: rule for rule in grammar.rules}
        self._closed = closed_brackets(grammar)
        self._width = width
        self._limits = limits
        self._names: dict[tuple[str, _At], str] = {}
        self._todo: list[tuple[str, _At]] = []

    def make(self) -> list[Rule]:
        """Every copy that was named, and those that they need."""
        made = []
        while self._todo:
            name, at = self._todo.pop()
            rule = self._rules[name]
            ways = self._expression(rule.body, at)
            body = _choice([expr for expr, _ in ways])
            made.append(replace(rule, name=self._names[name, at], body=body, opens_set=_counted(rule.opens_set)))
        return made

    def name(self, rule: str, at: _At) -> str:
        """The name of a copy."""
        found = self._names.get((rule, at))
        if found is None:
            found = self._names[rule, at] = f"{rule}@{at.depth}{'+' if at.opened else ''}"
            self._todo.append((rule, at))
            if len(self._names) > self._limits.max_rules:
                raise LimitExceeded("max_rules", self._limits.max_rules, "the depths of an indented JSON Schema")
        return found

    def _expression(self, expr: Expr, at: _At) -> _Ways:
        if isinstance(expr, RuleRef):
            after = _At(at.depth - self._closed[expr.name], opened=False)
            return [(RuleRef(self.name(expr.name, at), expr.span), after)]
        if isinstance(expr, Sequence):
            return self._sequence(expr, at)
        if isinstance(expr, Choice):
            return _merged([way for part in expr.parts for way in self._expression(part, at)])
        if isinstance(expr, Repeat):
            return self._repeat(expr, at)
        return self._lexeme(expr, at)

    def _sequence(self, sequence: Sequence, at: _At) -> _Ways:
        ways: _Ways = [(Sequence(()), at)]
        for part in sequence.parts:
            ways = _merged(
                [(_after(before, expr), end) for before, middle in ways for expr, end in self._expression(part, middle)]
            )
        return ways

    def _repeat(self, repeat: Repeat, at: _At) -> _Ways:
        """What is repeated leads from a place to the same place, but for the bracket that was just opened."""
        inside = _At(at.depth, opened=False)
        again = _choice([expr for expr, _ in self._expression(repeat.body, inside)])
        if not at.opened:
            return [(replace(repeat, body=again), inside)]
        fewer = None if repeat.maximum is None else repeat.maximum - 1
        rest = Repeat(again, max(repeat.minimum - 1, 0), fewer)
        first = [(_after(expr, rest), inside) for expr, _ in self._expression(repeat.body, at)]
        return _merged([*([(Sequence(()), at)] if repeat.minimum == 0 else []), *first])

    def _lexeme(self, expr: Expr, at: _At) -> _Ways:
        mark = lexemes.mark(expr)
        if mark == lexemes.COLON:
            return [(_written(expr, ": "), at)]
        if mark == lexemes.COMMA:
            return [(_written(expr, "," + self._line(at.depth)), at)]
        if mark in lexemes.CLOSE:
            before = "" if at.opened else self._line(at.depth - 1)
            bracket = "}" if mark in lexemes.CLOSE_OBJECTS else "]"
            return [(_written(expr, before + bracket), _At(at.depth - 1, opened=False))]
        if at.opened:
            line = _fixed(self._line(at.depth))
            return [(_after(line, rest), after) for rest, after in self._lexeme(expr, _At(at.depth, opened=False))]
        if mark is None:
            return [(replace(expr, endless="") if isinstance(expr, Terminal) else expr, at)]
        if at.depth == MAX_DEPTH:
            self.left_out = True
            return []
        return [(expr, _At(at.depth + 1, opened=True))]

    def _line(self, depth: int) -> str:
        return "\n" + " " * (self._width * depth)


def _counted(bounds: SetBounds | None) -> SetBounds | None:
    """The bounds of a set in which braces are not lexemes by themselves."""
    return None if bounds is None else replace(bounds, endless=False)


def closed_brackets(grammar: GrammarIR) -> dict[str, int]:
    """How many more brackets each rule closes than it opens; for every rule that can end.

    Found from the rules that need no other, along their callers.
    """
    found: dict[str, int] = {}
    callers: dict[str, list[Rule]] = {}
    for rule in grammar.rules:
        for expr in walk(rule.body):
            if isinstance(expr, RuleRef):
                callers.setdefault(expr.name, []).append(rule)
    todo = list(grammar.rules)
    while todo:
        rule = todo.pop()
        if rule.name not in found and (closed := _closed(rule.body, found)) is not None:
            found[rule.name] = closed
            todo.extend(callers.get(rule.name, ()))
    return found


def _closed(expr: Expr, known: dict[str, int]) -> int | None:
    """The same of an expression; None while that is not known of what it needs."""
    if isinstance(expr, RuleRef):
        return known.get(expr.name)
    if isinstance(expr, Repeat):
        return 0
    parts = [_closed(part, known) for part in children(expr)]
    if isinstance(expr, Choice):
        return next((closed for closed in parts if closed is not None), None)
    if isinstance(expr, Sequence):
        return None if None in parts else sum(closed for closed in parts if closed is not None)
    mark = lexemes.mark(expr)
    return (mark in lexemes.CLOSE) - (mark in lexemes.OPEN)


def _merged(ways: _Ways) -> _Ways:
    """The ways with those joined that lead to the same place."""
    found: dict[_At, list[Expr]] = {}
    for expr, at in ways:
        found.setdefault(at, []).append(expr)
    return [(_choice(exprs), at) for at, exprs in found.items()]


def _choice(exprs: list[Expr]) -> Expr:
    return exprs[0] if len(exprs) == 1 else Choice(tuple(exprs))


def _after(first: Expr, second: Expr) -> Expr:
    """One expression after the other."""
    parts = first.parts if isinstance(first, Sequence) else (first,)
    return Sequence((*parts, *(second.parts if isinstance(second, Sequence) else (second,))))


def _fixed(lexeme: str) -> Terminal:
    return Terminal(json.dumps(lexeme), text(lexeme))


def _written(mark: Expr, lexeme: str) -> Terminal:
    assert isinstance(mark, Terminal)
    return replace(mark, name=json.dumps(lexeme), regex=text(lexeme))
