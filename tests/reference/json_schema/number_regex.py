"""Sets of numbers as regexes over how JSON spells them.

A number without any condition may be written in every way that JSON has. Under a condition

- an integer, a multiple or a listed number has at most `MAX_ZEROS` superfluous zeros after the point (`1.0` is an
  integer to JSON Schema; more of them only let a model spin) and no exponent;
- a decimal between bounds has any number of digits, and an exponent only in the form that programs print
  (`1.5e-07`: one digit before the point). If a bound is a number with that exponent, only where programs print one;
- zero has a minus sign only where negative numbers are allowed as well.

That is `numbers="any"`. The plain spelling of numbers is part of it: integers, integral multiples and listed numbers
have no zeros after the point, and any other number is within the doubles (`doubles`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    KeySet,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.json_schema import doubles
from cfgmask.json_schema.values import Number, magnitude, plain_decimal
from tests.reference.json_schema.decimals import (
    DIGIT,
    DIGITS,
    FRACTION,
    MINUS,
    NATURAL,
    NON_ZERO,
    POINT,
    ZERO,
    Bound,
    any_of,
    decimals,
    integers,
    optional,
    whole_numbers,
)
from tests.reference.json_schema.multiples import combined, multiples
from tests.reference.json_schema.number_list import NumberList
from tests.reference.json_schema.numbers import NumberShape, count, enumerated, is_multiples

MAX_ZEROS = 4
# A finite set of up to this many numbers is written as a list of them where no better form is known.
MAX_LISTED = 10_000

_Magnitudes: TypeAlias = Callable[[Bound, Bound], RegexTree]


class NoRegex(Exception):
    """The set has no regex of reasonable size. `reason` says why, as a part of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@lru_cache(maxsize=1024)
def number_regex(shape: NumberShape, exponents: bool = True) -> RegexTree:
    """How JSON may spell the numbers of the shape. Raises NoRegex.

    exponents  whether an exponent may be part of that
    Cost: linear in the digits of the bounds, but for finite sets with a step, which may be listed.
    """
    if shape.is_everything:
        return ANY_NUMBER if exponents else PLAIN_NUMBER
    inside = _held(shape, MAX_ZEROS)
    if shape.without:
        return inside
    if exponents and shape.values is None and shape.step is None:
        return any_of([inside, _signed(shape, _with_exponent)])
    return inside


@lru_cache(maxsize=1024)
def plain_number_regex(shape: NumberShape, most: int, exponents: bool = True) -> RegexTree:
    """How programs write the numbers of the shape that they read as different ones. Raises NoRegex.

    most  how many digits a run will have at most that is not bounded here, `MAX_RUN` or fewer: so much may be left to
          that bound
    """
    if shape.is_everything and exponents:
        return Alternation((PLAIN_NUMBER, _signed(shape, _with_exponent_of_double)))
    if shape.values is not None:
        inside = _listed(sorted(shape.values), replace(shape, plain=True), 0)
        small = [value for value in shape.values if value.denominator != 1 and _order(magnitude(value)) <= _SMALL]
        if exponents and small and not shape.without:
            inside = any_of([inside, *map(_printed, sorted(small))])
    elif shape.step is not None:
        return _held(replace(shape, plain=True) if shape.step.denominator == 1 else shape, MAX_ZEROS)
    else:
        inside, shape = _of_doubles(shape, most, exponents and not shape.without)
        if inside != NOTHING and any(map(is_multiples, shape.without)):
            return _held(shape, MAX_ZEROS)
    return _without(inside, shape.without)


def union_regex(shapes: tuple[NumberShape, ...], plain: bool) -> RegexTree | None:
    """How JSON may spell the numbers of any of some sets that `are_alike`; None if it takes a regex for each.

    plain  integers are written without a point
    """
    if plain:
        shapes = tuple(
            replace(shape, plain=True) if shape.step is not None and shape.step.denominator == 1 else shape
            for shape in shapes
        )
    found = _as_one(shapes, MAX_ZEROS)
    return None if found is None else _without(found, _other_holes(shapes[0]))


def alike(shape: NumberShape) -> object:
    """What sets have in common that may be one regex; None for other sets."""
    if shape.step is None or shape.values is not None or (shape.low is not None and shape.low == shape.high):
        return None
    return shape.low, shape.low_open, shape.high, shape.high_open, shape.plain, _other_holes(shape), shape.refusals


