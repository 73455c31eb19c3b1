"""Pattern text to syntax tree.

One pass with an explicit stack, so that nesting costs no Python recursion. Errors are reported and stepped over, so
that one reading finds all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from cfgmask.grammar.regex_tree import MAX_COUNT
from cfgmask.limits import Limits
from cfgmask.regex.classes import read_class
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.escapes import read_escape
from cfgmask.regex.groups import Wrap, read_opening
from cfgmask.regex.problems import Problems
from cfgmask.regex.scanner import Scanner
from cfgmask.regex.syntax import (
    Anchor,
    Choice,
    Dot,
    Flags,
    Group,
    Lookaround,
    Node,
    Repeat,
    Sequence,
    Text,
    WordBoundary,
)

_PLAIN = re.compile(r"[^\\.^$*+?{}\[\]()|]+")
_PLAIN_VERBOSE = re.compile(r"[^\\.^$*+?{}\[\]()|#\s\u200e\u200f]+")
# What groups, quantifiers and assertions count for when parts are limited, a character being one part. A group has
# several nodes; what stands around an assertion is translated for several cases, which takes up to half a millisecond.
# In a run of characters without regard to case each is a class of its own, but they are read together.
_GROUP_PARTS = 4
_REPEAT_PARTS = 2
_CASED_PER_PART = 4
_ANCHOR_PARTS = 16
_ASSERTION_PARTS = 256

_SURROGATE = re.compile("[\ud800-\udfff]+")


@dataclass
class _Frame:
    """A group that is open (or the whole pattern) and what was read of it.

    reported     whether something was said of its head
    height       nesting inside of what was read so far
    last_height  that of the last item alone
    """

    start: int
    wrap: Wrap
    outer_flags: Flags
    branch_start: int
    reported: bool = False
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    height: int = 0
    last_height: int = 0


class TooManyLazy(Exception):
    """A pattern has more lazy repetitions than are wanted; the rest was not read."""


def parse(
    pattern: str,
    dialect: Dialect,
    flags: Flags,
    problems: Problems,
    limits: Limits,
    max_lazy: int | None = None,
) -> Node:
    """The syntax tree of `pattern`.

    What is wrong is reported to `problems`; the tree then stands for what could be read.
    Raises LimitExceeded (max_nesting, max_regex_nodes), TooManyLazy. Linear in the pattern.
    """
    for found in _SURROGATE.finditer(pattern):
        problems.report("surrogate", found.start(), found.end(), "a lone surrogate is no character", "leave it out")
    return _Parser(Scanner(pattern, dialect, flags, problems, limits), max_lazy).parse()


class _Parser:
    def __init__(self, scan: Scanner, max_lazy: int | None) -> None:
        self._scan = scan
        self._frames = [_Frame(0, Group, scan.flags, 0)]
        self._names: set[str] = set()
        self._n_lazy = 0
        self._max_lazy = max_lazy

    def parse(self) -> Node:
        scan = self._scan
        while self._more():
            self._step()
        for frame in self._frames[:0:-1]:
            if not frame.reported:
                scan.report("unclosed-group", frame.start, "this group is never closed", "add `)`", end=frame.start + 1)
        while len(self._frames) > 1:
            self._close()
        return self._body(self._frames[0])

    def _more(self) -> bool:
        """Whether something is left to read, behind what the flag x skips."""
        if self._scan.flags.verbose:
            self._scan.skip_verbose()
        return not self._scan.at_end

    def _step(self) -> None:
        scan = self._scan
        plain = scan.match(_PLAIN_VERBOSE if scan.flags.verbose else _PLAIN)
        if plain:
            parts = 1 + len(plain[0]) // _CASED_PER_PART if scan.flags.ignore_case else 1
            self._add(Text(plain.start(), plain.end(), plain[0], scan.flags), parts=parts)
            return
        character = scan.peek()
        if character == "(":
            self._open()
        elif character == ")":
            self._closing()
        elif character == "[":
            self._add(read_class(scan, len(self._frames) - 1))
        elif character in "*+?":
            self._repeat()
        elif character == "{":
            self._brace()
        else:
            self._single(character)

    def _single(self, character: str) -> None:
        """One character that needs no further reading, or an escape."""
        scan = self._scan
        start = scan.position
        scan.position += 1
        if character == "\\":
            # A wrong escape still counts as an item, so that a quantifier behind it is not wrong as well.
            node = read_escape(scan, in_class=False) or Text(start, scan.position, "", scan.flags)
            self._add(node, parts=_ASSERTION_PARTS if isinstance(node, WordBoundary) else 1)
        elif character == "|":
            self._branch()
        elif character == ".":
            self._add(Dot(start, start + 1, scan.flags))
        elif character == "^":
            self._add(Anchor(start, start + 1, "start", scan.flags.multi_line), parts=_ANCHOR_PARTS)
        elif character == "$":
            kind = scan.dialect.dollar
            self._add(Anchor(start, start + 1, kind, scan.flags.multi_line), parts=_ANCHOR_PARTS)
        else:
            self._stray(character, start)

    def _stray(self, character: str, start: int) -> None:
        """A closing bracket or brace, or a character that only the flag x gives a meaning to."""
        scan = self._scan
        if character == "]" and not scan.dialect.literal_brace and scan.dialect.name == "ecma":
            scan.report("stray-bracket", start, "this bracket closes no class", "write `\\]` for a bracket")
        elif character == "}" and not scan.dialect.literal_brace and scan.dialect.name == "ecma":
            scan.report("stray-brace", start, "this brace closes nothing", "write `\\}` for a brace")
        else:
            self._add(Text(start, start + 1, character, scan.flags))

    def _add(self, node: Node | None, height: int = 0, parts: int = 1) -> None:
        if node is None:
            return
        self._scan.count(parts)
        frame = self._frames[-1]
        frame.items.append(node)
        frame.last_height = height
        frame.height = max(frame.height, height)

    def _branch(self) -> None:
        frame = self._frames[-1]
        self._scan.count(1)
        frame.branches.append(Sequence(frame.branch_start, self._scan.position - 1, tuple(frame.items)))
        frame.items = []
        frame.branch_start = self._scan.position

    def _open(self) -> None:
        scan = self._scan
        start, frame = scan.position, self._frames[-1]
        first = len(self._frames) == 1 and not frame.items and not frame.branches
        outer = scan.flags
        opening = read_opening(scan, self._names, first)
        scan.flags = opening.flags
        if opening.wrap is not None:
            scan.check_nesting(len(self._frames))
            self._frames.append(_Frame(start, opening.wrap, outer, scan.position, opening.reported))
        elif opening.node is not None:
            self._add(opening.node)
        elif opening.flags is not outer and not first:
            # Flags on their own count as an item, so that a repetition right behind them has nothing to repeat.
            self._add(Sequence(start, scan.position, ()))

    def _closing(self) -> None:
        scan = self._scan
        if len(self._frames) > 1:
            scan.position += 1
            self._close()
            return
        start = scan.position
        scan.position += 1
        scan.report("unopened-group", start, "this parenthesis closes no group", "write `\\)` for a parenthesis")

    def _close(self) -> None:
        frame = self._frames.pop()
        self._scan.flags = frame.outer_flags
        node = frame.wrap(frame.start, self._scan.position, self._body(frame))
        self._add(node, frame.height + 1, parts=_ASSERTION_PARTS if isinstance(node, Lookaround) else _GROUP_PARTS)

    def _body(self, frame: _Frame) -> Node:
        end = self._scan.position
        last = Sequence(frame.branch_start, end, tuple(frame.items))
        if not frame.branches:
            return last
        return Choice(frame.start, end, (*frame.branches, last))

    def _brace(self) -> None:
        """A counted repetition, or a brace."""
        scan = self._scan
        start = scan.position
        scan.position += 1
        counted = scan.match(scan.dialect.count)
        if counted:
            low, comma, high = counted.groups()
            self._apply(start, *self._counts(start, low, comma, high))
        elif scan.dialect.literal_brace:
            self._add(Text(start, start + 1, "{", scan.flags))
        else:
            scan.report("stray-brace", start, "this brace begins no repetition", "write `\\{`, or `{n,m}` with numbers")

    def _counts(self, start: int, low: str, comma: str | None, high: str | None) -> tuple[int, int | None]:
        # More than ten digits are not worth converting: they are too large in any case.
        minimum = int(low.lstrip("0")[:11] or "0")
        maximum = int(high.lstrip("0")[:11] or "0") if high else None if comma else minimum
        if max(minimum, maximum or 0) > MAX_COUNT:
            self._scan.report("count-too-large", start, f"a count is at most {MAX_COUNT}", "leave the upper count out")
            return 0, None
        if maximum is not None and maximum < minimum:
            self._scan.report("bad-counts", start, "the lower count is above the upper one", "exchange them")
            return maximum, minimum
        return minimum, maximum

    def _repeat(self) -> None:
        scan = self._scan
        start = scan.position
        minimum, maximum = {"*": (0, None), "+": (1, None), "?": (0, 1)}[scan.peek()]
        scan.position += 1
        self._apply(start, minimum, maximum)

    def _apply(self, start: int, minimum: int, maximum: int | None) -> None:
        """Put the last item into a repetition; the quantifier began at `start` and is read but for its suffix."""
        scan, frame = self._scan, self._frames[-1]
        mode: Literal["greedy", "lazy", "possessive"] = "greedy"
        if scan.accept("?"):
            mode = "lazy"
            self._count_lazy(minimum, maximum)
        elif scan.dialect.possessive and scan.accept("+"):
            mode = "possessive"
        item = self._repeatable(start)
        if item is None:
            return
        height = frame.last_height
        if isinstance(item, Repeat):
            height += 1
            scan.check_nesting(len(self._frames) - 1 + height)
        self._add(Repeat(item.start, scan.position, item, minimum, maximum, mode), height, parts=_REPEAT_PARTS)

    def _count_lazy(self, minimum: int, maximum: int | None) -> None:
        if self._max_lazy is None or minimum == maximum:
            return
        self._n_lazy += 1
        if self._n_lazy > self._max_lazy:
            raise TooManyLazy

    def _repeatable(self, start: int) -> Node | None:
        """Take the last item off the branch, if it may be repeated; of a text only its last character."""
        scan, frame = self._scan, self._frames[-1]
        item = frame.items[-1] if frame.items else None
        if item is None or isinstance(item, Sequence) or self._is_bare_assertion(item):
            scan.report(
                "nothing-to-repeat", start, "there is nothing to repeat here", "write `\\` before the quantifier"
            )
            return None
        if isinstance(item, Repeat) and not scan.dialect.stacked_repeats:
            scan.report("multiple-repeat", start, "a repetition cannot be repeated", "write `(?:...)` around it")
            return None
        frame.items.pop()
        if isinstance(item, Text) and len(item.text) > 1:
            # Only plain runs are longer than one character, and in these offsets in text and pattern agree.
            frame.items.append(Text(item.start, item.end - 1, item.text[:-1], item.flags))
            return Text(item.end - 1, item.end, item.text[-1], item.flags)
        return item

    def _is_bare_assertion(self, item: Node) -> bool:
        dialect = self._scan.dialect
        if isinstance(item, Lookaround):
            # ECMA's Annex B lets lookahead be repeated, without the flags u and v.
            return dialect.name == "ecma" and (item.behind or not dialect.literal_brace)
        return isinstance(item, (Anchor, WordBoundary)) and not dialect.repeatable_anchors
