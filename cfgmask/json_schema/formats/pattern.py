"""What the modules of this package write their patterns with."""

from __future__ import annotations

from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from cfgmask.regex.plain import plain_text


def read(pattern: str) -> RegexTree:
    """The tree of a pattern in Python's dialect, in which `.` is any character."""
    plain = plain_text(pattern, "s", Limits())
    return plain or parse_regex(pattern, dialect="python", flags="s", source_name="<format>")


def one_of(*parts: str) -> str:
    """A group of alternatives."""
    return "(?:" + "|".join(parts) + ")"