# The longest run of digits in a number that is read as a double: with it no number is too large, and none but zero is
# too small.
MAX_RUN = 300
_MOST_WHOLE, _MOST_PLACES = 308, 320


def _of_doubles(shape: NumberShape, most: int, exponents: bool) -> tuple[RegexTree, NumberShape]:
    """The decimals of a shape without a step, and the shape with bounds and holes of doubles."""
    low, high = shape.low, shape.high
    if low is not None and shape.low_open and low != 0:
        low = doubles.after(low)
        if low is None:
            return NOTHING, shape
    if high is not None and shape.high_open and high != 0:
        high = doubles.before(high)
        if high is None:
            return NOTHING, shape
    # Where what is left of a run would be too long, the bound of the doubles is one of the numbers as well.
    if high is None and low is not None and _n_whole(low) + most > _MOST_WHOLE:
        high = doubles.GREATEST
    if low is None and high is not None and _n_whole(-high) + most > _MOST_WHOLE:
        low = -doubles.GREATEST
    if low == 0 and shape.low_open and high is not None and high > 0 and most - _order(high) > _MOST_PLACES:
        low = doubles.LEAST
    if high == 0 and shape.high_open and low is not None and low < 0 and most - _order(-low) > _MOST_PLACES:
        high = -doubles.LEAST
    low_open, high_open = shape.low_open and low == 0, shape.high_open and high == 0
    held = replace(shape, low=low, low_open=low_open, high=high, high_open=high_open)
    held = replace(held, without=tuple(hole for each in shape.without for hole in _read_alike(each)))
    if held.is_plainly_empty:
        return NOTHING, held
    whole = _signed(held, decimals)
    return (any_of([whole, _signed(held, _with_exponent_of_double)]) if exponents else whole), held


def _n_whole(number: Number) -> int:
    """How many digits a positive number has before its point; 0 for others."""
    return 0 if number <= 0 else len(plain_decimal(int(number))) + 1


def _read_alike(hole: NumberShape) -> list[NumberShape]:
    """The numbers that are read as one of a hole, if it is a list of a few."""
    if hole.values is None or len(hole.values) > _MAX_READ or hole.is_spelling_bound:
        return [hole]
    found = []
    for value in hole.values:
        low, high = doubles.before(value), doubles.after(value)
        # Those that are read as zero are too long to be written.
        if value == 0 or low is None or high is None:
            found.append(NumberShape(values=NumberList([value])))
        else:
            found.append(NumberShape(low=low, low_open=True, high=high, high_open=True))
    return found


# Numbers that are read as one of more than so many are not kept out, but only these.
_MAX_READ = 256


def _printed(value: Number) -> RegexTree:
    """A small number as programs print it: with one digit before the point, and an exponent."""
    order = _order(magnitude(value))
    mantissa = plain_decimal(magnitude(value) / _ten_to(order))
    sign = MINUS if value < 0 else EMPTY_TEXT
    return Concatenation((sign, text(mantissa), _E, _exponent_of(order)))


def _held(shape: NumberShape, zeros: int | None) -> RegexTree:
    """The numbers of the shape, at most so many superfluous zeros and no exponents."""
    if shape.values is None and any(map(is_multiples, shape.without)):
        found = _as_one((shape,), zeros)
        if found is not None:
            return _without(found, _other_holes(shape))
    return _without(_inside(shape, zeros), shape.without)


def _other_holes(shape: NumberShape) -> tuple[NumberShape, ...]:
    return tuple(hole for hole in shape.without if not is_multiples(hole))


def _as_one(shapes: tuple[NumberShape, ...], zeros: int | None) -> RegexTree | None:
    """The numbers of any of the shapes, which have the same bounds, but for holes other than multiples."""
    steps = [shape.step for shape in shapes]
    holes = [[hole.step for hole in shape.without if hole.step is not None and is_multiples(hole)] for shape in shapes]
    first = shapes[0]
    is_bounded = first.low is not None or first.high is not None
    integers_only = all(step is not None and step.denominator == 1 for step in steps)
    # Without a point the bounds say how many digits may follow; that they are too few for a multiple is told then.
    apart = is_bounded and integers_only
    plain = [apart or shape.plain for shape in shapes]
    spelled = combined([*zip(steps, holes, plain, strict=True)], zeros)
    if spelled is None or spelled == NOTHING:
        return spelled
    signed = Concatenation((optional(MINUS), spelled))
    if not is_bounded:
        return signed
    if apart:
        return Concatenation((Intersection((_signed(first, integers), signed)), _point_zeros(first, zeros)))
    return Intersection((_signed(replace(first, step=None), decimals), signed))


