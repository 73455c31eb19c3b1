"""The values that can be written in certain bytes: those that the tokens of a vocabulary hold.

How many values an array without equal items may have, and which keys an object, depends on what can be written. So
values that cannot leave the normal forms, before anything is counted; the core takes their spellings out of terminals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    Repetition,
)
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.values import Number, plain_decimal
from cfgmask.json_schema.written import Spelled
from tests.reference.json_schema import lexemes, numbers, strings
from tests.reference.json_schema.keys import ALL_KEYS, Keys, key_pattern
from tests.reference.json_schema.normal_form import NEVER, ArrayShape, KeyClass, Normal, ObjectShape
from tests.reference.json_schema.number_list import NumberList
from tests.reference.json_schema.numbers import NumberShape, count, enumerated
from tests.reference.json_schema.scalars import NumberStyle, scalars
from tests.reference.json_schema.strings import StringSet
from tests.reference.json_schema.value_counts import ENDLESS

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
        self._spelled = Spelled(held, options)
        self._options = options
        self._style = NumberStyle.of(options)
        possible = self._spelled.characters
        self._strings = ANY_TEXT if possible == ANY_CHAR else Repetition(possible, 0, None)
        self._keys = ALL_KEYS if self._strings == ANY_TEXT else Keys(include=(key_pattern(self._strings),))
        self._items, self._members = self._spelled.most(lexemes.OPEN_ARRAY), self._spelled.most(lexemes.OPEN_OBJECT)

    def of(self, normal: Normal) -> Normal:
        """The values of a set that can be written. Raises LimitExceeded."""
        shapes = (self._array(shape) for shape in normal.arrays)
        objects = (self._object(shape) for shape in normal.objects)
        return Normal(
            null=normal.null and self._spelled.has("null"),
            booleans=frozenset(b for b in normal.booleans if self._spelled.has("true" if b else "false")),
            numbers=tuple(self._numbers(normal.numbers)),
            strings=self._string(normal.strings),
            arrays=tuple(dict.fromkeys(shape for shape in shapes if shape is not None)),
            objects=tuple(dict.fromkeys(shape for shape in objects if shape is not None)),
        )

    def _numbers(self, shapes: Iterable[NumberShape]) -> Iterator[NumberShape]:
        if self._spelled.has("0123456789-.eE+"):
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
        if self._spelled.has(shown) or (value == 0 and self._spelled.has("-0")):
            return True
        # Otherwise with an exponent, or with more digits.
        is_other = few and (value.denominator != 1 or self._options.numbers == "any")
        alone = numbers.intersect(shape, NumberShape(values=NumberList([value]))) if is_other else None
        return alone is not None and self._spells(alone)

    def _spells(self, shape: NumberShape) -> bool:
        (written,) = scalars(Normal(numbers=(shape,)), self._style)
        return self._spelled.may_write(written.regex)

    def _string(self, found: StringSet) -> StringSet:
        if not self._spelled.has_strings:
            return strings.NO_STRINGS
        values = tuple(value for value in found.values if self._spelled.is_written(value, is_name=False))
        narrowed = replace(found, values=values)
        if self._strings == ANY_TEXT:
            return narrowed
        patterns = strings.intersect(replace(narrowed, values=()), StringSet(pattern=self._strings))
        return replace(patterns, values=values)

    def _array(self, shape: ArrayShape) -> ArrayShape | None:
        are_any, most = self._items
        if not are_any or (most is not None and most < shape.minimum):
            return None
        return shape if most is None else replace(shape, maximum=_least(shape.maximum, most))

    def _object(self, shape: ObjectShape) -> ObjectShape | None:
        are_any, most = self._members
        n_required = sum(member.required for member in shape.members)
        if not are_any or (most is not None and most < max(shape.minimum, n_required)):
            return None
        members = tuple(
            member if self._spelled.is_written(member.name, is_name=True) else replace(member, value=NEVER)
            for member in shape.members
        )
        if any(member.required and member.value == NEVER for member in members):
            return None
        others = (KeyClass(other.keys & self._keys, other.value) for other in shape.others)
        witnesses = tuple(replace(witness, keys=witness.keys & self._keys) for witness in shape.witnesses)
        return replace(
            shape,
            members=members,
            others=tuple(other for other in others if not other.keys.is_empty),
            witnesses=witnesses,
            maximum=shape.maximum if most is None else _least(shape.maximum, most),
        )


def _least(maximum: int | None, most: int) -> int:
    return most if maximum is None else min(maximum, most)
