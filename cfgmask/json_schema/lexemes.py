"""The marks of JSON, and the white space between them."""

from __future__ import annotations

import json
from dataclasses import replace

from cfgmask.grammar.ir import Expr, Scope, Terminal
from cfgmask.grammar.regex_tree import (
    Concatenation,
    text,
)
from cfgmask.grammar.white_space import BOUNDED, UNBOUNDED
from cfgmask.json_schema import spacing
from cfgmask.json_schema.options import JsonSchemaOptions


def _fixed(lexeme: str) -> Terminal:
    return Terminal(json.dumps(lexeme), text(lexeme))


def _empty(close: Terminal) -> Terminal:
    """The mark that closes right after the opening mark: the same texts, and another tree."""
    return replace(close, regex=Concatenation((close.regex,)))


OPEN_OBJECT, CLOSE_OBJECT = _fixed("{"), _fixed("}")
OPEN_ARRAY, CLOSE_ARRAY = _fixed("["), _fixed("]")
# Before these no white space is written, since what opens has it.
CLOSE_EMPTY_OBJECT, CLOSE_EMPTY_ARRAY = _empty(CLOSE_OBJECT), _empty(CLOSE_ARRAY)
OPEN = (OPEN_OBJECT, OPEN_ARRAY)
CLOSE_OBJECTS = (CLOSE_OBJECT, CLOSE_EMPTY_OBJECT)
CLOSE = (*CLOSE_OBJECTS, CLOSE_ARRAY, CLOSE_EMPTY_ARRAY)
COMMA, COLON = _fixed(","), _fixed(":")
_MARKS = {id(mark.regex): mark for mark in (*OPEN, *CLOSE, COMMA, COLON)}


def scope(name: str, options: JsonSchemaOptions) -> Scope:
    """What may stand between lexemes, besides what `spelling` adds to marks."""
    if options.whitespace in ("natural", "compact") or options.indent is not None:
        return Scope(name)
    if options.whitespace == "unbounded":
        return Scope(name, (Terminal("WHITESPACE", UNBOUNDED),))
    regex = BOUNDED if options.whitespace == "bounded" else spacing.whitespace(options.whitespace)
    return Scope(name, (Terminal("WHITESPACE", regex),), ignore_once=True)


def mark(expr: Expr) -> Terminal | None:
    """The bracket, comma or colon that an expression is; in sets and items these are further terminals of one regex."""
    return _MARKS.get(id(expr.regex)) if isinstance(expr, Terminal) else None
