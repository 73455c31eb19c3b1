r"""Warnings about ignored terminals that take the beginning of what follows them, under longest match.

With `%ignore /[ ]+(\/\*.*?\*\/)?/` a space and the `/` behind it are the beginning of a comment, so that no division
has a space before it. This is what can be seen without a search; `cfgmask check` looks at the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from cfgmask.diagnostics import Diagnostic, Related, quoted
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import GrammarIR, Scope, Terminal
from cfgmask.grammar.regex_tree import Alternation, Literal
from cfgmask.grammar.walk import walk
from cfgmask.limits import Limits
from cfgmask.regex.algebra import Automaton, RegexAlgebra

_LIMITS = Limits(max_search_steps=2_000, max_regex_nodes=50_000)
_MAX_STATES = 100
_SPACE = ord(" ")


def greedy_ignores(ir: GrammarIR) -> Iterator[Diagnostic]:
    """A warning for each scope of a grammar whose ignored text takes a literal's beginning after a space.

    Linear in the grammar, beside automata of at most 100 states.
    """
    if ir.lexer == "complete" or ir.indenter is not None or not any(scope.ignore for scope in ir.scopes):
        return
    algebra = RegexAlgebra(_LIMITS)
    for number, scope in enumerate(ir.scopes):
        if not scope.ignore:
            continue
        terminals = list(
            {
                expr.name: expr
                for rule in ir.rules
                if rule.scope == number
                for expr in walk(rule.body)
                if isinstance(expr, Terminal)
            }.values()
        )
        try:
            yield from _in_scope(scope, terminals, algebra)
        except LimitExceeded:
            continue


def _in_scope(scope: Scope, terminals: list[Terminal], algebra: RegexAlgebra) -> Iterator[Diagnostic]:
    trees = [terminal.regex for terminal in scope.ignore]
    automaton = algebra.automaton([Alternation(tuple(trees))], _MAX_STATES)
    at_space = None if automaton is None else _step(automaton, 0, _SPACE)
    if automaton is None or at_space is None or not automaton[at_space][1]:
        return
    if any(algebra.is_prefix(terminal.regex, b" ") for terminal in terminals):
        return
    for terminal in terminals:
        if not isinstance(terminal.regex, Literal):
            continue
        taken = _taken(automaton, at_space, terminal.regex.data)
        if taken:
            text = b" " + terminal.regex.data[:taken]
            taker = next(t for t in scope.ignore if algebra.is_prefix(t.regex, text))
            yield blocked_by_ignored(taker, terminal, text)
            return


def _taken(automaton: Automaton, state: int, data: bytes) -> int:
    """How many bytes of a literal are taken as part of ignored text that they and a space do not end; 0: none is."""
    at: int | None = state
    for number, byte in enumerate((*data, _SPACE)):
        assert at is not None
        at = _step(automaton, at, byte)
        if at is None:
            return number
        if automaton[at][1]:
            return 0
    return 0


def _step(automaton: Automaton, state: int, byte: int) -> int | None:
    return next((target for bits, target in automaton[state][2] if bits >> byte & 1), None)


def blocked_by_ignored(taker: Terminal, literal: Terminal, text: bytes) -> Diagnostic:
    """What to report where ignored text takes the beginning of a literal."""
    return Diagnostic(
        "lark-ignored-text",
        f"the ignored `{taker.name}` takes {quoted(text)}, so {literal.name} cannot follow a space",
        taker.span,
        severity="warning",
        related=() if literal.span is None else (Related(literal.span, "it should begin there"),),
        help="ignore white space and comments by two statements, neither of which begins with the other",
    )
