"""The fields of a JSON object, read one by one, with everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeGuard, TypeVar

from cfgmask.json_schema.values import JsonValue, escape
from cfgmask.suggest import did_you_mean
from cfgmask.tags.problems import TagProblems

T = TypeVar("T")

_MOST = 2**31 - 1


class Fields:
    """The members of one object.

    at    its JSON Pointer
    kind  what messages call it
    """

    def __init__(self, value: dict[str, JsonValue], at: str, kind: str, problems: TagProblems) -> None:
        self.at = at
        self._value = value
        self._kind = kind
        self._problems = problems

    def check_names(self, known: Collection[str], required: Collection[str]) -> None:
        """Report fields that are unknown or missing."""
        for name in self._value:
            if name not in known:
                help = did_you_mean(name, known) or "known are " + ", ".join(known)
                self._problems.error("tag-unknown-field", f'{self._kind} has no field "{name}"', self.place(name), help)
        for name in required:
            if name not in self._value:
                self._problems.error("tag-missing-field", f'{self._kind} needs the field "{name}"', self.at)

    def place(self, name: str) -> str:
        """The JSON Pointer of a field."""
        return f"{self.at}/{escape(name)}"

    def __contains__(self, name: str) -> bool:
        return name in self._value

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self._value.get(name) is not None

    def value(self, name: str) -> JsonValue:
        """The value of a field; None if it is missing."""
        return self._value.get(name)

    def flag(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        return self._read(name, "true or false", lambda v: v if isinstance(v, bool) else None, default)

    def text(self, name: str, default: str = "") -> str:
        """A text."""
        return self._read(name, "a string", lambda v: v if isinstance(v, str) else None, default)

    def non_empty(self, name: str) -> str:
        """A text that is not empty."""
        return self._read(name, "a string that is not empty", lambda v: v if isinstance(v, str) and v else None, "")

    def count(self, name: str, least: int = 0) -> int | None:
        """A whole number, at least `least`; None if it is missing or null."""
        if not self.has(name):
            return None
        shown = f"a whole number from {least} to {_MOST}"
        return self._read(name, shown, lambda v: v if _is_int(v) and least <= v <= _MOST else None, None)

    def texts(self, name: str, *, at_least_one: bool = False) -> tuple[str, ...]:
        """A list of texts that are not empty."""

        def read(value: JsonValue, _: str) -> str | None:
            return value if isinstance(value, str) and value else None

        return self.each(name, "a string that is not empty", read, at_least_one=at_least_one)

    def tokens(self, name: str, *, at_least_one: bool = False) -> tuple[int | str, ...]:
        """A list of tokens."""

        def read(value: JsonValue, _: str) -> int | str | None:
            return token(value)

        return self.each(name, TOKEN, read, at_least_one=at_least_one)

    def each(
        self, name: str, needs: str, read: Callable[[JsonValue, str], T | None], *, at_least_one: bool = False
    ) -> tuple[T, ...]:
        """A list. `read` is called with each element and its place, and returns None for one that is an error.

        needs  what messages say that an element must be
        """
        if name not in self._value:
            return ()
        values = self._value[name]
        if not isinstance(values, list) or (at_least_one and not values):
            shown = "a list with one element at least" if at_least_one else "a list"
            self._problems.error("tag-bad-field", f'"{name}" must be {shown}', self.place(name))
            return ()
        found: list[T] = []
        for i, value in enumerate(values):
            place = f"{self.place(name)}/{i}"
            element = read(value, place)
            if element is None:
                self._problems.error("tag-bad-field", f'each element of "{name}" must be {needs}', place)
            else:
                found.append(element)
        return tuple(found)

    def _read(self, name: str, needs: str, read: Callable[[JsonValue], T | None], default: T) -> T:
        if name not in self._value:
            return default
        found = read(self._value[name])
        if found is None:
            self._problems.error("tag-bad-field", f'"{name}" must be {needs}', self.place(name))
            return default
        return found


TOKEN = "the id of a token or its text"


def token(value: Any) -> int | str | None:
    """A token as it is written in a structural tag; None for anything else."""
    if _is_int(value):
        return int(value) if 0 <= value <= _MOST else None
    return value if isinstance(value, str) and value else None


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
