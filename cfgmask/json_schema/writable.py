"""The values that can be written in certain bytes: those that the tokens of a vocabulary hold.

How many values an array without equal items may have, and which keys an object, depends on what can be written. So
values that cannot leave the normal forms, before anything is counted; the core takes their spellings out of terminals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    ByteClass,
    CharClass,
    Intersection,
    JsonString,
    RegexTree,
    Repetition,
    char_class,
    text,
)
from cfgmask.json_schema import decide, lexemes, numbers, strings, yaml_scalars
from cfgmask.json_schema.keys import ALL_KEYS, Keys, key_pattern
from cfgmask.json_schema.normal_form import NEVER, ArrayShape, KeyClass, Normal, ObjectShape
from cfgmask.json_schema.number_list import NumberList
from cfgmask.json_schema.numbers import NumberShape, count, enumerated
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.scalars import NumberStyle, scalars
from cfgmask.json_schema.spelling import SHORT_ESCAPES, escaped_by_number, escapes_of, marks, string
from cfgmask.json_schema.strings import StringSet
from cfgmask.json_schema.value_counts import ENDLESS
from cfgmask.json_schema.values import Number, plain_decimal

_HEX = "0123456789abcdef"
# Further numbers of one set that are not written as integers are not looked at one by one.
_MOST_SPELLED = 1_000
_LAST_OF_ASCII = 0x7F


class Writable:
    """What can be written of sets of values.

    held     the bytes that values may consist of, ascending
    options  how values are written
    """

    def __init__(self, held: bytes, options: JsonSchemaOptions) -> None:
        self._held = frozenset(held)
        self._options = options
        self._is_json = options.syntax == "json"
        self._texts = Repetition(ByteClass(tuple(runs(sorted(self._held)))), 0, None)
        self._style = NumberStyle.of(options)
        allowed = escapes_of(options)
        possible = characters(held, canonical=options.escapes == "canonical", pairs=self._is_json, allowed=allowed)
        self._strings = ANY_TEXT if possible == ANY_CHAR else Repetition(possible, 0, None)
        self._keys = ALL_KEYS if self._strings == ANY_TEXT else Keys(include=(key_pattern(self._strings),))
        self._most_items, self._most_keys = self._most(lexemes.OPEN_ARRAY), self._most(lexemes.OPEN_OBJECT)

    def of(self, normal: Normal) -> Normal:
        """The values of a set that can be written. Raises LimitExceeded."""
        shapes = (self._array(shape) for shape in normal.arrays)
        objects = (self._object(shape) for shape in normal.objects)
        return Normal(
            null=normal.null and self._has("null"),
            booleans=frozenset(b for b in normal.booleans if self._has("true" if b else "false")),
            numbers=tuple(self._numbers(normal.numbers)),
            strings=self._string(normal.strings),
            arrays=tuple(dict.fromkeys(shape for shape in shapes if shape is not None)),
            objects=tuple(dict.fromkeys(shape for shape in objects if shape is not None)),
        )

    def _has(self, written: str) -> bool:
        return self._held.issuperset(written.encode())

    def _may_write(self, regex: RegexTree) -> bool:
        return not decide.is_empty(Intersection((regex, self._texts)))

    def _most(self, opening: object) -> int | None:
        """How many items an array may have, or keys an object; None: any number; -1: there is none at all."""
        if not self._is_json:
            return None
        is_array = opening is lexemes.OPEN_ARRAY
        changed = marks(self._options)
        empty = (lexemes.OPEN_ARRAY, lexemes.CLOSE_EMPTY_ARRAY) if is_array else _EMPTY_OBJECT
        if not all(self._may_write(changed.get(mark, mark.regex)) for mark in empty):
            return -1
        indent = self._options.indent
        if indent is not None and not self._has("\n " if indent else "\n"):
            return 0
        if not is_array and not (self._has('"') and self._may_write(changed.get(lexemes.COLON, lexemes.COLON.regex))):
            return 0
        return None if self._may_write(changed.get(lexemes.COMMA, lexemes.COMMA.regex)) else 1

    def _numbers(self, shapes: Iterable[NumberShape]) -> Iterator[NumberShape]:
        if self._has("0123456789-.eE+"):
            yield from shapes
            return
        for shape in shapes:
            if shape.refusals or any(hole.refusals for hole in shape.without):
                yield shape
            elif (number := count(shape, ENDLESS)) is not None:
                values = [v for v in enumerated(shape) if self._is_written(v, shape, few=number <= _MOST_SPELLED)]
                written = numbers.intersect(shape, NumberShape(values=NumberList(values)))
                if written is not None:
                    yield written
            elif self._spells(shape):
                yield shape

    def _is_written(self, value: Number, shape: NumberShape, *, few: bool) -> bool:
        shown = plain_decimal(value)
        if self._has(shown) or (value == 0 and self._has("-0")):
            return True
        # Otherwise with an exponent, or with more digits.
        is_other = few and (value.denominator != 1 or self._options.numbers == "any")
        alone = numbers.intersect(shape, NumberShape(values=NumberList([value]))) if is_other else None
        return alone is not None and self._spells(alone)

    def _spells(self, shape: NumberShape) -> bool:
        (written,) = scalars(Normal(numbers=(shape,)), self._style)
        return self._may_write(written.regex)

    def _string(self, found: StringSet) -> StringSet:
        if self._is_json and not self._has('"'):
            return strings.NO_STRINGS
        values = tuple(value for value in found.values if self._may_write(self._literally(value)))
        narrowed = replace(found, values=values)
        if self._strings == ANY_TEXT:
            return narrowed
        patterns = strings.intersect(replace(narrowed, values=()), StringSet(pattern=self._strings))
        return replace(patterns, values=values)

    def _literally(self, value: str) -> RegexTree:
        """A string that the schema lists."""
        written = JsonString(text(value), "canonical" if self._options.escapes == "canonical" else "literal")
        return string(written, self._options) if self._is_json else yaml_scalars.string(written)

    def _may_name(self, name: str) -> bool:
        """Whether the name of a member can be written."""
        if self._is_json:
            return self._may_write(self._literally(name))
        try:
            return self._may_write(yaml_scalars.key(JsonString(text(name))))
        except GrammarError:
            # It is told of with its place.
            return True

    def _array(self, shape: ArrayShape) -> ArrayShape | None:
        if self._most_items is None:
            return shape
        if self._most_items < shape.minimum:
            return None
        maximum = self._most_items if shape.maximum is None else min(shape.maximum, self._most_items)
        return replace(shape, maximum=maximum)

    def _object(self, shape: ObjectShape) -> ObjectShape | None:
        members = tuple(
            member if self._may_name(member.name) else replace(member, value=NEVER) for member in shape.members
        )
        if any(member.required and member.value == NEVER for member in members):
            return None
        others = (KeyClass(other.keys & self._keys, other.value) for other in shape.others)
        witnesses = tuple(replace(witness, keys=witness.keys & self._keys) for witness in shape.witnesses)
        n_required = sum(member.required for member in members)
        maximum = shape.maximum
        if self._most_keys is not None:
            if self._most_keys < max(shape.minimum, n_required):
                return None
            maximum = self._most_keys if maximum is None else min(maximum, self._most_keys)
        return replace(
            shape,
            members=members,
            others=tuple(other for other in others if not other.keys.is_empty),
            witnesses=witnesses,
            maximum=maximum,
        )


_EMPTY_OBJECT = (lexemes.OPEN_OBJECT, lexemes.CLOSE_EMPTY_OBJECT)


@lru_cache(maxsize=64)
def characters(held: bytes, *, canonical: bool, pairs: bool, allowed: str) -> CharClass:
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
    spans = runs(tails)
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
        return runs([c for c in (*range(8), 0xB, *range(0xE, 0x20)) if c >> 4 in digits and c & 15 in digits])
    spans = runs(digits)
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


def runs(sorted_numbers: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges, the first and the last of each."""
    found: list[tuple[int, int]] = []
    for number in sorted_numbers:
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found
