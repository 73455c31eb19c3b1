"""Reads what stands between an opening parenthesis and a group's body."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from cfgmask.regex.dialects import report_flag, with_flags
from cfgmask.regex.scanner import Scanner
from cfgmask.regex.syntax import Atomic, Backreference, Flags, Group, Lookaround, Node

Wrap: TypeAlias = Callable[[int, int, Node], Node]

_FLAGS = re.compile(r"\?([A-Za-z]*)(-?)([A-Za-z]*)([:)])")
_REFERENCE = re.compile(r"\?P=([^)]*)\)")
_RECURSION = re.compile(r"\?(?:R|[+-]?[0-9]+|&[^)]*|P>[^)]*)\)")
_CONDITION = re.compile(r"\?\([^()]*\)")
_CUT_OFF = re.compile(r"\?(?:[A-Za-z]*-?[A-Za-z]*|P[=>][^)]*|[&(][^)]*)\Z")
"""A head at which the pattern ends: all that it lacks is its parenthesis."""

_LOOKAROUNDS = {"?=": (False, False), "?!": (False, True), "?<=": (True, False), "?<!": (True, True)}


@dataclass(frozen=True)
class Opening:
    """What a parenthesis begins.

    wrap      makes the group's node from its place and body; None where the group has ended already
    flags     the flags in force from here: inside the group, or behind it where it has ended
    node      what a group without a body stands for, if anything
    reported  whether its head is wrong: what else is wrong with the group may come of that
    """

    wrap: Wrap | None
    flags: Flags
    node: Node | None = None
    reported: bool = False


def read_opening(scan: Scanner, names: set[str], at_pattern_start: bool) -> Opening:
    """Read a group's head; the scanner stands at its parenthesis.

    names             the groups named so far, which a new name joins
    at_pattern_start  whether nothing but flags stands before it
    Errors are reported; the group then counts as a plain one, so that its body is still read.
    """
    start = scan.position
    scan.position += 1
    if scan.flags.verbose and scan.dialect.spaced_classes:
        scan.skip_verbose()
    if not scan.looking_at("?") or scan.accept("?:"):
        return Opening(Group, scan.flags)
    if scan.looking_at("?#") and scan.dialect.comments:
        return _comment(scan, start)
    for head, (behind, negated) in _LOOKAROUNDS.items():
        if scan.accept(head):
            return Opening(_lookaround(behind, negated), scan.flags)
    if scan.accept("?>"):
        return Opening(Atomic, scan.flags)
    for head in scan.dialect.group_prefixes:
        if scan.accept(head):
            name = _name(scan, names)
            return Opening(_named(name), scan.flags, reported=name is None)
    return _reference(scan, start) or _flags(scan, start, at_pattern_start) or _unknown(scan, start)


def _lookaround(behind: bool, negated: bool) -> Wrap:
    return lambda start, end, body: Lookaround(start, end, body, behind, negated)


def _named(name: str | None) -> Wrap:
    return lambda start, end, body: Group(start, end, body, name)


def _comment(scan: Scanner, start: int) -> Opening:
    end = scan.pattern.find(")", start)
    if end < 0:
        scan.position = len(scan.pattern)
        scan.report("unclosed-group", start, "this comment is never closed", "add `)`", end=start + 3)
    else:
        scan.position = end + 1
    return Opening(None, scan.flags)


def _name(scan: Scanner, names: set[str]) -> str | None:
    start = scan.position
    found = scan.match(scan.dialect.group_name)
    name = found[0] if found else ""
    if not name or not scan.accept(">"):
        scan.report(
            "bad-group-name", start, "a group's name must be an identifier and end with `>`", "write `(?:...)` to group"
        )
        return None
    if name in names and scan.dialect.unique_names and name not in scan.dialect.named_groups:
        scan.report(
            "duplicate-group-name", start, f"there are two groups named `{name}`", "rename one", end=start + len(name)
        )
    names.add(name)
    return name


def _reference(scan: Scanner, start: int) -> Opening | None:
    """Backreferences, recursion and conditionals."""
    if scan.match(_REFERENCE):
        return Opening(None, scan.flags, Backreference(start, scan.position))
    if scan.match(_RECURSION):
        scan.report("recursion", start, "recursion into a group is not supported", "use a rule of a grammar")
        return Opening(None, scan.flags)
    if scan.match(_CONDITION):
        scan.report("conditional", start, "conditional groups are not supported", "write the two cases as alternatives")
        return Opening(Group, scan.flags, reported=True)
    return None


def _flags(scan: Scanner, start: int, at_pattern_start: bool) -> Opening | None:
    found = scan.match(_FLAGS)
    if not found:
        return None
    added, minus, removed, last = found.groups()
    dialect = scan.dialect
    for offset, letter, known in [
        *((found.start(1) + i, c, dialect.inline_flags) for i, c in enumerate(added)),
        *((found.start(3) + i, c, dialect.negatable_flags) for i, c in enumerate(removed)),
    ]:
        if letter not in known:
            report_flag(dialect, letter, known, offset, offset + 1, scan.problems)
    if not added and not removed:
        scan.report("bad-flag", start, "a flag must stand here", "write `(?:...)` to group")
    if set(added) & set(removed) or {"a", "u"} <= set(added):
        scan.report("bad-flag", start, "these flags contradict each other", "keep one of them")
    flags = with_flags(scan.flags, added, removed)
    if last == ":":
        return Opening(Group, flags)
    misplaced = None
    if dialect.bare_flags == "nowhere":
        misplaced = f"{dialect.name} patterns have no flags without a group"
    elif dialect.bare_flags == "start" and (minus or not at_pattern_start):
        misplaced = "flags without a group switch on, and stand at the start of the pattern"
    if misplaced:
        help = f"write `(?{added}{minus}{removed}:...)` around what they are for"
        scan.report("misplaced-flags", start, misplaced, help)
    return Opening(None, flags)


def _unknown(scan: Scanner, start: int) -> Opening:
    if scan.match(_CUT_OFF):
        return Opening(Group, scan.flags)
    scan.position = min(scan.position + 2, len(scan.pattern))
    scan.report(
        "bad-group",
        start,
        f"`{scan.pattern[start : scan.position]}` begins no group of {scan.dialect.name} patterns",
        "write `(?:...)` to group, or `\\(` for a parenthesis",
    )
    return Opening(Group, scan.flags, reported=True)
