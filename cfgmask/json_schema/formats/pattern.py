"""What the modules of this package write their patterns with."""

from __future__ import annotations

from dataclasses import dataclass

from cfgmask.grammar.regex_tree import ByteClass, Concatenation, Intersection, RegexTree, Repetition
from cfgmask.regex import parse_regex

_OCTET = ByteClass(((0, 255),))


@dataclass(frozen=True)
class Part:
    """What a pattern matches, in at least one octet of UTF-8 and at most so many; None: any number."""

    pattern: str
    most: int | None = None


def in_parts(parts: tuple[Part, ...]) -> RegexTree:
    """The tree of parts that stand one behind the other."""
    trees = [read(part.pattern) if part.most is None else bounded(read(part.pattern), part.most) for part in parts]
    return trees[0] if len(trees) == 1 else Concatenation(tuple(trees))


def bounded(tree: RegexTree, most: int) -> RegexTree:
    """Those of the texts that have at most so many octets in UTF-8."""
    return Intersection((tree, Repetition(_OCTET, 1, most)))


def read(pattern: str) -> RegexTree:
    """The tree of a pattern in Python's dialect, in which `.` is any character."""
    return parse_regex(pattern, dialect="python", flags="s", source_name="<format>")


def one_of(*parts: str) -> str:
    """A group of alternatives."""
    return "(?:" + "|".join(parts) + ")"
