"""Intersection, union and complement of sets of JSON values in normal form.

They look at what stands in the normal forms and not at what is in the values of members and items, so a result may
have alternatives that turn out to be empty later. The number of alternatives may multiply: `TooManyAlternatives` is
raised before that costs much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

from cfgmask.json_schema import decide
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import JsonValue, Number
from tests.reference.json_schema import array_algebra, number_holes, numbers, object_algebra, strings
from tests.reference.json_schema.annotations import NO_KEYS
from tests.reference.json_schema.normal_form import (
    ALL_ARRAYS,
    ALL_OBJECTS,
    EVERYTHING,
    NO_ITEMS,
    NOTHING_AT_ALL,
    ArrayShape,
    Conjunction,
    Constant,
    Normal,
    ObjectShape,
)
from tests.reference.json_schema.number_list import NumberList
from tests.reference.json_schema.number_regex import NoRegex, number_regex
from tests.reference.json_schema.numbers import ALL_NUMBERS, NumberShape

MAX_ALTERNATIVES = 1_000
# Most combinations are empty, so more of them are tried than may stay.
MAX_COMBINATIONS = 20_000
# Alternatives that share something may fall into many that do not; what 12 closed objects take is half a second.
MAX_DISJOINT = 100
MAX_SHARING = 12
# To take one set of numbers out of another takes as long as so many steps of a session.
STEPS_PER_NUMBERS = 4
# And any set out of another one, as long as so many.
STEPS_PER_HOLE = 16

Shape = TypeVar("Shape", NumberShape, ArrayShape, ObjectShape)
Annotated = TypeVar("Annotated", ArrayShape, ObjectShape)


class TooManyAlternatives(Exception):
    """A set would have too many alternatives for one type. The message names the bound, and `help` a way out."""

    def __init__(
        self,
        bound: str = f"the combinations of this schema's parts are more than {MAX_ALTERNATIVES} alternatives",
        help: str = "make the alternatives differ in the value of a required property",
    ) -> None:
        super().__init__(bound)
        self.help = help


def intersect(a: Normal, b: Normal) -> Normal:
    """The values of both sets. Raises TooManyAlternatives."""
    if a == EVERYTHING:
        return b
    if b == EVERYTHING or a is b:
        return a
    return Normal(
        null=a.null and b.null,
        booleans=a.booleans & b.booleans,
        numbers=number_holes.without_covered(_product(a.numbers, b.numbers, intersect_numbers)),
        strings=strings.intersect(a.strings, b.strings),
        arrays=_product(a.arrays, b.arrays, array_algebra.intersect),
        objects=_product(a.objects, b.objects, object_algebra.intersect),
    )


def has_one_shape(a: Normal) -> bool:
    """Whether numbers, arrays and objects have one alternative each at most: such sets never multiply."""
    return len(a.numbers) <= 1 and len(a.arrays) <= 1 and len(a.objects) <= 1


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
        strings=strings.union(part.strings for part in found),
        arrays=_alternatives([shape for part in found for shape in part.arrays], ALL_ARRAYS),
        objects=_alternatives([shape for part in found for shape in part.objects], ALL_OBJECTS),
    )


def any_of(parts: list[Normal], prober: Prober) -> Normal:
    """The union, with annotations as `anyOf` has them: a value in several of the parts was looked at by all of those.

    To have looked at more never forbids anything. So for values in some of the parts, one alternative for what is in
    these *at least* is enough, and none is needed where one of two parts has looked at all that the other one has.
    Raises TooManyAlternatives. Cost: that of the union where the parts have no annotations.
    """
    found = union(parts)
    if any(map(_is_annotated, found.arrays)):
        common = _in_several([part.arrays for part in parts], array_algebra.intersect, prober.has_no_array)
        found = replace(found, arrays=_alternatives([*found.arrays, *common], ALL_ARRAYS))
    if any(map(_is_annotated, found.objects)):
        common_objects = _in_several([part.objects for part in parts], object_algebra.intersect, prober.has_no_object)
        found = replace(found, objects=_alternatives([*found.objects, *common_objects], ALL_OBJECTS))
    return found


def closed_objects(a: Normal, value: Conjunction) -> Normal:
    """The same set but for objects that have a value which does not meet `value` at a key that was not evaluated."""
    found = (object_algebra.closed(shape, value) for shape in a.objects)
    return replace(a, objects=tuple(dict.fromkeys(shape for shape in found if shape is not None)))


def closed_arrays(a: Normal, value: Conjunction) -> Normal:
    """The same set but for arrays that have an item which does not meet `value` and was not evaluated."""
    found = (array_algebra.closed(shape, value) for shape in a.arrays)
    return replace(a, arrays=tuple(dict.fromkeys(shape for shape in found if shape is not None)))


def without_annotations(a: Normal) -> Normal:
    """The same set, with alternatives that only differed in what was evaluated joined into one."""
    arrays = [replace(shape, evaluated=NO_ITEMS) for shape in a.arrays]
    objects = [replace(shape, evaluated=NO_KEYS) for shape in a.objects]
    return replace(a, arrays=_alternatives(arrays, ALL_ARRAYS), objects=_alternatives(objects, ALL_OBJECTS))


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
    current().spend(STEPS_PER_HOLE * len(holes))
    texts = a.strings
    for hole in strings.listed_together(hole.strings for hole in holes):
        if texts.is_list and hole.is_list:
            texts = strings.without_listed(texts, hole.values)
        elif not strings.intersect(texts, hole.widest).is_plainly_empty:
            texts = strings.intersect(texts, strings.complement(hole))
    return Normal(
        null=a.null and not any(hole.null for hole in holes),
        booleans=a.booleans.difference(*(hole.booleans for hole in holes)),
        numbers=_without(
            a.numbers,
            numbers.listed_together(shape for hole in holes for shape in hole.numbers),
            numbers.complement,
            intersect_numbers,
            lambda a, b: intersect_numbers(a, b) is None,
            lambda _shape: False,
        ),
        strings=texts,
        arrays=_without(
            a.arrays,
            [shape for hole in holes for shape in hole.arrays],
            lambda hole, _within: array_algebra.complement(hole),
            array_algebra.intersect,
            lambda a, b: _arrays_are_disjoint(a, b, prober),
            prober.has_no_array,
        ),
        objects=_without(
            a.objects,
            [shape for hole in holes for shape in hole.objects],
            lambda hole, _within: object_algebra.complement(hole),
            object_algebra.intersect,
            lambda a, b: _objects_are_disjoint(a, b, prober),
            prober.has_no_object,
        ),
    )


def disjoint(a: Normal, prober: Prober) -> Normal:
    """The same set with arrays and objects in alternatives that share nothing. Raises TooManyAlternatives."""
    arrays = _apart([Normal(arrays=(shape,)) for shape in a.arrays], prober)
    objects = _apart([Normal(objects=(shape,)) for shape in a.objects], prober)
    return replace(
        a,
        arrays=tuple(shape for part in arrays for shape in part.arrays),
        objects=tuple(shape for part in objects for shape in part.objects),
    )


def _apart(parts: list[Normal], prober: Prober) -> list[Normal]:
    """Sets of one alternative each, without what is in those before them.

    Constants are told apart at sight, so there may be any number of them.
    """
    constants: dict[Constant, Normal] = {}
    others: list[Normal] = []
    n_sharing = 0
    for part in parts:
        only = _only_value(part)
        if only in constants:
            continue
        holes = others if only else [*constants.values(), *others]
        left = difference(part, holes, prober) if holes else part
        if only and left == part:
            constants[only] = part
            continue
        n_sharing += left != part
        # What is left is in pieces that share nothing, since those of a complement do not.
        others += [Normal(arrays=(shape,)) for shape in left.arrays]
        others += [Normal(objects=(shape,)) for shape in left.objects]
        if len(others) > MAX_DISJOINT or n_sharing > MAX_SHARING:
            raise TooManyAlternatives
    return [*constants.values(), *others]


def _only_value(part: Normal) -> Constant | None:
    """The value of an alternative that plainly has one, as those of `enum` have."""
    for shape in part.objects:
        is_open = shape.others or shape.maximum is not None or not all(member.required for member in shape.members)
        is_unclear = is_open or shape.witnesses or shape.refusals
        values = None if is_unclear else _constants([member.value for member in shape.members])
        if values is None or shape.minimum > len(values):
            return None
        return Constant.of(dict(zip((member.name for member in shape.members), values, strict=True)))
    for array in part.arrays:
        if array.minimum != array.maximum or array.witnesses or array.repeats_at or array.unique_at is not None:
            return None
        values = _constants([array.item(i) for i in range(array.minimum)])
        return None if values is None else Constant.of(values)
    return None


def _constants(conjunctions: list[Conjunction]) -> list[JsonValue] | None:
    found = [term.value for terms in conjunctions if len(terms) == 1 and isinstance(term := terms[0], Constant)]
    return found if len(found) == len(conjunctions) else None


def _arrays_are_disjoint(a: ArrayShape, b: ArrayShape, prober: Prober) -> bool:
    both = array_algebra.intersect(a, b)
    return both is None or prober.has_no_array(both)


def _objects_are_disjoint(a: ObjectShape, b: ObjectShape, prober: Prober) -> bool:
    if prober.share_no_object(a, b):
        return True
    counted = a.minimum or b.minimum or a.maximum is not None or b.maximum is not None or a.witnesses or b.witnesses
    return bool(counted) and object_algebra.intersect(a, b) is None


def exactly_one(parts: list[Normal], narrowed: list[Normal], prober: Prober) -> Normal:
    """The values that are in one of the narrowed parts and in no other part. Raises TooManyAlternatives.

    narrowed  of each part, what matters of it: the less that is, the fewer alternatives there are
    Cost: quadratic in the number of alternatives, linear in lists of strings.
    """
    with_numbers = sum(bool(part.numbers) for part in parts)
    # Which strings stand in one list alone is counted: long lists that share most of theirs are not compared in pairs.
    once, listed = strings.listed_once(part.strings for part in parts)
    unlisted = [replace(part, strings=strings.NO_STRINGS) if part.strings.is_list else part for part in parts]
    found = []
    for i, part in enumerate(narrowed):
        if part.numbers:
            current().spend(STEPS_PER_NUMBERS * with_numbers)
        holes = unlisted[:i] + unlisted[i + 1 :]
        if parts[i].strings.is_list:
            part = replace(part, strings=strings.only_listed(part.strings, once))
        elif listed.values:
            holes.append(Normal(strings=listed))
        found.append(difference(part, holes, prober))
    return union(found)


def _without(
    shapes: tuple[Shape, ...],
    holes: Iterable[Shape],
    opposite: Callable[[Shape, list[Shape]], Iterable[Shape]],
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
        pieces = _product(tuple(touched), tuple(opposite(hole, touched)), both)
        kept.update(dict.fromkeys(piece for piece in pieces if not is_empty(piece)))
        if len(kept) > MAX_ALTERNATIVES:
            raise TooManyAlternatives
        shapes = tuple(kept)
    return shapes


def intersect_numbers(a: NumberShape, b: NumberShape) -> NumberShape | None:
    """The numbers of both shapes; None where there are none."""
    both = numbers.intersect(a, b)
    if both is None or not both.without:
        return both
    both = number_holes.reduced(both)
    if both is None or number_holes.is_surely_inhabited(both):
        return both
    return None if _has_no_spelling(both) else both


def _has_no_spelling(shape: NumberShape) -> bool:
    try:
        return decide.is_empty(number_regex(shape))
    except NoRegex:
        return False


def _product(
    left: tuple[Shape, ...], right: tuple[Shape, ...], both: Callable[[Shape, Shape], Shape | None]
) -> tuple[Shape, ...]:
    if len(left) * len(right) > MAX_COMBINATIONS:
        raise TooManyAlternatives(f"this schema's parts have more than {MAX_COMBINATIONS} combinations of alternatives")
    found = tuple(dict.fromkeys(shape for a in left for b in right if (shape := both(a, b)) is not None))
    if len(found) > MAX_ALTERNATIVES:
        raise TooManyAlternatives
    return found


def _in_several(
    parts: list[tuple[Annotated, ...]],
    both: Callable[[Annotated, Annotated], Annotated | None],
    is_empty: Callable[[Annotated], bool],
) -> list[Annotated]:
    """What alternatives of several parts have in common, where it has more annotations than each of them."""
    known: dict[Annotated, None] = {}
    found: dict[Annotated, None] = {}
    for shapes in parts:
        pairs = [
            (a, b) for a in known for b in shapes if not (a.evaluated <= b.evaluated or b.evaluated <= a.evaluated)
        ]
        if len(pairs) > MAX_COMBINATIONS:
            raise TooManyAlternatives
        known.update(dict.fromkeys(shapes))
        for a, b in pairs:
            shape = both(a, b)
            if shape is not None and not is_empty(shape):
                found[shape] = known[shape] = None
        if len(known) > MAX_ALTERNATIVES:
            raise TooManyAlternatives
    return list(found)


def _is_annotated(shape: object) -> bool:
    return isinstance(shape, (ArrayShape, ObjectShape)) and shape.evaluated not in (NO_ITEMS, NO_KEYS)


def _alternatives(shapes: list[Shape], everything: Shape) -> tuple[Shape, ...]:
    """The shapes, each once; where one holds everything, only that one and those with annotations."""
    found = tuple(dict.fromkeys(shapes))
    if everything in found:
        found = tuple(shape for shape in found if shape == everything or _is_annotated(shape))
    if len(found) > MAX_ALTERNATIVES:
        raise TooManyAlternatives
    return found


def _merged_numbers(shapes: list[NumberShape]) -> tuple[NumberShape, ...]:
    """The shapes, those that only list values joined into one."""
    listed: list[Number] = []
    others = []
    for shape in shapes:
        if shape.values is not None and shape == NumberShape(values=shape.values):
            listed += shape.values
        else:
            others.append(shape)
    if listed:
        others.append(NumberShape(values=NumberList(listed)))
    return number_holes.without_covered(_alternatives(others, ALL_NUMBERS))
