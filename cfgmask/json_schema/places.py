"""Where the parts of a JSON text stand: JSON Pointer to span, for diagnostics.

The text is read by `json`, which keeps no places. They are looked up in a second pass, only once something is wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from cfgmask.diagnostics import Diagnostic, Related, Source, Span

# Diagnostics about a key rather than its value.
_OF_KEYS = frozenset(["schema-misspelt-keyword", "schema-unknown-keyword"])

_LEXEME = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')

# One character of a string, as it is spelled between the quotes.
_CHARACTER = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]")


@dataclass
class _Open:
    """An array or object that the scan is inside of."""

    pointer: str
    start: int
    is_array: bool
    index: int = 0
    key: str | None = None
    child: str | None = None  # the pointer of the member with the key


class Places:
    """The spans of one JSON text. The text must be valid JSON for `attach` and `duplicate_keys`."""

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        self._span = span
        self._spans: dict[str, tuple[int, int]] | None = None
        self._keys: dict[str, tuple[int, int]] = {}
        self._last_string: tuple[tuple[int, int], tuple[str, list[int]]] = (0, 0), ("", [])
        self._repeated: list[tuple[str, str, tuple[int, int], tuple[int, int]]] = []

    def between(self, start: int, end: int) -> Span:
        """The span of characters `start` to `end` of the text."""
        return self._span.within(start, end)

    def attach(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The diagnostics, each with the span of its pointer, or its span in the text of a string moved to that string.

        Those with a span in this text keep it. Linear in the text.
        """
        return [replace(d, span=self._of(d)) for d in diagnostics]

    def duplicate_keys(self) -> list[Diagnostic]:
        """An error for every key that an object has twice: what the first one says would be lost."""
        self._index()
        return [
            Diagnostic(
                "schema-duplicate-key",
                f"the key {json.dumps(key)} is given twice in one object",
                self.between(*second),
                pointer,
                related=(Related(self.between(*first), "first given here"),),
                help="remove one of them",
            )
            for pointer, key, first, second in self._repeated
        ]

    def _of(self, diagnostic: Diagnostic) -> Span | None:
        if diagnostic.span is None:
            if diagnostic.code in _OF_KEYS and (key := self._key(diagnostic.pointer)) is not None:
                return key
            return self._find(diagnostic.pointer)
        if diagnostic.span.source is self._span.source:
            return diagnostic.span
        return self._in_string(diagnostic.span, diagnostic.pointer or "") or self._find(diagnostic.pointer)

    def _in_string(self, part: Span, pointer: str) -> Span | None:
        """Where a part of a string stands that is the value at a place, or else the key of that value."""
        for place in (self._index().get(pointer), self._keys.get(pointer)):
            if place is None or self._text[place[0]] != '"':
                continue
            text, starts = self._characters(place)
            if text == part.source.text:
                return self.between(starts[part.start], starts[part.end])
        return None

    def _characters(self, place: tuple[int, int]) -> tuple[str, list[int]]:
        """The text of the string at a place, and where each of its characters and its end are spelled."""
        # A long pattern may have many problems, one after the other.
        if self._last_string[0] != place:
            spelled = self._text[slice(*place)]
            starts = [place[0] + match.start() for match in _CHARACTER.finditer(spelled, 1, len(spelled) - 1)]
            self._last_string = place, (json.loads(spelled), [*starts, place[1] - 1])
        return self._last_string[1]

    def _key(self, pointer: str | None) -> Span | None:
        self._index()
        return None if pointer not in self._keys or pointer is None else self.between(*self._keys[pointer])

    def _find(self, pointer: str | None) -> Span | None:
        if pointer is None:
            return None
        spans = self._index()
        return self.between(*spans[pointer]) if pointer in spans else None

    def _index(self) -> dict[str, tuple[int, int]]:
        if self._spans is None:
            self._spans = self._scan()
        return self._spans

    def _scan(self) -> dict[str, tuple[int, int]]:
        spans: dict[str, tuple[int, int]] = {}
        keys = self._keys
        stack: list[_Open] = []
        top: _Open | None = None
        for match in _LEXEME.finditer(self._text):
            lexeme = match[0]
            if lexeme == ":":
                continue
            if lexeme == ",":
                assert top is not None
                top.index, top.key, top.child = top.index + 1, None, None
            elif lexeme in "{[":
                top = _Open(_child(top), match.start(), lexeme == "[")
                stack.append(top)
            elif lexeme in "}]":
                closed = stack.pop()
                top = stack[-1] if stack else None
                # A bracket alone is enough to point at a value of many lines.
                spans[closed.pointer] = (closed.start, closed.start + 1)
            elif top is not None and not top.is_array and top.key is None:
                top.key = json.loads(lexeme) if "\\" in lexeme else lexeme[1:-1]
                pointer = _child(top)
                if pointer in keys:
                    self._repeated.append((pointer, str(top.key), keys[pointer], match.span()))
                keys[pointer] = match.span()
            else:
                spans[_child(top)] = match.span()
        return spans


def named_by_pointer(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The diagnostics of a schema without a text: spans in the text of a string name that text by its JSON Pointer."""
    return [d if d.span is None else replace(d, span=_renamed(d.span, f"#{d.pointer}")) for d in diagnostics]


def _renamed(span: Span, name: str) -> Span:
    return span._replace(source=Source(name, span.source.text))


def _child(parent: _Open | None) -> str:
    """The pointer of the value that comes next inside `parent`."""
    if parent is None:
        return ""
    if parent.is_array:
        return f"{parent.pointer}/{parent.index}"
    if parent.child is None:
        assert parent.key is not None
        parent.child = f"{parent.pointer}/{parent.key.replace('~', '~0').replace('/', '~1')}"
    return parent.child
