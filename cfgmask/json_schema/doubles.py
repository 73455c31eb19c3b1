"""Numbers as most programs hold them: doubles, the 64-bit floating-point numbers of IEEE 754.

A decimal is read as the double next to it, so many decimals are read as one. A double stands here for the shortest of
them, which is what programs print.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction

from cfgmask.json_schema.values import Number


def printed(double: float) -> Number:
    """The shortest decimal that is read as a finite double."""
    number = Fraction(Decimal(repr(double)))
    return number.numerator if number.denominator == 1 else number


GREATEST = printed(sys.float_info.max)
LEAST = printed(math.ulp(0.0))
"""The least double above zero."""


def is_held(number: Number) -> bool:
    """Whether a double holds a number: it is exactly that, or printed as that."""
    double = read(number)
    return math.isfinite(double) and (Fraction(double) == number or printed(double) == number)


def read(number: Number) -> float:
    """The double that a number is read as; infinite beyond the greatest."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def after(number: Number) -> Number | None:
    """The least double that is greater than the one that a number is read as; None where there is none."""
    double = math.nextafter(read(number), math.inf)
    return printed(double) if math.isfinite(double) else None


def before(number: Number) -> Number | None:
    """The greatest double that is less than the one that a number is read as; None where there is none."""
    found = after(-number)
    return None if found is None else -found
