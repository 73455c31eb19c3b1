"""Sets of numbers as regexes over how JSON spells them.

A number without any condition may be written in every way that JSON has. Under a condition it is written without an
exponent, and an integer, a multiple or a listed number with at most `MAX_ZEROS` superfluous zeros after the point
(`1.0` is an integer to JSON Schema; more of them only let a model spin). Zero is written with a minus sign only where
negative numbers are allowed as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
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
from cfgmask.json_schema.numbers import NumberShape, count, enumerated
from cfgmask.json_schema.values import Number, decimal_places, plain_decimal

# A bound and whether it is exclusive; None for no bound.
_Bound: TypeAlias = tuple[Number | None, bool]
_Magnitudes: TypeAlias = Callable[[_Bound, _Bound], RegexTree]

MAX_ZEROS = 4
# A finite set of up to this many numbers is written as a list of them where no better form is known.
MAX_LISTED = 10_000
# The last digits of the multiples of a number are listed up to this many different ones.
MAX_ENDINGS = 2_000


class NoRegex(Exception):
    """The set has no regex of reasonable size. `reason` says why, as a part of a sentence."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@lru_cache(maxsize=1024)
def number_regex(shape: NumberShape) -> RegexTree:
    """How JSON may spell the numbers of the shape. Raises NoRegex.

    Cost: linear in the digits of the bounds, but for finite sets with a step, which may be listed.
    """
    if shape.is_everything:
        return ANY_NUMBER
    inside = _inside(shape, MAX_ZEROS)
    if not shape.without:
        return inside
    return Intersection((inside, *(Complement(_every_spelling(hole)) for hole in shape.without)))


def _every_spelling(shape: NumberShape) -> RegexTree:
    """All ways without an exponent to write the numbers of the shape: what must be taken out to exclude them."""
    inside = _inside(shape, None)
    if shape.admits(0):
        inside = Alternation((inside, Concatenation((text("-0"), _point_zeros(shape, None)))))
    if not shape.without:
        return inside
    return Intersection((inside, *(Complement(_every_spelling(hole)) for hole in shape.without)))


def _inside(shape: NumberShape, zeros: int | None) -> RegexTree:
    """The numbers of the shape, `without` aside, with at most so many superfluous zeros after a point."""
    if shape.values is not None:
        return _listed(sorted(shape.values), shape, zeros)
    if shape.step is None:
        return _signed(shape, _decimals)
    if shape.low is not None and shape.low == shape.high:
        return _listed([shape.low], shape, zeros)
    if shape.step == 1:
        return Concatenation((_signed(shape, _integers), _point_zeros(shape, zeros)))
    return _multiples(shape, zeros)


def _listed(values: list[Number], shape: NumberShape, zeros: int | None) -> RegexTree:
    """Exactly these numbers."""
    integers = tuple(plain_decimal(v).encode() for v in values if v.denominator == 1)
    fractions = tuple(plain_decimal(v).encode() for v in values if v.denominator != 1)
    parts = []
    if integers:
        parts.append(Concatenation((KeySet(integers), _point_zeros(shape, zeros))))
    if fractions:
        parts.append(Concatenation((KeySet(fractions), Repetition(_ZERO, 0, zeros))))
    return _any_of(parts)


def _point_zeros(shape: NumberShape, zeros: int | None) -> RegexTree:
    """What may follow the digits of an integer without changing it."""
    return EMPTY_TEXT if shape.plain else _optional(Concatenation((_POINT, Repetition(_ZERO, 1, zeros))))


# Signs


def _signed(shape: NumberShape, magnitudes: _Magnitudes) -> RegexTree:
    """The numbers between the bounds of the shape; `magnitudes` knows those between bounds that are not negative."""
    parts: list[RegexTree] = []
    low = (None, False) if shape.low is None else (shape.low, shape.low_open)
    high = (None, False) if shape.high is None else (shape.high, shape.high_open)
    if low[0] is None and high[0] is None:
        return Concatenation((_optional(_MINUS), magnitudes((0, False), (None, False))))
    if low[0] is None or low[0] < 0:
        nearest = (0, False) if high[0] is None or high[0] > 0 else (-high[0], high[1])
        farthest = (None, False) if low[0] is None else (-low[0], low[1])
        parts.append(Concatenation((_MINUS, magnitudes(nearest, farthest))))
    if high[0] is None or high[0] > 0 or high == (0, False):
        nearest = (0, False) if low[0] is None or low[0] < 0 else (low[0], low[1])
        parts.append(magnitudes(nearest, high))
    return _any_of(parts)


