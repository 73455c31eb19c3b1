"""Which values of the documents of a schema are equal."""

from __future__ import annotations

from collections.abc import Hashable

from cfgmask.json_schema.values import JsonValue, kind


class Contents:
    """Numbers for the values inside of documents, which equal values share.

    Objects with the same members in another order are different: the order of properties is that of their schema.
    Values are known by their identity, so the documents must live as long as this.
    """

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._known: dict[Hashable, int] = {}

    def add(self, document: JsonValue) -> None:
        """Number all values inside of a document. Linear."""
        todo: list[tuple[JsonValue, bool]] = [(document, False)]
        while todo:
            value, entered = todo.pop()
            parts: Hashable
            if isinstance(value, (dict, list)) and not entered:
                todo.append((value, True))
                todo.extend((child, False) for child in (value.values() if isinstance(value, dict) else value))
                continue
            if isinstance(value, dict):
                parts = tuple((key, self.number(child)) for key, child in value.items())
            elif isinstance(value, list):
                parts = tuple(map(self.number, value))
            else:
                parts = value
            self._numbers[id(value)] = self._known.setdefault((kind(value), parts), len(self._known))

    def number(self, value: JsonValue) -> int:
        """The number of a value inside of a document that was added."""
        return self._numbers[id(value)]
