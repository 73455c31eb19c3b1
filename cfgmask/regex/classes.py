"""Reads bracketed classes, with the nested sets and set operators of Rust and of ECMA's flag v."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cfgmask.regex.escapes import read_escape
from cfgmask.regex.scanner import Scanner
from cfgmask.regex.syntax import CharacterSet, ClassRange, PosixClass, Property, SetMember, SetTerm, Shorthand, Text
from cfgmask.regex.unicode_data import POSIX_CLASSES

# What a class counts for when parts are limited, beside its members: about as many parts of the size of a character.
_CLASS_PARTS = 5
# A named set in a class has hundreds of ranges, of which each has its other cases where case is without regard.
_SET_PARTS = 64
_CASED_SET_PARTS = 512
# So has a range, as many as there are characters in it, of which not all have case.
_CASED_RANGE_PARTS = 128
_CASED_PER_PART = 16

_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_STRING = re.compile(r"\\q\{[^}]*\}")
_RESERVED = re.compile(r"([&!#$%*+,.:;<=>?@^`~])\1|[()\[{}/\-|]")


@dataclass
class _Level:
    """A class that is open: its finished terms and the members of the term that is being read."""

    start: int
    negated: bool
    terms: list[SetTerm] = field(default_factory=list)
    operator: str = "|"
    members: list[SetMember] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        return not self.members and not self.terms

    def finish_term(self) -> None:
        self.terms.append(SetTerm(self.operator, tuple(self.members)))
        self.members = []


def read_class(scan: Scanner, depth: int) -> CharacterSet | None:
    """Read a class; the scanner stands at its `[`, inside `depth` groups. None where it does not end.

    Errors are reported. Raises LimitExceeded for classes nested too deep.
    """
    levels = [_open(scan)]
    while True:
        if scan.flags.verbose and scan.dialect.spaced_classes:
            scan.skip_verbose()
        level = levels[-1]
        if scan.at_end:
            start = levels[0].start
            scan.report("unclosed-class", start, "this class is never closed", "add `]`", end=start + 1)
            return None
        if scan.accept("]"):
            closed = _close(scan, levels.pop())
            if not levels:
                return closed
            levels[-1].members.append(closed)
        elif scan.looking_at("["):
            opened = _bracket(scan, level)
            if opened:
                levels.append(opened)
                scan.check_nesting(depth + len(levels))
        elif not _operator(scan, level):
            scan.count(1)
            _member(scan, level)


def _open(scan: Scanner) -> _Level:
    start = scan.position
    scan.count(_CLASS_PARTS)
    scan.position += 1
    level = _Level(start, scan.accept("^"))
    if scan.dialect.leading_bracket:
        # In Rust hyphens that come first are no operator; `re` reads `[--a]` as a range, as `_member` does.
        while scan.dialect.sets and scan.looking_at("-"):
            scan.position += 1
            level.members.append(ClassRange(scan.position - 1, scan.position, 0x2D, 0x2D))
        if level.is_new and scan.looking_at("]"):
            _member(scan, level)
    return level


def _close(scan: Scanner, level: _Level) -> CharacterSet:
    level.finish_term()
    if scan.dialect.single_operands and len(level.terms) > 1:
        _check_operands(scan, level)
    return CharacterSet(level.start, scan.position, level.negated, tuple(level.terms), scan.flags)


def _check_operands(scan: Scanner, level: _Level) -> None:
    """ECMA: operators of one kind only, each between two single operands, which ranges are not."""
    if len({term.operator for term in level.terms[1:]}) > 1:
        scan.report(
            "set-syntax", level.start, "`&&` and `--` may not stand in one class", "nest one of them in `[...]`"
        )
    for term in level.terms:
        member = term.members[0] if len(term.members) == 1 else None
        if member is None or (isinstance(member, ClassRange) and member.low != member.high):
            scan.report(
                "set-syntax",
                level.start,
                "an operand of `&&` or `--` must be one character, class or escape",
                "put it in `[...]`",
            )
            return


def _bracket(scan: Scanner, level: _Level) -> _Level | None:
    """A `[` inside a class: a POSIX class, a nested one (which is returned), or the character."""
    start = scan.position
    posix = scan.match(_POSIX)
    if posix and scan.dialect.name == "rust" and posix[2] in POSIX_CLASSES:
        level.members.append(PosixClass(start, scan.position, posix[2], bool(posix[1])))
        return None
    if posix and not scan.dialect.sets:
        scan.report(
            "posix-class",
            start,
            f"`{posix[0]}` is read in different ways by different engines",
            "list the ranges, `a-z` for instance, or write `\\[` for a bracket",
        )
        return None
    scan.position = start
    if scan.dialect.sets:
        return _open(scan)
    _member(scan, level)
    return None


def _operator(scan: Scanner, level: _Level) -> bool:
    for operator in scan.dialect.sets:
        if scan.accept(operator):
            level.finish_term()
            level.operator = operator
            return True
    return False


def _member(scan: Scanner, level: _Level) -> None:
    """One character, range or escape."""
    start = scan.position
    first = _atom(scan)
    if not _range_follows(scan):
        _add(level, first)
        return
    hyphen = scan.position
    scan.position += 1
    if scan.flags.verbose and scan.dialect.spaced_classes:
        scan.skip_verbose()
    if scan.at_end or (scan.looking_at("[") and scan.dialect.sets):
        scan.report("bad-class-range", start, "a range must end with a character", "write `\\-` for a hyphen")
        return
    last = _atom(scan)
    if first is None or last is None:
        return
    if not isinstance(first, ClassRange) or not isinstance(last, ClassRange):
        if scan.dialect.shorthand_ranges:
            level.members += [first, ClassRange(hyphen, hyphen + 1, 0x2D, 0x2D), last]
        else:
            scan.report(
                "bad-class-range", start, "a range must begin and end with a character", "write `\\-` for a hyphen"
            )
    elif first.low > last.high:
        scan.report("reversed-range", start, "this range ends before it begins", "exchange its ends")
    else:
        if scan.flags.ignore_case:
            scan.count(min(_CASED_RANGE_PARTS, (last.high - first.low) // _CASED_PER_PART))
        level.members.append(ClassRange(start, scan.position, first.low, last.high))


def _add(level: _Level, member: SetMember | None) -> None:
    if member is not None:
        level.members.append(member)


def _range_follows(scan: Scanner) -> bool:
    if scan.flags.verbose and scan.dialect.spaced_classes:
        scan.skip_verbose()
    if not scan.looking_at("-") or scan.peek(1) in ("]", ""):
        return False
    return not ("--" in scan.dialect.sets and scan.peek(1) == "-")


def _atom(scan: Scanner) -> SetMember | None:
    """One character or escape. None where it was reported as wrong."""
    start = scan.position
    if scan.dialect.single_operands and _reserved(scan):
        return None
    if scan.accept("\\"):
        escape = read_escape(scan, in_class=True)
        if isinstance(escape, (Shorthand, Property)):
            scan.count(_CASED_SET_PARTS if scan.flags.ignore_case else _SET_PARTS)
            return escape
        if not isinstance(escape, Text):
            return None
        code = ord(escape.text)
    else:
        code = ord(scan.peek())
        scan.position += 1
    return ClassRange(start, scan.position, code, code)


def _reserved(scan: Scanner) -> bool:
    """Report what the flag v reserves inside classes."""
    start = scan.position
    if scan.match(_STRING):
        scan.report(
            "set-syntax", start, "strings in classes (`\\q{...}`) are not supported", "write them as alternatives"
        )
        return True
    found = scan.match(_RESERVED)
    if found:
        scan.report(
            "set-syntax", start, f"`{found[0]}` is reserved inside classes", "write a backslash before each character"
        )
    return bool(found)
