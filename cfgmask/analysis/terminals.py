"""What is wrong with single terminals: they match nothing, the empty text, or one character at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cfgmask.analysis.corrections import with_body
from cfgmask.analysis.flat import Flat, Leaf, Nonterminal
from cfgmask.analysis.lexing import Lexing, TooLarge
from cfgmask.analysis.reach import union
from cfgmask.analysis.sets import END, Sets
from cfgmask.diagnostics import Diagnostic, Fix, Span
from cfgmask.grammar.ir import Expr, Repeat, Terminal
from cfgmask.grammar.regex_tree import CharClass, Literal, RegexTree, Repetition, char_class
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra

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
            fix=_at_least_once(leaf, flat.algebra),
        )


def slow_repetitions(flat: Flat, sets: Sets, max_states: int) -> Iterator[Diagnostic]:
    """A warning for each repetition, and each recursion, that reads single characters as terminals. Linear.

    max_states  how much of the lexer is looked at for a correction
    """
    single = _Single(flat)
    merging = _Merging(flat, sets, max_states)
    for repeat, body in flat.repeats():
        if _is_long(repeat):
            symbols = _repeated_alone(body)
            if symbols and all(single.holds(s) or _is_loop_of(flat, s, single) for s in symbols):
                tree = merging.tree(body, symbols, repeat.minimum, repeat.maximum)
                span, fix = repeat.span, None
                if span is not None and tree is not None:
                    is_apart = not span.source.text[span.end : span.end + 1].isalpha()
                    fix = Fix(span, merging.written(tree, repeat.body) + ("" if is_apart else " "))
                yield _slow("this repetition reads", span or body.rule.span, fix)
    for nonterminal in flat.nonterminals:
        is_repeat = isinstance(nonterminal.expr, Repeat)
        if nonterminal.is_rule and not is_repeat and _is_recursion(nonterminal, single):
            fix = _as_repetition(nonterminal, merging)
            yield _slow(f"the rule `{nonterminal.rule.name}` reads", nonterminal.rule.span, fix)


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


def _repeated_alone(loop: Nonterminal) -> set[int]:
    """What a repetition repeats, where each turn is one symbol; nothing elsewhere."""
    turns = {part[:-1] if part[-1] == loop.symbol else part for part in loop.alternatives if part}
    return {turn[0] for turn in turns} if all(len(turn) == 1 for turn in turns) else set()


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


_CLASS = re.compile(r"/(\[.*\]|\.|\\\w)/")
"""A regex of one character, as it is written."""


class _Merging:
    """Repetitions of single characters as terminals."""

    def __init__(self, flat: Flat, sets: Sets, max_states: int) -> None:
        self._flat = flat
        self._sets = sets
        self._max_states = max_states

    def tree(self, owner: Nonterminal, symbols: set[int], minimum: int, maximum: int | None) -> Repetition | None:
        """What one terminal of many of these characters is; None where that may have other texts.

        That is so where blanks, say, are ignored between characters, or where the longest match would keep from the
        parser what is live beside the characters or behind them.
        """
        inner = self._inner(owner, symbols)
        members = self._characters(inner)
        if not members or self._flat.ir.scopes[owner.rule.scope].ignore:
            return None
        if any(s < 0 and ~s in self._sets.nullable for s in symbols):
            # Any number of them in each turn.
            minimum, maximum = 0, None
        tree = Repetition(char_class(members), minimum, maximum)
        return None if self._flat.ir.lexer == "longest" and self._competes(inner, tree) else tree

    def _inner(self, owner: Nonterminal, symbols: set[int]) -> set[int]:
        """The nonterminals that make up a repetition."""
        inner = {n for n, other in enumerate(self._flat.nonterminals) if other.expr is owner.expr}
        pending = [~s for s in symbols if s < 0]
        while pending:
            n = pending.pop()
            if n not in inner:
                inner.add(n)
                pending += (~s for part in self._flat.nonterminals[n].alternatives for s in part if s < 0)
        return inner

    def _competes(self, inner: set[int], tree: Repetition) -> bool:
        """Whether something else is live where the characters are, or may be, and begins as they do."""
        sets, algebra = self._sets, self._flat.algebra
        own = union(2 << place for place, (n, _, _) in enumerate(sets.numbers) if n in inner)
        # The same characters behind those: of two names, one after the other, the first would be all.
        for m, caller in enumerate(self._flat.nonterminals):
            for a, part in enumerate(caller.alternatives if m not in inner else ()):
                for i, symbol in enumerate(part):
                    behind, may_end = sets.first_of(m, a, i + 1)
                    if symbol < 0 and ~symbol in inner and (behind | (sets.follow[m] if may_end else 0)) & own:
                        return True
        try:
            lexing = Lexing(self._flat, sets, self._max_states)
        except TooLarge:
            return True
        first = algebra.first(tree)
        others = {leaf for c in lexing.contexts if c.live & own for leaf in sets.leaves(c.live & ~own & ~END)}
        symbols = [self._flat.leaves[leaf].symbol for leaf in others]
        return any(not isinstance(symbol, Terminal) or algebra.first(symbol.regex) & first for symbol in symbols)

    def written(self, tree: Repetition, body: Expr | None = None) -> str:
        """`/[a-z]+/?` for any number of letters, since a terminal is not empty; `body` is the one thing repeated."""
        # Hardly any grammar has such a repetition.
        from cfgmask.regex.write import write_count, write_regex

        known = _CLASS.fullmatch(body.name) if isinstance(body, Terminal) else None
        character = write_regex(tree.body, Limits()) if known is None else known[1]
        return f"/{character}{write_count(max(tree.minimum, 1), tree.maximum)}/" + ("" if tree.minimum else "?")

    def _characters(self, inner: set[int]) -> list[tuple[int, int]] | None:
        """The ranges of the characters in nonterminals; None if a leaf there is no plain terminal of one."""
        found: list[tuple[int, int]] = []
        leaves = {s for n in inner for part in self._flat.nonterminals[n].alternatives for s in part if s >= 0}
        for leaf in sorted(leaves):
            symbol = self._flat.leaves[leaf].symbol
            if not isinstance(symbol, Terminal) or symbol != Terminal(symbol.name, symbol.regex):
                return None
            if isinstance(symbol.regex, CharClass):
                found += symbol.regex.ranges
            elif isinstance(symbol.regex, Literal):
                character = ord(symbol.regex.data.decode())
                found.append((character, character))
        return found


def _as_repetition(rule: Nonterminal, merging: _Merging) -> Fix | None:
    """`text: LETTER text | LETTER` as `text: /[a-z]+/`, and with an empty alternative as `text: /[a-z]+/?`."""
    others = [alternative for alternative in rule.alternatives if rule.symbol not in alternative]
    turns = {s for alternative in rule.alternatives if rule.symbol in alternative for s in alternative} - {rule.symbol}
    if any(alternative.count(rule.symbol) > 1 for alternative in rule.alternatives):
        return None
    ends = {s for alternative in others for s in alternative}
    if ends and ends != turns:
        return None
    tree = merging.tree(rule, turns, 0 if () in others else 1, None)
    return None if tree is None else with_body(rule.rule, merging.written(tree))


_MAY_BE_EMPTY = r"/(\[[^]]*\]|\\?.)([*?])/"
"""A regex that is one repeated character."""


def _at_least_once(leaf: Leaf, algebra: RegexAlgebra) -> Fix | None:
    """`WS: /[ ]*/` as `WS: /[ ]+/`, and in a rule `/[ ]*/` as `/[ ]+/?`, where it is that simple."""
    symbol = leaf.symbol
    if symbol.span is None or not isinstance(symbol, Terminal) or not isinstance(symbol.regex, Repetition):
        return None
    can_be_empty = algebra.matches(symbol.regex.body, b"")
    source = symbol.span.source
    line_end = source.text.find("\n", symbol.span.start)
    rest = Span(source, symbol.span.start, line_end if line_end >= 0 else len(source.text))
    head = rf"({re.escape(symbol.name)}(?:\.-?[0-9]+)?\s*:\s*)"
    if named := re.fullmatch(rf"{head}{_MAY_BE_EMPTY}\s*", rest.text):
        return Fix(rest, f"{named[1]}/{named[2]}{'+' * (named[3] == '*')}/")
    # The last operator is that of the whole terminal, as that is one repetition.
    if not can_be_empty and (named := re.fullmatch(rf"{head}([^/#\n]*)([*?])\s*", rest.text)):
        return Fix(rest, f"{named[1]}{named[2]}{'+' * (named[3] == '*')}")
    if inline := re.match(rf"{_MAY_BE_EMPTY}(?![a-z]|[ \t]*[*+?{{~])", rest.text):
        place = rest.within(0, inline.end())
        return Fix(place, f"/{inline[1]}{'+' * (inline[2] == '*')}/?")
    return None
