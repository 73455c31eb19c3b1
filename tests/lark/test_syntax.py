"""The core's lexer and parser of statements: beside `lark` itself with the same syntax, and what reading needs not."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lark import Lark, UnexpectedToken

from cfgmask import _core
from cfgmask.diagnostics import Source
from cfgmask.lark.tokens import Token
from tests.lark.fuzz import GRAMMARS, PIECES, mutations
from tests.scripts import script

SCRIPT = script("make_syntax_tables")
BLOCK = "\u00b6\u00b6\u00b6"
TEXTS = sorted({text for group in GRAMMARS for text in group})
EDGES = [
    *(
        "",
        " ",
        "\n",
        "\n \n// a\n\n#b\n",
        "\\",
        "\\ \n",
        "\\x",
        "\ufeffa",
        "a\u00a0b",
        "\u2028",
        "\0",
        "a\0b",
        "a\x1cb",
    ),
    *('"', '"a', '"a\n"', '"\\"', '"\\""i', '"a"ii', '"\\\n"', '""', '"\\', "/", "//", "/a", "/a/", "/a\n/", "/a\n/x"),
    *("/a\\\n/x", "/a\\\n/", "/a\\//ix", "/a/imslux", "/[/]/", "/\\", "/a\\/b", "/ /x/", "/a\nb/sx", "/a/xy"),
    *(
        "0x",
        "0xG",
        "0x1f",
        "0X1F",
        "+1",
        "-1",
        "+",
        "-",
        "--1",
        "->",
        "1.5",
        "1.",
        "1..2",
        "1e5",
        "1e",
        "1e+",
        "1.5E-3",
    ),
    *("{2}", "{ 2 , }", "{,3}", "{,}", "{}", "{2,3", "{2;3}", "{٣}", "{x}", "{-1}", "{\n2}", "{2 3}", "1٣", "٣"),
    *("~", "~2", "~ -2 .. +3", "~2..", "~2 . .3", "~..3", "~2..x", "~2...3", "~x", "~ \n2"),
    *(
        "<",
        "<>",
        "<a>",
        "<a b>",
        "<a<b>",
        "<[1-3]>",
        "<[",
        "<[]>",
        "<[]]>",
        "<[\n]>",
        "<[1]",
        "<a\n>",
        "<é>",
        "<a\u00a0>",
    ),
    *("@", "@a-b", "@-", "@ a", "%", "%ignore", "%ignored", "%json{", "%é", "%if%if"),
    *(
        "_",
        "__",
        "_a",
        "a-",
        "a->",
        "a-b->c",
        "a--b",
        "é",
        "²a",
        "a²",
        "A1",
        "1a",
        "a.b",
        "a..b",
        "::",
        ":::",
        "?*+!=&|",
    ),
]


@cache
def parser() -> Lark:
    """Lark's own, in which a word stands for the blocks that the core makes."""
    syntax = SCRIPT.SYNTAX.read_text(encoding="utf-8").replace("%declare BLOCK", f'BLOCK: "{BLOCK}"')
    lexer = {"BasicLexer": SCRIPT.TrustingLexer}
    return Lark(syntax, parser="lalr", lexer="basic", maybe_placeholders=False, _plugins=lexer)


@cache
def terminals() -> list[tuple[str, bool, re.Pattern[str]]]:
    """In Lark's order: the name of each, whether it is one text, and its pattern."""
    lexer: Any = parser().parser.lexer
    return [(t.name, t.pattern.type == "str", re.compile(t.pattern.to_regexp())) for t in lexer.terminals]


def slow_tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """The first terminal that matches is taken; one text that a regex matches as well goes before that regex."""
    place, before = 0, ""
    while place < len(text):
        matches = [
            (name, is_word, m.end()) for name, is_word, pattern in terminals() if (m := pattern.match(text, place))
        ]
        if not matches:
            before = "UNREADABLE"
            yield before, place, place + 1
            line_end = text.find("\n", place + 1)
            place = len(text) if line_end < 0 else line_end
            continue
        name, is_word, end = matches[0]
        if not is_word:
            name = next((word for word, is_word, its_end in matches if is_word and its_end == end), name)
        if name not in ("BLANK", "COMMENT", "CONTINUATION") and (name, before) != ("NEWLINE", "NEWLINE"):
            before = name
            yield name, place, end
        place = end