def _integers(low: _Bound, high: _Bound) -> RegexTree:
    """The integers from `low` to `high`, without sign."""
    first = _least_integer(low)
    last = None if high[0] is None else _greatest_integer(high)
    return _whole_numbers(first, last)


def _decimals(low: _Bound, high: _Bound) -> RegexTree:
    """The decimals from `low` to `high`, without sign and exponent, any number of digits after the point."""
    value, is_open = low
    assert value is not None
    floor = math.floor(value)
    if high[0] is None:
        return _any_of([_with_fraction(floor, _fraction_from(value - floor, is_open)), _any_fraction(floor + 1, None)])
    top = math.floor(high[0])
    if floor > top:
        return NOTHING
    if floor == top:
        both = Intersection((_fraction_from(value - floor, is_open), _fraction_to(high[0] - top, high[1])))
        return _with_fraction(floor, both)
    return _any_of(
        [
            _with_fraction(floor, _fraction_from(value - floor, is_open)),
            _any_fraction(floor + 1, top - 1),
            _with_fraction(top, _fraction_to(high[0] - top, high[1])),
        ]
    )


def _least_integer(bound: _Bound) -> int:
    value, is_open = bound
    assert value is not None
    return math.floor(value) + 1 if is_open else math.ceil(value)


def _greatest_integer(bound: _Bound) -> int:
    value, is_open = bound
    assert value is not None
    return math.ceil(value) - 1 if is_open else math.floor(value)


# Whole numbers


def _whole_numbers(first: int, last: int | None) -> RegexTree:
    """The integers from `first` to `last`, neither negative, without leading zeros."""
    if last is None:
        if first == 0:
            return _NATURAL
        digits = plain_decimal(first)
        longer = Concatenation((_NON_ZERO, Repetition(_DIGIT, len(digits), None)))
        return _any_of([_same_length(digits, "9" * len(digits)), longer])
    if first > last:
        return NOTHING
    low, high = plain_decimal(first), plain_decimal(last)
    if len(low) == len(high):
        return _same_length(low, high)
    between = []
    if len(high) - len(low) > 1:
        between.append(Concatenation((_NON_ZERO, Repetition(_DIGIT, len(low), len(high) - 2))))
    return _any_of(
        [
            _same_length(low, "9" * len(low)),
            *between,
            _same_length("1" + "0" * (len(high) - 1), high),
        ]
    )


def _same_length(low: str, high: str) -> RegexTree:
    """The digit strings from `low` to `high`, all of one length."""
    shared = next((i for i, (a, b) in enumerate(zip(low, high, strict=True)) if a != b), len(low))
    prefix = text(low[:shared])
    if shared == len(low):
        return prefix
    a, b, rest = low[shared], high[shared], len(low) - shared - 1
    # A first digit whose whole block lies between the bounds joins the digits between them.
    first = a if low[shared + 1 :] == "0" * rest else chr(ord(a) + 1)
    last = b if high[shared + 1 :] == "9" * rest else chr(ord(b) - 1)
    parts: list[RegexTree] = []
    if first != a:
        parts.append(Concatenation((text(a), _at_least(low[shared + 1 :]))))
    if first <= last:
        parts.append(Concatenation((CharClass(((ord(first), ord(last)),)), Repetition(_DIGIT, rest, rest))))
    if last != b:
        parts.append(Concatenation((text(b), _at_most(high[shared + 1 :]))))
    return Concatenation((prefix, _any_of(parts)))


def _at_least(digits: str) -> RegexTree:
    """The digit strings of this length that are not below `digits`."""
    tree: RegexTree = EMPTY_TEXT
    for i in reversed(range(len(digits))):
        rest = len(digits) - i - 1
        tree = Concatenation((text(digits[i]), tree))
        if digits[i] < "9":
            above = CharClass(((ord(digits[i]) + 1, ord("9")),))
            tree = Alternation((tree, Concatenation((above, Repetition(_DIGIT, rest, rest)))))
    return tree


