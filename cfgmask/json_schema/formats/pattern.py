"""What the modules of this package write their patterns with."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby, takewhile
from operator import eq

from cfgmask.grammar.regex_tree import Alternation, Concatenation, RegexTree, text
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


def prefix_tree(rests: Mapping[str, RegexTree]) -> RegexTree:
    """Texts, none of which begins with another, each with what follows it; what several begin with is written once.

    As plain alternatives, each of them would be looked at for each character.
    """
    alternatives: list[RegexTree] = []
    for _, same in groupby(sorted(rests), key=lambda word: word[:1]):
        words = list(same)
        begin = _common(words[0], words[-1])  # the words between them begin with it too
        below = rests.get(begin) or prefix_tree({word[len(begin) :]: rests[word] for word in words})
        alternatives.append(Concatenation((text(begin), below)))
    return alternatives[0] if len(alternatives) == 1 else Alternation(tuple(alternatives))


def _common(first: str, second: str) -> str:
    """What both begin with."""
    return first[: len(list(takewhile(bool, map(eq, first, second))))]
