"""The Lark parser of single statements, made once a process from `syntax.lark`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from lark import Lark


@cache
def statement_parser() -> Lark:
    """The parser; about 40 ms the first time, and safe to share between threads (each parse has its own state)."""
    grammar = files("cfgmask.lark").joinpath("syntax.lark").read_text(encoding="utf-8")
    # Places come from the tokens: propagating positions through every reduction would double the time of a parse.
    return Lark(grammar, parser="lalr", lexer="basic", propagate_positions=False, maybe_placeholders=False)
