"""Random schemas, each with a text of its language; any number of them, nearly all different."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from library.cases import Case, Instance

Pair = tuple[dict[str, Any], Any]


def variation(number: int) -> Case:
    """The same case for the same number, on every machine."""
    rng = random.Random(number)
    schema, value = _object(rng, depth=2)
    source, text = (json.dumps(part, separators=(",", ":")) for part in (schema, value))
    return Case(f"variation {number}", "json_schema", source, (Instance(text, valid=True),))


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


def _word(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 10)))
