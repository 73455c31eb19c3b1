"""The kinds of items of an array without equal items: sets that share no value.

What stands in a place of the array, and what `contains` asks for, is some of the kinds. So an item is of one kind
wherever it stands, and what is used up of a kind is known from how many items of it came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.reference.json_schema.normal_form import ANYTHING, NEVER, ArrayShape, Conjunction, Normal, conjoin, negate
from tests.reference.json_schema.value_counts import Uncounted

_MAX_KINDS = 64


class Kind(NamedTuple):
    """A kind of items.

    items     what they are
    n_values  how many there are, up to ENDLESS
    """

    items: Conjunction
    n_values: int

    def is_in(self, conjunction: Conjunction) -> bool:
        """Whether all of them are among the values of a conjunction; otherwise none is."""
        return is_within(self.items, conjunction)


def is_within(kind: Conjunction, conjunction: Conjunction) -> bool:
    """Whether all items of a kind are among the values of a place or witness, or of both; otherwise none is."""
    return set(conjunction) <= set(kind)


def kinds_of(
    shape: ArrayShape, normal_of: Callable[[Conjunction], Normal], looks_at: Callable[[Normal], bool]
) -> list[Conjunction]:
    """The kinds that the items of a shape may be of.

    looks_at  whether the kinds have to do with a set: places and witnesses out of others are left out

    Errors: Uncounted where there are too many.
    Cost: one normal form for each, and for those that turn out to be empty.
    """
    places = [place for place in dict.fromkeys(different_items(shape)) if looks_at(normal_of(place))]
    values = dict.fromkeys(witness.value for witness in shape.witnesses if looks_at(normal_of(witness.value)))
    if len(places) == 1 and not values:
        return places
    kinds: list[Conjunction] = []
    outside = ANYTHING
    for place in places:
        kinds = [*_split(kinds, place, normal_of), *_inhabited([conjoin(outside, place)], normal_of)]
        outside = conjoin(outside, negate(place))
    for value in values:
        kinds = _split(kinds, value, normal_of)
    return kinds


def has_composites(normal: Normal) -> bool:
    """Whether there are arrays or objects in a set."""
    return bool(normal.arrays or normal.objects)


def is_inhabited(normal: Normal) -> bool:
    """Whether there may be anything in a set."""
    return not normal.is_plainly_empty


def different_items(shape: ArrayShape) -> list[Conjunction]:
    """What the items are that differ by position, and all others."""
    length = len(shape.prefix) if shape.maximum is None else min(len(shape.prefix), shape.maximum)
    items = [shape.item(i) for i in range(length)]
    if shape.maximum is None or shape.maximum > length:
        items.append(shape.rest)
    return items


def _split(kinds: list[Conjunction], by: Conjunction, normal_of: Callable[[Conjunction], Normal]) -> list[Conjunction]:
    return _inhabited([conjoin(kind, part) for kind in kinds for part in (by, negate(by))], normal_of)


def _inhabited(kinds: list[Conjunction], normal_of: Callable[[Conjunction], Normal]) -> list[Conjunction]:
    found = [kind for kind in kinds if kind != NEVER and is_inhabited(normal_of(kind))]
    if len(found) > _MAX_KINDS:
        raise Uncounted("there are too many kinds of items to be told apart")
    return found
