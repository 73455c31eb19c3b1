"""The terminals of JSON: punctuation, constants, numbers, strings."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from cfgmask.diagnostics import shortened
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    NOTHING,
    Alternation,
    Complement,
    Intersection,
    JsonString,
    KeySet,
    RegexTree,
    text,
)
from cfgmask.json_schema.lexemes import (
    CLOSE,
    CLOSE_ARRAY,
    CLOSE_EMPTY_ARRAY,
    CLOSE_EMPTY_OBJECT,
    CLOSE_OBJECT,
    CLOSE_OBJECTS,
    COLON,
    COMMA,
    OPEN,
    OPEN_ARRAY,
    OPEN_OBJECT,
    mark,
    scope,
)
from tests.reference.json_schema.keys import Keys
from tests.reference.json_schema.strings import StringSet

__all__ = [
    "CLOSE",
    "CLOSE_ARRAY",
    "CLOSE_EMPTY_ARRAY",
    "CLOSE_EMPTY_OBJECT",
    "CLOSE_OBJECT",
    "CLOSE_OBJECTS",
    "COLON",
    "COMMA",
    "OPEN",
    "OPEN_ARRAY",
    "OPEN_OBJECT",
    "mark",
    "scope",
]

_MAX_NAME = 60

_shown = json.JSONEncoder(ensure_ascii=False).encode

# Closes an object whose keys come in any order.
CLOSE_SET, CLOSE_EMPTY_SET = replace(CLOSE_OBJECT, closes_set=True), replace(CLOSE_EMPTY_OBJECT, closes_set=True)
_ANY_STRING = Terminal("STRING", JsonString(ANY_TEXT))
NULL, TRUE, FALSE = (Terminal(word, text(word)) for word in ("null", "true", "false"))


def close_array(n_written: int) -> Terminal:
    """The mark that closes an array of so many items."""
    return CLOSE_ARRAY if n_written else CLOSE_EMPTY_ARRAY


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
