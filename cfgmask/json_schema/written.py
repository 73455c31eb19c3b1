"""What can be written where texts lack some bytes or escapes, as the core is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ByteClass,
    CharClass,
    Intersection,
    JsonString,
    RegexTree,
    Repetition,
    char_class,
    text,
)
from cfgmask.json_schema import decide, lexemes, yaml_scalars
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.spelling import SHORT_ESCAPES, escaped_by_number, escapes_of, marks, string

# What ends a text in the pattern of each dialect.
_END = {"ecma": "$", "python": r"\Z", "rust": r"\z"}

_HEX = "0123456789abcdef"
_LAST_OF_ASCII = 0x7F

Written: TypeAlias = tuple[
    bytes, int | None, bool, bool, tuple[bool, int | None], tuple[bool, int | None], str, Callable[[str, bool], bool]
]
"""The arguments of `_core.Writable`."""


def written(held: bytes | None, options: JsonSchemaOptions) -> Written:
    """Which values are written in certain bytes, and with the escapes that the options allow.

    held  ascending; None: all bytes
    """
    spelled = Spelled(bytes(range(256)) if held is None else held, options)
    return (
        spelled.held,
        options.max_digits,
        options.numbers == "plain",
        spelled.has_strings,
        spelled.most(lexemes.OPEN_ARRAY),
        spelled.most(lexemes.OPEN_OBJECT),
        spelled.strings(),
        spelled.is_written,
    )


def other_bytes(held: bytes) -> Terminal:
    """What stands for values of which none can be written: a byte that is not held."""
    return Terminal("other bytes", ByteClass(tuple((b, b) for b in range(256) if b not in held)))


class Spelled:
    """How values are written in certain bytes, ascending, and with the escapes that the options allow."""

    def __init__(self, held: bytes, options: JsonSchemaOptions) -> None:
        self.held = held
        self.is_json = options.syntax == "json"
        self._held = frozenset(held)
        self._options = options
        self._texts = Repetition(ByteClass(tuple(_runs(sorted(held)))), 0, None)
        self.characters = _characters(
            held, canonical=options.escapes == "canonical", pairs=self.is_json, allowed=escapes_of(options)
        )

    @property
    def has_strings(self) -> bool:
        """Whether there are strings at all."""
        return not self.is_json or self.has('"')

    def has(self, written: str) -> bool:
        """Whether a text can be written."""
        return self._held.issuperset(written.encode())

    def may_write(self, regex: RegexTree) -> bool:
        """Whether some text of a regex can be written."""
        return not decide.is_empty(Intersection((regex, self._texts)))

    def most(self, opening: Terminal) -> tuple[bool, int | None]:
        """Whether an array (or object) can be written at all, and with how many items (keys); None: any number."""
        if not self.is_json:
            return True, None
        is_array = opening is lexemes.OPEN_ARRAY
        changed = marks(self._options)
        closing = lexemes.CLOSE_EMPTY_ARRAY if is_array else lexemes.CLOSE_EMPTY_OBJECT
        if not all(self.may_write(changed.get(mark, mark.regex)) for mark in (opening, closing)):
            return False, None
        indent = self._options.indent
        if indent is not None and not self.has("\n " if indent else "\n"):
            return True, 0
        if not is_array and not (self.has('"') and self.may_write(changed.get(lexemes.COLON, lexemes.COLON.regex))):
            return True, 0
        return True, None if self.may_write(changed.get(lexemes.COMMA, lexemes.COMMA.regex)) else 1

    def strings(self) -> str:
        """The strings that can be written, as a schema; empty: all."""
        if self.characters == ANY_CHAR:
            return ""
        listed = "".join(f"{_in_class(low)}-{_in_class(high)}" for low, high in self.characters.ranges)
        pattern = f"^[{listed}]*{_END[self._options.pattern_dialect]}" if listed else f"^{_END['ecma']}"
        return f'{{"type":"string","pattern":{json.dumps(pattern, ensure_ascii=False)}}}'

    def is_written(self, value: str, is_name: bool) -> bool:
        """Whether a listed string can be written, or the name of a member if `is_name`."""
        if self.is_json:
            is_canonical = self._options.escapes == "canonical"
            listed = JsonString(text(value), "canonical" if is_canonical else "literal")
            return self.may_write(string(listed, self._options))
        if not is_name:
            return self.may_write(yaml_scalars.string(JsonString(text(value), "literal")))
        try:
            return self.may_write(yaml_scalars.key(JsonString(text(value))))
        except GrammarError:
            # It is told of with its place.
            return True


def _in_class(code: int) -> str:
    """A character in the class of a pattern of any dialect."""
    shown = chr(code)
    return f"\\{shown}" if shown in "\\]^-[&~|" else shown


@lru_cache(maxsize=64)
def _characters(held: bytes, *, canonical: bool, pairs: bool, allowed: str) -> CharClass:
    """The characters that strings may have: those that are written as themselves, and as escapes.

    allowed  as `escapes_of`

    Of characters beyond U+FFFF there may be some more, which no string is begun with that cannot be completed.
    """
    has = frozenset(held)
    ranges = [(c, c) for c in range(0x20, _LAST_OF_ASCII + 1) if c in has and chr(c) not in '"\\']
    ranges += _beyond_ascii(has)
    if ord("\\") in has:
        ranges += [(ord(c), ord(c)) for letter, c in SHORT_ESCAPES.items() if ord(letter) in has and letter in allowed]
        if ord("u") in has:
            escaped = _escaped(has, canonical=canonical, pairs=pairs)
            ranges += [
                (max(low, first), min(high, last))
                for low, high in escaped
                for first, last in escaped_by_number(allowed)
                if low <= last and first <= high
            ]
    found = char_class(ranges)
    return ANY_CHAR if found.ranges == ANY_CHAR.ranges else found


def _beyond_ascii(has: frozenset[int]) -> list[tuple[int, int]]:
    """Those of which the bytes are there; of four bytes, those of which the first one is."""
    found = []
    tails = [low for low in range(0x40) if 0x80 | low in has]
    if not tails:
        return []
    spans = _runs(tails)
    for lead in range(0xC2, 0xE0):
        if lead in has:
            found += [((lead & 0x1F) << 6 | a, (lead & 0x1F) << 6 | b) for a, b in spans]
    for lead in range(0xE0, 0xF0):
        for middle in tails if lead in has else ():
            base = (lead & 0xF) << 12 | middle << 6
            if base >= 0x800 and not 0xD800 <= base <= 0xDFFF:
                found += [(base | a, base | b) for a, b in spans]
    for lead in range(0xF0, 0xF5):
        if lead in has:
            found.append((max((lead & 7) << 18, 0x10000), min(((lead & 7) + 1) << 18, 0x110000) - 1))
    return found


def _escaped(has: frozenset[int], *, canonical: bool, pairs: bool) -> list[tuple[int, int]]:
    r"""Those that `\u` and four digits write, or two such if `pairs`."""
    digits = [i for i, d in enumerate(_HEX) if ord(d) in has or (not canonical and ord(d.upper()) in has)]
    if not digits:
        return []
    if canonical:
        return _runs([c for c in (*range(8), 0xB, *range(0xE, 0x20)) if c >> 4 in digits and c & 15 in digits])
    spans = _runs(digits)
    found = [
        (base | low, base | high)
        for a in digits
        for b in digits
        for c in digits
        for base in [a << 12 | b << 8 | c << 4]
        if not 0xD800 <= base <= 0xDFFF
        for low, high in spans
    ]
    highs, lows = set(digits) & {8, 9, 10, 11}, set(digits) & {12, 13, 14, 15}
    if pairs and 0xD in digits and highs and lows:
        found.append((0x10000, 0x10FFFF))
    return found


def _runs(sorted_numbers: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges, the first and the last of each."""
    found: list[tuple[int, int]] = []
    for number in sorted_numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
