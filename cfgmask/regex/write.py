"""Regex trees to pattern text, in the syntax of Python's `re`."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    MAX_CODE_POINT,
    Alternation,
    CharClass,
    Concatenation,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
    negated,
)
from cfgmask.limits import Limits
from cfgmask.regex.trees import fold_tree

_NAMED_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\v": "\\v"}
# `/` ends a pattern in Lark; of the others in classes some are operators when they come twice.
_SPECIAL = frozenset("\\.^$*+?{}[]()|/")
_SPECIAL_IN_CLASS = frozenset("\\^[]-/&~|")


class NotWritable(Exception):
    """A tree that no pattern describes: a set of JSON strings, say."""


class Binding(IntEnum):
    """How tightly the parts of an expression hold together."""

    CHOICE = 0
    SEQUENCE = 1
    ATOM = 2


class Written(NamedTuple):
    """A piece of text and how tightly it holds together."""

    text: str
    binding: Binding = Binding.ATOM

    def within(self, binding: Binding, opening: str = "(") -> str:
        """The text as a part of one that binds so."""
        return self.text if self.binding >= binding else f"{opening}{self.text})"


def write_regex(tree: RegexTree, limits: Limits) -> str:
    """A pattern that matches what the tree does, for the dialect `python`; slashes in it are escaped.

    Raises NotWritable; LimitExceeded (max_source_bytes), since trees may share parts and patterns cannot.
    """

    def combine(part: RegexTree, below: list[Written]) -> Written:
        written = _combine(part, below)
        if len(written.text) > limits.max_source_bytes:
            raise LimitExceeded("max_source_bytes", limits.max_source_bytes, "a regex that is written out")
        return written

    return fold_tree(tree, {}, combine).text


def shown(character: str) -> str:
    """The character, or an escape with its number for one that is hard to see or to tell from others."""
    if character.isalnum() or (character.isascii() and character.isprintable()):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped(character: str, special: frozenset[str] = _SPECIAL) -> str:
    if character in _NAMED_ESCAPES:
        return _NAMED_ESCAPES[character]
    return f"\\{character}" if character in special else shown(character)


def _combine(tree: RegexTree, below: list[Written]) -> Written:
    if isinstance(tree, Literal):
        return _literal(tree.data)
    if isinstance(tree, CharClass):
        return Written(_class(tree), Binding.ATOM)
    if isinstance(tree, Concatenation):
        return Written("".join(part.within(Binding.SEQUENCE, "(?:") for part in below), Binding.SEQUENCE)
    if isinstance(tree, Alternation) and below:
        return Written("|".join(part.text for part in below), Binding.CHOICE)
    if isinstance(tree, Repetition):
        count = write_count(tree.minimum, tree.maximum)
        return Written(below[0].within(Binding.ATOM, "(?:") + count, Binding.SEQUENCE)
    if isinstance(tree, KeySet):
        return Written("|".join(_literal(key).text for key in tree.keys), Binding.CHOICE)
    raise NotWritable(type(tree).__name__)


def _literal(data: bytes) -> Written:
    text = data.decode()
    return Written("".join(map(_escaped, text)), Binding.ATOM if len(text) == 1 else Binding.SEQUENCE)


def write_count(minimum: int, maximum: int | None) -> str:
    """`?`, `*`, `+` or a count in braces."""
    for bounds, operator in (((0, 1), "?"), ((0, None), "*"), ((1, None), "+")):
        if (minimum, maximum) == bounds:
            return operator
    if minimum == maximum:
        return f"{{{minimum}}}"
    return f"{{{minimum},{'' if maximum is None else maximum}}}"


def _class(members: CharClass) -> str:
    if members == ANY_CHAR:
        return "(?s:.)"
    if not members.ranges:
        raise NotWritable("an empty class")
    # What goes on to the end of Unicode is mostly everything but a few characters.
    is_negated = members.ranges[-1][1] == MAX_CODE_POINT and bool(negated(members).ranges)
    shown = negated(members) if is_negated else members
    ranges = "".join(_range(low, high) for low, high in shown.ranges)
    return f"[{'^' if is_negated else ''}{ranges}]"


def _range(low: int, high: int) -> str:
    first, last = (_escaped(chr(code), _SPECIAL_IN_CLASS) for code in (low, high))
    if high - low < 2:
        return first if low == high else first + last
    return f"{first}-{last}"
