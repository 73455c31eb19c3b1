"""Random values that have a chance of satisfying a schema, and of just missing it."""

from __future__ import annotations

import random
import re
from typing import Any

from tests.json_schema.paired_keywords import NAMES, NUMBERS, SCALARS, TEXTS, TYPES

_MAX_DEPTH = 5


def likely_value(schema: Any, rng: random.Random) -> Any:
    """Mostly what the schema asks for, as far as it is plain, here and there something else."""
    return _Values(schema, rng).value(schema, 0)


class _Values:
    def __init__(self, root: Any, rng: random.Random) -> None:
        self._root = root
        self._rng = rng

    def value(self, schema: Any, depth: int) -> Any:
        rng = self._rng
        if not isinstance(schema, dict) or depth > _MAX_DEPTH or rng.random() < 0.07:
            return self._any(depth)
        schema = self._flat(schema, 0)
        if "const" in schema and rng.random() < 0.9:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"] and rng.random() < 0.9:
            return rng.choice(schema["enum"])
        return self._of_type(self._type(schema), schema, depth)

    def _flat(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        """The schema with what some of the schemas for the same value say."""
        found = dict(schema)
        rng = self._rng
        if depth > 4:
            return found
        target = found.pop("$ref", None)
        parts = [self._root.get("$defs", {}).get("d", {})] if target == "#/$defs/d" else [self._root] if target else []
        parts += found.pop("allOf", [])
        for key in ("anyOf", "oneOf"):
            if found.get(key):
                parts.append(rng.choice(found.pop(key)))
        parts += [found[key] for key in ("if", "then", "else") if key in found and rng.random() < 0.5]
        parts += [part for part in found.get("dependentSchemas", {}).values() if rng.random() < 0.5]
        for part in parts:
            if isinstance(part, dict):
                for key, held in self._flat(part, depth + 1).items():
                    self._add(found, key, held)
        return found

    def _add(self, found: dict[str, Any], key: str, held: Any) -> None:
        if key in ("properties", "patternProperties") and key in found:
            found[key] = {**held, **found[key]}
        elif key == "required" and key in found and isinstance(held, list) and isinstance(found[key], list):
            found[key] = [*found[key], *held]
        elif key in ("minItems", "minProperties", "minLength", "minimum") and key in found:
            found[key] = max(found[key], held)
        elif key in ("maxItems", "maxProperties", "maxLength", "maximum") and key in found:
            found[key] = min(found[key], held)
        elif key not in found or self._rng.random() < 0.5:
            found[key] = held

    def _type(self, schema: dict[str, Any]) -> str:
        rng = self._rng
        allowed = schema.get("type")
        if isinstance(allowed, list) and allowed:
            return str(rng.choice(allowed))
        if isinstance(allowed, str):
            return allowed
        hints = {"Items": "array", "ontains": "array", "items": "array", "ropert": "object", "required": "object"}
        hints |= {"Length": "string", "pattern": "string", "imum": "number", "multipleOf": "number"}
        found = [kind for hint, kind in hints.items() for key in schema if hint in key]
        return rng.choice(found) if found and rng.random() < 0.85 else rng.choice(TYPES)

    def _of_type(self, kind: str, schema: dict[str, Any], depth: int) -> Any:
        if kind == "array":
            return self._array(schema, depth)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "string":
            return self._string(schema)
        if kind in ("number", "integer"):
            return self._number(schema, kind)
        return self._rng.choice([True, False]) if kind == "boolean" else None

    def _length(self, least: Any, most: Any) -> int:
        rng = self._rng
        low = min(int(least), 6) if isinstance(least, int) else 0
        high = min(int(most), 6) if isinstance(most, int) else max(low, 3)
        return max(0, rng.choice([low, low, high, rng.randint(min(low, high), max(low, high)), high + 1, low - 1]))

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        rng = self._rng
        prefix, further = schema.get("prefixItems", []), schema.get("items", {})
        if isinstance(further, list):
            prefix, further = further, schema.get("additionalItems", {})
        length = self._length(schema.get("minItems", schema.get("minContains")), schema.get("maxItems"))
        if prefix and rng.random() < 0.6:
            length = max(length, len(prefix) + rng.choice([0, 0, 1]))
        found: list[Any] = []
        repeating = rng.choice([0, 0, 0.3, 0.6]) if schema.get("uniqueItems") else rng.choice([0, 0, 0.3])
        for i in range(length):
            item = prefix[i] if i < len(prefix) else further
            if "contains" in schema and rng.random() < 0.4:
                item = schema["contains"]
            again = found and rng.random() < repeating
            found.append(rng.choice(found) if again else self.value(item, depth + 1))
        return found

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        rng = self._rng
        properties = dict(schema.get("properties", {}))
        required = [name for name in schema.get("required", []) if isinstance(name, str)]
        names = [name for name in required if rng.random() < 0.93]
        names += [name for name in properties if rng.random() < 0.5]
        for name, also in schema.get("dependentRequired", {}).items():
            names += also if name in names and rng.random() < 0.8 else []
        least = self._length(schema.get("minProperties"), schema.get("maxProperties"))
        others = rng.sample(NAMES, len(NAMES))
        while len(set(names)) < least and others:
            names.append(others.pop())
        most = schema.get("maxProperties")
        names = list(dict.fromkeys(names))
        if isinstance(most, int) and rng.random() < 0.7:
            names = names[:most]
        rng.shuffle(names)
        return {name: self.value(self._member(name, schema, properties), depth + 1) for name in names}

    def _member(self, name: str, schema: dict[str, Any], properties: dict[str, Any]) -> Any:
        if name in properties:
            return properties[name]
        for pattern, part in schema.get("patternProperties", {}).items():
            if _matches(pattern, name):
                return part
        return schema.get("additionalProperties", schema.get("unevaluatedProperties", {}))

    def _string(self, schema: dict[str, Any]) -> str:
        rng = self._rng
        length = self._length(schema.get("minLength"), schema.get("maxLength"))
        texts = [*TEXTS, "a" * length, "ab" * (length // 2) + "b" * (length % 2)]
        fits = [text for text in texts if "pattern" not in schema or _matches(schema["pattern"], text)]
        fits = [text for text in fits if len(text) == length] or fits
        return rng.choice(fits if fits and rng.random() < 0.85 else texts)

    def _number(self, schema: dict[str, Any], kind: str) -> Any:
        rng = self._rng
        keys = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
        edges = [schema[key] for key in keys if isinstance(schema.get(key), (int, float)) and abs(schema[key]) < 2**50]
        edges = [edge for edge in edges if not isinstance(edge, bool)]
        found = (
            rng.choice(edges) + rng.choice([0, 0, 1, -1, 0.5]) if edges and rng.random() < 0.8 else rng.choice(NUMBERS)
        )
        if "multipleOf" in schema and rng.random() < 0.6 and edges:
            found = edges[-1] * rng.randint(-3, 8)
        return int(found) if kind == "integer" or float(found).is_integer() else found

    def _any(self, depth: int) -> Any:
        rng = self._rng
        if depth > 3 or rng.random() < 0.6:
            return rng.choice(SCALARS)
        if rng.random() < 0.5:
            return [self._any(depth + 1) for _ in range(rng.randrange(3))]
        return {name: self._any(depth + 1) for name in rng.sample(NAMES, rng.randrange(3))}


def _matches(pattern: Any, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except (re.error, TypeError):
        return False


def mutated(value: Any, rng: random.Random) -> Any:
    """The value with one thing in it changed."""
    if isinstance(value, list) and value and rng.random() < 0.8:
        i = rng.randrange(len(value))
        return rng.choice(
            [
                lambda: value[:i] + value[i + 1 :],
                lambda: [*value, value[i]],
                lambda: [*value[:i], mutated(value[i], rng), *value[i + 1 :]],
                lambda: [*value, rng.choice(SCALARS)],
                lambda: [*value[:i], rng.choice(value), *value[i + 1 :]],
            ]
        )()
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        return rng.choice(
            [
                lambda: {key: held for key, held in value.items() if key != name},
                lambda: {**value, name: mutated(value[name], rng)},
                lambda: {**value, rng.choice(NAMES): rng.choice(SCALARS)},
                lambda: dict(reversed(value.items())),
            ]
        )()
    if isinstance(value, str) and rng.random() < 0.6:
        return rng.choice([value + "a", value[1:], value[:-1], value + value])
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 2**50 and rng.random() < 0.6:
        return value + rng.choice([1, -1])
    return rng.choice([*SCALARS, [], {}, [value], {"a": value}])
