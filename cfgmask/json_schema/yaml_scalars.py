"""Scalars of JSON as YAML writes them, so that YAML 1.2 and PyYAML (YAML 1.1) read the same value.

A string stands without quotes where both read it as itself: no quote, bracket or other mark comes first, no `: ` or
` #` is inside, and it is no word, number or date to either of them, nor to the core schema of YAML 1.2, which has more
numbers (`.5e1`) than the reader that the tests hold this against. Any string stands between double quotes, with the
escapes of JSON but for pairs of surrogates, which YAML does not join.
"""

from __future__ import annotations

import json
import re
from functools import cache

from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    NOTHING,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    JsonString,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.regex import parse_regex

# YAML reads what stands before a colon as a key only if it has at most 1,024 characters; an escape has six.
MAX_KEY_LENGTH = 170
MAX_WRITTEN_KEY = 1024
# By how many blanks a block below a key is indented.
DEFAULT_INDENT = 2

SHORT_TEXT = Repetition(ANY_CHAR, 0, MAX_KEY_LENGTH)
"""The texts that may be keys."""

# Blanks, controls, line breaks of either version, the byte order mark and what is no character.
_UNPLAIN = r"\x00-\x20\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_INNER = rf"[^{_UNPLAIN}:]"
_AFTER_BLANK = rf"(?:[^{_UNPLAIN}:#]|:+{_INNER})"
_FIRST = rf"""[^{_UNPLAIN}\-?:,\[\]{{}}#&*!|>'"%@`]"""
_REST = rf"(?::*{_INNER}| +{_AFTER_BLANK})*"
# The colon after a key lets it end with colons. A dash is never the first of a key: at the left margin the lexer takes
# it for that of an item.
_PLAIN_KEY = rf"(?:{_FIRST}|[?:]:*{_INNER}){_REST}(?: *:+)?|[?:]:*"
_PLAIN = rf"(?:{_FIRST}|[-?:]:*{_INNER}){_REST}"
_DIGITS = "[0-9][0-9_]*"
_TIME = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?: *(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
# What is no string to one of the versions. Where the readers differ from the specifications, both count.
_NO_STRING = "|".join(
    (
        "~|<<|null|Null|NULL|true|True|TRUE|false|False|FALSE",
        "yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF",
        "[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-fA-F_]+)",
        f"{_DIGITS}|[-+][0-9_]+",  # to ruamel.yaml, which knows of digits that may be none
        rf"[-+]?{_DIGITS}(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?",
        r"[-+]?\.[0-9_]+(?:[eE][-+][0-9]+)?",
        r"[-+]?\.[0-9]+[eE][0-9]+",
        r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
        rf"[-+]?{_DIGITS}(?::[0-5]?[0-9])+\.[0-9_]*",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}",
        rf"[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}(?:[Tt]| +){_TIME}",
    )
)
# And what begins or ends a document where a line begins with it; and a value that PyYAML has no meaning for.
_READ_OTHERWISE = {
    _PLAIN: rf"{_NO_STRING}|=|(?:---|\.\.\.)(?: .*)?",
    _PLAIN_KEY: rf"{_NO_STRING}|\.\.\. .*",
}
# YAML 1.1 wants a point and a sign where there is an exponent.
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?"


def layout_patterns() -> tuple[RegexTree, RegexTree, RegexTree]:
    """Strings without quotes, the same of keys, and numbers."""
    return _plain_texts(_PLAIN), _plain_texts(_PLAIN_KEY), _tree(_NUMBER)


def number(regex: RegexTree) -> RegexTree:
    """The numbers of JSON that the regex matches, as far as both versions read them as that number."""
    return Intersection((regex, _tree(_NUMBER)))


def string(regex: RegexTree) -> RegexTree:
    """The strings of a regex for strings of JSON, with and without quotes."""
    return Alternation(tuple(_written(body, _PLAIN) for body in _bodies(regex)))


def key(regex: RegexTree) -> RegexTree:
    """Keys of an object, colon included: a name in one way, without quotes where it can be; others as strings.

    Raises GrammarError for a name that is too long.
    """
    (body,) = _bodies(regex)
    if isinstance(body, Literal):
        return text(_named(body.data.decode()) + ":")
    return Concatenation((_written(body, _PLAIN_KEY), text(":")))


def _named(name: str) -> str:
    written = name if _is_plain(name, _PLAIN_KEY) else _quoted(name)
    if len(written) > MAX_WRITTEN_KEY:
        message = f"YAML has no way to write the key {shortened(json.dumps(name))}: it is too long"
        help = f"a key, with its quotes and escapes, may have {MAX_WRITTEN_KEY} characters"
        raise GrammarError([Diagnostic("schema-yaml-key", message, pointer="", help=help)])
    return written


def _quoted(name: str) -> str:
    """A string between quotes, in the one way that JSON writes it, with more escapes where YAML needs them."""
    shown = json.dumps(name, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", shown)


def _written(body: RegexTree, plain: str) -> RegexTree:
    """The texts of a regex with and without quotes."""
    unquoted, quoted = _unquoted(body, plain), JsonString(body, "yaml")
    return quoted if unquoted == NOTHING else Alternation((unquoted, quoted))


def _unquoted(body: RegexTree, plain: str) -> RegexTree:
    if body == ANY_TEXT:
        return _plain_texts(plain)
    if isinstance(body, (Literal, KeySet)):
        listed = body.keys if isinstance(body, KeySet) else (body.data,)
        kept = tuple(name for name in listed if _is_plain(name.decode(), plain))
        return KeySet(kept) if kept else NOTHING
    return Intersection((body, _plain_texts(plain)))


def _bodies(regex: RegexTree) -> list[RegexTree]:
    """What the strings of a regex say, in the parts that it has."""
    if isinstance(regex, Alternation):
        return [body for part in regex.parts for body in _bodies(part)]
    assert isinstance(regex, JsonString), "a string of JSON"
    return [regex.body]


def _is_plain(name: str, plain: str) -> bool:
    return bool(re.fullmatch(plain, name)) and not re.fullmatch(_READ_OTHERWISE[plain], name)


@cache
def _plain_texts(plain: str) -> RegexTree:
    return Intersection((_tree(plain), Complement(_tree(_READ_OTHERWISE[plain]))))


@cache
def _tree(pattern: str) -> RegexTree:
    return parse_regex(pattern)
