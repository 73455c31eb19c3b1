"""The terminals of JSON: punctuation, constants, numbers, strings, whitespace."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from cfgmask.diagnostics import shortened
from cfgmask.grammar.ir import Expr, Scope, Terminal
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    NOTHING,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    RegexTree,
    text,
)
from cfgmask.grammar.white_space import BOUNDED, UNBOUNDED
from cfgmask.json_schema import spacing
from cfgmask.json_schema.keys import Keys
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.strings import StringSet

_MAX_NAME = 60

_shown = json.JSONEncoder(ensure_ascii=False).encode


def _fixed(lexeme: str) -> Terminal:
    return Terminal(json.dumps(lexeme), text(lexeme))


def _empty(close: Terminal) -> Terminal:
    """The mark that closes right after the opening mark: the same texts, and another tree."""
    return replace(close, regex=Concatenation((close.regex,)))


OPEN_OBJECT, CLOSE_OBJECT = _fixed("{"), _fixed("}")
OPEN_ARRAY, CLOSE_ARRAY = _fixed("["), _fixed("]")
# Before these no white space is written, since what opens has it.
CLOSE_EMPTY_OBJECT, CLOSE_EMPTY_ARRAY = _empty(CLOSE_OBJECT), _empty(CLOSE_ARRAY)
# Closes an object whose keys come in any order.
CLOSE_SET, CLOSE_EMPTY_SET = replace(CLOSE_OBJECT, closes_set=True), replace(CLOSE_EMPTY_OBJECT, closes_set=True)
OPEN = (OPEN_OBJECT, OPEN_ARRAY)
CLOSE_OBJECTS = (CLOSE_OBJECT, CLOSE_EMPTY_OBJECT)
CLOSE = (*CLOSE_OBJECTS, CLOSE_ARRAY, CLOSE_EMPTY_ARRAY)
COMMA, COLON = _fixed(","), _fixed(":")
_ANY_STRING = Terminal("STRING", JsonString(ANY_TEXT))
_MARKS = {id(mark.regex): mark for mark in (*OPEN, *CLOSE, COMMA, COLON)}
NULL, TRUE, FALSE = (Terminal(word, text(word)) for word in ("null", "true", "false"))


def scope(name: str, options: JsonSchemaOptions) -> Scope:
    """What may stand between lexemes, besides what `spelling` adds to marks."""
    if options.whitespace in ("natural", "compact") or options.indent is not None:
        return Scope(name)
    if options.whitespace == "unbounded":
        return Scope(name, (Terminal("WHITESPACE", UNBOUNDED),))
    regex = BOUNDED if options.whitespace == "bounded" else spacing.whitespace(options.whitespace)
    return Scope(name, (Terminal("WHITESPACE", regex),), ignore_once=True)


def close_array(n_written: int) -> Terminal:
    """The mark that closes an array of so many items."""
    return CLOSE_ARRAY if n_written else CLOSE_EMPTY_ARRAY


def mark(expr: Expr) -> Terminal | None:
    """The bracket, comma or colon that an expression is; in sets and items these are further terminals of one regex."""
    return _MARKS.get(id(expr.regex)) if isinstance(expr, Terminal) else None


def number(regex: RegexTree, is_integer: bool) -> Terminal:
    """A number spelled in one of the ways of the regex."""
    return Terminal("INTEGER" if is_integer else "NUMBER", regex)


def string(allowed: StringSet) -> Terminal:
    """A string value. Those that the schema lists are spelled as they are, others in any way that JSON has."""
    if not allowed.values:
        return _ANY_STRING if allowed.pattern == ANY_TEXT else Terminal("STRING", JsonString(allowed.pattern))
    listed = JsonString(_one_of(allowed.values), escapes="literal")
    name = shortened(" | ".join(map(_shown, allowed.values[:8])))
    if allowed.pattern == NOTHING:
        return Terminal(name, listed)
    return Terminal(name, Alternation((listed, JsonString(allowed.pattern))))


def key(name: str) -> Terminal:
    """A key that the schema names; often the same terminal for the same name."""
    # Schemas have many of their names in common, with each other and between their parts.
    return _short_key(name) if len(name) <= _MAX_NAME else _new_key(name)


@lru_cache(maxsize=4096)
def _short_key(name: str) -> Terminal:
    return _new_key(name)


def _new_key(name: str) -> Terminal:
    return Terminal(shortened(_shown(name)), JsonString(text(name), escapes="literal"))


def other_key(keys: Keys, names: tuple[str, ...]) -> Terminal:
    """Any key of a class but those with names."""
    return Terminal("KEY", JsonString(other_key_text(keys, names)))


def other_key_text(keys: Keys, names: tuple[str, ...]) -> RegexTree:
    """What such a key says, over decoded text."""
    regex = keys.regex()
    if not names:
        return regex
    named = Complement(KeySet(tuple(name.encode() for name in names)))
    return Intersection((ANY_TEXT if regex == ANY_TEXT else regex, named))


def _one_of(values: tuple[str, ...]) -> RegexTree:
    return text(values[0]) if len(values) == 1 else KeySet(tuple(value.encode() for value in values))
