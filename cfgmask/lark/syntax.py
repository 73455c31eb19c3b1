"""The Lark parser of single statements, made once a process from `syntax.lark`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark
from lark.lexer import BasicLexer


class _TrustingLexer(BasicLexer):
    """Lark's lexer without its search for terminals that match the same text.

    Where the package `interegular` is installed, that search runs each time a parser is made; on `syntax.lark` it does
    not end.
    """

    def __init__(self, conf: Any, comparator: Any = None) -> None:
        conf.skip_validation = True
        super().__init__(conf, comparator)


@cache
def statement_parser() -> Lark:
    """The parser; about 40 ms the first time, and safe to share between threads (each parse has its own state)."""
    grammar = files("cfgmask.lark").joinpath("syntax.lark").read_text(encoding="utf-8")
    # Places come from the tokens: propagating positions through every reduction would double the time of a parse.
    return Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        propagate_positions=False,
        maybe_placeholders=False,
        _plugins={"BasicLexer": _TrustingLexer},
    )
