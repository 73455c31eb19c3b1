"""Intersection, union and complement of sets of JSON values in normal form.

They look at what stands in the normal forms and not at what is in the values of members and items, so a result may
have alternatives that turn out to be empty later. The number of alternatives may multiply: `TooManyAlternatives` is
raised before that costs much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from typing import TypeVar

from cfgmask.json_schema import array_algebra, decide, numbers, object_algebra, strings
from cfgmask.json_schema.normal_form import (
    ALL_ARRAYS,
    ALL_OBJECTS,
    EVERYTHING,
    NOTHING_AT_ALL,
    ArrayShape,
    Normal,
    ObjectShape,
)
from cfgmask.json_schema.number_regex import NoRegex, number_regex
from cfgmask.json_schema.numbers import ALL_NUMBERS, NumberShape
from cfgmask.json_schema.values import Number

MAX_ALTERNATIVES = 1_000
# Most combinations are empty, so more of them are tried than may stay.
MAX_COMBINATIONS = 20_000

Shape = TypeVar("Shape", NumberShape, ArrayShape, ObjectShape)


class TooManyAlternatives(Exception):
    """A set would have more than `MAX_ALTERNATIVES` alternatives for one type."""


def intersect(a: Normal, b: Normal) -> Normal:
    """The values of both sets. Raises TooManyAlternatives."""
    if a == EVERYTHING:
        return b
    if b == EVERYTHING or a is b:
        return a
    return Normal(
        null=a.null and b.null,
        booleans=a.booleans & b.booleans,
        numbers=_product(a.numbers, b.numbers, intersect_numbers),
        strings=strings.intersect(a.strings, b.strings),
        arrays=_product(a.arrays, b.arrays, array_algebra.intersect),
        objects=_product(a.objects, b.objects, object_algebra.intersect),
    )


def union(parts: Iterable[Normal]) -> Normal:
    """The values of any of the sets. Raises TooManyAlternatives."""
    found = list(parts)
    if not found:
        return NOTHING_AT_ALL
    if len(found) == 1:
        return found[0]
    return Normal(
        null=any(part.null for part in found),
        booleans=frozenset().union(*(part.booleans for part in found)),
        numbers=_merged_numbers([shape for part in found for shape in part.numbers]),
        strings=reduce(strings.union, (part.strings for part in found)),
        arrays=_alternatives([shape for part in found for shape in part.arrays], ALL_ARRAYS),
        objects=_alternatives([shape for part in found for shape in part.objects], ALL_OBJECTS),
    )


def complement(a: Normal) -> Normal:
    """Every value that is not in the set. Where it has refusals: a superset of them, marked as refused."""
    return Normal(
        null=not a.null,
        booleans=frozenset([False, True]) - a.booleans,
        numbers=without((ALL_NUMBERS,), a.numbers, lambda shape: list(numbers.complement(shape)), intersect_numbers),
        strings=strings.complement(a.strings),
        arrays=without((ALL_ARRAYS,), a.arrays, array_algebra.complement, array_algebra.intersect),
        objects=without((ALL_OBJECTS,), a.objects, object_algebra.complement, object_algebra.intersect),
    )


def without(
    shapes: tuple[Shape, ...],
    holes: tuple[Shape, ...],
    opposite: Callable[[Shape], list[Shape]],
    both: Callable[[Shape, Shape], Shape | None],
) -> tuple[Shape, ...]:
    """The values of the shapes that are in none of the holes."""
    for hole in holes:
        shapes = _product(shapes, tuple(opposite(hole)), both)
    return shapes


def intersect_numbers(a: NumberShape, b: NumberShape) -> NumberShape | None:
    """The numbers of both shapes; None where there are none."""
    both = numbers.intersect(a, b)
    return None if both is None or (both.without and _has_no_spelling(both)) else both


def _has_no_spelling(shape: NumberShape) -> bool:
    try:
        return decide.is_empty(number_regex(shape))
    except NoRegex:
        return False


def _product(
    left: tuple[Shape, ...], right: tuple[Shape, ...], both: Callable[[Shape, Shape], Shape | None]
) -> tuple[Shape, ...]:
    if len(left) * len(right) > MAX_COMBINATIONS:
        raise TooManyAlternatives
    found = tuple(dict.fromkeys(shape for a in left for b in right if (shape := both(a, b)) is not None))
    if len(found) > MAX_ALTERNATIVES:
        raise TooManyAlternatives
    return found


def _alternatives(shapes: list[Shape], everything: Shape) -> tuple[Shape, ...]:
    """The shapes, each once; only the one that holds everything if there is one."""
    if everything in shapes:
        return (everything,)
    found = tuple(dict.fromkeys(shapes))
    if len(found) > MAX_ALTERNATIVES:
        raise TooManyAlternatives
    return found


def _merged_numbers(shapes: list[NumberShape]) -> tuple[NumberShape, ...]:
    """The shapes, those that only list values joined into one."""
    listed: frozenset[Number] = frozenset()
    others = []
    for shape in shapes:
        if shape.values is not None and shape == NumberShape(values=shape.values):
            listed |= shape.values
        else:
            others.append(shape)
    if listed:
        others.append(NumberShape(values=listed))
    return _alternatives(others, ALL_NUMBERS)
