"""Random schemas with a text each, nearly all different; and schemas any number of whose texts have random values."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any

from library.cases import Case, schema_case

Pair = tuple[dict[str, Any], Any]


def variation(number: int) -> Case:
    """The same case for the same number, on every machine."""
    rng = random.Random(number)
    schema, value = _object(rng, depth=2)
    return schema_case(f"variation {number}", schema, value)


def _object(rng: random.Random, depth: int) -> Pair:
    members = {_word(rng): _value(rng, depth - 1) for _ in range(rng.randint(2, 6))}
    schemas = {name: schema for name, (schema, _) in members.items()}
    schema = {
        "type": "object",
        "properties": schemas,
        "required": rng.sample(sorted(schemas), rng.randint(0, len(schemas))),
        "additionalProperties": rng.random() < 0.3,
    }
    return schema, {name: value for name, (_, value) in members.items()}


def _array(rng: random.Random, depth: int) -> Pair:
    schema, value = _value(rng, depth - 1)
    n = rng.randint(1, 4)
    return {"type": "array", "items": schema, "minItems": rng.randint(0, n), "maxItems": n + rng.randint(0, 9)}, [
        value
    ] * n


def _string(rng: random.Random, depth: int) -> Pair:
    text = _word(rng)
    return {"type": "string", "maxLength": len(text) + rng.randint(0, 200)}, text


def _pattern(rng: random.Random, depth: int) -> Pair:
    prefix, n = _word(rng), rng.randint(1, 9)
    return {"type": "string", "pattern": f"^{prefix}-[0-9]{{{n}}}$"}, f"{prefix}-{rng.randrange(10**n):0{n}}"


def _choice(rng: random.Random, depth: int) -> Pair:
    choices = [_word(rng) for _ in range(rng.randint(2, 30))]
    return {"enum": choices}, rng.choice(choices)


def _integer(rng: random.Random, depth: int) -> Pair:
    low = rng.randint(-1_000, 1_000)
    high = low + rng.randint(0, 100_000)
    return {"type": "integer", "minimum": low, "maximum": high}, rng.randint(low, high)


def _boolean(rng: random.Random, depth: int) -> Pair:
    return {"type": "boolean"}, rng.random() < 0.5


_FLAT: tuple[Callable[[random.Random, int], Pair], ...] = (_string, _pattern, _choice, _integer, _boolean)


def _value(rng: random.Random, depth: int) -> Pair:
    return rng.choice((*_FLAT, _object, _array) if depth > 0 else _FLAT)(rng, depth)


def _word(rng: random.Random, shortest: int = 2, longest: int = 10) -> str:
    return "".join(rng.choices(ascii_lowercase, k=rng.randint(shortest, longest)))


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


def _words(rng: random.Random) -> list[str]:
    return list({_word(rng, 3, 9): None for _ in range(10)})


def _no_two_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items, "uniqueItems": True}


_INTEGERS: dict[str, Any] = {"type": "object", "additionalProperties": {"type": "integer"}}
_PAIR = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["name", "count"],
    "additionalProperties": False,
}

SERVED = [
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
