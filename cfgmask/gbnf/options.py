"""What xgrammar's EBNF writes in brackets behind the name of a rule: `name[lazy, max_chars=20] ::= ...`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

from cfgmask.diagnostics import shortened
from cfgmask.gbnf.tokens import Token
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.grammar.walk import children, fold, walk
from cfgmask.limits import Limits
from cfgmask.problems import Problems
from cfgmask.regex.algebra import RegexAlgebra
from cfgmask.suggest import did_you_mean


@dataclass(frozen=True)
class RuleOptions:
    """The options of a rule; with `lazy` or `max_chars` it is one terminal."""

    capture: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_chars: int | None = None
    lazy: bool = False

    @property
    def is_one_terminal(self) -> bool:
        """Whether the rule's body is one regex, which says where it ends."""
        return self.lazy or self.max_chars is not None


NO_OPTIONS = RuleOptions()


@dataclass(frozen=True)
class _Option:
    """What an option takes: `read` gives the value, or None for one that it does not take."""

    needs: str
    read: Callable[[str], object]


def _count(text: str) -> object:
    is_count = text.isascii() and text.isdigit() and len(text) <= len(str(regex.MAX_COUNT))
    return int(text) if is_count and int(text) <= regex.MAX_COUNT else None


def _number(text: str) -> object:
    if not re.fullmatch(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?", text):
        return None
    return float(text) if isfinite(float(text)) else None


def _name(text: str) -> object:
    return text[1:-1] if text[:1] == '"' and "\\" not in text and len(text) > len('""') else None


_OPTIONS = {
    "capture": _Option('takes a name in quotes, or nothing: `capture="name"`', _name),
    "lazy": _Option("takes no value", lambda text: None),
    "max_chars": _Option("needs a whole number: `max_chars=20`", _count),
    "max_tokens": _Option("needs a whole number from 1: `max_tokens=20`", lambda text: _count(text) or None),
    "temperature": _Option("needs a number that is not negative: `temperature=0.7`", _number),
}
_PART = re.compile(r'[ \t]*([A-Za-z_]\w*)[ \t]*(?:=[ \t]*("(?:[^"\\]|\\.)*"|[^\s,"]+)[ \t]*)?(,|$)', re.ASCII)


def read_options(rule: Token, written: Token, problems: Problems) -> RuleOptions:
    """The options of a rule. What is unknown or wrong is reported and left out. Linear."""
    inside, values, at = written.text[1:-1], dict[str, Any](), 0
    while at <= len(inside):
        part = _PART.match(inside, at)
        if part is None or (part[3] and part.end() == len(inside)):
            message, help = "these are no options of a rule", "write `name[lazy, max_chars=20] ::= ...`"
            problems.error("gbnf-bad-option", message, written.span, help=help)
            return NO_OPTIONS
        name, value, place = part[1], part[2], written.span.within(1 + part.start(1), 1 + part.end(1))
        option = _OPTIONS.get(name)
        if option is None:
            help = did_you_mean(name, _OPTIONS) or "known are " + ", ".join(f"`{known}`" for known in _OPTIONS)
            message = f"there is no option `{shortened(name)}` of rules"
            problems.error("gbnf-bad-option", message, place, help=help)
        elif name in values:
            problems.error("gbnf-bad-option", f"`{name}` is given twice", place)
        else:
            read: object = {"lazy": True, "capture": rule.text}.get(name) if value is None else option.read(value)
            values[name] = read
            if read is None:
                problems.error("gbnf-bad-option", f"`{name}` {option.needs}", place)
        if not part[3]:
            break
        at = part.end()
    return RuleOptions(**values)


class _NoRegex(Exception):
    """`expr` keeps a rule from being one terminal, for the reason."""

    def __init__(self, expr: ir.RuleRef | ir.TokenSet | ir.Terminal, reason: str) -> None:
        super().__init__(reason)
        self.expr = expr
        self.reason = reason


def with_options(
    grammar: ir.GrammarIR, options: Mapping[str, RuleOptions], limits: Limits, problems: Problems
) -> ir.GrammarIR:
    """The grammar with rules as their options say. Reports bodies that are no regex, and limits that no text keeps.

    Every rule that is used must be defined, and be able to end. Linear in what leads to such rules.
    """
    rules = {rule.name: rule for rule in grammar.rules}
    for name, chosen in options.items():
        rule = rules.get(name)
        if rule is None:
            continue
        if chosen.is_one_terminal:
            try:
                rule = replace(rule, body=_one_terminal(rule, chosen, rules, options, limits, problems))
            except _NoRegex as error:
                message = f"the options of `{shortened(name)}` make it one terminal, which cannot hold this: {error}"
                problems.error("gbnf-option-needs-regex", message, error.expr.span)
        rules[name] = replace(
            rule, capture=chosen.capture, temperature=chosen.temperature, max_tokens=chosen.max_tokens
        )
    return replace(grammar, rules=tuple(rules.values()))


def _one_terminal(
    rule: ir.Rule,
    chosen: RuleOptions,
    rules: Mapping[str, ir.Rule],
    options: Mapping[str, RuleOptions],
    limits: Limits,
    problems: Problems,
) -> ir.Expr:
    tree, algebra = _regex_of(rule, rules, options), RegexAlgebra(limits)
    if chosen.max_chars is not None:
        tree = regex.Intersection((tree, regex.Repetition(regex.ANY_CHAR, 0, chosen.max_chars)))
        if algebra.is_empty(tree):
            message = f"no text of `{shortened(rule.name)}` has at most {chosen.max_chars} characters"
            problems.error("gbnf-limit-too-small", message, rule.span, help="raise `max_chars`")
    if chosen.lazy and algebra.matches(tree, b""):
        message = f"the shortest text of the lazy rule `{shortened(rule.name)}` is empty, so it is all that it matches"
        problems.warning("gbnf-empty-lazy", message, rule.span, help="say what it ends with")
        return ir.Sequence(())
    return ir.Terminal(rule.name, tree, lazy=chosen.lazy, span=rule.span)


def _regex_of(root: ir.Rule, rules: Mapping[str, ir.Rule], options: Mapping[str, RuleOptions]) -> regex.RegexTree:
    """The texts of a rule as a regex. Raises _NoRegex."""
    known: dict[str, regex.RegexTree] = {}
    open_rules: set[str] = set()
    pending = [root.name]
    while pending:
        name = pending[-1]
        missing = []
        for used in _uses(rules[name].body):
            if used.name in open_rules | {name} and used.name not in known:
                raise _NoRegex(used, f"`{shortened(used.name)}` leads to itself")
            if used.name in options:
                raise _NoRegex(used, f"`{shortened(used.name)}` has options of its own")
            if used.name not in known:
                missing.append(used.name)
        if missing:
            open_rules.add(name)
            pending += missing
            continue
        pending.pop()
        open_rules.discard(name)
        if name not in known:
            known[name] = _tree(rules[name].body, known)
    return known[root.name]


def _uses(body: ir.Expr) -> Iterator[ir.RuleRef]:
    return (expr for expr in walk(body) if isinstance(expr, ir.RuleRef))


def _tree(body: ir.Expr, known: Mapping[str, regex.RegexTree]) -> regex.RegexTree:
    def combine(expr: ir.Expr, parts: list[regex.RegexTree]) -> regex.RegexTree:
        if isinstance(expr, ir.RuleRef):
            return known[expr.name]
        if isinstance(expr, ir.TokenSet):
            raise _NoRegex(expr, "tokens have no text")
        if isinstance(expr, ir.Terminal):
            return expr.regex
        if isinstance(expr, ir.Repeat):
            return regex.Repetition(parts[0], expr.minimum, expr.maximum)
        assert len(parts) == len(children(expr))
        return regex.Alternation(tuple(parts)) if isinstance(expr, ir.Choice) else regex.Concatenation(tuple(parts))

    return fold(body, combine)
