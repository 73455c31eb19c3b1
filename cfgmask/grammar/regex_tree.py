"""Regexes as trees over Unicode characters: what `cfgmask.regex` makes of a pattern and what a `Terminal` holds.

A tree denotes a set of byte strings: the UTF-8 encodings of the texts it describes.
Trees are immutable and may share parts (they are DAGs): walk them with a memo by identity.
There are no anchors, flags or dialects here; the pattern reader has resolved them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, TypeAlias
from typing import Literal as OneOf

from cfgmask.grammar.quick_init import quick_init

MAX_CODE_POINT = 0x10FFFF
# Repetitions count up to this; front ends refuse what is beyond.
MAX_COUNT = 2**31 - 1


def _remembered_hash(tree: Any) -> int:
    """By value, each part once: the one that a dataclass makes visits what is shared as often as there are ways to it.

    Parts come before what holds them, whose hash finds theirs.
    """
    waiting = [tree]
    while waiting:
        top = waiting[-1].__dict__
        if "_hash" not in top:
            parts = top["parts"] if "parts" in top else (top["body"],)
            unknown = [part for part in parts if "_hash" not in part.__dict__ and isinstance(part, _COMPOSITE)]
            if unknown:
                waiting += unknown
                continue
            top["_hash"] = hash((type(waiting[-1]), *top.values()))
        waiting.pop()
    found: int = tree.__dict__["_hash"]
    return found


def _equal(one: Any, other: object) -> bool:
    """By value, each pair of parts once and without recursion, for the same reason."""
    if one.__class__ is not other.__class__:
        return NotImplemented  # type: ignore[no-any-return]  # what Python asks for
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Any, Any]] = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        if a.__class__ not in _COMPOSITE:
            if a != b:
                return False
            continue
        # Those of parts are known once that of the whole is.
        if a.__class__ is not b.__class__ or hash(a) != hash(b):
            return False
        seen.add((id(a), id(b)))
        mine, its = a.__dict__, b.__dict__
        if "parts" in mine:
            if len(mine["parts"]) != len(its["parts"]):
                return False
            waiting += zip(mine["parts"], its["parts"], strict=True)
            continue
        if any(mine.get(name) != its.get(name) for name in ("minimum", "maximum", "escapes")):
            return False
        waiting.append((mine["body"], its["body"]))
    return True


@quick_init
@dataclass(frozen=True)
class Literal:
    """Exactly these bytes. `Literal(b"")` is the empty text."""

    data: bytes


@quick_init
@dataclass(frozen=True)
class CharClass:
    """One character out of sorted, disjoint, non-adjacent inclusive ranges of code points.

    Surrogates (U+D800 to U+DFFF) are no characters: `char_class` removes them. No ranges: nothing matches.
    """

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class ByteClass:
    """One byte out of sorted, disjoint inclusive ranges, for grammars that allow text that is not UTF-8."""

    ranges: tuple[tuple[int, int], ...]


@quick_init
@dataclass(frozen=True)
class Concatenation:
    parts: tuple[RegexTree, ...]

    __eq__ = _equal
    __hash__ = _remembered_hash


@quick_init
@dataclass(frozen=True)
class Alternation:
    """Any of the parts; with no parts, nothing matches."""

    parts: tuple[RegexTree, ...]

    __eq__ = _equal
    __hash__ = _remembered_hash


@quick_init
@dataclass(frozen=True)
class Repetition:
    """`body` at least `minimum` and at most `maximum` times (None: without bound)."""

    body: RegexTree
    minimum: int
    maximum: int | None

    __eq__ = _equal
    __hash__ = _remembered_hash


@dataclass(frozen=True)
class Intersection:
    """What all parts match; with no parts, every text."""

    parts: tuple[RegexTree, ...]

    __eq__ = _equal
    __hash__ = _remembered_hash


@dataclass(frozen=True)
class Complement:
    """Every valid UTF-8 text that `body` does not match."""

    body: RegexTree

    __eq__ = _equal
    __hash__ = _remembered_hash


@dataclass(frozen=True)
class KeySet:
    """Any one of these byte strings. Linear in their size, however many there are."""

    keys: tuple[bytes, ...]


@dataclass(frozen=True)
class Divisible:
    """Decimal digits, points anywhere among them, which read without the points are a multiple of `modulus`.

    No digits at all are zero. 1 <= modulus < 2**32; one residual a remainder.
    """

    modulus: int


@dataclass(frozen=True)
class MultiplesCase:
    """Some of the numbers of `Multiples`.

    step         they are multiples of this one, which is above 0
    without      and of none of these, which are above 0
    most_places  this many digits may stand behind the point, 0: no point; None: any number of them
    finer        whether what is no integer once the point is moved is among them as well
    """

    step: int
    without: tuple[int, ...] = ()
    most_places: int | None = None
    finer: bool = False


@dataclass(frozen=True)
class Multiples:
    """Decimals, without sign and exponent, that one of some cases takes.

    places       the point is moved so far to the right before a number is told to be a multiple; at most 400
    cases        all their steps have a common multiple below 10**18; one residual a remainder of that
    most_digits  before the point, and behind it where a case has no bound of its own; None for any number of them
    """

    places: int
    cases: tuple[MultiplesCase, ...]
    most_digits: int | None = None

    @property
    def words(self) -> list[int]:
        """The same for the core, see `cfgmask/core/regex/multiples.h`."""
        none = 2**32 - 1
        words = [self.places, none if self.most_digits is None else self.most_digits]
        for case in self.cases:
            words += divmod(case.step, 2**32)[::-1]
            words += [none if case.most_places is None else case.most_places, int(case.finer), len(case.without)]
            for step in case.without:
                words += divmod(step, 2**32)[::-1]
        return words

    @classmethod
    def of_words(cls, words: list[int]) -> Multiples:
        """The way back from `words`."""
        none = 2**32 - 1

        def number(at: int) -> int:
            return words[at] | words[at + 1] << 32

        places, most_digits = words[:2]
        cases = []
        at = 2
        while at < len(words):
            step, most_places, finer, n_without = number(at), words[at + 2], bool(words[at + 3]), words[at + 4]
            at += 5
            without = tuple(number(at + 2 * i) for i in range(n_without))
            at += 2 * n_without
            cases.append(MultiplesCase(step, without, None if most_places == none else most_places, finer))
        return cls(places, tuple(cases), None if most_digits == none else most_digits)


@dataclass(frozen=True)
class Substring:
    """Any run of consecutive chunks, written together; the empty run too. Linear in the chunks' size."""

    chunks: tuple[bytes, ...]