def _at_most(digits: str) -> RegexTree:
    """The digit strings of this length that are not above `digits`."""
    tree: RegexTree = EMPTY_TEXT
    for i in reversed(range(len(digits))):
        rest = len(digits) - i - 1
        tree = Concatenation((text(digits[i]), tree))
        if digits[i] > "0":
            below = CharClass(((ord("0"), ord(digits[i]) - 1),))
            tree = Alternation((tree, Concatenation((below, Repetition(_DIGIT, rest, rest)))))
    return tree


# Fractions: the digits after the point, together with the point


def _any_fraction(first: int, last: int | None) -> RegexTree:
    """The numbers whose whole part lies between the bounds."""
    return _with_fraction_regex(_whole_numbers(first, last), _FRACTION)


def _with_fraction(whole: int, fraction: RegexTree) -> RegexTree:
    return _with_fraction_regex(text(plain_decimal(whole)), fraction)


def _with_fraction_regex(whole: RegexTree, fraction: RegexTree) -> RegexTree:
    return NOTHING if NOTHING in (whole, fraction) else Concatenation((whole, fraction))


def _fraction_from(bound: Number, is_open: bool) -> RegexTree:
    """The fractions that are at least `bound` (greater than it where `is_open`), which is in [0, 1)."""
    digits = _fraction_digits(bound)
    if not digits and not is_open:
        return _FRACTION
    tree: RegexTree = _SOME_NON_ZERO if is_open else Repetition(_DIGIT, 0, None)
    for digit in reversed(digits):
        tree = Concatenation((text(digit), tree))
        if digit < "9":
            above = CharClass(((ord(digit) + 1, ord("9")),))
            tree = Alternation((tree, Concatenation((above, Repetition(_DIGIT, 0, None)))))
    return Concatenation((_POINT, tree))


def _fraction_to(bound: Number, is_open: bool) -> RegexTree:
    """The fractions that are at most `bound` (less than it where `is_open`), which is in [0, 1)."""
    digits = _fraction_digits(bound)
    if not digits:
        return NOTHING if is_open else _optional(Concatenation((_POINT, Repetition(_ZERO, 1, None))))
    # After a proper prefix of the digits the text may stop: what is missing counts as zeros, and the last is not zero.
    tree: RegexTree = NOTHING if is_open else Repetition(_ZERO, 0, None)
    for position in reversed(range(len(digits))):
        parts: list[RegexTree] = [EMPTY_TEXT] if position else []
        if tree != NOTHING:
            parts.append(Concatenation((text(digits[position]), tree)))
        if digits[position] > "0":
            below = CharClass(((ord("0"), ord(digits[position]) - 1),))
            parts.append(Concatenation((below, Repetition(_DIGIT, 0, None))))
        tree = _any_of(parts)
    return _optional(Concatenation((_POINT, tree)))


def _fraction_digits(bound: Number) -> str:
    return plain_decimal(bound).partition(".")[2]


# Multiples


def _multiples(shape: NumberShape, zeros: int | None) -> RegexTree:
    """The multiples of `shape.step` between its bounds."""
    assert shape.step is not None
    places = decimal_places(shape.step)
    assert places is not None
    modulus = int(shape.step * 10**places)
    endings = _ending_length(modulus)
    if endings is None or 10**endings // modulus > MAX_ENDINGS:
        if count(shape, MAX_LISTED) is None:
            raise NoRegex(f"the multiples of {plain_decimal(shape.step)} are recognised by more than their last digits")
        return _listed(enumerated(shape), shape, zeros)
    after = Repetition(_ZERO, 0, zeros) if places else _point_zeros(shape, zeros)
    spelled = _scaled_multiples(modulus, endings, places, after)
    if shape.low is None and shape.high is None:
        return Concatenation((_optional(_MINUS), spelled))
    bounds = _signed(NumberShape(low=shape.low, high=shape.high), _decimals)
    return Intersection((bounds, Concatenation((_optional(_MINUS), spelled))))


