"""Regexes for the decimals that are multiples of numbers, without sign and exponent.

Where numbers have a common multiple that the core can count in, these decimals are one node (`combined`).

Where there is none, those of one number may be told without it (`multiples`). With the point moved far enough to the
right, the step is an integer: a product of twos and fives, times a number that has neither. Multiples of the first are
told by their last digits, those of the second by the remainder of all digits; where the point stands does not matter to
that, since 10 has an inverse. Where there would be too many last digits to list, remainders of the whole step are kept,
for each number of digits after the point on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    Concatenation,
    Divisible,
    Intersection,
    KeySet,
    Multiples,
    MultiplesCase,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.json_schema.values import Number, decimal_places, plain_decimal
from tests.reference.json_schema.decimals import DIGIT, DIGITS, NATURAL, NON_ZERO, POINT, ZERO, any_of, optional

# The last digits of the multiples of a number are listed up to this many different ones, up to this length.
_MAX_ENDINGS = 2_000
_MAX_ENDING_LENGTH = 40
# Each remainder is a residual with a table of its own, and a search for a number may have to try them all.
_MAX_REMAINDERS = 2_000


# What the core counts in; see `Multiples`.
_MOST_PLACES, _MOST_MODULUS = 400, 10**18


def combined(sets: Sequence[tuple[Number | None, Sequence[Number], bool]], zeros: int | None) -> RegexTree | None:
    """The numbers of one of these sets; None where their steps have too large a common multiple.

    sets   for each, the step (None: it has all numbers), the steps of which its numbers are no multiples, and whether
           it has only integers, written without a point
    zeros  how many superfluous zeros may end a number with a point, None for any number of them
    """
    places = 0
    for number in [number for step, holes, _ in sets for number in (step, *holes) if number is not None]:
        digits = decimal_places(number)
        assert digits is not None, "a number in a schema is a finite decimal"
        places = max(places, digits)
    if places > _MOST_PLACES:
        return None
    modulus, cases = 1, []
    for step, holes, plain in sets:
        units = 1 if step is None else int(step * 10**places)
        without = tuple(dict.fromkeys(int(hole * 10**places) for hole in holes))
        modulus = lcm(modulus, units, *without)
        if modulus >= _MOST_MODULUS:
            return None
        if step is not None and any(units % hole == 0 for hole in without):
            continue
        most = 0 if plain else None if step is None or zeros is None else (decimal_places(step) or 0) + zeros
        cases.append(MultiplesCase(units, without, most, finer=step is None and not plain))
    return Multiples(places, tuple(cases)) if cases else NOTHING


def multiples(step: Number, zeros: int | None, plain: bool) -> RegexTree | None:
    """The multiples of `step`; None where they have no regex of reasonable size.

    zeros  how many superfluous zeros may end a number with a point, None for any number of them
    plain  integers are written without a point
    """
    places = decimal_places(step)
    assert places is not None, "a number in a schema is a finite decimal"
    number = int(step * 10**places)
    by_ending, by_remainder = _taken_apart(number)
    if by_remainder > _MAX_REMAINDERS:
        return None
    after: RegexTree = Repetition(ZERO, 0, zeros)
    if not places:
        after = EMPTY_TEXT if plain else optional(Concatenation((POINT, Repetition(ZERO, 1, zeros))))
    length = _ending_length(by_ending)
    if length > _MAX_ENDING_LENGTH or 10**length // by_ending > _MAX_ENDINGS:
        return _with_remainders(number, places, after) if number <= _MAX_REMAINDERS else None
    spelled = _with_endings(by_ending, places, after)
    return spelled if by_remainder == 1 else Intersection((spelled, Divisible(by_remainder)))


def _taken_apart(number: int) -> tuple[int, int]:
    """The part of a number that is made of twos and fives, and the other part."""
    rest = number
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return number // rest, rest


def _ending_length(number: int) -> int:
    """How many last digits tell whether an integer is a multiple of `number`, which is made of twos and fives."""
    length = 0
    while 10**length % number:
        length += 1
    return length


def _with_remainders(modulus: int, places: int, zeros: RegexTree) -> RegexTree:
    """The decimals which, with the point moved `places` to the right, are multiples of `modulus`.

    zeros  what may follow those that have all their `places`
    """
    spelled = []
    for written in range(places + 1):
        # What is not written are zeros, which the digits need not contribute to the product.
        needed = modulus // gcd(modulus, 10 ** (places - written))
        point = Concatenation((POINT, Repetition(DIGIT, written, written))) if written else EMPTY_TEXT
        digits = Intersection((Concatenation((NATURAL, point)), Divisible(needed)))
        spelled.append(Concatenation((digits, zeros)) if written == places else digits)
    return any_of(spelled)


# Last digits


def _with_endings(modulus: int, places: int, zeros: RegexTree) -> RegexTree:
    """The decimals which, with the point moved `places` to the right, are multiples of `modulus`.

    zeros  what may follow those that have all their `places`
    """
    length = _ending_length(modulus)
    endings = [plain_decimal(n).rjust(length, "0") if length else "" for n in range(0, 10**length, modulus)]
    spelled = []
    # With k digits after the point, k < places, the last places - k digits of the ending are zeros, left unwritten.
    for written in range(places + 1):
        missing = places - written
        kept = [e[: length - missing] for e in endings if e.endswith("0" * missing)] if missing < length else [""]
        spelled.append(_digits_ending(kept, written, EMPTY_TEXT if missing else zeros))
    return any_of(spelled)


def _digits_ending(endings: list[str], written: int, zeros: RegexTree) -> RegexTree:
    """Decimals of `written` digits after the point whose digits, read without the point, end in one of `endings`."""
    length = len(endings[0])
    if written >= length:
        free = Repetition(DIGIT, written - length, written - length)
        fraction = Concatenation((free, KeySet(tuple(e.encode() for e in endings)) if length else EMPTY_TEXT))
        point: RegexTree = Concatenation((POINT, fraction)) if written else EMPTY_TEXT
        return Concatenation((NATURAL, point, zeros))
    split = length - written
    by_fraction: dict[str, list[str]] = {}
    for ending in endings:
        by_fraction.setdefault(ending[split:], []).append(ending[:split])
    parts = []
    for fraction_digits, wholes in by_fraction.items():
        tail = text(f".{fraction_digits}") if written else EMPTY_TEXT
        parts.append(Concatenation((_whole_ending(wholes), tail, zeros)))
    return any_of(parts)


def _whole_ending(endings: list[str]) -> RegexTree:
    """The integers without leading zeros that end in one of `endings`, all of one length.

    An integer of fewer digits counts as if zeros stood before it.
    """
    longer = Concatenation((NON_ZERO, DIGITS, KeySet(tuple(e.encode() for e in endings))))
    short = sorted({e.lstrip("0") or "0" for e in endings})
    return Alternation((longer, KeySet(tuple(e.encode() for e in short))))