def _without(inside: RegexTree, holes: tuple[NumberShape, ...]) -> RegexTree:
    if not holes or inside == NOTHING:
        return inside
    return Intersection((inside, *(Complement(_every_spelling(hole)) for hole in holes)))


def _every_spelling(shape: NumberShape) -> RegexTree:
    """All ways without an exponent to write the numbers of the shape: what must be taken out to exclude them."""
    inside = _inside(shape, None)
    if shape.admits(0):
        inside = Alternation((inside, Concatenation((text("-0"), _point_zeros(shape, None)))))
    return _without(inside, shape.without)


def _inside(shape: NumberShape, zeros: int | None) -> RegexTree:
    """The numbers of the shape, `without` aside, with at most so many superfluous zeros and without exponents."""
    if shape.values is not None:
        return _listed(sorted(shape.values), shape, zeros)
    if shape.step is None:
        return _signed(shape, decimals)
    if shape.low is not None and shape.low == shape.high:
        return _listed([shape.low], shape, zeros)
    if shape.step == 1:
        return Concatenation((_signed(shape, integers), _point_zeros(shape, zeros)))
    return _multiples(shape, shape.step, zeros)


def _listed(values: list[Number], shape: NumberShape, zeros: int | None) -> RegexTree:
    """Exactly these numbers."""
    whole = tuple(plain_decimal(v).encode() for v in values if v.denominator == 1)
    broken = tuple(plain_decimal(v).encode() for v in values if v.denominator != 1)
    parts = []
    if whole:
        parts.append(Concatenation((KeySet(whole), _point_zeros(shape, zeros))))
    if broken:
        parts.append(Concatenation((KeySet(broken), Repetition(ZERO, 0, zeros))))
    return any_of(parts)


def _point_zeros(shape: NumberShape, zeros: int | None) -> RegexTree:
    """What may follow the digits of an integer without changing it."""
    return EMPTY_TEXT if shape.plain else optional(Concatenation((POINT, Repetition(ZERO, 1, zeros))))


def _multiples(shape: NumberShape, step: Number, zeros: int | None) -> RegexTree:
    """The multiples of the shape's step between its bounds."""
    if (found := _as_one((shape,), zeros)) is not None:
        return found
    spelled = multiples(step, zeros, shape.plain)
    if spelled is None:
        if count(shape, MAX_LISTED) is None:
            raise NoRegex("whether a long number is a multiple of it takes too large a regex to tell")
        return _listed(enumerated(shape), shape, zeros)
    signed = Concatenation((optional(MINUS), spelled))
    if shape.low is None and shape.high is None:
        return signed
    if step.denominator == 1:
        # Without a point the bounds say how many digits may follow; that they are too few for a multiple is told then.
        digits = multiples(step, zeros, plain=True)
        assert digits is not None
        whole = Intersection((_signed(shape, integers), Concatenation((optional(MINUS), digits))))
        return Concatenation((whole, _point_zeros(shape, zeros)))
    return Intersection((_signed(replace(shape, step=None), decimals), signed))


def _signed(shape: NumberShape, magnitudes: _Magnitudes) -> RegexTree:
    """The numbers between the bounds of the shape; `magnitudes` knows those between bounds that are not negative."""
    parts: list[RegexTree] = []
    low = (None, False) if shape.low is None else (shape.low, shape.low_open)
    high = (None, False) if shape.high is None else (shape.high, shape.high_open)
    if low[0] is None and high[0] is None:
        return Concatenation((optional(MINUS), magnitudes((0, False), (None, False))))
    if low[0] is None or low[0] < 0:
        nearest = (0, False) if high[0] is None or high[0] > 0 else (-high[0], high[1])
        farthest = (None, False) if low[0] is None else (-low[0], low[1])
        magnitude = magnitudes(nearest, farthest)
        if magnitude != NOTHING:
            parts.append(Concatenation((MINUS, magnitude)))
    if high[0] is None or high[0] > 0 or high == (0, False):
        nearest = (0, False) if low[0] is None or low[0] < 0 else (low[0], low[1])
        parts.append(magnitudes(nearest, high))
    return any_of(parts)


