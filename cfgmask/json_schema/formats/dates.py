"""Dates, times and durations: RFC 3339, section 5.6 and appendix A."""

from __future__ import annotations

from cfgmask.grammar.regex_tree import Alternation, Concatenation, RegexTree, text
from cfgmask.json_schema.formats.pattern import one_of, prefix_tree, read

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


def time() -> RegexTree:
    """A time of day with its offset."""
    return Alternation((read(f"{_HOUR}:{_SIXTY}:{_SIXTY}{_FRACTION}{_OFFSET}"), _leap_second()))


def date_time() -> RegexTree:
    """A date and a time."""
    return Concatenation((read(f"{DATE}[Tt]"), time()))


def _leap_second() -> RegexTree:
    """A leap second, which is the last of a day in UTC.

    Only for offsets of which the minutes are in use somewhere: all others would make this 20 times as large.
    """
    offsets = {"23:59": ["Z", "z", "+00:00", "-00:00"]}
    for offset in range(15, 24 * 60, 15):
        if offset % 60 != 15:
            for sign, local in (("+", offset - 1), ("-", 24 * 60 - 1 - offset)):
                shown = f"{sign}{offset // 60:02}:{offset % 60:02}"
                offsets.setdefault(f"{local // 60:02}:{local % 60:02}", []).append(shown)
    second = Concatenation((text(":60"), read(_FRACTION)))
    return prefix_tree(
        {
            local: Concatenation((second, prefix_tree(dict.fromkeys(shown, text("")))))
            for local, shown in offsets.items()
        }
    )


POSSIBLE_TIME = f"{_HOUR}:{_SIXTY}:(?:{_SIXTY}|60){_FRACTION}{_OFFSET}"
POSSIBLE_DATE_TIME = f"{DATE}[Tt]{POSSIBLE_TIME}"

_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"