def _ending_length(modulus: int) -> int | None:
    """How many last digits tell whether an integer is a multiple of `modulus`; None if no number of them does."""
    rest = modulus
    powers = {2: 0, 5: 0}
    for prime in powers:
        while rest % prime == 0:
            rest //= prime
            powers[prime] += 1
    return max(powers.values()) if rest == 1 else None


def _scaled_multiples(modulus: int, length: int, places: int, zeros: RegexTree) -> RegexTree:
    """The decimals which, with the point moved `places` to the right, are integers with an ending of a multiple.

    zeros  what may follow those that have all their `places`
    """
    endings = [plain_decimal(n).rjust(length, "0") if length else "" for n in range(0, 10**length, modulus)]
    spelled = []
    # With k digits after the point, k < places, the last places - k digits of the ending are zeros, left unwritten.
    for written in range(places + 1):
        missing = places - written
        # An ending that is shorter than what is missing must be all zeros; 0 is among the multiples, so there is one.
        kept = [e[: max(length - missing, 0)] for e in endings if e.endswith("0" * min(missing, length))]
        if missing >= length:
            kept = [""]
        spelled.append(_digits_ending(kept, written, zeros if written == places else EMPTY_TEXT))
    return _any_of(spelled)


def _digits_ending(endings: list[str], written: int, zeros: RegexTree) -> RegexTree:
    """Decimals of `written` digits after the point whose digits, read without the point, end in one of `endings`."""
    length = len(endings[0])
    if written >= length:
        free = Repetition(_DIGIT, written - length, written - length)
        fraction = Concatenation((free, KeySet(tuple(e.encode() for e in endings)) if length else EMPTY_TEXT))
        point: RegexTree = Concatenation((_POINT, fraction)) if written else EMPTY_TEXT
        return Concatenation((_NATURAL, point, zeros))
    split = length - written
    by_fraction: dict[str, list[str]] = {}
    for ending in endings:
        by_fraction.setdefault(ending[split:], []).append(ending[:split])
    parts = []
    for fraction_digits, wholes in by_fraction.items():
        tail = text(f".{fraction_digits}") if written else EMPTY_TEXT
        parts.append(Concatenation((_whole_ending(wholes), tail, zeros)))
    return _any_of(parts)


def _whole_ending(endings: list[str]) -> RegexTree:
    """The integers without leading zeros that end in one of `endings`, which all have one length; short ones count as
    if zeros stood before them.
    """
    longer = Concatenation((_NON_ZERO, Repetition(_DIGIT, 0, None), KeySet(tuple(e.encode() for e in endings))))
    short = sorted({e.lstrip("0") or "0" for e in endings})
    return Alternation((longer, KeySet(tuple(e.encode() for e in short))))


# Pieces


def _any_of(parts: Iterable[RegexTree]) -> RegexTree:
    live = [part for part in parts if part != NOTHING]
    return live[0] if len(live) == 1 else Alternation(tuple(live))


def _optional(tree: RegexTree) -> RegexTree:
    return EMPTY_TEXT if tree == NOTHING else Repetition(tree, 0, 1)


_DIGIT = CharClass(((ord("0"), ord("9")),))
_NON_ZERO = CharClass(((ord("1"), ord("9")),))
_ZERO, _POINT, _MINUS = text("0"), text("."), text("-")
_NATURAL = Alternation((_ZERO, Concatenation((_NON_ZERO, Repetition(_DIGIT, 0, None)))))
_FRACTION = _optional(Concatenation((_POINT, Repetition(_DIGIT, 1, None))))
_SOME_NON_ZERO = Concatenation((Repetition(_ZERO, 0, None), _NON_ZERO, Repetition(_DIGIT, 0, None)))
_EXPONENT = Concatenation(
    (
        CharClass(((ord("E"), ord("E")), (ord("e"), ord("e")))),
        _optional(CharClass(((43, 43), (45, 45)))),
        Repetition(_DIGIT, 1, None),
    )
)
ANY_NUMBER = Concatenation((_optional(_MINUS), _NATURAL, _FRACTION, _optional(_EXPONENT)))
