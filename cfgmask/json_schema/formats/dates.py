"""Dates, times and durations: RFC 3339, section 5.6 and appendix A."""

from __future__ import annotations

from cfgmask.json_schema.formats.pattern import one_of

_LEAP_YEAR = r"(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DAY_OF_YEAR = one_of(
    r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])",
    r"(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    r"02-(?:0[1-9]|1[0-9]|2[0-8])",
)
# What begins alike is written once: each alternative is a part of what is left after each digit.
DATE = one_of(f"[0-9]{{4}}-{_DAY_OF_YEAR}", _LEAP_YEAR + "-02-29")
_HOUR, _SIXTY = "(?:[01][0-9]|2[0-3])", "[0-5][0-9]"
_OFFSET = f"(?:[Zz]|[+-]{_HOUR}:{_SIXTY})"
_FRACTION = r"(?:\.[0-9]+)?"


def _leap_second(hour: int) -> str:
    """The leap seconds of an hour, behind that: a leap second is the last of a day in UTC.

    Only for offsets of which the minutes are in use somewhere: all others would make this 20 times as large.
    """
    ahead, behind = hour + 1, 23 - hour
    zones = {
        "59": [f"[+]{ahead:02}:00", f"-{behind:02}:00"],
        "29": [f"[+]{hour:02}:30", f"-{behind:02}:30"],
        "44": [f"[+]{hour:02}:45"],
        "14": [f"-{behind:02}:45"],
    }
    if hour == 23:
        zones["59"] = ["[Zz]", "[+-]00:00"]
    return one_of(*(f"{minute}:60{_FRACTION}{one_of(*offsets)}" for minute, offsets in zones.items()))


def _leap_seconds() -> str:
    by_digit = ("0123456789", "0123456789", "0123")
    hours = (
        str(first) + one_of(*(f"{second}:{_leap_second(10 * first + int(second))}" for second in seconds))
        for first, seconds in enumerate(by_digit)
    )
    return one_of(*hours)


TIME = one_of(f"{_HOUR}:{_SIXTY}:{_SIXTY}{_FRACTION}{_OFFSET}", _leap_seconds())
DATE_TIME = f"{DATE}[Tt]{TIME}"
POSSIBLE_TIME = f"{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60){_FRACTION}{_OFFSET}"
POSSIBLE_DATE_TIME = f"{DATE}[Tt]{POSSIBLE_TIME}"

_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"
