"""Cuts a GBNF text into tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from cfgmask.diagnostics import Source, Span
from cfgmask.errors import LimitExceeded
from cfgmask.gbnf.habits import correction
from cfgmask.limits import Limits
from cfgmask.problems import Problems

BYTES_PER_TOKEN = 128
"""One token is allowed for so many bytes of `Limits.max_source_bytes`: it takes some hundred times its size."""
_CHARACTERS_PER_TOKEN = 16
"""So many characters count as one more token where each is looked at: in classes, and in strings with escapes."""

Kind: TypeAlias = Literal[
    "name", "define", "string", "class", "any", "token", "count", "repeat", "or", "open", "close", "newline", "error",
    "macro", "mark", "hint", "options",
]  # fmt: skip


class Token(NamedTuple):
    """A piece of the text, quotes and brackets included. An `error` was reported already.

    Of xgrammar are `macro`, a name before the parentheses of a call, `mark`, a comma or `=` in them, `hint`, `(=`, and
    `options`, the brackets behind the name of a rule.
    """

    kind: Kind
    span: Span

    @property
    def text(self) -> str:
        """How it is written."""
        return self.span.source.text[self.span.start : self.span.end]


_BLANK = re.compile(r"(?:[ \t]|#[^\r\n]*)+")
_NEWLINE = re.compile(r"\r\n?|\n")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_MACROS = "Token|ExcludeToken|TagDispatch|TokenTagDispatch|Regex|Substring"
_MACRO = re.compile(rf"(?:{_MACROS})(?=[ \t]*\()")
_DEFINED_MACRO = re.compile(rf"\b(?:{_MACROS})[ \t]*::=")
_DOTTED = r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+"
_DOTTED_NAME = re.compile(_DOTTED)
_DEFINED_DOTTED = re.compile(rf"^[ \t]*({_DOTTED})(?:[ \t]*::=|\[)", re.MULTILINE)
_OPTIONS = re.compile(r'\[(?:[^\]"\r\n]|"(?:[^"\\\r\n]|\\.)*")*\](?=[ \t]*::=)')
_TOKEN = re.compile(r"!?<[^>\r\n]*>")
_COUNT = re.compile(r"\{[^{}]*\}")
_LINE_END = re.compile(r"[\r\n]|\Z")
_IN_STRING = re.compile(r'["\\]')
_IN_CLASS = re.compile(r"[\]\\]")

_SINGLE: dict[str, Kind] = {
    ".": "any", "*": "repeat", "+": "repeat", "?": "repeat", "|": "or", "(": "open", ")": "close",
}  # fmt: skip

# By what a token begins with: the code if its end is missing, what it is, and that end.
_UNCLOSED = {
    '"': ("gbnf-unclosed-string", "string", '"'),
    "[": ("gbnf-unclosed-class", "class", "]"),
    "{": ("gbnf-unclosed-count", "count", "}"),
    "<": ("gbnf-unclosed-token", "token", ">"),
}

_HELP = {
    "'": "strings are written with double quotes",
    "=": "a rule is written `name ::= ...`",
    ":": "a rule is written `name ::= ...`",
    "/": "a comment begins with `#`",
    "]": "a bracket inside a class is written `\\]`",
    "!": "it goes before a token, as in `!<tok>` or `!<[5]>`",
}


def tokens(source: Source, limits: Limits, problems: Problems) -> Iterator[Token]:
    """The tokens of a text, in order, without blanks and comments.

    What is no token is reported, and the rest of its line is skipped.
    Raises LimitExceeded for too many tokens. Linear.
    """
    scanner = _Scanner(source, problems)
    most = limits.max_source_bytes // BYTES_PER_TOKEN
    number = 0
    for token in scanner.tokens():
        number += 1
        if token.kind == "class" or (token.kind == "string" and "\\" in token.text):
            number += (token.span.end - token.span.start) // _CHARACTERS_PER_TOKEN
        if number > most:
            detail = f"more than {most} tokens in a grammar, one for {BYTES_PER_TOKEN} bytes of the limit"
            raise LimitExceeded("max_source_bytes", limits.max_source_bytes, detail)
        yield token


class _Scanner:
    def __init__(self, source: Source, problems: Problems) -> None:
        self._source = source
        self._text = source.text
        self._problems = problems
        # A byte order mark is no part of the grammar.
        self._at = 1 if source.text.startswith("\ufeff") else 0
        # Where a rule has one of these names, they are rules, as in llama.cpp.
        self._has_macros = not _DEFINED_MACRO.search(source.text)
        self._n_open_in_macro: int | None = None
        # To llama.cpp a dot between two names is any character.
        self._dotted = set(_DEFINED_DOTTED.findall(source.text))

    def tokens(self) -> Iterator[Token]:
        while True:
            self._match(_BLANK)
            if self._at >= len(self._text):
                return
            start = self._at
            kind = self._next()
            yield Token(kind, Span(self._source, start, self._at))

    def _next(self) -> Kind:
        """Move over one token."""
        character = self._text[self._at]
        if character in "()" and self._n_open_in_macro is not None:
            self._n_open_in_macro += 1 if character == "(" else -1
            if self._n_open_in_macro == 0:
                self._n_open_in_macro = None
        elif character in ",=" and self._n_open_in_macro:
            self._at += 1
            return "mark"
        elif self._text.startswith("(=", self._at):
            self._at += 2
            return "hint"
        if character in _SINGLE:
            self._at += 1
            return _SINGLE[character]
        if self._match(_NEWLINE):
            return "newline"
        if self._has_macros and self._n_open_in_macro is None and self._match(_MACRO):
            self._n_open_in_macro = 0
            return "macro"
        if self._match_dotted() or self._match(_NAME):
            return "name"
        if self._text.startswith("::=", self._at):
            self._at += 3
            return "define"
        if character == '"':
            return self._quoted("string", _IN_STRING)
        if character == "[":
            is_behind_name = self._at > 0 and _NAME.match(self._text, self._at - 1) is not None
            if is_behind_name and self._match(_OPTIONS):
                return "options"
            return self._quoted("class", _IN_CLASS)
        if self._match(_TOKEN):
            return "token"
        if self._match(_COUNT):
            return "count"
        return self._unreadable()

    def _match(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        return True

    def _match_dotted(self) -> bool:
        """Move over a name with dots, if a rule has it."""
        found = _DOTTED_NAME.match(self._text, self._at) if self._dotted else None
        if found is None or found[0] not in self._dotted:
            return False
        self._at = found.end()
        return True

    def _quoted(self, kind: Kind, special: re.Pattern[str]) -> Kind:
        """A string or a class: up to what closes it, whatever follows backslashes."""
        start = self._at
        end = start + 1
        while found := special.search(self._text, end):
            end = found.end()
            if found[0] != "\\":
                self._at = end
                self._warn_of_line_break(kind, start, end)
                return kind
            end += 1
        return self._unreadable()

    def _warn_of_line_break(self, kind: Kind, start: int, end: int) -> None:
        line_break = _LINE_END.search(self._text, start, end)
        if line_break is not None and line_break.start() < end:
            self._problems.warning(
                "gbnf-line-break",
                f"the {kind} goes on over the end of its line",
                self._span(start, line_break.start()),
                help="is it meant to be closed before? a line break is written `\\n`",
            )

    def _unreadable(self) -> Kind:
        """Report what begins here, and skip the line."""
        character = self._text[self._at]
        help: str | None
        fix = None
        if character in _UNCLOSED:
            code, what, closing = _UNCLOSED[character]
            message, help = f"the {what} is not closed", f"add `{closing}`"
        else:
            shown = character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
            code = "gbnf-unexpected-character"
            message = f"unexpected character `{shown}` (U+{ord(character):04X})"
            help, fix = _HELP.get(character), correction(self._source, self._at)
        self._problems.error(code, message, self._span(self._at, self._at + 1), help=help, fix=fix)
        return self._skip_line()

    def _skip_line(self) -> Kind:
        found = _LINE_END.search(self._text, self._at)
        assert found is not None, "every text has an end"
        self._at = found.start()
        return "error"

    def _span(self, start: int, end: int) -> Span:
        return Span(self._source, start, end)
