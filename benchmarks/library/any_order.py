"""Whether a grammar accepts a JSON value in any order of the keys of its objects.

cfgmask writes the properties of an object in the order of the schema. A valid instance whose keys come in another order
is refused for its order alone; this tells such instances from those that are refused wrongly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import cfgmask

# How many partly written texts are looked at before a value counts as refused.
MAX_STEPS = 200_000


class Undecided(Exception):
    """The search was given up."""


def accepts_in_some_order(compiled: cfgmask.CompiledGrammar, value: Any) -> bool:
    """Try orders depth first. Raises Undecided after `MAX_STEPS` steps.

    First, a key after which all others can still come is taken without looking back; that may miss an order where an
    object has several alternatives that want different orders, so then all orders are tried.
    """
    return any(
        matcher.is_accepting for hasty in (True, False) for matcher in _Search(hasty).written(compiled.matcher(), value)
    )


def _key(name: str) -> bytes:
    return json.dumps(name).encode() + b":"


class _Search:
    def __init__(self, hasty: bool) -> None:
        self._hasty = hasty
        self._steps = 0

    def written(self, matcher: cfgmask.Matcher, value: Any) -> Iterator[cfgmask.Matcher]:
        """The matcher after the value, once for each way to write it."""
        if isinstance(value, dict) and value:
            for opened in self._after(matcher, b"{"):
                yield from self._members(opened, value, b"")
        elif isinstance(value, list) and value:
            for opened in self._after(matcher, b"["):
                yield from self._items(opened, value, 0)
        else:
            yield from self._after(matcher, json.dumps(value).encode())

    def _members(self, matcher: cfgmask.Matcher, rest: dict[str, Any], comma: bytes) -> Iterator[cfgmask.Matcher]:
        if not rest:
            yield from self._after(matcher, b"}")
        found: list[tuple[int, cfgmask.Matcher, dict[str, Any]]] = []
        for key, value in rest.items():
            others = {other: rest[other] for other in rest if other != key}
            for keyed in self._after(matcher, comma + _key(key)):
                for written in self.written(keyed, value):
                    possible = sum(any(self._after(written, b"," + _key(other))) for other in others)
                    if self._hasty and possible == len(others):
                        # Nothing is lost by taking this key now, so the other orders need not be tried.
                        yield from self._members(written, others, b",")
                        return
                    found.append((possible, written, others))
        for _possible, written, others in sorted(found, key=lambda entry: -entry[0]):
            yield from self._members(written, others, b",")

    def _items(self, matcher: cfgmask.Matcher, items: list[Any], index: int) -> Iterator[cfgmask.Matcher]:
        if index == len(items):
            yield from self._after(matcher, b"]")
        else:
            for begun in self._after(matcher, b"," if index else b""):
                for written in self.written(begun, items[index]):
                    yield from self._items(written, items, index + 1)

    def _after(self, matcher: cfgmask.Matcher, text: bytes) -> Iterator[cfgmask.Matcher]:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Undecided
        fork = matcher.fork()
        if fork.advance_bytes(text) == len(text):
            yield fork
