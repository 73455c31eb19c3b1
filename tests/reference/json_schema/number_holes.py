"""What is taken out of sets of numbers, told by arithmetic instead of a search through digits.

Of the multiples of a number, those of a second one are the multiples of both. So a hole in a set of multiples is empty,
everything, within another hole, or can have a smaller step, and the regexes that are left stay small.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from cfgmask.json_schema.values import Number
from tests.reference.json_schema.number_list import NumberList
from tests.reference.json_schema.numbers import NumberShape, common_multiple, count, enumerated, intersect

# A set with holes is listed up to this many numbers.
_MAX_LISTED = 1_000


def reduced(shape: NumberShape) -> NumberShape | None:
    """The same set with no needless holes, and small ones; None where it is plain that the holes leave nothing.

    Cost: quadratic in the number of holes.
    """
    if not shape.without or shape.values is not None:
        return shape
    if not shape.is_spelling_bound and count(shape, _MAX_LISTED) is not None:
        values = NumberList(value for value in enumerated(shape) if shape.admits(value))
        return NumberShape(values=values, refusals=shape.refusals) if values else None
    whole = replace(shape, without=())
    holes: list[NumberShape] = []
    for hole in shape.without:
        here = _hole_in(whole, hole) if _is_simple(hole) else hole
        if here is not None:
            holes.append(here)
    if any(_is_simple(hole) and _holds(hole, whole) for hole in holes):
        return None
    kept: list[NumberShape] = []
    for i, hole in enumerate(holes):
        others = kept + holes[i + 1 :]
        if not (_is_simple(hole) and any(_is_simple(other) and _within(whole, hole, other) for other in others)):
            kept.append(hole)
    return replace(shape, without=tuple(dict.fromkeys(kept)))


def is_surely_inhabited(shape: NumberShape) -> bool:
    """Whether a set that is `reduced` has numbers for a reason that needs no search.

    Multiples without a bound on one side are not all multiples of finitely many others, since each of those leaves the
    numbers next to its own, and with them those at a common distance; nor is an interval of decimals. Lists take only
    so many of them away.
    """
    if shape.values is not None:
        return not shape.is_spelling_bound and bool(shape.values)
    if not all(_is_simple(hole) or hole.values is not None for hole in shape.without):
        return False
    unbounded = shape.low is None or shape.high is None
    return unbounded or (shape.step is None and shape.low != shape.high)


def is_surely_infinite(shape: NumberShape) -> bool:
    """Whether a set has infinitely many numbers for a reason that needs no search."""
    holes = [hole for hole in shape.without if hole.values is None]
    if shape.values is not None or not all(map(_is_simple, holes)):
        return False
    if shape.step is None:
        return shape.low is None or shape.high is None or shape.low < shape.high
    # Far enough out, the multiples next to the common ones of all other steps are in none of these.
    covering = [hole for hole in holes if _divides(hole.step, shape.step)]
    goes_up = shape.high is None and all(hole.high is not None for hole in covering)
    return goes_up or (shape.low is None and all(hole.low is not None for hole in covering))


def without_covered(shapes: tuple[NumberShape, ...]) -> tuple[NumberShape, ...]:
    """The same union, without sets that lie within another one for a reason that needs no search.

    Cost: quadratic; unions of many sets stay as they are.
    """
    if len(shapes) > _MAX_COMPARED or all(shape.step is None for shape in shapes):
        return shapes
    kept: list[NumberShape] = []
    for i, shape in enumerate(shapes):
        if not any(_is_part(shape, other) for other in (*kept, *shapes[i + 1 :])):
            kept.append(shape)
    return tuple(kept)


# Unions of more sets are not searched for sets within others.
_MAX_COMPARED = 64


def _is_simple(shape: NumberShape) -> bool:
    """Whether the set is all multiples of a number, between bounds perhaps."""
    return shape.step is not None and shape == NumberShape(
        low=shape.low, low_open=shape.low_open, high=shape.high, high_open=shape.high_open, step=shape.step
    )


def _hole_in(whole: NumberShape, hole: NumberShape) -> NumberShape | None:
    """A simple hole with as small a step and as few bounds as do in a set; None where they share nothing."""
    if intersect(whole, hole) is None:
        return None
    if _is_bounded_by(whole, replace(hole, high=None, high_open=False)):
        hole = replace(hole, low=None, low_open=False)
    if _is_bounded_by(whole, replace(hole, low=None, low_open=False)):
        hole = replace(hole, high=None, high_open=False)
    if whole.step is None or hole.step is None or whole.step.denominator != 1 or hole.step.denominator != 1:
        return hole
    missing = int(common_multiple(whole.step, hole.step) / whole.step)
    step = int(hole.step)
    # The primes that the multiples of the whole already have often enough say nothing more.
    rest = step
    while (shared := math.gcd(rest, missing)) > 1:
        rest //= shared
    smaller = replace(hole, step=step // rest)
    # Bounds of a hole are members of it.
    return smaller if hole.low is None and hole.high is None else hole


def _holds(hole: NumberShape, whole: NumberShape) -> bool:
    """Whether a simple hole takes everything out."""
    return whole.step is not None and _divides(hole.step, whole.step) and _is_bounded_by(whole, hole)


def _within(whole: NumberShape, hole: NumberShape, other: NumberShape) -> bool:
    """Whether `other` removes every number of `whole` that `hole` removes. Both holes are simple."""
    both = intersect(whole, hole)
    return both is None or _holds(other, both)


def _is_part(part: NumberShape, whole: NumberShape) -> bool:
    """Whether it is plain that a set lies within another, with all spellings of its numbers."""
    if whole.values is not None or whole.refusals or part.refusals or (whole.plain and not part.plain):
        return False
    if part.values is not None:
        return not part.is_spelling_bound and not whole.is_spelling_bound and all(map(whole.admits, part.values))
    if part.step is None or not _divides(whole.step, part.step) or not _is_bounded_by(part, whole):
        return False
    return all(
        hole in part.without
        or (_is_simple(hole) and any(_is_simple(other) and _within(part, hole, other) for other in part.without))
        or (_is_simple(hole) and intersect(replace(part, without=()), hole) is None)
        for hole in whole.without
    )


def _divides(a: Number | None, b: Number | None) -> bool:
    return a is None or (b is not None and Fraction(b) % a == 0)


def _is_bounded_by(shape: NumberShape, other: NumberShape) -> bool:
    """Whether the bounds of a set lie within those of another."""
    low = other.low is None or (
        shape.low is not None
        and (shape.low > other.low or (shape.low == other.low and (shape.low_open or not other.low_open)))
    )
    high = other.high is None or (
        shape.high is not None
        and (shape.high < other.high or (shape.high == other.high and (shape.high_open or not other.high_open)))
    )
    return low and high
