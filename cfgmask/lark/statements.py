"""Cuts a grammar text into statements: lists of tokens, without line breaks, each to be parsed by itself.

A statement ends at a line break outside brackets, unless the next line goes on with `|`, `&`, `->` or `%if`.
Parsing statement by statement is what lets one reading find all syntax errors.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from cfgmask.diagnostics import Related, Source, Span
from cfgmask.errors import LimitExceeded
from cfgmask.lark.problems import Problems
from cfgmask.lark.syntax import UNREADABLE, Token, statement_parser
from cfgmask.limits import Limits

BYTES_PER_TOKEN = 128
"""One token is allowed for so many bytes of `Limits.max_source_bytes`, since a token costs some 20 microseconds and
half a kilobyte. What is JSON inside braced blocks does not count."""

# Where a value in JSON ends, the values themselves are not wanted here.
_JSON = json.JSONDecoder(parse_int=str, parse_float=str)

_UNREADABLE_HELP = {
    ";": "a statement ends with its line, and comments begin with `//` or `#`",
    "<": "a special token is written `<name>`, without blanks",
    **dict.fromkeys(
        "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb", 'strings are written with straight double quotes, `"`'
    ),
}
CLOSER = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSERS = frozenset(CLOSER.values())
_CONTINUES = frozenset({"VBAR", "AMPERSAND", "ARROW", "IF"})
_OPTIONS = frozenset({"CFGMASK", "LLGUIDANCE", "GRAMMAR_OPTIONS"})
_DIRECTIVES = _OPTIONS | {"IGNORE", "IMPORT", "DECLARE", "OVERRIDE", "EXTEND", "UNKNOWN_DIRECTIVE"}
_BLOCK_KEYWORDS = _OPTIONS | {"JSON", "REGEX", "LARK"}
_MARKS = frozenset({"NEWLINE", UNREADABLE, *CLOSER, *CLOSERS, *_BLOCK_KEYWORDS})
"""What a statement is not only made of."""
_MODIFIERS = frozenset({"QUESTION", "BANG"})
_CHANGES = frozenset({"OVERRIDE", "EXTEND"})


@dataclass
class TokenStatement:
    """The tokens of one statement; `broken` if an error in it was reported already and it should not be parsed."""

    tokens: list[Token] = field(default_factory=list)
    broken: bool = False

    @property
    def defined_names(self) -> list[str]:
        """The names that this statement defines or seems to define; of an import, its module's too."""
        names = [str(token) for token in self.tokens if token.type == "NAME"]
        if self.tokens[0].type in ("IMPORT", "DECLARE"):
            return names
        heads = (token.type for token in self.tokens if token.type not in _MODIFIERS | _CHANGES)
        return names[:1] if next(heads, None) == "NAME" else []


def statements(text: Span, limits: Limits, problems: Problems) -> Iterator[TokenStatement]:
    """The statements of a text, in order. Lexical errors and brackets that stay open are reported to `problems`.

    Raises LimitExceeded for too many tokens or brackets nested too deeply. Linear in the text.
    """
    return _Splitter(text, limits, problems).statements()


def _report_unreadable(token: Token, source: Source, problems: Problems) -> None:
    character = str(token)
    if character == '"':
        message, help = "the string is not closed on its line", 'write a quote inside a string as `\\"`'
    elif character == "/":
        message = "the regex is not closed on its line"
        help = "write a slash inside a regex as `\\/`; only regexes with the flag x may span lines"
    elif character == "'":
        message, help = "strings are written with double quotes", None
    else:
        shown = character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
        message, help = f"unexpected character `{shown}` (U+{ord(character):04X})", _UNREADABLE_HELP.get(character)
    problems.error("lark-unreadable", message, Span(source, token.start, token.end), help=help)


class _Lookahead:
    """An iterator that can be looked into a few tokens ahead."""

    def __init__(self, tokens: Iterator[Token]) -> None:
        self._tokens = tokens
        self._ahead: deque[Token] = deque()

    def go_on_with(self, tokens: Iterator[Token]) -> None:
        """Have others come next, in place of those that were still to come."""
        self._tokens = tokens
        self._ahead.clear()

    def next(self) -> Token | None:
        return self._ahead.popleft() if self._ahead else next(self._tokens, None)

    def peek(self, index: int = 0) -> str | None:
        """The type of the token that `index` calls of `next` would skip; None at the end."""
        while len(self._ahead) <= index:
            token = next(self._tokens, None)
            if token is None:
                return None
            self._ahead.append(token)
        return self._ahead[index].type

    def starts_statement(self) -> bool:
        """Whether what comes looks like the beginning of a statement: `name:`, `?name:`, `%ignore`."""
        first = self.peek()
        if first in _DIRECTIVES:
            return True
        index = 0
        while index < len(_MODIFIERS) and self.peek(index) in _MODIFIERS:
            index += 1
        return self.peek(index) == "NAME" and self.peek(index + 1) == "COLON"


