"""A grammar as plain alternatives of symbols, which is what the analyses walk."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Guarded, Repeat, Rule, RuleRef, Sequence, Terminal, TokenSet
from cfgmask.grammar.regex_tree import Literal
from cfgmask.regex.algebra import RegexAlgebra

MAX_COUNT = 4
"""Counted repetition is written out up to this; beyond it bounds are dropped."""
ALL_BYTES = (1 << 256) - 1


@dataclass(frozen=True)
class Leaf:
    """A terminal or token set in the rules of one scope."""

    symbol: Terminal | TokenSet
    scope: int

    @property
    def shown(self) -> str:
        """The leaf for messages."""
        return f"`{self.symbol.name if isinstance(self.symbol, Terminal) else self.symbol.text}`"


@dataclass(eq=False)
class Nonterminal:
    """A rule, or something in the body of one that needs alternatives of its own.

    expr          what it stands for
    alternatives  their symbols: a number from 0 is a leaf, `~n` the nonterminal n
    is_exact      whether they say what the grammar says; bounds of repetitions may have been dropped
    """

    symbol: int
    rule: Rule
    expr: Expr
    is_rule: bool = False
    alternatives: list[tuple[int, ...]] = field(default_factory=list)
    is_exact: bool = True


class Flat:
    """The grammar's nonterminals, rules first and in order, and its leaves.

    Conditions on parameters are disregarded (`has_conditions`), and so are limits on tokens (`has_limits`) and what
    terminals ask of the text around them (`has_edges`).
    A terminal that may match the empty text becomes an option of one that may not; what matches nothing is gone.
    Linear in the grammar. Raises LimitExceeded where a terminal is too hard a regex.
    """

    def __init__(self, ir: GrammarIR, algebra: RegexAlgebra) -> None:
        self.ir = ir
        self.algebra = algebra
        self.leaves: list[Leaf] = []
        self.nonterminals: list[Nonterminal] = []
        self.nullable_leaves: set[int] = set()
        self.empty_leaves: set[int] = set()
        self.has_conditions = False
        self.has_edges = False
        self.has_limits = any(rule.max_tokens is not None for rule in ir.rules)
        self._leaf_numbers: dict[Hashable, int] = {}
        self._first_bytes: dict[int, int] = {}
        self._options: dict[int, int] = {}
        self._seen: dict[tuple[int, int], int] = {}  # by identity, which the grammar keeps alive
        self._rules = {rule.name: ~number for number, rule in enumerate(ir.rules)}
        self._pending: list[Nonterminal] = []
        for rule in ir.rules:
            self._pending.append(self._add(rule, rule.body))
            self._pending[-1].is_rule = True
        while self._pending:
            self._write_out(self._pending.pop())
        self.start = self._rules[ir.start]

    def __getitem__(self, symbol: int) -> Nonterminal:
        """The nonterminal with this symbol."""
        return self.nonterminals[~symbol]

    def symbol_of(self, rule: str) -> int:
        """The symbol of the rule with this name."""
        return self._rules[rule]

    def first_bytes(self, leaf: int) -> int:
        """The bits of the bytes that a leaf may begin with; of all of them for a token set."""
        if leaf not in self._first_bytes:
            symbol = self.leaves[leaf].symbol
            self._first_bytes[leaf] = self.algebra.first(symbol.regex) if isinstance(symbol, Terminal) else ALL_BYTES
        return self._first_bytes[leaf]

    def repeats(self) -> list[tuple[Repeat, Nonterminal]]:
        """Each repetition, once, and of its nonterminals the last, which is the one that comes round if one does."""
        last = {id(n.expr): n for n in self.nonterminals if isinstance(n.expr, Repeat)}
        return [(n.expr, n) for n in last.values() if isinstance(n.expr, Repeat)]

    def _add(self, rule: Rule, expr: Expr) -> Nonterminal:
        made = Nonterminal(~len(self.nonterminals), rule, expr)
        self.nonterminals.append(made)
        return made

    def _write_out(self, owner: Nonterminal) -> None:
        expr = self._unguarded(owner.expr)
        if isinstance(expr, Repeat):
            self._write_out_repeat(owner, expr)
            return
        for part in map(self._unguarded, expr.parts if isinstance(expr, Choice) else (expr,)):
            parts = part.parts if isinstance(part, Sequence) else (part,)
            symbols = tuple([self._symbol(owner.rule, p) for p in parts])
            if self.empty_leaves.isdisjoint(symbols):
                owner.alternatives.append(symbols)

    def _unguarded(self, expr: Expr) -> Expr:
        while isinstance(expr, Guarded):
            self.has_conditions = True
            expr = expr.body
        return expr

    def _symbol(self, rule: Rule, expr: Expr) -> int:
        expr = self._unguarded(expr)
        if isinstance(expr, RuleRef):
            return self._rules[expr.name]
        if isinstance(expr, (Terminal, TokenSet)):
            return self._leaf(rule, expr)
        self._pending.append(self._add(rule, expr))
        return self._pending[-1].symbol

    def _leaf(self, rule: Rule, expr: Terminal | TokenSet) -> int:
        key = id(expr), rule.scope
        if key not in self._seen:
            self._seen[key] = self._new_leaf(rule, expr)
        return self._seen[key]

    def _new_leaf(self, rule: Rule, expr: Terminal | TokenSet) -> int:
        regex = expr.regex if isinstance(expr, Terminal) else None
        # Trees are compared by identity but for literals, which front ends make anew for each use.
        identity = regex if isinstance(regex, Literal) else id(regex)
        kind = (expr.priority, expr.lazy, expr.max_tokens) if isinstance(expr, Terminal) else None
        name = expr.name if isinstance(expr, Terminal) else expr
        number = self._leaf_numbers.setdefault((name, identity, kind, rule.scope), len(self.leaves))
        if number == len(self.leaves):
            self.leaves.append(Leaf(expr, rule.scope))
            if regex is not None:
                self._look_at(number, expr, rule)
        return self._options.get(number, number)

    def _look_at(self, number: int, expr: Expr, rule: Rule) -> None:
        assert isinstance(expr, Terminal)
        self.has_limits |= expr.max_tokens is not None
        self.has_edges |= expr.before is not None or expr.after is not None
        if isinstance(expr.regex, Literal) and expr.regex.data:
            return
        if self.algebra.is_empty(expr.regex):
            self.empty_leaves.add(number)
        elif self.algebra.matches(expr.regex, b""):
            self.nullable_leaves.add(number)
            only_empty = self.algebra.automaton([expr.regex], 1) is not None
            option = self._add(rule, expr)
            option.alternatives = [()] if only_empty else [(), (number,)]
            self._options[number] = option.symbol

    def _write_out_repeat(self, owner: Nonterminal, repeat: Repeat) -> None:
        least = min(repeat.minimum, MAX_COUNT)
        more = None if repeat.maximum is None else repeat.maximum - repeat.minimum
        owner.is_exact = least == repeat.minimum and (more is None or more <= MAX_COUNT)
        loops = more is None or more > MAX_COUNT
        if not least and (loops or more == 1):
            turn = self._turn(owner.rule, self._unguarded(repeat.body))
            owner.alternatives = [()]
            if self.empty_leaves.isdisjoint(turn):
                owner.alternatives.append((*turn, owner.symbol) if loops else turn)
            return
        body = self._symbol(owner.rule, repeat.body)
        if body in self.empty_leaves:
            owner.alternatives = [] if repeat.minimum else [()]
        else:
            rest = self._loop(owner, body) if loops else self._chain(owner, body, more or 0)
            owner.alternatives = [(body,) * least + rest]

    def _turn(self, rule: Rule, body: Expr) -> tuple[int, ...]:
        """What is repeated once; what comes in order needs no nonterminal of its own where it is written once."""
        parts = body.parts if isinstance(body, Sequence) else (body,)
        return tuple([self._symbol(rule, part) for part in parts])

    def _loop(self, owner: Nonterminal, body: int) -> tuple[int, ...]:
        """Any number of `body`."""
        loop = self._add(owner.rule, owner.expr)
        loop.alternatives, loop.is_exact = [(), (body, loop.symbol)], owner.is_exact
        return (loop.symbol,)

    def _chain(self, owner: Nonterminal, body: int, most: int) -> tuple[int, ...]:
        """Up to `most` of `body`."""
        rest: tuple[int, ...] = ()
        for _ in range(most):
            option = self._add(owner.rule, owner.expr)
            option.alternatives = [(), (body, *rest)]
            rest = (option.symbol,)
        return rest
