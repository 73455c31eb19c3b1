"""Large schemas of many shapes: what people generate, and what could be sent on purpose.

Of some the first mask has to look at everything, of others at next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


# A schema by the numbers of its parts.
Shape = Callable[[range], dict[str, Any]]

SMALL = {"type": "integer", "description": "how many there are"}


def _properties(key: str, required_step: int | None = None, **further: Any) -> Shape:
    def shape(numbers: range) -> dict[str, Any]:
        names = [key.format(i) for i in numbers]
        required = {"required": names[::required_step]} if required_step else {}
        return {"type": "object", "properties": dict.fromkeys(names, SMALL), **required, **further}

    return shape


def _choice(keyword: str, part: Callable[[int], dict[str, Any]]) -> Shape:
    return lambda numbers: {keyword: [part(i) for i in numbers]}


def _object(i: int, required: int = 0, **further: Any) -> dict[str, Any]:
    names = [f"property_{i}_{letter}" for letter in "abc"]
    found = {"type": "object", "properties": {name: {"type": "null"} for name in names}, **further}
    return found | {"required": names[:required]} if required else found


def _told_apart(i: int) -> dict[str, Any]:
    properties = {"kind": {"const": f"kind_{i}"}, **_object(i)["properties"]}
    return {"type": "object", "properties": properties, "required": ["kind"], "additionalProperties": False}


def _nested(i: int, depth: int = 60) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "integer"}
    for level in range(depth):
        name = f"level_{level}_of_{i}"
        value = {"type": "object", "properties": {name: value}, "required": [name]}
    return value


def _definitions(referred: bool) -> Shape:
    def shape(numbers: range) -> dict[str, Any]:
        definitions = {f"Definition{i}": _object(i, additionalProperties=False) for i in numbers}
        names = definitions if referred else list(definitions)[:1]
        properties = {name: {"$ref": f"#/$defs/{name}"} for name in names}
        return {"type": "object", "properties": properties, "$defs": definitions}

    return shape


def _models(numbers: range) -> dict[str, Any]:
    """Definitions that refer to each other, as those of an API do: the longest ways from the root go through many."""
    names = [f"Model{i}" for i in numbers]

    def model(i: int) -> dict[str, Any]:
        near, far = ({"$ref": f"#/$defs/{names[at % len(names)]}"} for at in (i + 1, 7 * i + 3))
        properties = {"id": {"type": "integer"}, "next": near, "others": {"type": "array", "items": far}}
        return {"type": "object", "title": f"The model {i}", "properties": properties, "required": ["id"]}

    definitions = {name: model(i) for i, name in enumerate(names)}
    return {"$ref": f"#/$defs/{names[0]}", "$defs": definitions}


def _patterns(numbers: range) -> dict[str, Any]:
    words = [f"word{i}[a-z]{{{i % 7},{i % 7 + 9}}}(one|two|three)?" for i in range(60)]
    pattern = "^(" + "|".join(words) + ")$"
    texts = {f"text_{i}": {"type": "string", "pattern": f"{pattern}|^{i}"} for i in numbers}
    return {"type": "object", "properties": texts, "additionalProperties": False}


def _typed(type_: str, part: Callable[[int], dict[str, Any]], keyword: str = "anyOf") -> Shape:
    return _choice(keyword, lambda i: {"type": type_} | part(i))


def _range(i: int) -> dict[str, Any]:
    return {"minimum": 10 * i, "maximum": 10 * i + 4}


def _pattern(i: int) -> dict[str, Any]:
    return {"pattern": f"^the_{i}[a-z]+$"}


def _array(i: int) -> dict[str, Any]:
    return {"items": {"enum": [f"first_{i}", f"second_{i}"]}}


def _tuple(i: int) -> dict[str, Any]:
    return {"prefixItems": [{"const": f"kind_{i}"}, {"type": "integer"}], "minItems": 2}


def _one_pattern(part: str, between: str = "") -> Shape:
    return lambda numbers: {"type": "string", "pattern": f"^({between.join(part.format(i) for i in numbers)})$"}


def _chain(numbers: range) -> dict[str, Any]:
    """Each definition is nothing but a reference to the next one."""
    definitions: dict[str, Any] = {f"Link{i}": {"$ref": f"#/$defs/Link{i + 1}"} for i in numbers}
    definitions[f"Link{numbers.stop}"] = {"type": "integer"}
    return {"type": "array", "items": {"$ref": f"#/$defs/Link{numbers.start}"}, "$defs": definitions}


def _mixins(numbers: range, some: int = 200) -> dict[str, Any]:
    """References to definitions which have some properties in common, of the same kinds."""

    def mixin(i: int) -> dict[str, Any]:
        names = [f"property_{i}", f"shared_{i % some}", "id"]
        return {"type": "object", "properties": {name: {"type": "integer"} for name in names}}

    definitions = {f"Mixin{i}": mixin(i) for i in numbers}
    return {"allOf": [{"$ref": f"#/$defs/{name}"} for name in definitions], "$defs": definitions}


# Keys may be written with escapes where they have other characters than printable ones of ASCII, or one of "\\/.
SHAPES: dict[str, Shape] = {
    "definitions that nothing refers to": _definitions(referred=False),
    "definitions that the root refers to, each": _definitions(referred=True),
    "objects in objects, 60 deep": lambda numbers: {"properties": {f"tree_{i}": _nested(i) for i in numbers}},
    "properties, every third of which is required": _properties("property_{}", 3),
    "properties, none of them required": _properties("property_{}", additionalProperties=False),
    "the same, other keys allowed": _properties("property_{}"),
    "the same, keys that may be written with escapes": _properties('the "größe"\tof/{}', additionalProperties=False),
    "the same, other keys allowed besides": _properties('the "größe"\tof/{}'),
    "one anyOf of closed objects": _choice("anyOf", lambda i: _object(i, additionalProperties=False)),
    "one anyOf of objects told apart by a constant": _choice("anyOf", _told_apart),
    "one anyOf of open objects, one property of each required": _choice("anyOf", lambda i: _object(i, required=1)),
    "one anyOf of open objects, all properties optional": _choice("anyOf", _object),
    "one oneOf of objects told apart by a constant": _choice("oneOf", _told_apart),
    "one oneOf of objects told apart by a required key": _choice(
        "oneOf", lambda i: _object(i, required=1, additionalProperties=False)
    ),
    "one oneOf of constants with titles": _choice(
        "oneOf", lambda i: {"const": f"value_{i}", "title": f"The value {i}"}
    ),
    "one allOf of objects": lambda numbers: {
        "type": "object",
        **_choice("allOf", lambda i: _object(i, required=1))(numbers),
    },
    "definitions that refer to each other": _models,
    "properties and unevaluatedProperties": _properties("property_{}", unevaluatedProperties=False),
    "one object as a constant": lambda numbers: {"const": {f"key_{i}": [i, {"value": None}] for i in numbers}},
    "one enum of texts": lambda numbers: {"enum": [f"the text of number {i}" for i in numbers]},
    "properties with long patterns": _patterns,
    "properties, some of which must be there": _properties("property_{}", minProperties=3, additionalProperties=False),
    "properties, few of which may be there": _properties("property_{}", maxProperties=3),
    "required names without properties": lambda numbers: {"type": "object", "required": [f"name_{i}" for i in numbers]},
    "names of properties that are listed": lambda numbers: {
        "type": "object",
        "propertyNames": {"enum": [f"property_{i}" for i in numbers]},
    },
    "one allOf of references with properties in common": _mixins,
    "a chain of references": _chain,
    "one anyOf of ranges": _typed("number", _range),
    "one anyOf of patterns": _typed("string", _pattern),
    "one anyOf of arrays": _typed("array", _array),
    "one anyOf of arrays told apart by a constant": _typed("array", _tuple),
    "one anyOf of everything": _choice(
        "anyOf",
        lambda i: [
            {"type": "string"} | _pattern(i),
            {"type": "integer"} | _range(i),
            {"type": "array"} | _tuple(i),
            _object(i, required=1),
            {"const": f"value_{i}"},
        ][i % 5],
    ),
    "an array of many items": lambda numbers: {
        "type": "array",
        "prefixItems": [{"const": i} if i % 2 else {"type": "string", "maxLength": i % 100} for i in numbers],
    },
    "one array as a constant": lambda numbers: {"const": [[i, f"text {i}"] for i in numbers]},
    "one enum of numbers": lambda numbers: {"enum": list(numbers)},
    "one enum of objects": lambda numbers: {"enum": [{"kind": f"kind_{i}", "value": i} for i in numbers]},
    "one pattern of words": _one_pattern("word{}", "|"),
    "one pattern of counted classes": _one_pattern("word{}[a-z]{{1,9}}", "|"),
    "one pattern of a long text": _one_pattern("number {} "),
    "one pattern of many parts": _one_pattern("(a{}|b{}c*)?".replace("{}", "{0}")),
    "one description": lambda numbers: {
        "type": "integer",
        "description": " ".join(f"The number {i} is described." for i in numbers),
    },
}


def of_bytes(name: str, n_bytes: int, variation: int = 0) -> str:
    """One of `SHAPES` as text of about so many bytes; variations have no name in common."""
    first, some = 100_000 * (variation + 1), 16
    shape = SHAPES[name]
    sizes = [len(_json(shape(range(first, first + n)))) for n in (some, 2 * some)]
    each = (sizes[1] - sizes[0]) / some
    return _json(shape(range(first, first + max(1, round(n_bytes / each)))))
