"""Intersection and complement of sets of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfgmask.json_schema.session import current
from tests.reference.json_schema.normal_form import (
    ALL_ARRAYS,
    ANYTHING,
    EVERY_ITEM,
    NEVER,
    ArrayShape,
    Conjunction,
    ItemWitness,
    conjoin,
    either,
    negate,
)


def intersect(a: ArrayShape, b: ArrayShape) -> ArrayShape | None:
    """The arrays of both shapes; None where there are plainly none."""
    for shape, other in ((a, b), (b, a)):
        if shape == ALL_ARRAYS:
            return None if is_plainly_empty(other) else other
    length = max(len(a.prefix), len(b.prefix))
    current().spend(length + len(a.witnesses) + len(b.witnesses) + 1)
    both = trimmed(
        ArrayShape(
            tuple(conjoin(a.item(i), b.item(i)) for i in range(length)),
            conjoin(a.rest, b.rest),
            max(a.minimum, b.minimum),
            min((m for m in (a.maximum, b.maximum) if m is not None), default=None),
            tuple(dict.fromkeys(a.witnesses + b.witnesses)),
            a.unique_at if a.unique_at is not None else b.unique_at,
            a.repeats_at | b.repeats_at,
            a.evaluated | b.evaluated,
        )
    )
    return None if is_plainly_empty(both) else both


def trimmed(shape: ArrayShape) -> ArrayShape:
    """The same set without places that no item can take."""
    maximum = shape.maximum
    for index, item in enumerate(shape.prefix):
        if item == NEVER:
            maximum = index if maximum is None else min(maximum, index)
            break
    if shape.rest == NEVER:
        maximum = len(shape.prefix) if maximum is None else min(maximum, len(shape.prefix))
    if maximum is None:
        return shape
    prefix = shape.prefix[:maximum]
    rest = shape.rest if maximum > len(prefix) else NEVER
    return replace(shape, prefix=prefix, rest=rest, maximum=maximum)


def is_plainly_empty(shape: ArrayShape) -> bool:
    """Whether the conditions contradict each other without a look at what the items must be."""
    if any(_cannot_be_met(witness) for witness in shape.witnesses):
        return True
    if shape.unique_at is not None and shape.repeats_at:
        return True
    needed = max([shape.minimum, *(witness.start + witness.least for witness in shape.witnesses if witness.least)])
    return shape.maximum is not None and needed > shape.maximum


def _cannot_be_met(witness: ItemWitness) -> bool:
    if witness.least and witness.value == NEVER:
        return True
    return witness.most is not None and witness.least > witness.most


def containing(start: int, value: Conjunction, least: int, most: int | None) -> ArrayShape:
    """The arrays that have at least and at most so many such items at index `start` and later."""
    if value == ANYTHING:
        return ArrayShape(minimum=start + least if least else 0, maximum=None if most is None else start + most)
    if most == 0 and least == 0:
        return trimmed(ArrayShape((ANYTHING,) * start, negate(value)))
    if least == 0 and (most is None or value == NEVER):
        return ALL_ARRAYS
    return ArrayShape(witnesses=(ItemWitness(start, value, least, most),))


def closed(shape: ArrayShape, value: Conjunction) -> ArrayShape | None:
    """The arrays of the shape whose items that were not evaluated meet `value`; None where there are none.

    All items count as evaluated then.
    """
    if shape.evaluated.first is not None:
        allowed = either([value, *shape.evaluated.containing])
        rest = ArrayShape((ANYTHING,) * shape.evaluated.first, allowed)
        found = intersect(shape, trimmed(rest))
        if found is None:
            return None
        shape = found
    return replace(shape, evaluated=EVERY_ITEM)


def complement(shape: ArrayShape) -> list[ArrayShape]:
    """The arrays that are not of the shape.

    The alternatives are disjoint: each breaks one condition and meets those before it.
    """
    outside: list[ArrayShape | None] = []
    held: ArrayShape | None = ALL_ARRAYS
    for met, broken in _conditions(shape):
        if held is None:
            break
        outside.append(intersect(held, broken))
        held = intersect(held, met)
    return [candidate for candidate in outside if candidate is not None]


def _conditions(shape: ArrayShape) -> Iterator[tuple[ArrayShape, ArrayShape]]:
    """The conditions of a shape one by one: the arrays that meet it, and those that do not."""
    if shape.minimum > 0:
        yield ArrayShape(minimum=shape.minimum), trimmed(ArrayShape(maximum=shape.minimum - 1))
    if shape.maximum is not None:
        yield trimmed(ArrayShape(maximum=shape.maximum)), ArrayShape(minimum=shape.maximum + 1)
    for index, item in enumerate(shape.prefix):
        if item != ANYTHING:
            before: tuple[Conjunction, ...] = (ANYTHING,) * index
            yield trimmed(ArrayShape((*before, item))), ArrayShape((*before, negate(item)), minimum=index + 1)
    if shape.rest not in (ANYTHING, NEVER):
        start, wrong = len(shape.prefix), negate(shape.rest)
        yield containing(start, wrong, 0, 0), containing(start, wrong, 1, None)
    for witness in shape.witnesses:
        start, value = witness.start, witness.value
        if witness.least:
            yield containing(start, value, witness.least, None), containing(start, value, 0, witness.least - 1)
        if witness.most is not None:
            yield containing(start, value, 0, witness.most), containing(start, value, witness.most + 1, None)
    if shape.unique_at is not None:
        yield ArrayShape(unique_at=shape.unique_at), _repeating(shape.unique_at)
    for pointer in sorted(shape.repeats_at):
        yield _repeating(pointer), ArrayShape(unique_at=pointer)


def _repeating(pointer: str) -> ArrayShape:
    """The arrays with equal items, which the `uniqueItems` at a place forbids."""
    return ArrayShape(minimum=2, repeats_at=frozenset([pointer]))