@pytest.mark.parametrize("text", EDGES)
def test_tokens_at_edges(text: str) -> None:
    for around in (text, f"a {text}", f"{text} a", f"{text}\nb"):
        assert _core.lark_tokens(around) == list(slow_tokens(around)), around


def test_tokens_of_grammars() -> None:
    for text in [*TEXTS, *mutations(300, 1)]:
        assert _core.lark_tokens(text) == list(slow_tokens(text)), text


@given(st.lists(st.sampled_from([*PIECES, *EDGES]) | st.characters(codec="utf-8"), max_size=12).map("".join))
def test_tokens_of_any_text(text: str) -> None:
    assert _core.lark_tokens(text) == list(slow_tokens(text))


class Listener:
    """A reader that makes nothing, and notes where statements cannot go on and what could stand there."""

    def __init__(self) -> None:
        self.wrong: list[tuple[str, int, set[str]]] = []
        self.unclosed = 0

    def report_syntax(self, tokens: list[Token], token: Token, expected: set[str]) -> None:
        self.wrong.append((token.type, token.start, expected))

    def report_unclosed(self, bracket: Token, next_begins: int | None) -> None:
        self.unclosed += 1

    def pass_over(self, tokens: list[Token]) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[[list[Any]], list[Any]]:
        assert name.startswith("build_")
        return lambda parts: []


def wrong_by_lark(statement: str) -> list[tuple[str, int, set[str]]]:
    try:
        parser().parse(statement)
    except UnexpectedToken as error:
        token = error.token
        start = len(statement.rstrip()) if token.type == "$END" else token.start_pos
        assert start is not None
        return [(token.type, start, set(error.expected))]
    return []


@given(
    st.sampled_from(
        ["a:", "?a:", "!a:", "A.2:", "a{x}:", "a[lazy]:", "a::_:", "%override a:", "%ignore", "%import", ""]
    ),
    st.lists(
        st.sampled_from(
            [
                *(
                    "a",
                    "B",
                    '"s"',
                    "/r/",
                    "|",
                    "&",
                    "~",
                    "(a)",
                    "[",
                    "]",
                    "?",
                    "*",
                    "{2}",
                    "~1..2",
                    "-> x",
                    "%if _",
                    "_",
                ),
                *("<t>", "@g", f"%json {BLOCK}", f"%regex {BLOCK}", 't{a, "b"}', "a::incr(_)", '"a".."z"', "( )"),
                *(
                    "{",
                    "}",
                    ",",
                    "=",
                    "::",
                    ".",
                    "..",
                    "1",
                    "->",
                    "[1:2]",
                    "!",
                    "%declare",
                    ":",
                    "(",
                    ")",
                    f"%lark {BLOCK}",
                ),
            ]
        ),
        max_size=10,
    ).map(" ".join),
)
@example("%import", "a . b -> c")
@example("%import", "a ( b , c )")
@example("a:", "")
def test_statements_are_parsed_as_by_lark(head: str, body: str) -> None:
    statement = f"{head} {body}"
    assume(statement.strip())
    listener = Listener()
    # A count behind a keyword is a block to the core.
    written = statement.replace(BLOCK, "{3}")
    _core.LarkNodeTypes().read(listener, Source("a", written), 0, len(written), 1_000, 1_000)
    assume(not listener.unclosed)
    assert listener.wrong == wrong_by_lark(statement)


def test_the_tables_are_those_of_the_syntax() -> None:
    written = SCRIPT.TARGET.read_text("utf-8")
    assert written == SCRIPT.tables(), "run scripts/make_syntax_tables.py"


def test_reading_a_grammar_does_not_import_lark() -> None:
    read = """
import sys, cfgmask
cfgmask.Grammar.from_lark('start: "a"i B %regex {"type": "integer"}\\nB: /[0-9]/')
print("lark" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
