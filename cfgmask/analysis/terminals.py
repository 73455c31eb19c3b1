"""What is wrong with single terminals: they match nothing, the empty text, or one character at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgmask.analysis.flat import Flat, Leaf, Nonterminal
from cfgmask.diagnostics import Diagnostic, Fix, Span
from cfgmask.grammar.ir import Expr, Repeat, Terminal
from cfgmask.grammar.regex_tree import CharClass, Literal, RegexTree, Repetition

_MANY = 16
"""Repetitions up to fewer than this cost little, whatever they repeat."""


def empty_terminals(flat: Flat) -> Iterator[Diagnostic]:
    """A warning for each terminal that no text matches."""
    for number in sorted(flat.empty_leaves):
        leaf = flat.leaves[number]
        yield Diagnostic(
            "grammar-empty-terminal",
            f"the terminal {leaf.shown} matches no text",
            leaf.symbol.span,
            severity="warning",
            help="what needs it can never be written: mend it or take it out",
        )


def nullable_terminals(flat: Flat) -> Iterator[Diagnostic]:
    """A note for each terminal that the empty text matches, which the lexer never does."""
    for number in sorted(flat.nullable_leaves):
        leaf = flat.leaves[number]
        yield Diagnostic(
            "grammar-nullable-terminal",
            f"the terminal {leaf.shown} matches the empty text, so it may be left out wherever it stands",
            leaf.symbol.span,
            severity="note",
            help="let it match one character at least, and say where it may be left out",
            fix=_at_least_once(leaf),
        )


def slow_repetitions(flat: Flat) -> Iterator[Diagnostic]:
    """A warning for each repetition, and each recursion, that reads single characters as terminals. Linear."""
    single = _Single(flat)
    for repeat, body in flat.repeats():
        if _is_long(repeat):
            symbols = {s for part in body.alternatives for s in part} - {body.symbol}
            if symbols and all(single.holds(s) or _is_loop_of(flat, s, single) for s in symbols):
                yield _slow("this repetition reads", repeat.span or body.rule.span, _as_terminal(repeat))
    for nonterminal in flat.nonterminals:
        is_repeat = isinstance(nonterminal.expr, Repeat)
        if nonterminal.is_rule and not is_repeat and _is_recursion(nonterminal, single):
            yield _slow(f"the rule `{nonterminal.rule.name}` reads", nonterminal.rule.span, None)


class _Single:
    """Whether a symbol is always one terminal of one character."""

    def __init__(self, flat: Flat) -> None:
        self._flat = flat
        self._known: dict[int, bool] = {}

    def holds(self, symbol: int) -> bool:
        if symbol not in self._known:
            self._known[symbol] = False  # of a recursion
            self._known[symbol] = self._decide(symbol)
        return self._known[symbol]

    def _decide(self, symbol: int) -> bool:
        # Chains of rules that are only other names are short; what is deep counts as if it did not hold.
        pending, seen = [symbol], set[int]()
        while pending:
            at = pending.pop()
            if at >= 0:
                if not _is_character(self._flat.leaves[at].symbol):
                    return False
            elif at not in seen:
                seen.add(at)
                alternatives = self._flat[at].alternatives
                if not alternatives or any(len(alternative) != 1 for alternative in alternatives):
                    return False
                pending += (alternative[0] for alternative in alternatives)
        return True


def _is_character(expr: Expr) -> bool:
    if not isinstance(expr, Terminal):
        return False
    tree: RegexTree = expr.regex
    if isinstance(tree, Literal):
        return len(tree.data.decode(errors="replace")) == 1
    return isinstance(tree, CharClass)


def _is_long(repeat: Repeat) -> bool:
    return repeat.maximum is None or repeat.maximum >= _MANY


def _is_loop_of(flat: Flat, symbol: int, single: _Single) -> bool:
    """Whether a symbol is the part of a repetition that comes round."""
    return symbol < 0 and all(
        not alternative or (len(alternative) == 2 and alternative[1] == symbol and single.holds(alternative[0]))
        for alternative in flat[symbol].alternatives
    )


def _is_recursion(rule: Nonterminal, single: _Single) -> bool:
    """`text: CHARACTER text | CHARACTER`, and the like."""
    symbol, alternatives = rule.symbol, rule.alternatives
    recursive = [alternative for alternative in alternatives if symbol in alternative]
    return any(len(alternative) > 1 for alternative in recursive) and all(
        len(alternative) <= 2 and all(s == symbol or single.holds(s) for s in alternative)
        for alternative in alternatives
    )


def _slow(what: str, span: Span | None, fix: Fix | None) -> Diagnostic:
    return Diagnostic(
        "grammar-slow-repetition",
        f"{what} one character at a time, each as a terminal of its own",
        span,
        severity="warning",
        help="make one terminal of it, with the repetition inside: a mask then takes one step, not one a character",
        fix=fix,
    )


def _as_terminal(repeat: Repeat) -> Fix | None:
    """`/[a-z]/+` as `/[a-z]+/`."""
    body = repeat.body
    if repeat.span is None or not isinstance(body, Terminal) or not isinstance(body.regex, CharClass):
        return None
    pattern = re.fullmatch(r"/(\[.*\]|\.|\\\w)/", body.name)
    operator = repeat.span.text.removeprefix(body.name)
    if pattern is None or operator not in ("*", "+"):
        return None
    return Fix(repeat.span, f"/{pattern[1]}+/" + ("?" if operator == "*" else ""))


_MAY_BE_EMPTY = r"/(\[[^]]*\]|\\?.)([*?])/"
"""A regex that is one repeated character."""


def _at_least_once(leaf: Leaf) -> Fix | None:
    """`WS: /[ ]*/` as `WS: /[ ]+/`, and in a rule `/[ ]*/` as `/[ ]+/?`, where it is that simple."""
    symbol = leaf.symbol
    if symbol.span is None or not isinstance(symbol, Terminal) or not isinstance(symbol.regex, Repetition):
        return None
    source = symbol.span.source
    line_end = source.text.find("\n", symbol.span.start)
    rest = Span(source, symbol.span.start, line_end if line_end >= 0 else len(source.text))
    if named := re.fullmatch(rf"({re.escape(symbol.name)}\s*:\s*){_MAY_BE_EMPTY}\s*", rest.text):
        return Fix(rest, f"{named[1]}/{named[2]}{'+' * (named[3] == '*')}/")
    if inline := re.match(rf"{_MAY_BE_EMPTY}(?![a-z*+?{{~])", rest.text):
        place = rest.within(0, inline.end())
        return Fix(place, f"/{inline[1]}{'+' * (inline[2] == '*')}/?")
    return None
