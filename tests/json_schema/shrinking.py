"""Smaller JSON values with the same property."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def smallest(value: Any, has_property: Callable[[Any], bool], n_tries: int) -> Any:
    """The value, or one as small as some tries find from which nothing can be taken without losing the property."""
    found = True
    while found and n_tries > 0:
        found = False
        for candidate in _smaller(value):
            n_tries -= 1
            if n_tries <= 0:
                break
            if has_property(candidate):
                value, found = candidate, True
                break
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Values with one thing less, the greatest steps first."""
    if isinstance(value, (dict, list)):
        inside = list(value.values()) if isinstance(value, dict) else value
        yield from (part for part in inside if isinstance(part, (dict, list)))
    if isinstance(value, dict):
        for key in value:
            yield {other: held for other, held in value.items() if other != key}
        for key, held in value.items():
            yield from ({**value, key: smaller} for smaller in _smaller(held))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i, held in enumerate(value):
            yield from ([*value[:i], smaller, *value[i + 1 :]] for smaller in _smaller(held))
    elif isinstance(value, str):
        yield from (value[:i] + value[i + 1 :] for i in range(len(value)) if len(value) < 30)
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value not in (0, 1):
        yield from (smaller for smaller in (0, 1, value // 2) if smaller != value)
