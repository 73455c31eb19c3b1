"""Which rules a grammar defines, and whether every rule that it uses is one of them."""

from __future__ import annotations

from cfgmask.diagnostics import Diagnostic, Fix, Related, Span, shortened
from cfgmask.gbnf.habits import ignoring_case
from cfgmask.gbnf.reader import Document
from cfgmask.grammar import ir
from cfgmask.grammar.walk import walk
from cfgmask.problems import Problems
from cfgmask.suggest import closest, question

ROOT = "root"
_LEAST_NAME = len("[ab]")
_BOTH_CASES = "write each letter in both cases"


def defined_rules(document: Document, start: str, problems: Problems) -> dict[str, ir.Rule]:
    """The rules by name. Reports what is defined twice or not at all, and a missing start rule. Linear."""
    rules: dict[str, ir.Rule] = {}
    for rule in document.rules:
        first = rules.setdefault(rule.name, rule)
        if first is not rule:
            related = (Related(first.span, "it is first defined here"),) if first.span is not None else ()
            message = f"the rule `{shortened(rule.name)}` is defined twice"
            problems.error("gbnf-duplicate", message, rule.span, related=related)
    known = rules.keys() | document.broken
    _warn_of_optional_names(document, rules, problems)
    for written in (*(rule.body for rule in document.rules), *document.hints):
        for expr in walk(written):
            if isinstance(expr, ir.RuleRef) and expr.name not in known:
                message = f"there is no rule `{shortened(expr.name)}`"
                close = closest(expr.name, known)
                help = None if close is None else question(close)
                fix = None if close is None or expr.span is None else Fix(expr.span, close)
                if expr.span is not None and (string := ignoring_case(expr.span)) is not None:
                    message, help, fix = "GBNF has no strings that ignore case", _BOTH_CASES, string
                problems.error("gbnf-unknown-rule", message, expr.span, help=help, fix=fix)
    if start not in known:
        _refuse_without_start(document, start, problems)
    return rules


def _warn_of_optional_names(document: Document, rules: dict[str, ir.Rule], problems: Problems) -> None:
    """`[sign]`, where there is a rule `sign`, is what other notations write for `sign?`."""
    for rule in document.rules:
        for expr in walk(rule.body):
            span = expr.span if isinstance(expr, ir.Terminal) else None
            text = "" if span is None else span.text
            if span is None or text[:1] != "[" or len(text) < _LEAST_NAME or text[1:-1] not in rules:
                continue
            name = text[1:-1]
            message = f"`{text}` is one of the characters {', '.join(dict.fromkeys(name))}, not the rule `{name}`"
            help = f"what may be left out is written `{name}?`"
            problems.add(
                Diagnostic(
                    "gbnf-class-of-name", message, span, severity="warning", help=help, fix=Fix(span, f"{name}?")
                )
            )


def _refuse_without_start(document: Document, start: str, problems: Problems) -> None:
    if not document.rules and not document.broken:
        problems.raise_errors()
        span = Span(document.source, 0, 0)
        problems.error("gbnf-empty", "the grammar is empty", span, help="write at least `root ::= ...`")
        return
    first = document.rules[0] if document.rules else None
    span = first.span if first is not None and first.span is not None else Span(document.source, 0, 0)
    wanted = shortened(first.name) if first is not None else "..."
    help = f"every text of the grammar is a `{start}`: write `{start} ::= {wanted}`"
    problems.error("gbnf-no-root", f"the grammar has no rule `{start}`", span, help=help)
