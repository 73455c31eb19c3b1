r"""Warnings about ignored terminals that take the beginning of what follows them, under longest match.

With `%ignore /[ ]+(\/\*.*?\*\/)?/` a space and the `/` behind it are the beginning of a comment, so that no division
has a space before it. This is what can be seen without a search; `cfgmask check` looks at the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from cfgmask.diagnostics import Diagnostic, Related, quoted
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import GrammarIR, Terminal
from cfgmask.grammar.regex_tree import Alternation, Literal, RegexTree
from cfgmask.grammar.walk import inside
from cfgmask.limits import Limits
from cfgmask.regex.algebra import Automaton, RegexAlgebra

_LIMITS = Limits(max_search_steps=2_000, max_regex_nodes=50_000)
_MAX_STATES = 100
_SPACE = ord(" ")


def greedy_ignores(ir: GrammarIR) -> Iterator[Diagnostic]:
    """A warning for each scope of a grammar whose ignored text takes a literal's beginning after a space.

    Linear in the grammar, beside automata of at most 100 states.
    """
    if ir.lexer == "complete" or ir.indenter is not None:
        return
    for number, scope in enumerate(ir.scopes):
        if scope.ignore:
            yield from _in_scope(ir, number)


def _in_scope(ir: GrammarIR, number: int) -> Iterator[Diagnostic]:
    ignored = ir.scopes[number].ignore
    try:
        after_space = _after_space(tuple(terminal.regex for terminal in ignored))
        if after_space is None:
            return
        rules = (rule for rule in ir.rules if rule.scope == number)
        terminals = {expr.name: expr for rule in rules for expr in inside(rule) if isinstance(expr, Terminal)}
        for terminal in terminals.values():
            if not isinstance(terminal.regex, Literal):
                continue
            data = terminal.regex.data
            taken = _taken(*after_space, data)
            if not taken:
                continue
            algebra = RegexAlgebra(_LIMITS)
            if not any(algebra.is_prefix(other.regex, b" ") for other in terminals.values()):
                text = b" " + data[:taken]
                taker = next(t for t in ignored if algebra.is_prefix(t.regex, text))
                yield blocked_by_ignored(taker, terminal, text)
            return
    except LimitExceeded:
        return


@lru_cache(maxsize=8)
def _after_space(ignored: tuple[RegexTree, ...]) -> tuple[Automaton, int] | None:
    """An automaton of ignored texts and its state after a space; None if that is not one of them, or there are many.

    Most grammars ignore what others do. Few are kept, since a stranger's may be as large as a grammar.
    """
    automaton = RegexAlgebra(_LIMITS).automaton([Alternation(ignored)], _MAX_STATES)
    at_space = None if automaton is None else _step(automaton, 0, _SPACE)
    if automaton is None or at_space is None or not automaton[at_space][1]:
        return None
    return automaton, at_space


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
