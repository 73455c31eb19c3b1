"""$ref in all its forms: shared, recursive, by anchor and identifier."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cfgmask
from cfgmask.errors import GrammarError
from tests.json_schema.general import rules_of
from tests.json_schema.judge import Schema, accepts, check, compiled

TREE = {
    "type": "object",
    "properties": {"value": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    "required": ["value"],
    "additionalProperties": False,
}
LIST = {
    "$defs": {
        "list": {
            "anyOf": [
                {"type": "null"},
                {
                    "type": "array",
                    "prefixItems": [{"type": "integer"}, {"$ref": "#/$defs/list"}],
                    "minItems": 2,
                    "items": False,
                },
            ]
        }
    },
    "$ref": "#/$defs/list",
}

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (
        TREE,
        ['{"value":1}', '{"value":1,"children":[{"value":2,"children":[]}]}'],
        ['{"children":[]}', '{"value":1,"children":[{}]}'],
    ),
    (LIST, ["null", "[1,null]", "[1,[2,null]]"], ["[1]", "[1,[2]]", "1"]),
    ({"$defs": {"a": {"type": "integer"}}, "items": {"$ref": "#/$defs/a"}, "type": "array"}, ["[1]"], ['["a"]']),
    ({"$defs": {"a": {"type": "integer"}}, "$ref": "#/$defs/a", "minimum": 3}, ["3"], ["2", "3.5"]),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "null"}}, "$ref": "#/$defs/a"}, ["null"], ["1"]),
    ({"$defs": {"a~b/c%d": {"type": "null"}}, "$ref": "#/$defs/a~0b~1c%25d"}, ["null"], ["1"]),
    ({"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}}, ['{"b":1}'], ['{"b":"x"}']),
    ({"$defs": {"x": {"$anchor": "here", "type": "null"}}, "$ref": "#here"}, ["null"], ["1"]),
    (
        {
            "$id": "http://example.com/root",
            "$defs": {"x": {"$id": "inner", "type": "null", "$defs": {"y": {"type": "integer"}}}},
            "anyOf": [{"$ref": "inner"}, {"$ref": "http://example.com/inner#/$defs/y"}],
        },
        ["null", "1"],
        ['"a"'],
    ),
    ({"$id": "urn:example:root", "$defs": {"x": {"type": "null"}}, "$ref": "#/$defs/x"}, ["null"], ["1"]),
    (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "http://x.y/z",
            "definitions": {"x": {"id": "#foo", "type": "null"}},
            "$ref": "#foo",
        },
        ["null"],
        ["1"],
    ),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {"a": {"type": "integer"}},
            "properties": {"p": {"$ref": "#/definitions/a", "minimum": 3}},
        },
        ['{"p":1}'],
        ['{"p":"x"}'],
    ),
    (
        {
            "allOf": [{"$ref": "#/$defs/node"}, {"properties": {"next": {"required": ["tag"]}}}],
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {"next": {"$ref": "#/$defs/node"}, "tag": {"type": "string"}},
                    "additionalProperties": False,
                }
            },
        },
        ["{}", '{"next":{"tag":"x"}}', '{"next":{"next":{},"tag":"x"}}'],
        ['{"next":{}}', '{"next":{"tag":1}}', '{"x":1}'],
    ),
    (
        {
            "$ref": "#/$defs/expr",
            "$defs": {
                "expr": {
                    "oneOf": [
                        {"type": "integer"},
                        {
                            "type": "object",
                            "properties": {"op": {"const": "neg"}, "arg": {"$ref": "#/$defs/expr"}},
                            "required": ["op", "arg"],
                        },
                        {
                            "type": "object",
                            "properties": {
                                "op": {"const": "add"},
                                "args": {"type": "array", "items": {"$ref": "#/$defs/expr"}},
                            },
                            "required": ["op", "args"],
                        },
                    ]
                }
            },
        },
        ["1", '{"op":"neg","arg":2}', '{"op":"add","args":[1,{"op":"neg","arg":1}]}'],
        ['{"op":"neg","args":[]}', '{"op":"add"}', '"x"'],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def test_a_reference_that_is_used_often_is_lowered_once() -> None:
    leaf = {"type": "object", "properties": {f"p{i}": {"type": "integer"} for i in range(20)}}
    one = rules_of({"$defs": {"leaf": leaf}, "properties": {"a": {"$ref": "#/$defs/leaf"}}})
    many = rules_of({"$defs": {"leaf": leaf}, "properties": {f"q{i}": {"$ref": "#/$defs/leaf"} for i in range(30)}})
    assert len(many.rules) <= len(one.rules) + 2 * 30


def test_doubling_references_stay_linear() -> None:
    definitions = {
        f"d{i}": {
            "type": "array",
            "items": {"$ref": f"#/$defs/d{i + 1}"},
            "prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}],
        }
        for i in range(60)
    }
    grammar = rules_of({"$defs": {**definitions, "d60": {"type": "null"}}, "$ref": "#/$defs/d0"})
    assert len(grammar.rules) < 300


def test_deep_recursion_is_the_parsers_business() -> None:
    text = '{"value":1,"children":[' * 150 + '{"value":1}' + "]}" * 150
    assert accepts(compiled(TREE), text)


def test_long_circles_of_nothing_but_references() -> None:
    """Each is looked at once: to go round from each takes minutes."""
    n = 5_000
    definitions = {f"d{i}": {"$ref": f"#/$defs/d{(i + 1) % n}"} for i in range(n)}
    with pytest.raises(GrammarError) as caught:
        rules_of({"$defs": definitions, "anyOf": [{"$ref": "#/$defs/d0"}, {"$ref": f"#/$defs/d{n // 2}"}]})
    assert {d.code for d in caught.value.diagnostics} == {"schema-reference-loop"}


@pytest.mark.parametrize("fails", [False, True])
def test_each_document_is_asked_for_once(fails: bool) -> None:
    """Though a schema with problems is read several times."""
    asked = []

    def retrieve(uri: str) -> Any:
        asked.append(uri)
        if fails:
            raise KeyError(uri)
        return {"type": "null"}

    schema = {"properties": {"a": {"$ref": "https://example.com/a"}, "b": {"type": "strnig"}}}
    with pytest.raises(cfgmask.GrammarError):
        cfgmask.Grammar.from_json_schema(schema, retrieve=retrieve)
    assert asked == ["https://example.com/a"]