def _with_exponent_of_double(low: Bound, high: Bound) -> RegexTree:
    """The same within the doubles."""
    return _with_exponent(
        (doubles.LEAST, False) if low[0] == 0 else low, (doubles.GREATEST, False) if high[0] is None else high
    )


# Programs print exponents from these orders on.
_SMALL, _LARGE = -5, 16


def _with_exponent(low: Bound, high: Bound) -> RegexTree:
    """Decimals with one digit, not zero, before the point and an exponent.

    Of the exponents that a bound cuts through, those that programs print.
    """
    if high[0] == 0:
        return NOTHING
    least, most = _power_above(low), _power_below(high)
    parts = []
    if most is None or most >= 0:
        first = 0 if least is None else max(least, 0)
        parts.append(Concatenation((optional(text("+")), _exponents(first, most))))
    if least is None or least < 0:
        first = 1 if most is None else max(-most, 1)
        parts.append(Concatenation((MINUS, _exponents(first, None if least is None else -least))))
    exponent = any_of(part for part in parts if NOTHING not in part.parts)
    whole = NOTHING if exponent == NOTHING else Concatenation((NON_ZERO, FRACTION, _E, exponent))
    return any_of([whole, *_cut_through(low, high, least, most)])


def _cut_through(low: Bound, high: Bound, least: int | None, most: int | None) -> list[RegexTree]:
    """The numbers whose exponents are that of a bound, where not all of these are between the bounds."""
    orders = ([] if least is None else [least - 1]) + ([] if most is None else [most + 1])
    found: list[RegexTree] = []
    for order in dict.fromkeys(orders):
        if _SMALL < order < _LARGE:
            continue
        scale = _ten_to(order)
        first: Bound = (1, False)
        if low[0] is not None and low[0] >= scale:
            first = (low[0] / scale, low[1])
        last: Bound = (10, True)
        if high[0] is not None and high[0] < 10 * scale:
            last = (high[0] / scale, high[1])
        mantissa = decimals(first, last)
        if mantissa != NOTHING:
            found.append(Concatenation((mantissa, _E, _exponent_of(order))))
    return found


def _exponent_of(order: int) -> RegexTree:
    sign = MINUS if order < 0 else optional(text("+"))
    return Concatenation((sign, _exponents(abs(order), abs(order))))


def _exponents(first: int, last: int | None) -> RegexTree:
    """The digits of exponents, which programs print with up to two zeros before them."""
    digits = whole_numbers(first, last)
    return NOTHING if digits == NOTHING else Concatenation((Repetition(ZERO, 0, 2), digits))


def _power_above(low: Bound) -> int | None:
    """The least exponent with which every number is above the bound; None where all are."""
    value, is_open = low
    assert value is not None
    if value == 0:
        return None
    power = _order(value)
    return power if _ten_to(power) == value and not is_open else power + 1


def _power_below(high: Bound) -> int | None:
    """The greatest exponent with which every number is below the bound; None where all are."""
    value = high[0]
    if value is None:
        return None
    return _order(value) - 1


def _order(value: Number) -> int:
    """The exponent of the greatest power of ten that is not above a positive number."""
    power = len(plain_decimal(int(value))) - 1 if value >= 1 else -len(plain_decimal(int(1 / value)))
    while _ten_to(power + 1) <= value:
        power += 1
    return power


def _ten_to(power: int) -> Fraction:
    return Fraction(10) ** power


_E = CharClass(((ord("E"), ord("E")), (ord("e"), ord("e"))))
_SIGN = CharClass(((ord("+"), ord("+")), (ord("-"), ord("-"))))
_EXPONENT = Concatenation((_E, optional(_SIGN), DIGIT, DIGITS))
PLAIN_NUMBER = Concatenation((optional(MINUS), NATURAL, FRACTION))
ANY_NUMBER = Concatenation((PLAIN_NUMBER, optional(_EXPONENT)))