@dataclass(frozen=True)
class JsonString:
    r"""A JSON string literal, quotes included, whose decoded text `body` matches. `body` describes valid UTF-8.

    escapes  "any"        every spelling of each character: itself, `\n` and the like, `\uXXXX`, surrogate pairs
             "literal"    as "any", but printable ASCII other than `"`, `\` and `/` only as itself; for fixed texts
                          such as property names, whose bytes are then forced
             "canonical"  the one spelling that RFC 8785 gives: escapes only where JSON demands them
             "yaml"       those that YAML 1.1 and 1.2 read as JSON does: no surrogate pairs, and only as `\uXXXX` what
                          is a control or a line break to one of them, U+FEFF, U+FFFE and U+FFFF
    """

    body: RegexTree
    escapes: OneOf["any", "literal", "canonical", "yaml"] = "any"

    __eq__ = _equal
    __hash__ = _remembered_hash


RegexTree: TypeAlias = (
    Literal
    | CharClass
    | ByteClass
    | Concatenation
    | Alternation
    | Repetition
    | Intersection
    | Complement
    | KeySet
    | Divisible
    | Multiples
    | Substring
    | JsonString
)

_COMPOSITE = (Concatenation, Alternation, Repetition, Intersection, Complement, JsonString)

EMPTY_TEXT = Literal(b"")
NOTHING = Alternation(())
ANY_CHAR = CharClass(((0, 0xD7FF), (0xE000, MAX_CODE_POINT)))
ANY_TEXT = Repetition(ANY_CHAR, 0, None)


def char_class(ranges: list[tuple[int, int]]) -> CharClass:
    """The class of inclusive ranges given in any order, overlapping or not. O(n log n)."""
    merged: list[tuple[int, int]] = []
    last = -2
    for low, high in sorted(ranges):
        if low > last + 1:
            if low <= high:
                merged.append((low, high))
                last = high
        elif high > last:
            merged[-1] = (merged[-1][0], high)
            last = high
    return CharClass(_without_surrogates(merged))


def negated(cls: CharClass) -> CharClass:
    """Every character that is not in `cls`."""
    gaps: list[tuple[int, int]] = []
    next_free = 0
    for low, high in cls.ranges:
        if low > next_free:
            gaps.append((next_free, low - 1))
        next_free = high + 1
    if next_free <= MAX_CODE_POINT:
        gaps.append((next_free, MAX_CODE_POINT))
    return CharClass(_without_surrogates(gaps))


def text(value: str) -> Literal:
    """Exactly this text. Raises UnicodeEncodeError for lone surrogates."""
    return Literal(value.encode())


def _without_surrogates(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Of ranges in order that do not overlap."""
    end = bisect_right(ranges, (0xDFFF, MAX_CODE_POINT))
    start = end
    while start > 0 and ranges[start - 1][1] >= 0xD800:
        start -= 1
    if start == end:
        return tuple(ranges)
    parts = [part for low, high in ranges[start:end] for part in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high))]
    return (*ranges[:start], *((low, high) for low, high in parts if low <= high), *ranges[end:])
