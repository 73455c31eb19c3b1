"""Schemas whose texts write values of their own, of which no grammar has seen any before."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any


@dataclass(frozen=True)
class ServedSchema:
    """A schema, the options that it is read with, and how to make a valid value of it."""

    name: str
    schema: dict[str, Any]
    value: Callable[[random.Random], Any]
    options: dict[str, Any] = field(default_factory=dict)

    def texts(self, first: int, last: int) -> Iterator[str]:
        """The texts with these numbers, the same ones each time."""
        for number in range(first, last):
            yield json.dumps(self.value(random.Random(number)))


def _word(rng: random.Random) -> str:
    return "".join(rng.choices(ascii_lowercase, k=rng.randint(3, 9)))


def _words(rng: random.Random) -> list[str]:
    return list({_word(rng): None for _ in range(10)})


def _no_two_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True}


_INTEGERS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
_PAIR = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["name", "count"],
    "additionalProperties": False,
}

KINDS = [
    ServedSchema("strings", {"type": "array", "items": {"type": "string"}}, _words),
    ServedSchema("keys", _INTEGERS, lambda rng: dict.fromkeys(_words(rng), 1)),
    ServedSchema(
        "keys in any order",
        {**_INTEGERS, "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        lambda rng: {**dict.fromkeys(_words(rng), 1), "id": 7},
        {"property_order": "any"},
    ),
    ServedSchema("strings, no two equal", _no_two_of({"type": "string"}), _words),
    ServedSchema("strings of at most 50, no two equal", _no_two_of({"type": "string", "maxLength": 50}), _words),
    ServedSchema(
        "integers, no two equal", _no_two_of({"type": "integer"}), lambda rng: rng.sample(range(100_000), k=10)
    ),
    ServedSchema(
        "objects, no two equal",
        _no_two_of(_PAIR),
        lambda rng: [{"name": word, "count": rng.randrange(1_000)} for word in _words(rng)],
    ),
]
