"""Which values of the documents of a schema are equal."""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction

from cfgmask.json_schema.values import JsonValue, number_key


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
        outer: list[dict[str, JsonValue] | list[JsonValue]] = []
        todo = [document]
        while todo:
            value = todo.pop()
            if isinstance(value, dict):
                outer.append(value)
                todo.extend(value.values())
            elif isinstance(value, list):
                outer.append(value)
                todo.extend(value)
            elif isinstance(value, (int, Fraction)) and not isinstance(value, bool):
                self._enter(value, number_key(value))
            else:
                self._enter(value, value)
        # What is inside of a value was found after it.
        for value in reversed(outer):
            if isinstance(value, dict):
                self._enter(value, (*value, *map(self.number, value.values())))
            else:
                self._enter(value, tuple(map(self.number, value)))

    def _enter(self, value: JsonValue, parts: Hashable) -> None:
        # Equal numbers have equal types, and `True` is another value than 1.
        self._numbers[id(value)] = self._known.setdefault((type(value), parts), len(self._known))

    def number(self, value: JsonValue) -> int:
        """The number of a value inside of a document that was added."""
        return self._numbers[id(value)]
