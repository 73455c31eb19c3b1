"""$dynamicRef and $recursiveRef: where they lead depends on the way to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.limits import Limits
from tests.json_schema.general import rules_of
from tests.json_schema.judge import Schema, accepts, check, compiled

LIST = {
    "$id": "https://example.com/list",
    "type": "array",
    "items": {"$dynamicRef": "#item"},
    "$defs": {"any": {"$dynamicAnchor": "item", "type": ["null", "array"]}},
}
OLD = "https://json-schema.org/draft/2019-09/schema"
TREE = {
    "$id": "https://example.com/tree",
    "$recursiveAnchor": True,
    "type": "object",
    "properties": {"value": True, "children": {"type": "array", "items": {"$recursiveRef": "#"}}},
}


def list_of(**item: Any) -> Schema:
    return {
        "$id": f"https://example.com/list-of-{item['type']}",
        "$ref": "https://example.com/list",
        "$defs": {"item": {"$dynamicAnchor": "item", **item}, "list": LIST},
    }


def strict_tree(*, recursive: bool) -> Schema:
    return {
        "$schema": OLD,
        "$id": "https://example.com/strict",
        "$recursiveAnchor": recursive,
        "$ref": "https://example.com/tree",
        "unevaluatedProperties": False,
        "$defs": {"tree": TREE},
    }


TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (LIST, ["[]", "[null]", "[[1]]"], ["[1]"]),
    (list_of(type="integer"), ["[1]"], ["[null]", '["a"]']),
    (
        {
            "properties": {"a": {"$ref": "https://example.com/list-of-integer"}, "b": {"$ref": "#/$defs/s"}},
            "$defs": {
                "i": list_of(type="integer"),
                "s": {**list_of(type="string"), "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}}},
            },
        },
        ['{"a":[1],"b":["s"]}'],
        ['{"a":["s"]}', '{"b":[1]}', '{"a":[null]}'],
    ),
    ({"$dynamicRef": "#/$defs/a", "$defs": {"a": {"type": "null"}}}, ["null"], ["1"]),
    ({"items": {"$dynamicRef": "#a"}, "$defs": {"x": {"$anchor": "a", "type": "null"}}}, ["[null]"], ["[1]"]),
    (strict_tree(recursive=True), ['{"value":1,"children":[{"value":2}]}'], ['{"children":[{"x":1}]}', '{"x":1}']),
    (strict_tree(recursive=False), ['{"value":1,"children":[{"x":2}]}'], ['{"x":1}']),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def multiplying_scopes() -> Schema:
    """Resources that lead to each other in any order: twelve anchors, each of which is in two."""
    names = [f"n{i}" for i in range(12)]
    resources = {}
    for name in names:
        for copy in "ab":
            calls = [{"$ref": f"{other}{side}"} for other in names for side in "ab"]
            resources[name + copy] = {
                "$id": name + copy,
                "items": {"anyOf": [{"$dynamicRef": f"#{name}"}, *calls]},
                "$defs": {"x": {"$dynamicAnchor": name, "title": copy}},
            }
    return {"$ref": "n0a", "$defs": resources}


def test_scopes_that_multiply_are_bounded() -> None:
    with pytest.raises(LimitExceeded, match="max_rules"):
        rules_of(multiplying_scopes(), limits=Limits(max_rules=5_000))


def test_scopes_of_a_chain_are_bounded() -> None:
    """Each resource has a scope with all anchors before it."""
    resources = {
        f"d{i}": {"$id": f"i{i}", "$dynamicAnchor": f"x{i}", "items": {"$ref": f"i{i + 1}"}} for i in range(400)
    }
    schema = {"$id": "http://x/", "$ref": "i0", "$defs": {**resources, "d400": {"$id": "i400"}}}
    rules_of(schema)
    with pytest.raises(LimitExceeded, match=r"max_rules.*\(at /\$defs/d"):
        rules_of(schema, limits=Limits(max_rules=100_000))


def test_thousands_of_dynamic_anchors() -> None:
    names = range(1_000)
    schema = {
        "properties": {f"p{i}": {"$dynamicRef": f"#a{i}"} for i in names},
        "$defs": {f"d{i}": {"$dynamicAnchor": f"a{i}", "const": i} for i in names},
    }
    check(schema, ['{"p999":999}'], ['{"p999":998}'])


# Documents that are retrieved


DOCUMENTS = {
    "https://example.com/a.json": {"properties": {"b": {"$ref": "b.json#/$defs/x"}}, "required": ["b"]},
    "https://example.com/b.json": {"$defs": {"x": {"type": "array", "items": {"$ref": "a.json"}}}},
    "https://example.com/named.json": {
        "$id": "https://example.org/other",
        "$ref": "#y",
        "$defs": {"y": {"$anchor": "y", "type": "null"}},
    },
    "https://example.com/old.json": {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"},
}


def test_documents_are_retrieved() -> None:
    asked = []

    def retrieve(uri: str) -> Any:
        asked.append(uri)
        return DOCUMENTS[uri]

    schema = {"type": "object", "$id": "https://example.com/", "$ref": "a.json"}
    grammar = compiled(schema, retrieve=retrieve)
    assert sorted(asked) == ["https://example.com/a.json", "https://example.com/b.json"]
    assert accepts(grammar, '{"b":[]}')
    assert accepts(grammar, '{"b":[{"b":[]}]}')
    assert not accepts(grammar, '{"b":[{}]}')
    assert not accepts(grammar, "{}")


@pytest.mark.parametrize(("ref", "is_text"), [("outer#/$defs/inner", False), ("inner", False), ("outer", True)])
def test_a_pointer_enters_only_the_resource_that_it_ends_in(ref: str, is_text: bool) -> None:
    inner = {
        "$id": "inner",
        "items": {"$dynamicRef": "#leaf"},
        "type": "array",
        "$defs": {"leaf": {"$dynamicAnchor": "leaf", "type": "integer"}},
    }
    text = {"$dynamicAnchor": "leaf", "type": "string"}
    outer = {"$id": "outer", "$ref": "inner", "$defs": {"inner": inner, "leaf": text}}
    grammar = compiled({"$id": "https://example.com/main", "$ref": ref, "$defs": {"outer": outer}})
    assert accepts(grammar, '["x"]') == is_text
    assert accepts(grammar, "[1]") == (not is_text)


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [("named.json", "null", "1"), ("old.json", "1", "1.0"), ("b.json#/$defs/x", "[]", "1")],
)
def test_a_retrieved_document_has_its_own_base_and_draft(name: str, valid: str, invalid: str) -> None:
    grammar = compiled({"$ref": f"https://example.com/{name}"}, retrieve=DOCUMENTS.__getitem__)
    assert accepts(grammar, valid)
    assert not accepts(grammar, invalid)


@pytest.mark.parametrize(
    ("retrieve", "message"),
    [
        (DOCUMENTS.__getitem__, '"https://example.com/c.json" could not be retrieved: KeyError: \'https'),
        (lambda _uri: {"minimum": float("nan")}, "is no schema"),
        (lambda _uri: {"$defs": object()}, "is no schema"),
    ],
)
def test_what_goes_wrong_is_reported_at_the_reference(retrieve: Any, message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        rules_of({"items": {"$ref": "https://example.com/c.json"}}, retrieve=retrieve)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.pointer) == ("schema-remote-reference", "/items/$ref")
    assert message in diagnostic.message


def test_places_in_a_retrieved_document_carry_its_uri() -> None:
    with pytest.raises(GrammarError) as caught:
        rules_of({"$ref": "https://example.com/c.json"}, retrieve=lambda _uri: {"items": {"minLength": -1}})
    assert [d.pointer for d in caught.value.diagnostics] == ["https://example.com/c.json#/items/minLength"]


def test_a_document_that_leads_to_ever_more_documents_is_bounded() -> None:
    with pytest.raises(LimitExceeded, match="max_rules"):
        rules_of({"$ref": "https://e.x/1"}, limits=Limits(max_rules=500), retrieve=lambda uri: {"$ref": uri + "1"})
