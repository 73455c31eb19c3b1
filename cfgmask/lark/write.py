"""The intermediate form to extended Lark text: the way back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Expr, GrammarIR, Guarded, Part, Repeat, Rule, RuleRef, Sequence, Terminal, TokenSet
from cfgmask.grammar.regex_tree import (
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
    Substring,
)
from cfgmask.grammar.walk import fold, walk
from cfgmask.lark import nodes
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.regex.named_groups import TOKEN_GROUPS
from cfgmask.regex.trees import fold_tree
from cfgmask.regex.write import Binding, NotWritable, Written, shown, write_count, write_regex

_MAX_NAME = 100
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_NO_WORD = re.compile(r"[^A-Za-z0-9_]")
_TOKEN_NAME = re.compile(r"<[^<>\s\[][^<>\s]*>")
_TOKEN_IN_SET = re.compile(r"<[^<>\s,\]]+>")
_NEVER = r"/[^\s\S]/"
"""What no text matches."""
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\\": "\\\\", '"': '\\"'}


def write_lark(grammar: GrammarIR, *, limits: Limits = DEFAULT_LIMITS) -> str:
    """Text that `parse_lark` reads back to the same language, with names as near to those of the grammar as Lark has.

    Rules come in their order, the start rule named `start`; then the terminals that have names. Schemas that are parts
    become `%json` blocks. Comments are not kept.
    Errors: GrammarError for what has no spelling in Lark; LimitExceeded. Linear in the text.
    """
    return _Writer(grammar, limits).text()


class _Writer:
    def __init__(self, grammar: GrammarIR, limits: Limits) -> None:
        if len(grammar.scopes) > 1 or grammar.scopes[0].ignore:
            raise _unwritable("a grammar that ignores text", None)
        self._grammar = grammar
        self._limits = limits
        self._problems: list[Diagnostic] = []
        self._taken: set[str] = {nodes.START}
        self._rules = {grammar.start: nodes.START}
        for rule in grammar.rules:
            if replace(rule, capture=None, temperature=None, max_tokens=None, json=False) != Rule(rule.name, rule.body):
                self._problems += _unwritable(f"what the rule {rule.name} does", rule.span).diagnostics
            if rule.name not in self._rules:
                self._rules[rule.name] = self._name(rule.name.lower(), "r")
        # By the identity of the regex: a terminal that is used twice is one.
        self._terminals: dict[int, tuple[str, Terminal]] = {}
        for rule in grammar.rules:
            for expr in walk(rule.body):
                if isinstance(expr, Terminal):
                    self._define(expr if expr is not rule.body else replace(expr, lazy=False))
                elif isinstance(expr, Guarded) or (isinstance(expr, RuleRef) and expr != RuleRef(expr.name)):
                    self._problems += _unwritable(f"a parameter in the rule {rule.name}", rule.span).diagnostics
                elif isinstance(expr, Part) and expr.source is None:
                    self._problems += _unwritable(f"the schema in the rule {rule.name}", rule.span).diagnostics

    def text(self) -> str:
        lines = ['%cfgmask {"lexer": "complete"}', ""] if self._grammar.lexer == "complete" else []
        rules = sorted(self._grammar.rules, key=lambda rule: rule.name != self._grammar.start)
        lines += [self._rule(rule) for rule in rules]
        if self._terminals:
            lines.append("")
        lines += [f"{name}: {self._regex(terminal)}" for name, terminal in self._terminals.values()]
        if self._problems:
            raise GrammarError(self._problems)
        return "\n".join(lines) + "\n"

    def _name(self, wanted: str, prefix: str) -> str:
        """A name that Lark can read and nothing else has."""
        name = _NO_WORD.sub("_", wanted)[:_MAX_NAME]
        if not name[:1].isalpha():
            name = f"{prefix}_{name}"
        candidate, number = name, 1
        while candidate in self._taken:
            number += 1
            candidate = f"{name}_{number}" if prefix.islower() else f"{name}_{number}".upper()
        self._taken.add(candidate)
        return candidate

    def _define(self, terminal: Terminal) -> None:
        """Name a terminal, unless it is a literal or regex that stands in a rule. Terminals are not more than that."""
        if terminal != Terminal(terminal.name, terminal.regex):
            self._problems += _unwritable(f"what the terminal {terminal.name} does", terminal.span).diagnostics
        is_named = _PLAIN_NAME.fullmatch(terminal.name) is not None
        if (is_named or _has_operators(terminal.regex)) and id(terminal.regex) not in self._terminals:
            self._terminals[id(terminal.regex)] = self._name(terminal.name.upper() if is_named else "T", "T"), terminal

    def _rule(self, rule: Rule) -> str:
        name = self._rules[rule.name]
        body = fold(rule.body, self._combine).text
        attributes = ", ".join(_attributes(rule))
        return f"{name}[{attributes}]: {body}" if attributes else f"{name}: {body}".rstrip()

    def _combine(self, expr: Expr, parts: list[Written]) -> Written:
        if isinstance(expr, Terminal):
            named = self._terminals.get(id(expr.regex))
            return Written(named[0] if named is not None else self._regex(expr))
        if isinstance(expr, RuleRef):
            return Written(self._rules[expr.name])
        if isinstance(expr, TokenSet):
            return Written(self._token_set(expr))
        if isinstance(expr, Part):
            assert expr.source is not None, "others are rules by now"
            return Written(f"%json {json.dumps(expr.source(), ensure_ascii=False, indent=2)}")
        if isinstance(expr, Repeat):
            return Written(parts[0].within(Binding.ATOM) + write_count(expr.minimum, expr.maximum), Binding.SEQUENCE)
        if len(parts) == 1:
            return parts[0]
        if isinstance(expr, Sequence):
            return Written(" ".join(part.within(Binding.SEQUENCE) for part in parts), Binding.SEQUENCE)
        if not parts:
            return Written(_NEVER)
        return Written(" | ".join(part.text for part in parts), Binding.CHOICE)

    def _regex(self, terminal: Terminal) -> str:
        if isinstance(terminal.regex, Literal):
            return _string(terminal.regex.data.decode())
        try:
            return _expression(terminal.regex, self._limits)
        except NotWritable as error:
            self._problems += _unwritable(f"the terminal {terminal.name} ({error})", terminal.span).diagnostics
            return "/x/"

    def _token_set(self, tokens: TokenSet) -> str:
        if tokens.kind:
            return next(name for name, kind in TOKEN_GROUPS.items() if kind == tokens.kind)
        is_name = len(tokens.names) == 1 and not tokens.negated and not tokens.ranges
        if is_name and _TOKEN_NAME.fullmatch(tokens.names[0]):
            return tokens.names[0]
        if tokens.end:
            self._problems += _unwritable(f"the token set {tokens.text}", tokens.span).diagnostics
        wrong = [name for name in tokens.names if not _TOKEN_IN_SET.fullmatch(name)]
        if wrong:
            self._problems += _unwritable(f"the token {wrong[0]}", tokens.span).diagnostics
        ranges = [str(low) if low == high else f"{low}-{high}" for low, high in tokens.ranges]
        members = ",".join([*tokens.names, *ranges])
        if tokens.negated:
            members = f"^{members}" if members else "*"
        return f"<[{members}]>"


def _attributes(rule: Rule) -> Iterator[str]:
    if isinstance(rule.body, Terminal) and rule.body.lazy:
        yield "lazy"
    if rule.capture is not None:
        yield f"capture={_string(rule.capture)}"
    if rule.json:
        yield "json"
    if rule.max_tokens is not None:
        yield f"max_tokens={rule.max_tokens}"
    if rule.temperature is not None:
        yield f"temperature={rule.temperature!r}"


def _has_operators(tree: RegexTree) -> bool:
    """Whether a tree has what Lark writes with `&`, `~` and `%regex`, which no pattern holds."""

    def combine(part: RegexTree, below: list[bool]) -> bool:
        return isinstance(part, (Intersection, Complement, Substring)) or any(below)

    return fold_tree(tree, {}, combine)


def _expression(tree: RegexTree, limits: Limits) -> str:
    """A terminal's definition: one pattern, unless it takes operators. Raises NotWritable, LimitExceeded."""
    if not _has_operators(tree):
        return f"/{write_regex(tree, limits)}/"

    def combine(part: RegexTree, below: list[Written]) -> Written:
        written = _with_operators(part, below, limits)
        if len(written.text) > limits.max_source_bytes:
            raise LimitExceeded("max_source_bytes", limits.max_source_bytes, "a terminal that is written out")
        return written

    return fold_tree(tree, {}, combine).text


