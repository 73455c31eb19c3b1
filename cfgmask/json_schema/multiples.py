"""Regexes for the decimals that are multiples of a number, without sign and exponent.

With the point moved far enough to the right, the step is an integer, a power of 2 times a power of 5 times powers of
other primes. The first two are told by the last digits. For each of the others a regex runs through the digits and
keeps the remainder; a point among them changes nothing, since 10 has an inverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    Alternation,
    CharClass,
    Concatenation,
    Intersection,
    KeySet,
    RegexTree,
    Repetition,
    char_class,
    text,
)
from cfgmask.json_schema.decimals import DIGIT, DIGITS, NATURAL, NON_ZERO, POINT, ZERO, any_of, optional
from cfgmask.json_schema.values import Number, decimal_places, plain_decimal

# The last digits of the multiples of a number are listed up to this many different ones.
_MAX_ENDINGS = 2_000
# The size of a regex that keeps a remainder grows with the cube of the number of remainders: 30 take 5,000 nodes.
_MAX_REMAINDERS = 41


def multiples(step: Number, zeros: int | None, plain: bool) -> RegexTree | None:
    """The multiples of `step`; None where they have no regex of reasonable size.

    zeros  how many superfluous zeros may end a number with a point, None for any number of them
    plain  integers are written without a point
    """
    places = decimal_places(step)
    assert places is not None, "a number in a schema is a finite decimal"
    by_ending, by_remainder = _taken_apart(int(step * 10**places))
    if by_ending is None or by_remainder is None:
        return None
    after: RegexTree = Repetition(ZERO, 0, zeros)
    if not places:
        after = EMPTY_TEXT if plain else optional(Concatenation((POINT, Repetition(ZERO, 1, zeros))))
    spelled = _with_endings(by_ending, places, after)
    if not by_remainder:
        return spelled
    return Intersection((spelled, *map(_without_remainder, by_remainder)))


def _taken_apart(number: int) -> tuple[int | None, list[int] | None]:
    """The part of a number made of twos and fives, and its other prime powers; None for what is too much."""
    rest = number
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    ending = number // rest
    length = _ending_length(ending)
    powers: list[int] | None = []
    for prime in range(3, _MAX_REMAINDERS + 1, 2):
        power = 1
        while rest % prime == 0:
            rest, power = rest // prime, power * prime
        if power > 1 and powers is not None:
            powers.append(power)
    if rest > 1 or any(power > _MAX_REMAINDERS for power in powers or ()):
        powers = None
    return (ending if length < 40 and 10**length // ending <= _MAX_ENDINGS else None), powers


def _ending_length(number: int) -> int:
    """How many last digits tell whether an integer is a multiple of `number`, which is made of twos and fives."""
    length = 0
    while 10**length % number:
        length += 1
    return length


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


# Remainders


@lru_cache(maxsize=32)
def _without_remainder(modulus: int) -> RegexTree:
    """The strings of digits, with points anywhere, that are multiples of `modulus`, which has no factor 2 or 5.

    Kleene's construction: one remainder after the other is taken out of the automaton, and the ways through it become
    regexes, which share their parts.
    """
    ways: dict[tuple[int, int], RegexTree] = {
        (remainder, following): symbols
        for remainder in range(modulus)
        for following, symbols in _steps(remainder, modulus)
    }
    for gone in range(modulus - 1, 0, -1):
        loop = Repetition(ways[gone, gone], 0, None)
        for end in range(gone):
            if (gone, end) not in ways:
                continue
            onward = Concatenation((loop, ways[gone, end]))
            for start in range(gone):
                if (start, gone) in ways:
                    around = Concatenation((ways[start, gone], onward))
                    known = ways.get((start, end))
                    ways[start, end] = around if known is None else Alternation((known, around))
    return Repetition(ways[0, 0], 1, None)


def _steps(remainder: int, modulus: int) -> Iterator[tuple[int, CharClass]]:
    """Where each symbol leads from a remainder; a point leads back to it."""
    by_target: dict[int, list[tuple[int, int]]] = {remainder: [(ord("."), ord("."))]}
    for digit in range(10):
        code = ord("0") + digit
        by_target.setdefault((remainder * 10 + digit) % modulus, []).append((code, code))
    for target, symbols in by_target.items():
        yield target, char_class(symbols)
