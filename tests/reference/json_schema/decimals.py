"""Regexes for decimals between bounds that are not negative, without sign and exponent.

Bounds are compared digit by digit, so they may have any number of digits and nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Concatenation,
    RegexTree,
    Repetition,
    text,
)
from cfgmask.json_schema.values import Number, plain_decimal

# A bound and whether it is exclusive; None for no bound.
Bound: TypeAlias = tuple[Number | None, bool]

DIGIT = CharClass(((ord("0"), ord("9")),))
NON_ZERO = CharClass(((ord("1"), ord("9")),))
ZERO, POINT, MINUS = text("0"), text("."), text("-")
DIGITS = Repetition(DIGIT, 0, None)
NATURAL = Alternation((ZERO, Concatenation((NON_ZERO, DIGITS))))


def any_of(parts: Iterable[RegexTree]) -> RegexTree:
    """Any of the parts that match something."""
    live = [part for part in parts if part != NOTHING]
    return live[0] if len(live) == 1 else Alternation(tuple(live))


def optional(tree: RegexTree) -> RegexTree:
    """The tree or nothing."""
    return EMPTY_TEXT if tree == NOTHING else Repetition(tree, 0, 1)


FRACTION = optional(Concatenation((POINT, Repetition(DIGIT, 1, None))))
_SOME_NON_ZERO = Concatenation((Repetition(ZERO, 0, None), NON_ZERO, DIGITS))


def integers(low: Bound, high: Bound) -> RegexTree:
    """The integers from `low` to `high`, without sign."""
    first = _least_integer(low)
    last = None if high[0] is None else _greatest_integer(high)
    return whole_numbers(first, last)


def decimals(low: Bound, high: Bound) -> RegexTree:
    """The decimals from `low` to `high`, without sign and exponent, any number of digits after the point."""
    value, is_open = low
    assert value is not None
    floor = math.floor(value)
    if high[0] is None:
        return any_of([_with_fraction(floor, _fraction_from(value - floor, is_open)), _any_fraction(floor + 1, None)])
    top = math.floor(high[0])
    if floor > top:
        return NOTHING
    if floor == top:
        return _with_fraction(floor, _fraction_between((value - floor, is_open), (high[0] - top, high[1])))
    return any_of(
        [
            _with_fraction(floor, _fraction_from(value - floor, is_open)),
            _any_fraction(floor + 1, top - 1),
            _with_fraction(top, _fraction_between((0, False), (high[0] - top, high[1]))),
        ]
    )


def _least_integer(bound: Bound) -> int:
    value, is_open = bound
    assert value is not None
    return math.floor(value) + 1 if is_open else math.ceil(value)


def _greatest_integer(bound: Bound) -> int:
    value, is_open = bound
    assert value is not None
    return math.ceil(value) - 1 if is_open else math.floor(value)


def whole_numbers(first: int, last: int | None) -> RegexTree:
    """The integers from `first` to `last`, neither negative, without leading zeros."""
    if last is None:
        if first == 0:
            return NATURAL
        digits = plain_decimal(first)
        longer = Concatenation((NON_ZERO, Repetition(DIGIT, len(digits), None)))
        return any_of([_same_length(digits, "9" * len(digits)), longer])
    if first > last:
        return NOTHING
    low, high = plain_decimal(first), plain_decimal(last)
    if len(low) == len(high):
        return _same_length(low, high)
    between = []
    if len(high) - len(low) > 1:
        between.append(Concatenation((NON_ZERO, Repetition(DIGIT, len(low), len(high) - 2))))
    return any_of(
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
        parts.append(Concatenation((CharClass(((ord(first), ord(last)),)), Repetition(DIGIT, rest, rest))))
    if last != b:
        parts.append(Concatenation((text(b), _at_most(high[shared + 1 :]))))
    return Concatenation((prefix, any_of(parts)))


def _at_least(digits: str) -> RegexTree:
    """The digit strings of this length that are not below `digits`."""
    tree: RegexTree = EMPTY_TEXT
    for i in reversed(range(len(digits))):
        rest = len(digits) - i - 1
        above = _joined(_digit(int(digits[i]) + 1, 9), Repetition(DIGIT, rest, rest))
        tree = any_of([Concatenation((text(digits[i]), tree)), above])
    return tree


def _at_most(digits: str) -> RegexTree:
    """The digit strings of this length that are not above `digits`."""
    tree: RegexTree = EMPTY_TEXT
    for i in reversed(range(len(digits))):
        rest = len(digits) - i - 1
        below = _joined(_digit(0, int(digits[i]) - 1), Repetition(DIGIT, rest, rest))
        tree = any_of([Concatenation((text(digits[i]), tree)), below])
    return tree


# Fractions: the digits after the point, together with the point


def _any_fraction(first: int, last: int | None) -> RegexTree:
    """The numbers whose whole part lies between the bounds."""
    return _joined(whole_numbers(first, last), FRACTION)


def _with_fraction(whole: int, fraction: RegexTree) -> RegexTree:
    return _joined(text(plain_decimal(whole)), fraction)


def _joined(head: RegexTree, tail: RegexTree) -> RegexTree:
    return NOTHING if NOTHING in (head, tail) else Concatenation((head, tail))


def _digit(first: int, last: int) -> RegexTree:
    return NOTHING if first > last else CharClass(((ord("0") + first, ord("0") + last),))


def _fraction_from(bound: Number, is_open: bool) -> RegexTree:
    """The fractions that are at least `bound` (greater than it where `is_open`), which is in [0, 1)."""
    digits = _fraction_digits(bound)
    return FRACTION if not digits and not is_open else Concatenation((POINT, _digits_from(digits, is_open)))


def _fraction_between(low: tuple[Number, bool], high: tuple[Number, bool]) -> RegexTree:
    """The fractions from `low` to `high`, which are in [0, 1)."""
    (least, low_open), (most, high_open) = low, high
    if least > most or (least == most and (low_open or high_open)):
        return NOTHING
    a, b = _fraction_digits(least), _fraction_digits(most)
    # The digits of both, as far as they are the same; those of the lower bound go on with zeros.
    padded = a.ljust(len(b), "0")
    shared = next((i for i, (x, y) in enumerate(zip(padded, b, strict=True)) if x != y), len(b))
    if shared == len(b):
        tree: RegexTree = Concatenation((text(b), Repetition(ZERO, 0 if b else 1, None)))
    else:
        tree = any_of(
            [
                Concatenation((text(padded[shared]), _digits_from(a[shared + 1 :], low_open))),
                _joined(_digit(int(padded[shared]) + 1, int(b[shared]) - 1), DIGITS),
                _joined(text(b[shared]), _digits_to(b[shared + 1 :], high_open)),
            ]
        )
        for i in reversed(range(shared)):
            # After all digits of the lower bound the text may stop: what is missing counts as zeros.
            rest = optional(tree) if len(a) <= i + 1 and not low_open else tree
            tree = Concatenation((text(b[i]), rest))
    fraction = Concatenation((POINT, tree))
    return fraction if a or low_open else optional(fraction)


def _digits_from(digits: str, is_open: bool) -> RegexTree:
    """What may follow digits shared with a lower bound whose next ones are these."""
    tree: RegexTree = _SOME_NON_ZERO if is_open else DIGITS
    for digit in reversed(digits):
        tree = Concatenation((text(digit), tree))
        tree = any_of([tree, _joined(_digit(int(digit) + 1, 9), DIGITS)])
    return tree


def _digits_to(digits: str, is_open: bool) -> RegexTree:
    """What may follow digits shared with an upper bound, at least one, whose next ones are these."""
    tree: RegexTree = NOTHING if is_open else Repetition(ZERO, 0, None)
    for digit in reversed(digits):
        tree = any_of([EMPTY_TEXT, _joined(text(digit), tree), _joined(_digit(0, int(digit) - 1), DIGITS)])
    return tree


def _fraction_digits(bound: Number) -> str:
    return plain_decimal(bound).partition(".")[2]
