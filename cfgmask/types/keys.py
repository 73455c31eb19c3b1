"""Keys of objects that are no texts: JSON writes `dict[int, str]` as `{"1": "a"}`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from cfgmask.types import texts

Schema: TypeAlias = dict[str, Any]

_BOUNDS = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}


def as_keys(schema: Schema, resolve: Callable[[Schema], Schema | None]) -> Schema | None:
    """What the names of an object must be whose keys have this schema; None where no text is such a key.

    resolve  the schema that a `$ref` is to, None where it is not known yet
    """
    if "$ref" in schema:
        found = resolve(schema)
        return None if found is None else as_keys(found, resolve)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            choices = [as_keys(choice, resolve) for choice in schema[keyword]]
            live = [choice for choice in choices if choice is not None]
            return {} if {} in live else {"anyOf": live} if live else None
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if values is not None:
        # Pydantic reads texts as numbers if the type says that it is one: of an IntEnum, but not of Literal[1].
        is_int = schema.get("type") == "integer"
        names = [str(value) if is_int else value for value in values if is_int or isinstance(value, str)]
        return {"enum": names} if names else None
    kind = schema.get("type")
    if kind is None:
        return {}
    if kind == "string":
        return {key: value for key, value in schema.items() if key not in ("type", "title", "default", "description")}
    if kind == "boolean":
        return {"enum": ["true", "false"]}
    if kind in ("integer", "number"):
        parts = [schema, *schema.get("allOf", ())]
        patterns = [_numbers(part, kind) for part in parts]
        if None in patterns:
            return None
        return {"allOf": [{"pattern": pattern} for pattern in dict.fromkeys(patterns)]}
    return None


def _numbers(part: Schema, kind: str) -> texts.Whole | None:
    bounds = {name: part[keyword] for keyword, name in _BOUNDS.items() if keyword in part}
    if not bounds and kind == "number":
        return texts.DECIMAL
    return texts.numbers(bounds, integers=kind == "integer")