def _with_operators(tree: RegexTree, below: list[Written], limits: Limits) -> Written:
    if isinstance(tree, Complement):
        return Written("~" + below[0].within(Binding.ATOM), Binding.SEQUENCE)
    if isinstance(tree, Intersection):
        return Written(" & ".join(part.within(Binding.SEQUENCE) for part in below), Binding.CHOICE)
    if isinstance(tree, Concatenation):
        return Written(" ".join(part.within(Binding.SEQUENCE) for part in below), Binding.SEQUENCE)
    if isinstance(tree, Alternation) and below:
        return Written(" | ".join(part.within(Binding.SEQUENCE) for part in below), Binding.CHOICE)
    if isinstance(tree, Repetition):
        return Written(below[0].within(Binding.ATOM) + write_count(tree.minimum, tree.maximum), Binding.SEQUENCE)
    if isinstance(tree, Literal):
        return Written(_string(tree.data.decode()))
    if isinstance(tree, Substring):
        return Written(f"%regex {json.dumps({'substring_chunks': [chunk.decode() for chunk in tree.chunks]})}")
    return Written(f"/{write_regex(tree, limits)}/")


def _unwritable(what: str, span: Span | None) -> GrammarError:
    message = f"{what} cannot be written in Lark"
    return GrammarError([Diagnostic("convert-unsupported", message, span, help="the grammar can be used as it is")])


def _string(text: str) -> str:
    return '"' + "".join(map(_in_string, text)) + '"'


def _in_string(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character == " " else shown(character)
