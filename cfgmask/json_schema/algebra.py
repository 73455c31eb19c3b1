"""Intersection, union and complement of sets of JSON values in normal form.

They look at what stands in the normal forms and not at what is in the values of members and items, so a result may
have alternatives that turn out to be empty later. The number of alternatives may multiply: `TooManyAlternatives` is
raised before that costs much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Protocol, TypeVar

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


class Prober(Protocol):
    """Proves sets to be empty, sometimes, by a look at the values of members and items. False means nothing."""

    def has_no_array(self, shape: ArrayShape) -> bool:
        """Whether no array is of the shape."""

    def has_no_object(self, shape: ObjectShape) -> bool:
        """Whether no object is of the shape."""

    def share_no_object(self, a: ObjectShape, b: ObjectShape) -> bool:
        """Whether no object is of both shapes."""


def without_empty(a: Normal, prober: Prober) -> Normal:
    """The same set without alternatives that can be shown to be empty."""
    arrays = tuple(shape for shape in a.arrays if not prober.has_no_array(shape))
    objects = tuple(shape for shape in a.objects if not prober.has_no_object(shape))
    return replace(a, arrays=arrays, objects=objects)


def difference(a: Normal, holes: Iterable[Normal], prober: Prober) -> Normal:
    """The values of `a` that are in none of the holes. Raises TooManyAlternatives.

    Where something in a hole is refused, what it touches of `a` stays and is refused too.
    Alternatives that share nothing with a hole stay as they are: that is what keeps discriminated unions small.
    """
    holes = list(holes)
    texts = a.strings
    for hole in holes:
        if not strings.intersect(texts, hole.strings.widest).is_plainly_empty:
            texts = strings.intersect(texts, strings.complement(hole.strings))
    return Normal(
        null=a.null and not any(hole.null for hole in holes),
        booleans=a.booleans.difference(*(hole.booleans for hole in holes)),
        numbers=_without(
            a.numbers,
            [shape for hole in holes for shape in hole.numbers],
            lambda shape: list(numbers.complement(shape)),
            intersect_numbers,
            lambda a, b: intersect_numbers(a, b) is None,
            lambda _shape: False,
        ),
        strings=texts,
        arrays=_without(
            a.arrays,
            [shape for hole in holes for shape in hole.arrays],
            array_algebra.complement,
            array_algebra.intersect,
            lambda a, b: _arrays_are_disjoint(a, b, prober),
            prober.has_no_array,
        ),
        objects=_without(
            a.objects,
            [shape for hole in holes for shape in hole.objects],
            object_algebra.complement,
            object_algebra.intersect,
            lambda a, b: _objects_are_disjoint(a, b, prober),
            prober.has_no_object,
        ),
    )


def _arrays_are_disjoint(a: ArrayShape, b: ArrayShape, prober: Prober) -> bool:
    both = array_algebra.intersect(a, b)
    return both is None or prober.has_no_array(both)


def _objects_are_disjoint(a: ObjectShape, b: ObjectShape, prober: Prober) -> bool:
    if prober.share_no_object(a, b):
        return True
    counted = a.minimum or b.minimum or a.maximum is not None or b.maximum is not None or a.witnesses or b.witnesses
    return bool(counted) and object_algebra.intersect(a, b) is None


def exactly_one(parts: list[Normal], prober: Prober) -> Normal:
    """The values that are in exactly one of the parts. Raises TooManyAlternatives.

    Cost: quadratic in the number of alternatives.
    """
    return union([difference(part, parts[:i] + parts[i + 1 :], prober) for i, part in enumerate(parts)])


def _without(
    shapes: tuple[Shape, ...],
    holes: Iterable[Shape],
    opposite: Callable[[Shape], list[Shape]],
    both: Callable[[Shape, Shape], Shape | None],
    are_disjoint: Callable[[Shape, Shape], bool],
    is_empty: Callable[[Shape], bool],
) -> tuple[Shape, ...]:
    """Take one hole after the other out of each shape that it touches; empty pieces are dropped on the way."""
    for hole in dict.fromkeys(holes):
        kept: dict[Shape, None] = {}
        touched = []
        for shape in shapes:
            if are_disjoint(shape, hole):
                kept[shape] = None
            else:
                touched.append(shape)
        if not touched:
            continue
        pieces = _product(tuple(touched), tuple(opposite(hole)), both)
        kept.update(dict.fromkeys(piece for piece in pieces if not is_empty(piece)))
        if len(kept) > MAX_ALTERNATIVES:
            raise TooManyAlternatives
        shapes = tuple(kept)
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
