"""How JSON writes values that it has no kind for: dates, durations, identifiers, exact numbers.

Patterns here use what all dialects read alike, and are without anchors: see `Whole`.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from cfgmask.limits import Limits
from cfgmask.regex.numbers import NoNumbers, TooManyDigits, number_regex
from cfgmask.regex.write import NotWritable, write_regex


class Whole(str):
    """A pattern of a whole text, which gets the anchors of its dialect once that is known."""

    __slots__ = ()

    def anchored(self, dialect: str) -> str:
        """The pattern between anchors; `$` of Python is also before a line break at the end."""
        return rf"\A(?:{self})\Z" if dialect == "python" else f"^(?:{self})$"


_YEAR = "(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_FOURTH = "(?:0[48]|[2468][048]|[13579][26])"
_DAYS = (
    "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_HOUR, _SIXTIETH = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_DATE = f"(?:{_YEAR}-{_DAYS}|(?:[0-9]{{2}}{_FOURTH}|{_FOURTH}00)-02-29)"
_CLOCK = rf"{_HOUR}:{_SIXTIETH}:{_SIXTIETH}(?:\.[0-9]{{1,6}})?"
_OFFSET = f"(?:Z|[+-]{_HOUR}:{_SIXTIETH})"

DATE = Whole(_DATE)


def clock(zone: str | None) -> Whole:
    """Times of day. zone: "aware" with an offset from UTC, "naive" without, None for both."""
    return Whole(_CLOCK + _zone(zone))


def date_and_time(zone: str | None) -> Whole:
    """Dates with times of day."""
    return Whole(f"{_DATE}T{_CLOCK}{_zone(zone)}")


def _zone(zone: str | None) -> str:
    return {"aware": _OFFSET, "naive": ""}.get(zone or "", f"{_OFFSET}?")


# Within what `timedelta` holds, 999,999,999 days: Pydantic counts 365 days to a year.
_LONG = "(?:(?:[01]?[0-9]{1,6}|2[0-6][0-9]{5})Y(?:[0-9]{1,3}D)?|[0-9]{1,8}D)"
_SECONDS = r"[0-9]{1,2}(?:\.[0-9]{1,6})?S"
_SHORT = f"T(?:[0-9]{{1,2}}H(?:[0-9]{{1,2}}M)?(?:{_SECONDS})?|[0-9]{{1,2}}M(?:{_SECONDS})?|{_SECONDS})"
DURATION = Whole(f"-?P(?:{_LONG}(?:{_SHORT})?|{_SHORT})")

_HEX = "[0-9a-fA-F]"


def uuid_of_version(version: int) -> Whole:
    """Identifiers of RFC 9562."""
    return Whole(f"{_HEX}{{8}}-{_HEX}{{4}}-{version}{_HEX}{{3}}-[89abAB]{_HEX}{{3}}-{_HEX}{{12}}")


def base64(last: str) -> Whole:
    """Bytes in base 64. last: the two characters after letters and digits."""
    any_of = f"[A-Za-z0-9{last}]"
    third, second = "[AEIMQUYcgkosw048]", "[AQgw]"
    return Whole(f"(?:{any_of}{{4}})*(?:{any_of}{{2}}{third}=|{any_of}{second}==)?")


HEX = Whole(f"(?:{_HEX}{{2}})*")

_REAL = r"[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?"
COMPLEX = Whole(f"-?{_REAL}(?:[+-]{_REAL}j)?|-?{_REAL}j")
FRACTION = Whole("-?[0-9]+(?:/[1-9][0-9]*)?")

# What Pydantic takes from both ends of a text when it strips it.
_SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
STRIPPED = Whole(rf"(?:[^{_SPACE}](?:[\s\S]*[^{_SPACE}])?)?")

DECIMAL = Whole(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?")


def digits(most: int | None, places: int | None) -> Whole:
    """Decimals with so many digits at most, and so many after the point; zeros before them don't count."""
    if most is None:
        return Whole(rf"-?(?:0|[1-9][0-9]*){_places(places or 0)}")
    if places is not None:
        return Whole(rf"-?{_whole(most - places)}{_places(places)}")
    return Whole("-?(?:" + "|".join(_whole(n) + _places(most - n) for n in range(most + 1)) + ")")


def _whole(most: int) -> str:
    return "0" if most <= 0 else f"(?:0|[1-9][0-9]{{0,{most - 1}}})"


def _places(most: int) -> str:
    return rf"(?:\.[0-9]{{1,{most}}})?" if most > 0 else ""


def numbers(bounds: dict[str, Any], *, integers: bool = False) -> Whole | None:
    """Numbers between bounds (`ge`, `gt`, `le`, `lt`, `multiple_of`), as decimals; None where there is no pattern."""
    exact = {_CONDITIONS[name]: Decimal(str(value)) for name, value in bounds.items() if value is not None}
    try:
        return Whole(write_regex(number_regex(integers=integers, **exact), Limits()))
    except (NoNumbers, TooManyDigits, NotWritable):
        return None


_CONDITIONS = {"ge": "minimum", "gt": "above", "le": "maximum", "lt": "below", "multiple_of": "step"}


def is_a_double(value: Decimal) -> bool:
    """Whether JSON Schema, which has the number as a double, has exactly this one."""
    double = float(value)
    return math.isfinite(double) and Fraction(repr(double)) == Fraction(value)
