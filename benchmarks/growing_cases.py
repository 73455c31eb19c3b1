"""Cases of any size: grammars that grow, and texts that grow."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from cases import Case, Instance


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def properties(n: int) -> Case:
    """A schema of `n` properties, all in its one text."""
    names = [f"property_{i}" for i in range(n)]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "required": names}
    return Case(f"{n:,} properties", "json_schema", _json(schema), (_valid(_json(dict.fromkeys(names, 1))),))


def optional(n: int) -> Case:
    """A schema of `n` properties that need not be there, every tenth of them in its text."""
    names = [f"property_{i}" for i in range(n)]
    properties = {name: {"type": "integer", "description": "how many there are"} for name in names}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Case(f"{n:,} optional", "json_schema", _json(schema), (_valid(_json(dict.fromkeys(names[::10], 1))),))


def objects(n: int) -> Case:
    """A schema of `n` alternatives, each an object with properties of its own, with a text of the last one."""
    names = [[f"property_{i}_{letter}" for letter in "abc"] for i in range(n)]
    alternatives = [
        {"type": "object", "properties": {name: {"type": "null"} for name in own}, "additionalProperties": False}
        for own in names
    ]
    text = _json(dict.fromkeys(names[-1]))
    return Case(f"{n:,} objects", "json_schema", _json({"anyOf": alternatives}), (_valid(text),))


def rules(n: int) -> Case:
    """A Lark grammar of `n` kinds of statement, with a text of one each."""
    kinds = "\n".join(f'rule_{i}: "command{i}" NAME ";"' for i in range(n))
    choice = " | ".join(f"rule_{i}" for i in range(n))
    source = f'start: ({choice})+\n{kinds}\nNAME: /[a-z]{{1,20}}/\n%ignore " "\n'
    return Case(f"{n:,} rules", "lark", source, (_valid("".join(f"command{i} name;" for i in range(n))),))


def records(n_bytes: int) -> Case:
    """A JSON array of objects, of about `n_bytes`."""
    properties = {"id": {"type": "integer"}, "name": {"type": "string"}, "price": {"type": "number"}}
    item = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    record = {"id": 12, "name": "a lamp that is blue", "price": 12.5}
    text = _json([record] * max(1, n_bytes // (len(_json(record)) + 1)))
    return Case(f"JSON, {n_bytes:,} bytes", "json_schema", _json({"type": "array", "items": item}), (_valid(text),))


ARITHMETIC = """
start: sum
sum: product (("+" | "-") product)*
product: value (("*" | "/") value)*
value: NUMBER | "(" sum ")" | "-" value
NUMBER: /[0-9]{1,12}(\\.[0-9]{1,12})?/
%ignore " "
"""


def sums(n_bytes: int) -> Case:
    """An arithmetic expression of about `n_bytes`."""
    part = "(1 + 2.5) * -3"
    text = " + ".join([part] * max(1, n_bytes // (len(part) + 3)))
    return Case(f"arithmetic, {n_bytes:,} bytes", "lark", ARITHMETIC, (_valid(text),))


def _valid(text: str) -> Instance:
    return Instance(text, valid=True)


# Schemas of which the first mask looks at everything, or at next to nothing, by the numbers of their parts.
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
}


def of_bytes(name: str, n_bytes: int, variation: int = 0) -> str:
    """One of `SHAPES` as text of about so many bytes; variations have no name in common."""
    first, some = 100_000 * (variation + 1), 16
    shape = SHAPES[name]
    sizes = [len(_json(shape(range(first, first + n)))) for n in (some, 2 * some)]
    each = (sizes[1] - sizes[0]) / some
    return _json(shape(range(first, first + max(1, round(n_bytes / each)))))
