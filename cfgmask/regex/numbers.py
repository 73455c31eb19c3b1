"""Numbers between bounds as regex trees. Schemas have their own (`core/schema/number_set.h`), which this asks."""

from __future__ import annotations

from decimal import Decimal

from cfgmask import _core
from cfgmask.grammar.regex_tree import RegexTree


class NoNumbers(ValueError):
    """No number meets the conditions."""


class TooManyDigits(ValueError):
    """Numbers of so many digits are not told from others."""


def number_regex(
    *,
    integers: bool,
    minimum: Decimal | None = None,
    above: Decimal | None = None,
    maximum: Decimal | None = None,
    below: Decimal | None = None,
    step: Decimal | None = None,
) -> RegexTree:
    """The numbers of JSON that meet all conditions, written without an exponent.

    integers  they are, and are written without a point
    step      the numbers are multiples of this one, which is positive
    Raises NoNumbers, TooManyDigits. Linear in the digits.
    """
    numbers = (minimum, above, maximum, below, step)
    if not all(number is None or number.is_finite() for number in numbers):
        raise TooManyDigits
    low = max(((n, is_open) for n, is_open in ((minimum, False), (above, True)) if n is not None), default=None)
    high = min(((n, not is_open) for n, is_open in ((maximum, False), (below, True)) if n is not None), default=None)
    found = _core.number_regex(
        "integer" if integers else "number",
        None if low is None else (str(low[0]), low[1]),
        None if high is None else (str(high[0]), not high[1]),
        None if step is None else str(step),
    )
    if found == "no numbers":
        raise NoNumbers
    if found == "too many digits":
        raise TooManyDigits
    assert not isinstance(found, str)
    return found
