"""The parser of single statements, by the tables of `syntax.lark`.

`scripts/make_syntax_tables.py` has the `lark` package make them, so that reading a grammar need not wait for it: that
takes longer than to read 500 lines. What walks them takes a third of the time of Lark's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, TypeAlias

Built: TypeAlias = Any
"""What a piece of a statement became: a node, a list of statements, None, or a token that its parent reads."""


class Token(str):
    """A piece of a statement; `start` and `end` are its offsets in the text."""

    __slots__ = ("end", "start", "type")
    type: str
    start: int
    end: int

    @classmethod
    def of(cls, type: str, text: str, start: int, end: int) -> Token:
        """A token of these parts."""
        token = cls(text)
        token.type, token.start, token.end = type, start, end
        return token


class UnexpectedToken(Exception):
    """The statement cannot go on with `token`, whose type is "$END" behind its last one; `expected` are types."""

    def __init__(self, token: Token, expected: frozenset[str]) -> None:
        super().__init__(token)
        self.token = token
        self.expected = expected


_ONE = (False,)


@dataclass(frozen=True, eq=False)
class Reduction:
    """What stands for a rule's symbols once all are read.

    origin     the rule
    taken      for each symbol, None if it is dropped, else whether its parts are taken one by one
    name       the rule, or its alias
    is_inline  whether its parts are its parent's
    may_vanish whether a single part stands for it
    """

    origin: str
    taken: tuple[bool | None, ...]
    name: str
    is_inline: bool
    may_vanish: bool

    @property
    def begins_list(self) -> bool:
        """Whether it is a list of its one symbol."""
        return self.taken == _ONE and self.is_inline

    @property
    def may_be_one_of_list(self) -> bool:
        """Whether it stands for a list, whose one part may stand for it."""
        return self.taken == (True,) and self.may_vanish and not self.is_inline

    @cached_property
    def kept(self) -> tuple[int, ...] | None:
        """Which of its symbols are its parts, if each is one part."""
        return None if any(self.taken) else tuple(i for i, part in enumerate(self.taken) if part is not None)

    @cached_property
    def grows_by(self) -> int:
        """If it is a list that grows by its last symbol, how many symbols stand behind that list; or else 0."""
        is_list = self.is_inline and len(self.taken) > 1 and self.taken[0] is True and self.taken[-1] is False
        return len(self.taken) - 1 if is_list and not any(part is not None for part in self.taken[1:-1]) else 0

    @property
    def changes_nothing(self) -> bool:
        """Whether its one symbol stands for it as it is."""
        return self.taken == ((True,) if self.is_inline else (False,)) and (self.is_inline or self.may_vanish)


Step: TypeAlias = Token | Reduction
_Chain: TypeAlias = tuple[int, tuple[Reduction, ...], int | None]


UNREADABLE = "UNREADABLE"
"""The type of a token that is none: a character with which none begins."""

FREQUENT = ("NAME", "STRING", "VBAR", "DOUBLE_COLON", "COLON", "LPAR", "RPAR", "LSQB", "RSQB", "COMMA", "QUESTION")
"""Terminals that most tokens are, in an order in which they are tried first: no others but words begin as they do."""


class StatementParser:
    """Cuts a text into tokens, and parses those of one statement. Safe to share between threads."""

    def __init__(self) -> None:
        tables = json.loads(files("cfgmask.lark").joinpath("syntax_tables.json").read_text(encoding="utf-8"))
        # The blanks before a token are taken along with it: a match of their own takes as long as a token's. Each
        # pattern that is tried in vain takes a while, too.
        patterns = dict(tables["terminals"])
        patterns = {name: patterns[name] for name in FREQUENT} | patterns
        # So each match begins where the last one ended.
        patterns[UNREADABLE] = r"[\s\S]"
        tokens = "|".join(f"(?P<{name}>{pattern})" for name, pattern in patterns.items())
        self._tokens = re.compile(f"[ \\t]*(?:{tokens})")
        # No text is of two kinds.
        self._words = {text: word for _, text, word in tables["words"]}
        self._ignored = frozenset(tables["ignored"])
        self._end: int = tables["end"]
        reductions = [Reduction(**{**rule, "taken": tuple(rule["taken"])}) for rule in tables["reductions"]]
        # A number from 0 is the next state, `~n` the reduction n; its size and whether it is a step are looked up once.
        self._shifts: list[dict[str, int]] = tables["states"]
        self._reductions = [(r, len(r.taken), r.origin, not r.changes_nothing) for r in reductions]
        # By the two states on top and a token; what depends on no more than these is worked out once.
        self._chains: dict[tuple[int, int, str], _Chain] = {}

    def lex(self, text: str, start: int, end: int) -> Iterator[Token]:
        """The tokens of a part of a text, with their offsets in all of it. Linear.

        Where no token begins, one of the type `UNREADABLE` has the next character, and the rest of the line is skipped.
        Of line breaks with nothing but comments between them the first is a token.
        """
        ignored, words = self._ignored, self._words
        before, place = "", start
        while place >= 0:
            matches, place = self._tokens.finditer(text, place, end), -1
            for match in matches:
                kind = match.lastgroup or UNREADABLE
                if kind in ignored or (kind == before == "NEWLINE"):
                    continue
                value = match[kind]
                token = Token(value)
                token.type = before = words.get(value, kind)
                token.end = stop = match.end()
                token.start = stop - len(value)
                yield token
                if kind == UNREADABLE:
                    place = text.find("\n", stop, end)
                    break

    def parse(self, tokens: list[Token]) -> list[Step]:
        """How the tokens become a statement, for `build`. Raises UnexpectedToken. Linear."""
        # The first state stands twice, as there is always one below.
        states = [0, 0]
        steps: list[Step] = []
        shifts, reductions, chains = self._shifts, self._reductions, self._chains
        last = tokens[-1]
        for token in [*tokens, Token.of("$END", "", last.end, last.end)]:
            while True:
                place = (states[-2], states[-1], token.type)
                chain = chains.get(place) or chains.setdefault(place, self._chain(*place))
                states[-1], done, action = chain
                steps += done
                if action is None or action >= 0:
                    break
                reduction, size, origin, is_step = reductions[~action]
                if size:
                    del states[-size:]
                if is_step:
                    steps.append(reduction)
                states.append(shifts[states[-1]][origin])
            if action is None:
                if states[-1] == self._end:
                    return steps
                raise UnexpectedToken(token, frozenset(filter(str.isupper, shifts[states[-1]])))
            states.append(action)
            steps.append(token)
        raise AssertionError("the end of a statement was read")

    def _chain(self, below: int, top: int, kind: str) -> _Chain:
        """The reductions of one symbol that a token leads to, which are three of four: from a name to a sequence, say.

        The state that is on top then, the steps, and what is to be done there; None also where all is read.
        """
        steps: list[Reduction] = []
        while (action := self._shifts[top].get(kind)) is not None and action < 0:
            reduction, size, origin, is_step = self._reductions[~action]
            if size != 1:
                return top, tuple(steps), action
            if is_step and steps and steps[-1].begins_list and reduction.may_be_one_of_list:
                steps.pop()  # what stands alone is itself
            elif is_step:
                steps.append(reduction)
            top = self._shifts[below][origin]
            if top == self._end:
                return top, tuple(steps), None
        return top, tuple(steps), action


def build(
    steps: list[Step], builders: Mapping[str, Callable[[list[Built]], Built]], nothing: Callable[[int], Built]
) -> Built:
    """What a statement becomes. Linear.

    builders  for each name, what makes a rule of its parts, children first
    nothing   makes a rule without parts, of the offset at which it stands
    """
    stack: list[Built] = []
    end = 0
    for step in steps:
        if isinstance(step, Token):
            stack.append(step)
            end = step.end
            continue
        taken = step.taken
        # Most have one symbol, or are lists that grow by one.
        if taken == _ONE:
            stack[-1] = [stack[-1]] if step.is_inline else builders[step.name]([stack[-1]])
            continue
        if n_behind := step.grows_by:
            part = stack[-1]
            del stack[-n_behind:]
            stack[-1].append(part)
            continue
        if not taken:
            stack.append(nothing(end))
            continue
        symbols = stack[-len(taken) :]
        del stack[-len(taken) :]
        kept = step.kept
        parts = _parts(symbols, taken) if kept is None else [symbols[i] for i in kept]
        if step.is_inline:
            stack.append(parts)
        elif step.may_vanish and len(parts) == 1:
            stack.append(parts[0])
        else:
            stack.append(builders[step.name](parts))
    return stack[0]


def _parts(symbols: list[Built], taken: tuple[bool | None, ...]) -> list[Built]:
    """What a rule is made of. Lists of parts belong to one parent, so that the first one is gone on with."""
    is_list = taken[0] is True
    parts: list[Built] = symbols[0] if is_list else []
    for part, is_spliced in zip(symbols[is_list:], taken[is_list:], strict=True):
        if is_spliced:
            parts += part
        elif is_spliced is not None:
            parts.append(part)
    return parts


@cache
def statement_parser() -> StatementParser:
    """The parser; some 10 ms the first time."""
    return StatementParser()
