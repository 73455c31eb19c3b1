"""What can be written where texts lack some bytes or escapes, as the core is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias

from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import ANY_CHAR, ByteClass, Intersection, JsonString, RegexTree, Repetition, text
from cfgmask.json_schema import decide, lexemes, yaml_scalars
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.spelling import escapes_of, marks, string
from cfgmask.json_schema.writable import characters, runs

# What ends a text in the pattern of each dialect.
_END = {"ecma": "$", "python": r"\Z", "rust": r"\z"}


Written: TypeAlias = tuple[
    bytes, int | None, bool, bool, tuple[bool, int | None], tuple[bool, int | None], str, Callable[[str, bool], bool]
]
"""The arguments of `_core.Writable`."""


def written(held: bytes | None, options: JsonSchemaOptions) -> Written:
    """Which values are written in certain bytes, and with the escapes that the options allow.

    held  ascending; None: all bytes
    """
    spelled = _Spelled(bytes(range(256)) if held is None else held, options)
    return (
        spelled.held,
        options.max_digits,
        options.numbers == "plain",
        not spelled.is_json or spelled.has('"'),
        spelled.most(lexemes.OPEN_ARRAY),
        spelled.most(lexemes.OPEN_OBJECT),
        spelled.strings(),
        spelled.is_written,
    )


def other_bytes(held: bytes) -> Terminal:
    """What stands for values of which none can be written: a byte that is not held."""
    return Terminal("other bytes", ByteClass(tuple((b, b) for b in range(256) if b not in held)))


class _Spelled:
    def __init__(self, held: bytes, options: JsonSchemaOptions) -> None:
        self.held = held
        self.is_json = options.syntax == "json"
        self._held = frozenset(held)
        self._options = options
        self._texts = Repetition(ByteClass(tuple(runs(sorted(held)))), 0, None)

    def has(self, written: str) -> bool:
        return self._held.issuperset(written.encode())

    def _may_write(self, regex: RegexTree) -> bool:
        return not decide.is_empty(Intersection((regex, self._texts)))

    def most(self, opening: Terminal) -> tuple[bool, int | None]:
        """Whether there are arrays or objects, and how many items or keys one may have; None: any number."""
        if not self.is_json:
            return True, None
        is_array = opening is lexemes.OPEN_ARRAY
        changed = marks(self._options)
        closing = lexemes.CLOSE_EMPTY_ARRAY if is_array else lexemes.CLOSE_EMPTY_OBJECT
        if not all(self._may_write(changed.get(mark, mark.regex)) for mark in (opening, closing)):
            return False, None
        indent = self._options.indent
        if indent is not None and not self.has("\n " if indent else "\n"):
            return True, 0
        if not is_array and not (self.has('"') and self._may_write(changed.get(lexemes.COLON, lexemes.COLON.regex))):
            return True, 0
        return True, None if self._may_write(changed.get(lexemes.COMMA, lexemes.COMMA.regex)) else 1

    def strings(self) -> str:
        """The strings that can be written, as a schema; empty: all."""
        is_canonical = self._options.escapes == "canonical"
        allowed = escapes_of(self._options)
        found = characters(self.held, canonical=is_canonical, pairs=self.is_json, allowed=allowed)
        if found == ANY_CHAR:
            return ""
        listed = "".join(f"{_character(low)}-{_character(high)}" for low, high in found.ranges)
        pattern = f"^[{listed}]*{_END[self._options.pattern_dialect]}" if listed else f"^{_END['ecma']}"
        return f'{{"type":"string","pattern":{json.dumps(pattern)}}}'

    def is_written(self, value: str, is_name: bool) -> bool:
        """Whether a string that the schema lists, or the name of a member, can be written."""
        if self.is_json:
            is_canonical = self._options.escapes == "canonical"
            listed = JsonString(text(value), "canonical" if is_canonical else "literal")
            return self._may_write(string(listed, self._options))
        if not is_name:
            return self._may_write(yaml_scalars.string(JsonString(text(value), "literal")))
        try:
            return self._may_write(yaml_scalars.key(JsonString(text(value))))
        except GrammarError:
            # It is told of with its place.
            return True


def _character(code: int) -> str:
    """A character in the class of a pattern of any dialect."""
    shown = chr(code)
    return f"\\{shown}" if shown in "\\]^-[&~|" else shown
