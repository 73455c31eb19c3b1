"""Sets of numbers with exact bounds, and their intersection and complement.

A set is a union of `NumberShape`s. Nothing here rounds: bounds are `int` or `Fraction`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import Number, number_key
from tests.reference.json_schema.number_list import NumberList

# So many numbers are put into a list in one step of a session.
_NUMBERS_PER_STEP = 2


@dataclass(frozen=True)
class NumberShape:
    """The numbers that meet all of these conditions.

    low, high  bounds, None for none; exclusive where `low_open`, `high_open` say so
    step       they are integer multiples of this positive number
    plain      they are integers written without a fraction (what draft 4 calls an integer)
    values     they are among these
    without    they are in none of these shapes
    refusals   conditions that could not be read; the set may be smaller than the rest says
    step_at    the JSON Pointer of the `multipleOf` that `step` comes from
    """

    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    step: Number | None = None
    plain: bool = False
    values: NumberList | None = None
    without: tuple[NumberShape, ...] = ()
    refusals: frozenset[Diagnostic] = frozenset()
    step_at: str = field(default="", compare=False)

    def __hash__(self) -> int:
        numbers = (None if number is None else number_key(number) for number in (self.low, self.high, self.step))
        flags = self.low_open, self.high_open, self.plain
        return hash((*numbers, *flags, self.values, self.without, self.refusals))

    @property
    def is_everything(self) -> bool:
        """Whether there is no condition at all."""
        return self == ALL_NUMBERS

    def admits(self, value: Number) -> bool:
        """Whether the value is in the set, as far as that does not depend on how it is spelled."""
        if self.values is not None and value not in self.values:
            return False
        if self.low is not None and (value < self.low or (value == self.low and self.low_open)):
            return False
        if self.high is not None and (value > self.high or (value == self.high and self.high_open)):
            return False
        if self.step is not None and value % self.step != 0:
            return False
        if self.plain and value.denominator != 1:
            return False
        return not any(shape.admits(value) for shape in self.without if not shape.is_spelling_bound)

    @property
    def is_spelling_bound(self) -> bool:
        """Whether two spellings of one value may differ in being in the set."""
        return self.plain or any(shape.is_spelling_bound for shape in self.without)

    @property
    def is_plainly_empty(self) -> bool:
        """Whether the conditions contradict each other, `without` and `refusals` aside. Shapes must be `tightened`."""
        if self.values is not None:
            return not self.values
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))


ALL_NUMBERS = NumberShape()
INTEGERS = NumberShape(step=1)
PLAIN_INTEGERS = NumberShape(step=1, plain=True)


def is_multiples(shape: NumberShape) -> bool:
    """Whether the set is all multiples of a number."""
    return shape.step is not None and shape == NumberShape(step=shape.step)


def intersect(a: NumberShape, b: NumberShape) -> NumberShape | None:
    """The numbers of both shapes; None where there are none for a reason that needs no search."""
    low, low_open = _tighter((a.low, a.low_open), (b.low, b.low_open), 1)
    high, high_open = _tighter((a.high, a.high_open), (b.high, b.high_open), -1)
    values = a.values if b.values is None else b.values if a.values is None else a.values & b.values
    both = NumberShape(
        low=low,
        low_open=low_open,
        high=high,
        high_open=high_open,
        step=a.step if b.step is None else b.step if a.step is None else common_multiple(a.step, b.step),
        plain=a.plain or b.plain,
        values=values,
        without=tuple(listed_together(dict.fromkeys(a.without + b.without))),
        refusals=a.refusals | b.refusals,
        step_at=a.step_at or b.step_at,
    )
    both = tightened(both)
    return None if both.is_plainly_empty else both


def tightened(shape: NumberShape) -> NumberShape:
    """The same set with values that are checked and bounds that are members of it where there is a step."""
    if shape.values is not None:
        kept = NumberList(v for v in shape.values if shape.admits(v))
        spelled = tuple(w for w in shape.without if w.is_spelling_bound)
        return NumberShape(values=kept, plain=shape.plain, without=spelled, refusals=shape.refusals)
    if shape.step is None:
        return shape
    low, high, step = shape.low, shape.high, shape.step
    if low is not None:
        low = _simple(math.ceil(low / Fraction(step)) * step)
        if shape.low_open and low == shape.low:
            low += step
    if high is not None:
        high = _simple(math.floor(high / Fraction(step)) * step)
        if shape.high_open and high == shape.high:
            high -= step
    return replace(shape, low=low, low_open=False, high=high, high_open=False)


def listed_together(shapes: Iterable[NumberShape]) -> list[NumberShape]:
    """The same union, with all sets that are only lists of numbers as one."""
    values: list[Number] = []
    others: list[NumberShape] = []
    for shape in shapes:
        if shape.values is not None and shape == NumberShape(values=shape.values):
            values += shape.values
        else:
            others.append(shape)
    current().spend((len(values) + len(others)) // _NUMBERS_PER_STEP)
    return [NumberShape(values=NumberList(values)), *others] if values else others


def complement(shape: NumberShape, within: Iterable[NumberShape] = (ALL_NUMBERS,)) -> tuple[NumberShape, ...]:
    """The numbers that are not in the shape (a superset of them, marked as refused, where it has refusals).

    within  the only sets that are of interest: of integers, those outside of a range of integers are two ranges
    """
    if shape.refusals:
        return (NumberShape(refusals=shape.refusals),)
    whole = replace(shape, without=())
    if whole.step is not None and all(_is_in_steps(other, whole.step, whole.plain) for other in within):
        whole = replace(whole, step=None, plain=False)
    if replace(whole, low=None, low_open=False, high=None, high_open=False) != ALL_NUMBERS:
        return (NumberShape(without=(whole,)), *shape.without)
    outside = list(shape.without)
    if shape.low is not None:
        outside.append(NumberShape(high=shape.low, high_open=not shape.low_open))
    if shape.high is not None:
        outside.append(NumberShape(low=shape.high, low_open=not shape.high_open))
    return tuple(outside)


def _is_in_steps(shape: NumberShape, step: Number, plain: bool) -> bool:
    """Whether the shape says that all its numbers are multiples, and written without a fraction if they must be."""
    return shape.step is not None and shape.step % step == 0 and (shape.plain or not plain)


def count(shape: NumberShape, at_most: int) -> int | None:
    """How many values the shape has, `without` aside; None for infinitely many or more than `at_most`."""
    if shape.values is not None:
        return len(shape.values) if len(shape.values) <= at_most else None
    if shape.low is None or shape.high is None:
        return None
    if shape.low == shape.high:
        return 1
    if shape.step is None:
        return None
    number = int((shape.high - shape.low) / Fraction(shape.step)) + 1
    return number if number <= at_most else None


def enumerated(shape: NumberShape) -> list[Number]:
    """The values of a shape that `count` counts, in ascending order."""
    if shape.values is not None:
        return sorted(shape.values)
    assert shape.low is not None
    assert shape.high is not None
    if shape.low == shape.high:
        return [shape.low]
    assert shape.step is not None
    found, value = [], shape.low
    while value <= shape.high:
        found.append(_simple(value))
        value += shape.step
    return found


def _tighter(a: tuple[Number | None, bool], b: tuple[Number | None, bool], sign: int) -> tuple[Number | None, bool]:
    """The stronger of two bounds: the greater one for sign 1, the smaller one for -1."""
    (x, x_open), (y, y_open) = a, b
    if x is None or y is None:
        return b if x is None else a
    if x == y:
        return x, x_open or y_open
    return a if (x - y) * sign > 0 else b


def common_multiple(a: Number, b: Number) -> Number:
    """The least number that is a multiple of both, which are positive."""
    scale = a.denominator * b.denominator
    return _simple(Fraction(math.lcm(int(a * scale), int(b * scale)), scale))


def _simple(number: Number) -> Number:
    """An `int` where the number is integral, so that equal numbers have equal types."""
    return number.numerator if number.denominator == 1 else number
