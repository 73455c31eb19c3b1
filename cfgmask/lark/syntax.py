"""The parser of single statements, made once a process from `syntax.lark` by the `lark` package.

Lark builds the tables; what walks them is here, in a third of the time of Lark's own: a grammar of 500 lines has 5,000
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from lark import Lark, Token
from lark.lexer import BasicLexer

Built: TypeAlias = Any
"""What a piece of a statement became: a node, a list of statements, None, or a token that its parent reads."""


class UnreadableText(Exception):
    """No token begins at `place`."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class UnexpectedToken(Exception):
    """The statement cannot go on with `token`, whose type is "$END" behind its last one; `expected` are types."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token)
        self.token = token
        self.expected = expected


class _TrustingLexer(BasicLexer):
    """Lark's lexer without its search for terminals that match the same text.

    Where the package `interegular` is installed, that search runs each time a parser is made; on `syntax.lark` it does
    not end.
    """

    def __init__(self, conf: Any, comparator: Any = None) -> None:
        conf.skip_validation = True
        super().__init__(conf, comparator)


@dataclass(frozen=True)
class _Reduction:
    """What stands for a rule's symbols once all are read.

    size       the number of symbols
    taken      for each, None if it is dropped, else whether its parts are taken one by one
    name       the rule, or its alias
    is_inline  whether its parts are its parent's
    may_vanish whether a single part stands for it
    """

    origin: str
    size: int
    taken: tuple[bool | None, ...]
    name: str
    is_inline: bool
    may_vanish: bool


Step: TypeAlias = "Token | _Reduction"


class StatementParser:
    """Cuts a text into tokens, and parses those of one statement. Immutable: safe to share between threads."""

    def __init__(self) -> None:
        grammar = files("cfgmask.lark").joinpath("syntax.lark").read_text(encoding="utf-8")
        made = Lark(
            grammar, parser="lalr", lexer="basic", maybe_placeholders=False, _plugins={"BasicLexer": _TrustingLexer}
        )
        lexer: Any = made.parser.lexer
        # In Lark's order, by priority and then by length.
        self._tokens = re.compile("|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in lexer.terminals))
        self._words = {
            (regex.name, word.pattern.value): word.name
            for word in lexer.terminals
            for regex in lexer.terminals
            if word.pattern.type == "str" and regex.pattern.type == "re" and word.priority == regex.priority
            if re.fullmatch(regex.pattern.to_regexp(), word.pattern.value)
        }
        self._ignored = frozenset(made.ignore_tokens)
        table: Any = made.parser.parser._parse_table
        self._start, self._end = table.start_states["start"], table.end_states["start"]
        reductions: dict[int, _Reduction] = {}
        self._actions: list[dict[str, int | _Reduction]] = [{} for _ in table.states]
        for state, actions in table.states.items():
            for symbol, (_, argument) in actions.items():
                is_shift = isinstance(argument, int)
                self._actions[state][symbol] = argument if is_shift else _reduction(argument, reductions)

    def lex(self, text: str, start: int, end: int) -> Iterator[Token]:
        """The tokens of a part of a text, with their offsets in all of it. Raises UnreadableText. Linear."""
        match, ignored, words, place = self._tokens.match, self._ignored, self._words, start
        while place < end:
            found = match(text, place, end)
            kind = None if found is None else found.lastgroup
            if found is None or kind is None:
                raise UnreadableText(place)
            begin, place = place, found.end()
            if kind not in ignored:
                value = found.group()
                yield Token(words.get((kind, value), kind), value, begin, end_pos=place)

    def parse(self, tokens: list[Token]) -> list[Step]:
        """How the tokens become a statement, for `build`. Raises UnexpectedToken. Linear."""
        states = [self._start]
        steps: list[Step] = []
        for token in [*tokens, Token.new_borrow_pos("$END", "", tokens[-1])]:
            while True:
                action = self._actions[states[-1]].get(token.type)
                if isinstance(action, int):
                    states.append(action)
                    steps.append(token)
                    break
                if action is None:
                    raise UnexpectedToken(token, frozenset(filter(str.isupper, self._actions[states[-1]])))
                del states[len(states) - action.size :]
                steps.append(action)
                following = self._actions[states[-1]][action.origin]
                assert isinstance(following, int)
                states.append(following)
                if following == self._end:
                    return steps
        raise AssertionError("the end of a statement was read")


def build(steps: list[Step], builders: Callable[[str], Callable[[list[Built]], Built]]) -> Built:
    """What a statement becomes: `builders(name)` makes a rule of its parts, children first."""
    stack: list[Built] = []
    for step in steps:
        if isinstance(step, Token):
            stack.append(step)
            continue
        first = len(stack) - step.size
        parts: list[Built] = []
        for part, taken in zip(stack[first:], step.taken, strict=True):
            if taken:
                parts += part
            elif taken is not None:
                parts.append(part)
        if step.is_inline:
            made: Built = parts
        elif step.may_vanish and len(parts) == 1:
            made = parts[0]
        else:
            made = builders(step.name)(parts)
        stack[first:] = [made]
    return stack[0]


def _reduction(rule: Any, known: dict[int, _Reduction]) -> _Reduction:
    if id(rule) not in known:
        origin = str(rule.origin.name)
        taken = tuple(
            (None if s.filter_out else False) if s.is_term else s.name.startswith("_") for s in rule.expansion
        )
        is_inline = origin.startswith("_") and not rule.alias
        known[id(rule)] = _Reduction(
            origin,
            len(taken),
            taken,
            str(rule.alias or origin),
            is_inline,
            bool(rule.options.expand1) and not rule.alias,
        )
    return known[id(rule)]


@cache
def statement_parser() -> StatementParser:
    """The parser; about 40 ms the first time."""
    return StatementParser()
