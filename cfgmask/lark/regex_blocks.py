"""`%regex {...}`: what patterns cannot say in reasonable size, the substrings of a text and numbers in bounds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from cfgmask.diagnostics import Span, shortened
from cfgmask.grammar import regex_tree as regex
from cfgmask.lark.json_members import member_places
from cfgmask.lark.literals import LiteralError
from cfgmask.regex.numbers import NoNumbers, TooManyDigits, number_regex
from cfgmask.suggest import did_you_mean

_CODE = "lark-bad-regex-block"
_WORDS = re.compile(r"\w+|\s+|[^\w\s]+")
_BOUNDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
_NUMBER_KEYS = ("type", *_BOUNDS, "multipleOf")


def regex_of_block(value: Span) -> regex.RegexTree:
    """The regex that a block describes; `value` is the span of its braces.

    Raises LiteralError with a place in the block. Linear in the text, and in the digits of bounds.
    """
    text = value.source.text[value.start : value.end]
    members = _members(text)
    for key in members:
        if key not in _SUBSTRINGS and key not in _NUMBER_KEYS:
            help = did_you_mean(key, [*_SUBSTRINGS, *_NUMBER_KEYS])
            _fail(text, f"`%regex` has no `{shortened(key)}`", help or _HELP, key)
    chosen = [key for key in members if key in _SUBSTRINGS]
    if len(chosen) == len(members) == 1:
        chunks = _SUBSTRINGS[chosen[0]](members[chosen[0]], text)
        return regex.Substring(tuple(_encoded(chunk, text) for chunk in chunks))
    if chosen or "type" not in members:
        _fail(text, "`%regex` takes one kind of regex", _HELP)
    return _number(members, text)


_HELP = (
    'write one of `"substring_chunks"`, `"substring_words"` and `"substring_chars"`, '
    'or `"type": "integer"` or `"number"` with bounds'
)


def _fail(text: str, message: str, help: str | None = None, key: str | None = None) -> NoReturn:
    """Blames the member with the key, or all of the block."""
    places = [(start, end) for found, start, end in member_places(text) if found == key] if key is not None else []
    start, end = places[0] if places else (0, len(text))
    raise LiteralError(_CODE, message, start, end, help)


def _members(text: str) -> dict[str, Any]:
    """The members of a JSON object with exact numbers."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            _fail(text, "a member of the block stands there twice")
        return members

    def exact(spelled: str) -> Decimal:
        return _exact(spelled, text)

    try:
        members: dict[str, Any] = json.loads(
            text, object_pairs_hook=unique, parse_int=exact, parse_float=exact, parse_constant=exact
        )
        return members
    except json.JSONDecodeError as error:
        message = "the block is not JSON: " + error.msg[:1].lower() + error.msg[1:]
        raise LiteralError(_CODE, message, error.pos, error.pos + 1) from None
    except RecursionError:
        _fail(text, "the block is nested too deeply", _HELP)


def _exact(spelled: str, text: str) -> Decimal:
    # Most grammars have no such block and need not wait for what reads schemas.
    from cfgmask.json_schema.values import MAX_NUMBER_DIGITS, digits_of

    try:
        number = Decimal(spelled)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or digits_of(number) > MAX_NUMBER_DIGITS:
        _fail(text, f"a number of the block has more than {MAX_NUMBER_DIGITS} digits or is none")
    return number


# Substrings.


def _listed(value: Any, text: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(chunk, str) for chunk in value):
        _fail(text, '`"substring_chunks"` is a list of strings')
    return value


def _words(value: Any, text: str) -> list[str]:
    return _WORDS.findall(_string(value, text))


def _characters(value: Any, text: str) -> list[str]:
    return list(_string(value, text))


_SUBSTRINGS: dict[str, Callable[[Any, str], list[str]]] = {
    "substring_chunks": _listed,
    "substring_words": _words,
    "substring_chars": _characters,
}


def _string(value: Any, text: str) -> str:
    if not isinstance(value, str):
        _fail(text, "the text of the substrings is a string")
    return value


def _encoded(chunk: str, text: str) -> bytes:
    try:
        return chunk.encode()
    except UnicodeEncodeError:
        _fail(text, "the block has half of a surrogate pair, which is no character")


# Numbers.


def _number(members: dict[str, Any], text: str) -> regex.RegexTree:
    kind = members["type"]
    if kind not in ("number", "integer"):
        _fail(text, 'the type of a `%regex` is `"number"` or `"integer"`', key="type")
    for key, value in members.items():
        if key != "type" and (not isinstance(value, Decimal) or (key == "multipleOf" and value <= 0)):
            _fail(text, f"`{key}` is a number" + (" above zero" if key == "multipleOf" else ""), key=key)
    try:
        return number_regex(
            integers=kind == "integer",
            minimum=members.get("minimum"),
            above=members.get("exclusiveMinimum"),
            maximum=members.get("maximum"),
            below=members.get("exclusiveMaximum"),
            step=members.get("multipleOf"),
        )
    except NoNumbers:
        _fail(text, "no number meets these conditions")
    except TooManyDigits:
        reason = "whether a long number is a multiple of it takes too large a regex to tell"
        _fail(text, f"`multipleOf` cannot be enforced here: {reason}", key="multipleOf")
