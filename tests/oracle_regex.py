"""Residuals of regexes, byte by byte: the slow and obvious regex engine that the core is compared with.

Brzozowski derivatives over the trees of `cfgmask.grammar.regex_tree` and nothing else: no automaton, no byte classes.
Shares no code and no idea of representation with the compiled core.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

from cfgmask.grammar import regex_tree as tree

Ranges = tuple[tuple[int, int], ...]

_SHORT_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\/": "/", "\\b": "\b", "\\f": "\f", "\\n": "\n", "\\r": "\r", "\\t": "\t"}
_QUOTE, _BACKSLASH = 0x22, 0x5C
_ALL_BYTES = frozenset(range(256))

# First bytes of encodings of several bytes: lowest, highest, how many bytes follow, the least character so encoded.
_LEADS = ((0xC0, 0xDF, 1, 0x80), (0xE0, 0xEF, 2, 0x800), (0xF0, 0xF7, 3, 0x10000))


class Undecided(Exception):
    """A question of emptiness took too many residuals; a property test should drop its example."""


class Residual:
    """A regex over bytes. Made by `Regexes` alone, which keeps one object per (kind, parts): equality is identity."""

    __slots__ = ("kind", "parts")

    def __init__(self, kind: str, parts: tuple[Any, ...]) -> None:
        self.kind = kind
        self.parts = parts

    def __repr__(self) -> str:
        return f"{self.kind}({', '.join(map(repr, self.parts))})"


class Regexes:
    """Makes residuals, moves them by a byte and answers whether they match the empty text or nothing at all.

    Kinds of residual and their parts:
        keys(frozenset of byte strings)      any of these; `keys({b""})` is the empty text
        byte(ranges)                         one byte
        character(ranges)                    one UTF-8 character
        continuation(count, ranges)          `count` continuation bytes that spell a number in the ranges
        sequence(a, b)   any(set)   all(set)   not(a)
        repeat(a, minimum, maximum)
        json(body, escapes)                  a string literal, from its opening quote
        json_inside(body, escapes)           the rest of a string literal, between characters or inside one
        json_escape(body, escapes, prefix)   the same in the middle of an escape, of which `prefix` was read

    alphabet      every byte that some text of the regexes holds: what a search for a text tries
    search_limit  residuals that one search may visit before it raises `Undecided`
    """

    def __init__(self, alphabet: Iterable[int] = range(256), search_limit: int = 500) -> None:
        self._alphabet = tuple(alphabet)
        self._search_limit = search_limit
        self._residuals: dict[tuple[str, tuple[Any, ...]], Residual] = {}
        self._derivatives: dict[tuple[Residual, int], Residual] = {}
        self._nullable: dict[Residual, bool] = {}
        self._empty: dict[tuple[Residual, frozenset[int]], bool] = {}
        self.empty_text = self._make("keys", frozenset({b""}))
        self.nothing = self._make("any", frozenset())
        self.any_bytes = self.complement(self.nothing)
        self.any_text = self.repetition(self.character(tree.ANY_CHAR.ranges), 0, None)

    # Construction: only rewritings that anyone can check, enough to keep the number of derivatives finite.

    def _make(self, kind: str, *parts: object) -> Residual:
        return self._residuals.setdefault((kind, parts), Residual(kind, parts))

    def keys(self, keys: frozenset[bytes]) -> Residual:
        return self._make("keys", keys) if keys else self.nothing

    def byte(self, ranges: Ranges) -> Residual:
        return self._make("byte", ranges) if ranges else self.nothing

    def character(self, ranges: Ranges) -> Residual:
        ranges = tree.char_class(list(ranges)).ranges
        return self._make("character", ranges) if ranges else self.nothing

    def continuation(self, count: int, ranges: Ranges) -> Residual:
        if not ranges:
            return self.nothing
        return self._make("continuation", count, ranges) if count else self.empty_text

    def sequence(self, a: Residual, b: Residual) -> Residual:
        if self.nothing in (a, b):
            return self.nothing
        if a is self.empty_text:
            return b
        if b is self.empty_text:
            return a
        if a.kind == "sequence":
            return self.sequence(a.parts[0], self.sequence(a.parts[1], b))
        return self._make("sequence", a, b)

    def alternation(self, *parts: Residual) -> Residual:
        flat = {r for part in parts for r in (part.parts[0] if part.kind == "any" else (part,))}
        if self.any_bytes in flat:
            return self.any_bytes
        return flat.pop() if len(flat) == 1 else self._make("any", frozenset(flat))

    def intersection(self, *parts: Residual) -> Residual:
        flat = {r for part in parts for r in (part.parts[0] if part.kind == "all" else (part,))}
        flat.discard(self.any_bytes)
        if self.nothing in flat:
            return self.nothing
        if not flat:
            return self.any_bytes
        return flat.pop() if len(flat) == 1 else self._make("all", frozenset(flat))

    def complement(self, a: Residual) -> Residual:
        """Every byte string that `a` does not match, UTF-8 or not."""
        return a.parts[0] if a.kind == "not" else self._make("not", a)

    def repetition(self, a: Residual, minimum: int, maximum: int | None) -> Residual:
        if maximum == 0 or a is self.empty_text:
            return self.empty_text
        if a is self.nothing:
            return self.empty_text if minimum == 0 else self.nothing
        if (minimum, maximum) == (1, 1):
            return a
        return self._make("repeat", a, 0 if self.nullable(a) else minimum, maximum)

    def lower(self, node: tree.RegexTree) -> Residual:
        """The residual of a regex tree before any byte."""
        match node:
            case tree.Literal(data):
                return self.keys(frozenset({data}))
            case tree.CharClass(ranges):
                return self.character(ranges)
            case tree.ByteClass(ranges):
                return self.byte(ranges)
            case tree.Concatenation(parts):
                result = self.empty_text
                for part in reversed(parts):
                    result = self.sequence(self.lower(part), result)
                return result
            case tree.Alternation(parts):
                return self.alternation(*map(self.lower, parts))
            case tree.Repetition(body, minimum, maximum):
                return self.repetition(self.lower(body), minimum, maximum)
            case tree.Intersection(parts):
                return self.intersection(*map(self.lower, parts)) if parts else self.any_text
            case tree.Complement(body):
                return self.intersection(self.any_text, self.complement(self.lower(body)))
            case tree.KeySet(keys):
                return self.keys(frozenset(keys))
            case tree.Divisible(modulus):
                return self._make("divisible", modulus, 0)
            case tree.Multiples():
                return self._make("multiples", node, "start", 0, 0, 0)
            case tree.Substring(chunks):
                places = range(len(chunks) + 1)
                return self.keys(frozenset(b"".join(chunks[a:b]) for a in places for b in places))
            case tree.JsonString(body, escapes):
                return self._make("json", self.lower(body), escapes)
        raise TypeError(node)

    # What is left after a byte.

    def derivative(self, a: Residual, byte: int) -> Residual:
        key = (a, byte)
        if key not in self._derivatives:
            self._derivatives[key] = getattr(self, f"_{a.kind}_derivative")(byte, *a.parts)
        return self._derivatives[key]

    def after(self, a: Residual, data: bytes) -> Residual:
        for byte in data:
            a = self.derivative(a, byte)
        return a

    def _keys_derivative(self, byte: int, keys: frozenset[bytes]) -> Residual:
        return self.keys(frozenset(key[1:] for key in keys if key[:1] == bytes([byte])))

    def _byte_derivative(self, byte: int, ranges: Ranges) -> Residual:
        return self.empty_text if _contains(ranges, byte) else self.nothing

    def _character_derivative(self, byte: int, ranges: Ranges) -> Residual:
        if byte < 0x80:
            return self.empty_text if _contains(ranges, byte) else self.nothing
        for low_lead, high_lead, count, shortest in _LEADS:
            if low_lead <= byte <= high_lead:
                not_overlong = _clip(ranges, shortest, tree.MAX_CODE_POINT)
                return self.continuation(count, _block(not_overlong, byte - low_lead, count))
        return self.nothing

    def _continuation_derivative(self, byte: int, count: int, ranges: Ranges) -> Residual:
        if not 0x80 <= byte <= 0xBF:
            return self.nothing
        return self.continuation(count - 1, _block(ranges, byte & 0x3F, count - 1))

    def _sequence_derivative(self, byte: int, head: Residual, rest: Residual) -> Residual:
        after_head = self.sequence(self.derivative(head, byte), rest)
        if not self.nullable(head):
            return after_head
        return self.alternation(after_head, self.derivative(rest, byte))

    def _any_derivative(self, byte: int, parts: frozenset[Residual]) -> Residual:
        return self.alternation(*(self.derivative(part, byte) for part in parts))

    def _all_derivative(self, byte: int, parts: frozenset[Residual]) -> Residual:
        return self.intersection(*(self.derivative(part, byte) for part in parts))

    def _not_derivative(self, byte: int, body: Residual) -> Residual:
        return self.complement(self.derivative(body, byte))

    def _repeat_derivative(self, byte: int, body: Residual, minimum: int, maximum: int | None) -> Residual:
        # If body matches the empty text then minimum is 0 here, and d(body) body{0,n-1} is still all there is.
        rest = self.repetition(body, max(minimum - 1, 0), None if maximum is None else maximum - 1)
        return self.sequence(self.derivative(body, byte), rest)

    def _divisible_derivative(self, byte: int, modulus: int, remainder: int) -> Residual:
        if byte == ord("."):
            return self._make("divisible", modulus, remainder)
        if not ord("0") <= byte <= ord("9"):
            return self.nothing
        return self._make("divisible", modulus, int(f"{remainder}{chr(byte)}") % modulus)

    def _multiples_derivative(
        self, byte: int, node: tree.Multiples, place: str, whole: int, written: int, remainder: int
    ) -> Residual:
        """place: "start", "zero", "whole", "fraction", or "finer" behind another digit than zero beyond all places."""
        if byte == ord("."):
            return (
                self._make("multiples", node, "fraction", 0, 0, remainder)
                if place in ("zero", "whole")
                else self.nothing
            )
        if not ord("0") <= byte <= ord("9") or place == "zero":
            return self.nothing
        modulus = math.lcm(*(step for case in node.cases for step in (case.step, *case.without)))
        longer = (remainder * 10 + byte - ord("0")) % modulus
        if place in ("start", "whole"):
            # Where nothing bounds the digits, how many there are does not matter.
            whole = 0 if node.most_digits is None else whole + 1
            if whole > (node.most_digits or 0):
                return self.nothing
            return self._make(
                "multiples", node, "zero" if (place, byte) == ("start", 48) else "whole", whole, 0, longer
            )
        if place == "fraction" and written < node.places:
            return self._make("multiples", node, "fraction", 0, written + 1, longer)
        if place == "fraction" and byte != ord("0"):
            place, remainder = "finer", 0
        bounds = [_most_places(node, case) for case in node.cases]
        most = max([node.places, *(bound for bound in bounds if bound is not None)])
        if written == most and None not in bounds:
            return self.nothing
        return self._make("multiples", node, place, 0, min(written, most) + 1, remainder)

    def _json_derivative(self, byte: int, body: Residual, escapes: str) -> Residual:
        return self._json_inside(body, escapes) if byte == _QUOTE else self.nothing

    def _json_inside_derivative(self, byte: int, body: Residual, escapes: str) -> Residual:
        if byte == _QUOTE:
            return self.empty_text if self.nullable(body) else self.nothing
        if byte == _BACKSLASH:
            return self._json_escape_derivative(byte, body, escapes, "")
        if byte < 0x20:
            return self.nothing
        rest = self.derivative(body, byte)
        if escapes == "yaml" and (byte == 0x7F or byte >= 0xC0):  # a character begins, which must stand for itself
            character = self.derivative(self.character(_YAML.ranges), byte)
            rest = self.intersection(rest, self.sequence(character, self.any_bytes))
        return self._json_inside(rest, escapes)

    def _json_escape_derivative(self, byte: int, body: Residual, escapes: str, prefix: str) -> Residual:
        spelling = prefix + chr(byte)
        for character in _meanings(spelling, escapes):
            return self._json_inside(self.after(body, character.encode()), escapes)
        return self._make("json_escape", body, escapes, spelling) if _escaped(spelling, escapes) else self.nothing

    def _json_inside(self, body: Residual, escapes: str) -> Residual:
        return self.nothing if body is self.nothing else self._make("json_inside", body, escapes)

    # Questions.

    def nullable(self, a: Residual) -> bool:
        """Whether the empty text matches."""
        if a not in self._nullable:
            self._nullable[a] = self._is_nullable(a)
        return self._nullable[a]

    def _is_nullable(self, a: Residual) -> bool:
        match a.kind, a.parts:
            case "keys", (keys,):
                return b"" in keys
            case "sequence", (head, rest):
                return self.nullable(head) and self.nullable(rest)
            case "any", (parts,):
                return any(map(self.nullable, parts))
            case "all", (parts,):
                return all(map(self.nullable, parts))
            case "not", (body,):
                return not self.nullable(body)
            case "repeat", (_, minimum, _):
                return bool(minimum == 0)
            case "divisible", (_, remainder):
                return bool(remainder == 0)
            case "multiples", (node, place, _, written, remainder):
                if place == "start" or (place, written) == ("fraction", 0):
                    return False
                units = remainder * 10 ** (node.places - min(written, node.places))
                return any(
                    (case.finer if place == "finer" else _is_multiple(units, case))
                    and written <= (written if (most := _most_places(node, case)) is None else most)
                    for case in node.cases
                )
        return False

    def is_empty(self, a: Residual, held: frozenset[int] = _ALL_BYTES) -> bool:
        """Whether no text matches that consists of these bytes. Raises `Undecided`."""
        if (a, held) not in self._empty:
            self._empty[a, held] = self._is_empty(a) or (held != _ALL_BYTES and self._search(a, held))
        return self._empty[a, held]

    def _is_empty(self, a: Residual) -> bool:
        match a.kind, a.parts:
            case "sequence", (head, rest):
                return self.is_empty(head) or self.is_empty(rest)
            case "any", (parts,):
                return all(map(self.is_empty, parts))
            case "repeat", (body, minimum, _):
                return minimum > 0 and self.is_empty(body)
            case (("json" | "json_inside"), (body, _)):
                return self.is_empty(body)  # each character has a spelling in every mode
            case "json_escape", (body, escapes, prefix):
                starts = self.sequence(self.character(_escaped(prefix, escapes)), self.any_bytes)
                return self.is_empty(self.intersection(body, starts))
            case (("all" | "not" | "multiples"), _):
                return self._search(a, self._alphabet)
        return False

    def _search(self, a: Residual, alphabet: Iterable[int]) -> bool:
        """Emptiness by looking at every residual that any bytes lead to."""
        seen, waiting = {a}, [a]
        while waiting:
            current = waiting.pop(0)
            if self.nullable(current):
                return False
            for byte in alphabet:
                after = self.derivative(current, byte)
                # Half an escape of a character that the text cannot have leads to thousands of others.
                is_idle = after.kind == "json_escape" and self.is_empty(after)
                if after not in seen and after is not self.nothing and not is_idle:
                    seen.add(after)
                    waiting.append(after)
            if len(seen) > self._search_limit:
                raise Undecided(a)
        return True


def _most_places(node: tree.Multiples, case: tree.MultiplesCase) -> int | None:
    return node.most_digits if case.most_places is None else case.most_places


def _is_multiple(units: int, case: tree.MultiplesCase) -> bool:
    return units % case.step == 0 and all(units % step for step in case.without)


def _contains(ranges: Ranges, value: int) -> bool:
    return any(low <= value <= high for low, high in ranges)


def _clip(ranges: Ranges, low: int, high: int) -> Ranges:
    return tuple((max(a, low), min(b, high)) for a, b in ranges if a <= high and b >= low)


def _block(ranges: Ranges, leading: int, count: int) -> Ranges:
    """The numbers whose bits above the last 6 * `count` are `leading`, without those bits."""
    size = 1 << (6 * count)
    return tuple(
        (a - leading * size, b - leading * size) for a, b in _clip(ranges, leading * size, (leading + 1) * size - 1)
    )


def _canonical_escapes() -> dict[str, str]:
    """RFC 8785: the short form where there is one, `\\u00xx` in lower case for other controls; `/` stays itself."""
    escapes = {spelling: c for spelling, c in _SHORT_ESCAPES.items() if c != "/"}
    for code in range(0x20):
        if chr(code) not in escapes.values():
            escapes[f"\\u{code:04x}"] = chr(code)
    return escapes


_CANONICAL_ESCAPES = _canonical_escapes()
_ASCII_ONLY_AS_ITSELF = tree.char_class([(c, c) for c in range(0x20, 0x7F) if chr(c) not in '"\\/'])

_YAML = tree.negated(tree.char_class([(0x7F, 0x9F), (0x2028, 0x2029), (0xFEFF, 0xFEFF), (0xFFFE, 0xFFFF)]))


@cache
def _meanings(spelling: str, escapes: str) -> list[str]:
    """The character that a whole escape denotes, if it is whole and allowed."""
    if escapes == "canonical":
        return [c for s, c in _CANONICAL_ESCAPES.items() if s == spelling]
    if spelling in _SHORT_ESCAPES:
        return [_SHORT_ESCAPES[spelling]]
    units = _hex_units(spelling)
    if units is None or any(len(unit) < 4 for unit in units):
        return []
    ranges = _escaped(spelling, escapes)
    if len(units) == 1 and 0xD800 <= int(units[0], 16) <= 0xDBFF:
        return []  # the second half is still to come
    return [chr(low) for low, _ in ranges]


@cache
def _escaped(prefix: str, escapes: str) -> Ranges:
    """The characters that some allowed escape starting with `prefix` denotes."""
    if escapes == "canonical":
        return tree.char_class([(ord(c), ord(c)) for s, c in _CANONICAL_ESCAPES.items() if s.startswith(prefix)]).ranges
    short = [(ord(c), ord(c)) for s, c in _SHORT_ESCAPES.items() if s.startswith(prefix)]
    ranges = tree.char_class(short + _hex_escaped(prefix)).ranges
    if escapes == "yaml":
        ranges = _clip(ranges, 0, 0xFFFF)
    if escapes == "literal":
        forbidden = {c for low, high in _ASCII_ONLY_AS_ITSELF.ranges for c in range(low, high + 1)}
        ranges = tuple(r for low, high in ranges for r in _without(low, high, forbidden))
    return ranges


def _without(low: int, high: int, forbidden: set[int]) -> list[tuple[int, int]]:
    if low > 0x7F:
        return [(low, high)]
    kept = [(c, c) for c in range(low, min(high, 0x7F) + 1) if c not in forbidden]
    return list(tree.char_class([*kept, (0x80, high)] if high > 0x7F else kept).ranges)


def _hex_units(spelling: str) -> list[str] | None:
    """The digits of `\\uXXXX` or `\\uXXXX\\uXXXX` as far as they are there; None if `spelling` starts neither."""
    units = []
    while spelling:
        digits = spelling[2:6]
        if not "\\u".startswith(spelling[:2]) or any(d not in "0123456789abcdefABCDEF" for d in digits):
            return None
        units.append(digits)
        spelling = spelling[6:]
    return units if len(units) <= 2 else None


def _hex_escaped(prefix: str) -> list[tuple[int, int]]:
    units = _hex_units(prefix)
    if not units:
        return []
    low, high = _unit_range(units[0])
    ranges = [(low, high)] if len(units) == 1 else []  # surrogates in it are dropped by char_class
    second = units[1] if len(units) == 2 else ""
    low2, high2 = _unit_range(second)
    low2, high2 = max(low2, 0xDC00), min(high2, 0xDFFF)
    if low2 <= high2:
        for first in range(max(low, 0xD800), min(high, 0xDBFF) + 1):
            base = 0x10000 + (first - 0xD800) * 0x400 - 0xDC00
            ranges.append((base + low2, base + high2))
    return ranges


def _unit_range(digits: str) -> tuple[int, int]:
    """The four-digit hexadecimal numbers that start with `digits`."""
    return int(digits.ljust(4, "0"), 16), int(digits.ljust(4, "f"), 16)
