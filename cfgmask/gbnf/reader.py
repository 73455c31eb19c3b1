"""GBNF tokens to rules of the IR, each literal and class a terminal of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from cfgmask.diagnostics import Related, Source, Span, shortened
from cfgmask.errors import LimitExceeded
from cfgmask.gbnf import literals, macros
from cfgmask.gbnf.options import RuleOptions, read_options
from cfgmask.gbnf.tokens import Token, tokens
from cfgmask.grammar import ir
from cfgmask.grammar import regex_tree as regex
from cfgmask.limits import Limits
from cfgmask.problems import Problems

_NOTHING_MORE = ir.Sequence(())
_NO_RULE = ("string", "class", "any", "token", "open", "macro")
_REPEATS = {"?": (0, 1), "*": (0, None), "+": (1, None)}


@dataclass(frozen=True, eq=False)
class Document:
    """The rules of a text in order, and the names of rules that could not be read.

    hints    what xgrammar is told that follows a rule, which restricts nothing
    options  what stands in brackets behind the names of rules
    """

    source: Source
    rules: tuple[ir.Rule, ...]
    broken: frozenset[str]
    hints: tuple[ir.Expr, ...]
    options: Mapping[str, RuleOptions]


def read(source: Source, limits: Limits, problems: Problems) -> Document:
    """Read a grammar. What is wrong is reported to `problems`, and reading goes on with the next rule.

    Raises LimitExceeded. Linear: some 5 microseconds a token.
    """
    return _Reader(source, list(tokens(source, limits, problems)), limits, problems).read()


@dataclass
class _Group:
    """The alternatives of a rule or of parentheses, as far as they have been read; the last one is open."""

    opening: Token | None
    alternatives: list[list[ir.Expr]] = field(default_factory=lambda: [[]])

    @property
    def items(self) -> list[ir.Expr]:
        return self.alternatives[-1]

    def expression(self) -> ir.Expr:
        parts = [items[0] if len(items) == 1 else ir.Sequence(tuple(items)) for items in self.alternatives]
        return parts[0] if len(parts) == 1 else ir.Choice(tuple(parts))


class _Broken(Exception):
    """What follows in a rule makes no sense; it was reported."""


class _Reader:
    def __init__(self, source: Source, tokens: Sequence[Token], limits: Limits, problems: Problems) -> None:
        self._source = source
        self._tokens = tokens
        self._limits = limits
        self._problems = problems
        self._at = 0
        self._hints: list[ir.Expr] = []
        self._options: dict[str, RuleOptions] = {}

    def read(self) -> Document:
        rules: list[ir.Rule] = []
        broken: set[str] = set()
        while self._skip_line_breaks():
            name = self._tokens[self._at]
            try:
                if not self._starts_rule():
                    self._refuse_start(name)
                self._at += 1
                if self._kind() == "options":
                    self._options[name.text] = read_options(name, self._tokens[self._at], self._problems)
                    self._at += 1
                self._at += 1
                self._skip_line_breaks()
                rules.append(ir.Rule(name.text, self._body(), span=name.span))
            except _Broken:
                if name.kind == "name":
                    broken.add(name.text)
                self._skip_to_rule()
        return Document(self._source, tuple(rules), frozenset(broken), tuple(self._hints), self._options)

    def _kind(self, ahead: int = 0) -> str | None:
        index = self._at + ahead
        return self._tokens[index].kind if index < len(self._tokens) else None

    def _starts_rule(self) -> bool:
        return self._kind() == "name" and self._kind(1) in ("define", "options")

    def _skip_line_breaks(self) -> bool:
        """Move to the next token that is no line break; whether there is one."""
        while self._kind() == "newline":
            self._at += 1
        return self._kind() is not None

    def _skip_to_rule(self) -> None:
        while self._kind() is not None and not self._starts_rule():
            self._at += 1

    def _refuse_start(self, token: Token) -> None:
        """Report what stands where a rule should begin."""
        if token.kind == "name" and self._kind(1) != "error":
            end = token.span.end
            message, span = "`::=` is missing after the name of the rule", Span(self._source, end, end + 1)
            self._problems.error("gbnf-syntax", message, span, help="a rule is written `name ::= ...`")
        elif token.kind == "or":
            self._unexpected(token)
        elif token.kind not in ("name", "error"):
            self._unexpected(token, "a rule is written `name ::= ...`")
        raise _Broken

    def _unexpected(self, token: Token, help: str | None = None) -> None:
        self._problems.error("gbnf-syntax", f"unexpected `{shortened(token.text)}`", token.span, help=help)

    def _body(self) -> ir.Expr:
        """What stands after `::=`, up to the line break that ends the rule."""
        groups = [_Group(None)]
        while (kind := self._kind()) is not None:
            token = self._tokens[self._at]
            if kind == "newline" and len(groups) == 1 and not self._goes_on():
                break
            if self._starts_rule():
                self._refuse_next_rule(token, groups)
            self._at += 1
            if kind == "or":
                groups[-1].alternatives.append([])
                self._skip_line_breaks()
            elif kind in ("open", "hint"):
                self._open(token, groups)
            elif kind == "close":
                self._close(token, groups)
            elif kind in ("repeat", "count"):
                self._repeat(token, groups[-1].items)
            elif kind == "macro":
                groups[-1].items.append(self._macro(token))
            elif kind != "newline":
                groups[-1].items.append(self._item(token))
        if len(groups) > 1:
            self._refuse_open(groups[-1], None)
        return groups[0].expression()

    def _goes_on(self) -> bool:
        """Whether the rule goes on after the line breaks that come.

        It does with `|`, with what no rule begins with, or farther in than rules begin.
        """
        ahead = 0
        while self._kind(ahead) == "newline":
            ahead += 1
        if self._kind(ahead) is None or self._kind(ahead) == "or":
            return self._kind(ahead) == "or"
        next_one = self._tokens[self._at + ahead]
        is_rule = next_one.kind == "name" and self._kind(ahead + 1) in ("define", "options")
        is_farther_in = self._source.text[next_one.span.start - 1] in " \t"
        return (is_farther_in or next_one.kind in _NO_RULE) and not is_rule

    def _open(self, token: Token, groups: list[_Group]) -> None:
        if token.kind == "hint" and (len(groups) > 1 or not groups[0].items):
            message = "a lookahead stands at the end of a rule"
            self._problems.error("gbnf-syntax", message, token.span, help='write `rule ::= "a" (= "b")`')
            raise _Broken
        groups.append(_Group(token))
        if len(groups) - 1 > self._limits.max_nesting:
            line, column = self._source.position(token.span.start)
            detail = f"groups at {self._source.name}:{line}:{column}"
            raise LimitExceeded("max_nesting", self._limits.max_nesting, detail)

    def _close(self, token: Token, groups: list[_Group]) -> None:
        if len(groups) == 1:
            self._problems.error("gbnf-syntax", "nothing is open that this could close", token.span)
            raise _Broken
        closed = groups.pop()
        if closed.opening is not None and closed.opening.kind == "hint":
            self._end_hint(closed, closed.opening, token)
        else:
            groups[-1].items.append(closed.expression())

    def _end_hint(self, hint: _Group, opening: Token, closing: Token) -> None:
        """What xgrammar may take for granted behind a rule is no part of its texts, and nothing else may follow it."""
        self._hints.append(hint.expression())
        span = Span(self._source, opening.span.start, closing.span.end)
        message = "a lookahead restricts nothing: it tells xgrammar alone what follows the rule"
        self._problems.warning("gbnf-lookahead", message, span, help="take it out")
        if self._kind() == "newline" and not self._goes_on():
            return
        if self._skip_line_breaks():
            self._unexpected(self._tokens[self._at], "the rule ends with its lookahead")
            raise _Broken

    def _macro(self, name: Token) -> ir.Expr:
        """A call, up to its last parenthesis."""
        inside: list[Token] = []
        depth = 0
        while self._kind() is not None and not self._starts_rule():
            token = self._tokens[self._at]
            self._at += 1
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if depth == 0:
                return macros.expand(name, inside[1:], token, self._limits, self._problems)
            if token.kind == "error":
                raise _Broken
            if token.kind != "newline":
                inside.append(token)
        self._problems.error("gbnf-unclosed-group", "`(` is not closed", inside[0].span, help="add `)`")
        raise _Broken

    def _refuse_open(self, group: _Group, next_rule: Token | None) -> None:
        assert group.opening is not None
        related = (Related(next_rule.span, "the next rule begins here"),) if next_rule is not None else ()
        span = group.opening.span
        self._problems.error("gbnf-unclosed-group", "`(` is not closed", span, related=related, help="add `)`")
        raise _Broken

    def _refuse_next_rule(self, name: Token, groups: list[_Group]) -> None:
        """Report what is missing before a rule that begins in the middle of another one."""
        if len(groups) > 1:
            self._refuse_open(groups[-1], name)
        if self._tokens[self._at - 1].kind != "newline":
            message, help = "the next rule begins on the same line", "begin each rule on a line of its own"
        else:
            missing = "an alternative" if len(groups[0].alternatives) > 1 else "what the rule stands for"
            message, help = f"{missing} is missing before the next rule", 'the empty text is written `""`'
        self._problems.error("gbnf-syntax", message, name.span, help=help)
        raise _Broken

    def _repeat(self, token: Token, items: list[ir.Expr]) -> None:
        bounds = _REPEATS[token.text] if token.kind == "repeat" else literals.count(token, self._problems)
        if not items:
            message = f"there is nothing before `{shortened(token.text)}` to repeat"
            help = f'write `"{token.text}"` for the character' if token.kind == "repeat" else None
            self._problems.error("gbnf-nothing-to-repeat", message, token.span, help=help)
        elif bounds is not None and bounds != (1, 1):
            items[-1] = ir.Repeat(items[-1], *bounds) if bounds[1] != 0 else _NOTHING_MORE

    def _item(self, token: Token) -> ir.Expr:
        if token.kind == "name":
            return ir.RuleRef(token.text, token.span)
        if token.kind == "string":
            text = literals.string(token, self._problems)
            return self._terminal(token, regex.text(text)) if text else _NOTHING_MORE
        if token.kind == "class":
            return self._terminal(token, literals.character_class(token, self._problems))
        if token.kind == "any":
            return self._terminal(token, regex.ANY_CHAR)
        if token.kind == "token":
            return literals.token_set(token, self._problems) or _NOTHING_MORE
        if token.kind == "define":
            self._unexpected(token, "a rule is written `name ::= ...`, its name with letters, digits and `-`")
        raise _Broken

    def _terminal(self, token: Token, tree: regex.RegexTree) -> ir.Expr:
        return ir.Terminal(token.text, tree, span=token.span)