class _Splitter:
    def __init__(self, text: Span, limits: Limits, problems: Problems) -> None:
        self._source = text.source
        self._end = text.end
        self._limits = limits
        self._problems = problems
        self._input = _Lookahead(self._tokens_from(text.start))
        self._max_tokens = limits.max_source_bytes // BYTES_PER_TOKEN
        self._n_tokens_left = self._max_tokens

    def _tokens_from(self, start: int) -> Iterator[Token]:
        return statement_parser().lex(self._source.text, start, self._end)

    def statements(self) -> Iterator[TokenStatement]:
        while self._input.peek() is not None:
            statement = self._statement()
            if statement.tokens:
                self._n_tokens_left -= len(statement.tokens)
                yield statement

    def _statement(self) -> TokenStatement:
        """The next statement; without tokens where there was only a line break or a lexical error."""
        statement = TokenStatement()
        brackets: list[Token] = []
        tokens, read = statement.tokens, self._input.next
        while (token := read()) is not None:
            if token.type not in _MARKS and len(tokens) < self._n_tokens_left:
                tokens.append(token)
                continue
            if token.type == "NEWLINE":
                if brackets:
                    if self._input.starts_statement():
                        break
                elif self._input.peek() not in _CONTINUES:
                    return statement
                continue
            if token.type == UNREADABLE:
                _report_unreadable(token, self._source, self._problems)
                statement.broken = True
                self._skip_to_statement()
                return statement
            self._track(token, brackets)
            self._add(statement, token)
            if token.type in _BLOCK_KEYWORDS:
                self._read_block(statement)
        if brackets:
            self._report_open(brackets[-1], token)
            statement.broken = True
        return statement

    def _end_of_json(self, start: int) -> int | None:
        """Where the JSON ends that begins here; None where there is none, or what is there has to be looked at."""
        try:
            _, end = _JSON.raw_decode(self._source.text, start)
        except (ValueError, RecursionError):
            return None
        return end if end <= self._end else None

    def _add(self, statement: TokenStatement, token: Token) -> None:
        self._check_number(statement)
        statement.tokens.append(token)

    def _check_number(self, statement: TokenStatement) -> None:
        if len(statement.tokens) >= self._n_tokens_left:
            detail = f"more than {self._max_tokens} tokens in a grammar, one for {BYTES_PER_TOKEN} bytes of the limit"
            raise LimitExceeded("max_source_bytes", self._limits.max_source_bytes, detail)

    def _track(self, token: Token, brackets: list[Token]) -> None:
        """Keep the stack of open brackets. A closing bracket of the wrong kind is left to the parser to report."""
        if token.type in CLOSER:
            brackets.append(token)
            if len(brackets) > self._limits.max_nesting:
                line, column = self._source.position(token.start)
                detail = f"brackets at {self._source.name}:{line}:{column}"
                raise LimitExceeded("max_nesting", self._limits.max_nesting, detail)
        elif token.type in CLOSERS and brackets:
            brackets.pop()

    def _read_block(self, statement: TokenStatement) -> None:
        """After a keyword such as `%json`: turn what is in braces into one BLOCK token, whatever it holds."""
        while self._input.peek() == "NEWLINE":
            self._input.next()
        # `{3}` is a count to the lexer.
        if self._input.peek() == "COUNT":
            count = self._input.next()
            if count is not None:
                self._add(statement, Token.of("BLOCK", "", count.start, count.end))
            return
        if self._input.peek() != "LBRACE":
            return
        opening = self._input.next()
        assert opening is not None
        after = self._end_of_json(opening.start) if statement.tokens[-1].type != "LARK" else None
        if after is not None:
            self._input.go_on_with(self._tokens_from(after))
            self._add(statement, Token.of("BLOCK", "", opening.start, after))
            return
        brackets = [opening]
        while brackets:
            token = self._input.next()
            self._n_tokens_left -= 1
            self._check_number(statement)
            if token is None:
                self._report_open(opening, None)
                statement.broken = True
                return
            if token.type == UNREADABLE:
                _report_unreadable(token, self._source, self._problems)
                statement.broken = True
            self._track(token, brackets)
            end = token.end
        self._add(statement, Token.of("BLOCK", "", opening.start, end))

    def _skip_to_statement(self) -> None:
        while self._input.peek() is not None:
            token = self._input.next()
            if token is not None and token.type == UNREADABLE:
                _report_unreadable(token, self._source, self._problems)
            if token is not None and token.type == "NEWLINE" and self._input.starts_statement():
                return

    def _report_open(self, opening: Token, found_before: Token | None) -> None:
        place = opening.start
        related: tuple[Related, ...] = ()
        if found_before is not None:
            start = found_before.end
            related = (Related(Span(self._source, start, start + 1), "the next statement begins here"),)
        self._problems.error(
            "lark-unclosed-bracket", f"`{opening}` is not closed", Span(self._source, place, place + 1), related=related
        )
