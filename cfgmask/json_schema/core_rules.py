"""The rules that the core makes of a schema, as a grammar for those who look at them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cfgmask.diagnostics import Span
from cfgmask.errors import LimitExceeded
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import Repetition
from cfgmask.json_schema.session import current, session
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask import _core
    from cfgmask.grammar.ir import EndlessKind, HoldsKind
    from cfgmask.grammar.regex_tree import RegexTree

_Step: TypeAlias = tuple[int, int | None]
_Members: TypeAlias = tuple[tuple[str | None, int | None, int | None], ...]

# How many steps of a session a rule takes.
_STEPS_PER_RULE = 10
_MAX_NAME = 100

# Of a symbol; see `SchemaWithLayout.rules` of the core.
_KIND_BITS = 29
_TERMINAL, _NONTERMINAL, _TOKEN, _REPEAT = range(4)


def core_grammar(
    schema: _core.SchemaWithLayout,
    *,
    prefix: str = "",
    form: _core.SchemaForm | None = None,
    tokens: Sequence[ir.TokenSet] = (),
    may_be_empty: bool = False,
    span: Span | None = None,
    limits: Limits,
) -> ir.GrammarIR:
    """All rules of a schema that the core read: the same language as that of its part, with the same terminals.

    prefix  of the names of all rules. The rest of a name is the place of its values: `#/address/zip`
    form    that the outermost object is written in, and the tokens that it writes by id; None: it is JSON
    may_be_empty  whether the empty text is one of the texts
    span    given to the rules

    Raises LimitExceeded (max_rules) if they are too many to be looked at. A rule takes some microseconds.
    """
    with session(limits):
        left = current().steps_left // _STEPS_PER_RULE
        scope, terminals, repeats, sets, rules, is_whole = schema.rules(form, len(tokens), vars(limits), left)
        current().spend(_STEPS_PER_RULE * len(rules))
        if not is_whole:
            raise LimitExceeded("max_rules", limits.max_rules, "all rules of a JSON Schema at once")
    return _Rules(prefix, tokens, span, terminals, repeats, sets, rules).grammar(scope, may_be_empty)


class _Rules:
    """Rules of the core, with names. `span` is given to all."""

    def __init__(
        self,
        prefix: str,
        tokens: Sequence[ir.TokenSet],
        span: Span | None,
        terminals: Sequence[tuple[str, RegexTree, bool, bool, EndlessKind, bool, _Step] | None],
        repeats: Sequence[tuple[int, int, int | None]],
        sets: Sequence[tuple[list[str], int, int | None, bool, HoldsKind, _Step, _Members]],
        rules: Sequence[tuple[int | None, list[list[int]] | None]],
    ) -> None:
        self._prefix = prefix
        self._tokens = tokens
        self._span = span
        self._terminals = [None if terminal is None else _terminal(*terminal) for terminal in terminals]
        self._repeats = repeats
        self._sets = [_bounds(*bounds) for bounds in sets]
        self._rules = rules
        self._names: dict[int, str] = {}
        # By name, how many rules have it.
        self._taken: dict[str, int] = {}

    def grammar(self, scope: tuple[Sequence[tuple[str, RegexTree]], bool], may_be_empty: bool) -> ir.GrammarIR:
        """The rules in the order in which others name them, the first one first."""
        pending = deque([(0, "#")])
        self._names[0] = self._named("#")
        made = []
        while pending:
            number, place = pending.popleft()
            bounds, alternatives = self._rules[number]
            assert alternatives is not None, "the rules are whole"
            for callee, below in self._callees(alternatives, place):
                if callee not in self._names:
                    self._names[callee] = self._named(below)
                    pending.append((callee, below))
            ways = [self._sequence(symbols) for symbols in alternatives]
            if may_be_empty and number == 0:
                ways.append(ir.Sequence(()))
            body = ways[0] if len(ways) == 1 else ir.Choice(tuple(ways))
            opens_set = None if bounds is None else self._sets[bounds]
            made.append(ir.Rule(self._names[number], body, span=self._span, opens_set=opens_set))
        ignored, once = scope
        ignore = tuple(ir.Terminal(name, regex) for name, regex in ignored)
        return ir.GrammarIR(
            tuple(made),
            self._names[0],
            (ir.Scope(f"{self._prefix}json", ignore, once),),
            ignore_initial=False,
            ignore_final=False,
        )

    def _named(self, place: str) -> str:
        """A new name: a number follows where another rule is of that place."""
        number = self._taken[place] = self._taken.get(place, 0) + 1
        return f"{self._prefix}{place}" if number == 1 else f"{self._prefix}{place}~{number}"

    def _callees(self, alternatives: list[list[int]], place: str) -> Iterator[tuple[int, str]]:
        """The rules that others name, each with its place."""
        for symbols in alternatives:
            key = ""
            before: str | None = None  # of the terminals before a symbol, the last one
            is_value = False  # a colon comes right before
            for symbol in symbols:
                kind, index = symbol >> _KIND_BITS, symbol & ((1 << _KIND_BITS) - 1)
                if kind == _REPEAT:
                    symbol = self._repeats[index][0]
                    kind, index = symbol >> _KIND_BITS, symbol & ((1 << _KIND_BITS) - 1)
                if kind == _TERMINAL:
                    terminal = self._terminals[index]
                    name = "" if terminal is None else terminal.name
                    is_value = name.strip('" ') == ":"
                    key = (before or "") if is_value else ""
                    before = name
                elif kind == _NONTERMINAL:
                    yield index, _below(place, key) if is_value else place
                    is_value = False

    def _sequence(self, symbols: list[int]) -> ir.Expr:
        parts = tuple(map(self._symbol, symbols))
        return parts[0] if len(parts) == 1 else ir.Sequence(parts)

    def _symbol(self, symbol: int) -> ir.Expr:
        kind, index = symbol >> _KIND_BITS, symbol & ((1 << _KIND_BITS) - 1)
        if kind == _TERMINAL:
            terminal = self._terminals[index]
            assert terminal is not None, "the rules are whole"
            return terminal
        if kind == _NONTERMINAL:
            return ir.RuleRef(self._names[index])
        if kind == _TOKEN:
            return self._tokens[index]
        body, minimum, maximum = self._repeats[index]
        return ir.Repeat(self._symbol(body), minimum, maximum)


def _below(place: str, key: str) -> str:
    """The place of a member's value, in one of its key, or of keys that a terminal of that name matches."""
    name = key.strip('"').replace("~", "~0").replace("/", "~1")
    found = f"{place}/{name}"
    return found if len(found) <= _MAX_NAME else f"#…/{name}"


def _terminal(
    name: str,
    regex: RegexTree,
    may_be_empty: bool,
    distinct: bool,
    endless: EndlessKind,
    closes_set: bool,
    step: _Step,
) -> ir.Terminal:
    if may_be_empty:
        regex = Repetition(regex, 0, 1)
    return ir.Terminal(name, regex, distinct=distinct, endless=endless, closes_set=closes_set, step=ir.Step(*step))


def _bounds(
    required: list[str],
    minimum: int,
    maximum: int | None,
    endless: bool,
    holds: HoldsKind,
    step: _Step,
    members: _Members,
) -> ir.SetBounds:
    return ir.SetBounds(tuple(required), minimum, maximum, endless, holds, ir.Step(*step), members)
