"""The option `indenter`: which terminals begin lines, open and close brackets, as Lark's `Indenter` has them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from cfgmask.diagnostics import Span
from cfgmask.grammar import ir
from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.regex_tree import Complement, Intersection, Literal, RegexTree
from cfgmask.grammar.walk import fold
from cfgmask.lark.names import Symbols
from cfgmask.lark.problems import Problems
from cfgmask.lark.terminals import TerminalRegex
from cfgmask.limits import Limits
from cfgmask.suggest import did_you_mean

MAX_TAB_LEN = 1_000

LARK_NAMES: Mapping[str, str] = MappingProxyType(
    {"LPAR": "(", "LSQB": "[", "LBRACE": "{", "RPAR": ")", "RSQB": "]", "RBRACE": "}", "LESSTHAN": "<", "MORETHAN": ">"}
)
"""What Lark calls strings that are brackets where they stand in rules."""


@dataclass(frozen=True)
class IndenterOption:
    """The members of the option, by the names that Lark's class has for them. The defaults are Python's.

    given  those that the grammar names itself: they must be there
    """

    NL_type: str = "_NEWLINE"
    INDENT_type: str = "_INDENT"
    DEDENT_type: str = "_DEDENT"
    OPEN_PAREN_types: tuple[str, ...] = ("LPAR", "LSQB", "LBRACE")
    CLOSE_PAREN_types: tuple[str, ...] = ("RPAR", "RSQB", "RBRACE")
    tab_len: int = 8
    given: frozenset[str] = frozenset()


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_tab_len(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_TAB_LEN


_TAKES = {
    "NL_type": lambda value: isinstance(value, str),
    "INDENT_type": lambda value: isinstance(value, str),
    "DEDENT_type": lambda value: isinstance(value, str),
    "OPEN_PAREN_types": _is_names,
    "CLOSE_PAREN_types": _is_names,
    "tab_len": _is_tab_len,
}

VALUES = (
    "it is true, for the names of Lark's `PythonIndenter`, or an object with some of "
    + ", ".join(f"`{name}`" for name in _TAKES)
    + f", each once; `tab_len` is at most {MAX_TAB_LEN}"
)


def is_indenter(value: object) -> bool:
    """Whether the value of the option, its objects as tuples of pairs, is one."""
    if value is True:
        return True
    if not isinstance(value, tuple) or len(dict(value)) < len(value):
        return False
    return all(name in _TAKES and _TAKES[name](member) for name, member in value)


def read_indenter(value: Any) -> IndenterOption:
    """The option from a value that `is_indenter`."""
    members = {} if value is True else {name: _frozen(member) for name, member in value}
    return IndenterOption(**members, given=frozenset(members))


def _frozen(member: Any) -> Any:
    return tuple(member) if isinstance(member, list) else member


def indent_tokens(
    option: IndenterOption, place: Span, symbols: Symbols, bound: Collection[str], problems: Problems
) -> dict[str, ir.Expr]:
    """What stands for the declared terminals that the indenter writes.

    bound  the names that are bound to something else
    Reports those that are not declared, or bound twice.
    """
    found: dict[str, ir.Expr] = {}
    for name, kind in ((option.INDENT_type, "indent"), (option.DEDENT_type, "dedent")):
        declaration = symbols.declared.get(name)
        if declaration is None:
            message = f"there is no declared terminal `{name}` for the indenter"
            help = did_you_mean(name, symbols.declared) or f"write `%declare {name}`"
            problems.error("lark-bad-indenter", message, place, help=help)
        elif name in bound or name in found:
            message = f"the declared terminal `{name}` is bound to two things"
            help = "give the indenter two names of its own"
            problems.error("lark-bad-indenter", message, place, help=help)
        else:
            found[name] = ir.TokenSet(name, kind=kind, span=declaration.span)  # type: ignore[arg-type]
    return found


class Indentation:
    """What an indenter changes about the rules and the ignored text of its grammar."""

    def __init__(
        self,
        option: IndenterOption,
        place: Span,
        symbols: Symbols,
        named: Mapping[str, TerminalRegex],
        limits: Limits,
        problems: Problems,
    ) -> None:
        """Reports a newline that is no plain terminal, and brackets that are no terminals."""
        from cfgmask.regex.algebra import RegexAlgebra

        self._algebra = RegexAlgebra(limits)
        self._place = place
        self._symbols = symbols
        self._problems = problems
        self._tab_len = option.tab_len
        self._newline = self._newline_terminal(option.NL_type, named)
        self._brackets: dict[str, ir.LineRole] = {}
        self._texts: dict[bytes, ir.LineRole] = {}
        # What both open and close brackets opens them, as in Lark.
        self._add_brackets(option.CLOSE_PAREN_types, "close", named, must_be="CLOSE_PAREN_types" in option.given)
        self._add_brackets(option.OPEN_PAREN_types, "open", named, must_be="OPEN_PAREN_types" in option.given)
        self._without_newline: dict[int, tuple[ir.Terminal, ir.Terminal | None]] = {}

    def _newline_terminal(self, name: str, named: Mapping[str, TerminalRegex]) -> ir.Terminal | None:
        if name not in named:
            message = f"the indenter's `NL_type` is `{name}`, which is no terminal of the grammar"
            help = did_you_mean(name, named) or f"define `{name}`, or name the terminal that begins lines"
            self._problems.error("lark-bad-indenter", message, self._place, help=help)
            return None
        definition = self._symbols.terminals[name]
        if named[name].edges:
            message = f"the indenter's newline `{name}` cannot ask what stands around it"
            help = "leave out the assertions at its edges"
            self._problems.error("lark-bad-indenter", message, definition.span, help=help)
            return None
        return ir.Terminal(name, named[name].tree, role="newline", span=definition.span)

    def _add_brackets(
        self, names: Iterable[str], role: ir.LineRole, named: Mapping[str, TerminalRegex], *, must_be: bool
    ) -> None:
        for name in names:
            text = LARK_NAMES.get(name)
            if name in named:
                self._brackets[name] = role
                tree = named[name].tree
                if isinstance(tree, Literal):
                    self._texts[tree.data] = role
            elif text is not None:
                self._texts[text.encode()] = role
            elif must_be:
                message = f"the indenter's bracket `{name}` is no terminal of the grammar"
                help = did_you_mean(name, [*named, *LARK_NAMES])
                help = help or "name a terminal, or a string as Lark does, such as `LPAR`"
                self._problems.error("lark-bad-indenter", message, self._place, help=help)

    def indenter(self, scope: int) -> ir.Indenter | None:
        """For the rules of a scope; None where an error was reported."""
        return None if self._newline is None else ir.Indenter(self._newline, scope, self._tab_len)

    def rule(self, rule: ir.Rule) -> ir.Rule:
        """The rule with the roles of its terminals."""
        return replace(rule, body=fold(rule.body, self._combine))

    def ignored(self, terminals: Iterable[ir.Terminal]) -> Iterator[ir.Terminal]:
        """What is still ignored: what no newline is."""
        changed = (self._terminal(terminal) for terminal in terminals)
        return (terminal for terminal in changed if terminal is not None)

    def _combine(self, expr: ir.Expr, parts: list[ir.Expr]) -> ir.Expr:
        if isinstance(expr, ir.Terminal):
            return self._terminal(expr) or self._refuse(expr)
        return with_operands(expr, parts)

    def _refuse(self, terminal: ir.Terminal) -> ir.Terminal:
        message = f"every text of {terminal.name} is a newline to the indenter"
        self._problems.error("lark-bad-indenter", message, terminal.span, help="use the newline's terminal instead")
        return terminal

    def _terminal(self, terminal: ir.Terminal) -> ir.Terminal | None:
        known = self._without_newline.get(id(terminal))
        if known is None:
            known = self._without_newline[id(terminal)] = terminal, self._changed(terminal)
        return known[1]

    def _changed(self, terminal: ir.Terminal) -> ir.Terminal | None:
        """The terminal in a role, or without the texts that are newlines; None if it has no others.

        Of equal priorities, a string's is the higher one: Lark's lexer looks for strings first.
        """
        if self._newline is None:
            return terminal
        if terminal.regex is self._newline.regex:
            return replace(terminal, role="newline", priority=2 * terminal.priority)
        is_string = isinstance(terminal.regex, Literal)
        tree: RegexTree = terminal.regex
        if not self._algebra.disjoint(tree, self._newline.regex):
            tree = Intersection((tree, Complement(self._newline.regex)))
            if self._algebra.is_empty(tree):
                return None
        role = self._brackets.get(terminal.name, "")
        if not role and isinstance(terminal.regex, Literal):
            role = self._texts.get(terminal.regex.data, "")
        return replace(terminal, regex=tree, role=role, priority=2 * terminal.priority + is_string)
