"""What differs between the drafts, and what is read where none is declared."""

from __future__ import annotations

import json
from typing import Any

import pytest

import cfgmask
from tests.json_schema.general import rules_of
from tests.json_schema.judge import Schema, accepts, check, compiled

URI = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}


def in_draft(draft: str, **schema: Any) -> dict[str, Any]:
    return {"$schema": URI[draft], **schema}


TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (in_draft("4", type="integer"), ["1", "-0"], ["1.0", "1.5"]),
    (in_draft("6", type="integer"), ["1", "1.0"], ["1.5"]),
    (in_draft("4", type="number", minimum=3, exclusiveMinimum=True), ["3.5"], ["3"]),
    (in_draft("4", type="number", maximum=3, exclusiveMaximum=False), ["3"], ["3.5"]),
    (in_draft("4", const=1), ["2"], []),
    (
        in_draft("4", type="array", items=[{"type": "null"}], additionalItems=False),
        ["[]", "[null]"],
        ["[1]", "[null,1]"],
    ),
    (
        in_draft("7", type="array", items=[{"type": "null"}], additionalItems={"type": "integer"}),
        ["[null,1]"],
        ["[null,null]"],
    ),
    (in_draft("2019-09", type="array", items=[{"type": "null"}]), ["[null,1]"], ["[1]"]),
    (
        in_draft("2020-12", type="array", prefixItems=[{"type": "null"}], items={"type": "integer"}),
        ["[null,1]"],
        ["[1]", "[null,null]"],
    ),
    (in_draft("7", type="array", items={"type": "null"}, prefixItems=[{"type": "integer"}]), ["[null]"], ["[1]"]),
    (in_draft("7", dependencies={"a": ["b"]}), ['{"b":1}'], ['{"a":1}']),
    (in_draft("2020-12", dependencies={"a": ["b"]}), ['{"a":1}'], []),
    (in_draft("6", **{"if": {"type": "string"}, "then": False}), ['"a"'], []),
    (in_draft("7", **{"if": {"type": "string"}, "then": False}), ["1"], ['"a"']),
    (in_draft("7", dependentRequired={"a": ["b"]}), ['{"a":1}'], []),
    (in_draft("2019-09", definitions={"a": {"type": "null"}}, **{"$ref": "#/definitions/a"}), ["null"], ["1"]),
    (in_draft("2020-12", items=in_draft("4", const=1)), ["[2]"], []),
    (
        {
            "$schema": URI["2020-12"],
            "items": {"$ref": "#/$defs/a"},
            "$defs": {"a": in_draft("4", definitions={"b": {"const": 1}}, items={"$ref": "#/$defs/a/definitions/b"})},
        },
        ["[[2]]"],
        [],
    ),
    (in_draft("4", properties={"a": in_draft("7", const=1), "b": {"const": 1}}), ['{"a":1,"b":2}'], ['{"a":2}']),
    # Of a root without a draft, as of any other.
    ({"items": in_draft("4", type="integer")}, ["[1]"], ["[1.0]", "[1.5]"]),
    ({"$ref": "#/definitions/a", "definitions": {"a": in_draft("4", type="integer")}}, ["322"], ["322.0"]),
    ({"items": in_draft("6", type="integer")}, ["[1.0]"], ["[1.5]"]),
    (
        in_draft("2020-12", items=in_draft("4", minimum=3, exclusiveMinimum=True), minItems=1),
        ["[4]"],
        ["[3]", "[]"],
    ),
    ({"items": in_draft("4", minimum=3, exclusiveMinimum=False)}, ["[3]"], ["[2]"]),
    ({"items": in_draft("4", const=1, contains={"const": 1}, propertyNames=False)}, ["[[]]", '[{"a":2}]'], []),
    ({"items": in_draft("7", dependentRequired={"a": ["b"]})}, ['[{"a":1}]'], []),
    ({"items": in_draft("2020-12", dependencies={"a": ["b"]})}, ['[{"a":1}]'], []),
    (
        in_draft(
            "2020-12",
            properties={"a": in_draft("7", items={"$ref": "#/$defs/n", "maximum": 3})},
            additionalProperties={"$ref": "#/$defs/n", "maximum": 3},
            **{"$defs": {"n": {"type": "integer"}}},
        ),
        ['{"a":[4]}', '{"b":3}'],
        ['{"b":4}', '{"a":["4"]}'],
    ),
    (
        in_draft("2020-12", items=in_draft("7", items=[{"type": "null"}], additionalItems={"const": 1})),
        ["[[null,1]]", "[[]]"],
        ["[[1]]", "[[null,2]]"],
    ),
    # What a reference leads to is in the draft of its place, whatever refers to it.
    (
        {
            "properties": {"a": {"$ref": "#/definitions/old/definitions/n"}, "b": {"$ref": "#/definitions/n"}},
            "definitions": {
                "old": in_draft("4", definitions={"n": in_draft("4", type="integer")}),
                "n": {"type": "integer"},
            },
        },
        ['{"a":1,"b":1.0}'],
        ['{"a":1.0}'],
    ),
    (
        in_draft("4", items=in_draft("7", items=[in_draft("4", type="integer")], additionalItems={"type": "integer"})),
        ["[[1,1.0]]"],
        ["[[1.0]]", "[[1,1.5]]"],
    ),
    # Integers of several drafts that meet, and that are taken out of each other.
    ({"allOf": [in_draft("4", type="integer"), {"type": "integer", "minimum": 1}]}, ["1"], ["1.0", "0"]),
    ({"type": "integer", "minimum": 1, "not": in_draft("4", type="integer", maximum=3)}, ["1.0", "4"], ["1", "0"]),
    (in_draft("4", type="integer", allOf=[in_draft("7", type="integer", **{"not": {"maximum": 3}})]), ["4"], ["4.0"]),
    (
        in_draft("4", type="integer", **{"not": in_draft("7", type="integer", minimum=1, maximum=3)}),
        ["0", "4"],
        ["2", "0.0", "2.0"],
    ),
    ({"enum": [1, 2.5, 3], "allOf": [in_draft("4", type="integer")]}, ["1", "3"], ["1.0", "2.5"]),
    ({"enum": [1, 2.5, 3], "not": in_draft("4", type="integer")}, ["1.0", "2.5"], ["1", "3"]),
    (
        {"oneOf": [in_draft("4", type="integer"), {"type": "integer", "maximum": 5}]},
        ["6", "5.0"],
        ["5", "6.0"],
    ),
    (
        {"items": {"anyOf": [in_draft("4", type="integer", multipleOf=3), {"type": "integer", "multipleOf": 2}]}},
        ["[3,2,2.0,6.0]"],
        ["[3.0]"],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"type": "array", "items": [{"type": "null"}], "additionalItems": False}, ["[null]"], ["[1]", "[null,1]"]),
        ({"minimum": 3, "exclusiveMinimum": True}, ["4"], ["3"]),
        ({"dependencies": {"a": ["b"]}}, ['{"b":1}'], ['{"a":1}']),
    ],
)
def test_without_a_declared_draft_old_keywords_are_enforced(
    schema: Schema, valid: list[str], invalid: list[str]
) -> None:
    grammar = compiled(schema, numbers="any")
    assert all(accepts(grammar, text) for text in valid)
    assert not any(accepts(grammar, text) for text in invalid)


def test_keywords_of_other_drafts_are_reported() -> None:
    notes = rules_of(in_draft("2020-12", dependencies={}, title="t", x_mine=1)).notes
    assert [(note.code, note.severity, note.pointer) for note in notes] == [
        ("schema-other-draft", "warning", "/dependencies"),
        ("schema-unknown-keyword", "note", "/x_mine"),
    ]


def test_what_a_reference_hides_is_reported() -> None:
    schema = in_draft(
        "7", definitions={"a": True}, properties={"p": {"$ref": "#/definitions/a", "minimum": 1, "title": "t"}}
    )
    assert [(note.code, note.pointer) for note in rules_of(schema).notes] == [
        ("schema-hidden-by-reference", "/properties/p/minimum")
    ]


VOCABULARY = "https://json-schema.org/draft/2020-12/vocab/"
METASCHEMAS: dict[str, Any] = {
    "x:no-validation": {"$schema": URI["2020-12"], "$vocabulary": {f"{VOCABULARY}applicator": True}},
    "x:no-applicator": {"$schema": URI["2020-12"], "$vocabulary": {f"{VOCABULARY}validation": True, "x:mine": False}},
    "x:old": {"$schema": URI["4"], "$vocabulary": {}},
    "x:no-draft": {"$vocabulary": {}},
    "x:no-schema": [],
}


@pytest.mark.parametrize(
    ("uri", "schema", "valid", "invalid"),
    [
        ("x:no-validation", {"properties": {"a": {"type": "null"}, "b": False}}, ['{"a":1}'], ['{"b":1}']),
        ("x:no-applicator", {"properties": {"a": False}, "maxProperties": 1}, ['{"a":1}'], ['{"a":1,"b":2}']),
        ("x:old", {"type": "integer"}, ["1"], ["1.0"]),
        ("x:no-draft", {"type": "integer"}, ["1.0"], ['"a"']),
        ("x:no-schema", {"type": "integer"}, ["1.0"], ['"a"']),
        ("x:nowhere", {"type": "integer"}, ["1.0"], ['"a"']),
    ],
)
def test_the_vocabularies_of_a_retrieved_metaschema_count(
    uri: str, schema: dict[str, Any], valid: list[str], invalid: list[str]
) -> None:
    grammar = compiled({"$schema": uri, **schema}, numbers="any", retrieve=METASCHEMAS.__getitem__)
    assert all(accepts(grammar, text) for text in valid)
    assert not any(accepts(grammar, text) for text in invalid)


def test_an_identifier_of_another_draft_leaves_references_alone() -> None:
    inner = in_draft("4", id="http://example.com/inner", properties={"a": {"$ref": "#/definitions/none"}})
    grammar = compiled(in_draft("2020-12", items=inner, definitions={"none": {"type": "null"}}))
    assert accepts(grammar, '[{"a":null}]')
    assert not accepts(grammar, '[{"a":1}]')


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        # Its own keyword, since draft 4 is around it.
        (
            {
                "items": in_draft(
                    "4",
                    additionalProperties={
                        "id": "http://example.com/inner",
                        "definitions": {"n": {"type": "integer"}},
                        "items": {"$ref": "#/definitions/n"},
                    },
                ),
                "definitions": {"n": {"type": "null"}},
            },
            {'[{"a":[1]}]': True, '[{"a":[1.0]}]': False, '[{"a":[null]}]': False},
        ),
        # That of the draft around it and of its own.
        (
            in_draft(
                "7",
                items={
                    "$schema": URI["2019-09"],
                    "$id": "http://example.com/inner",
                    "$ref": "#/definitions/n",
                    "maximum": 3,
                    "definitions": {"n": {"type": "integer"}},
                },
                definitions={"n": {"type": "null"}},
            ),
            {"[3]": True, "[4]": False, "[null]": False},
        ),
        # A map of schemas is none.
        (
            {"$ref": "#/definitions/n", "definitions": {"$schema": URI["4"], "n": {"type": "integer"}}},
            {"1.0": True, "1.5": False},
        ),
        # By place: the reference stands in draft 4, and what it leads to in none.
        (
            {"items": in_draft("4", items={"$ref": "#/definitions/n"}), "definitions": {"n": {"type": "integer"}}},
            {"[[1.0]]": True, "[[1.5]]": False},
        ),
        (
            {
                "items": {"$ref": "#/definitions/old/definitions/n"},
                "definitions": {"old": in_draft("4", definitions={"n": {"type": "integer"}})},
            },
            {"[1]": True, "[1.0]": False},
        ),
        # An unknown draft says nothing.
        ({"items": {"$schema": "x:mine", "type": "integer"}}, {"[1.0]": True}),
        (in_draft("4", items={"$schema": "x:mine", "type": "integer"}), {"[1]": True, "[1.0]": False}),
    ],
)
def test_places_inside(schema: Schema, texts: dict[str, bool]) -> None:
    grammar = compiled(schema, numbers="any")
    assert {text: accepts(grammar, text) for text in texts} == texts


def test_metaschemas_inside_count() -> None:
    grammar = compiled(
        {"properties": {"a": {"$schema": "x:old", "type": "integer"}, "b": {"type": "integer"}}},
        numbers="any",
        retrieve=METASCHEMAS.__getitem__,
    )
    assert accepts(grammar, '{"a":1,"b":1.0}')
    assert not accepts(grammar, '{"a":1.0}')


def test_keywords_of_other_drafts_inside_are_reported() -> None:
    schema = {"items": in_draft("4", const=1, properties={"a": in_draft("7", const=1, prefixItems=[])})}
    assert [(note.code, note.severity, note.pointer) for note in rules_of(schema).notes] == [
        ("schema-other-draft", "warning", "/items/const"),
        ("schema-other-draft", "warning", "/items/properties/a/prefixItems"),
    ]


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"$schema": "http://example.com/mine"}, "/$schema"),
        ({"items": {"$schema": "http://example.com/mine"}}, "/items/$schema"),
        (in_draft("7", items={"$schema": "http://example.com/mine"}), "/items/$schema"),
    ],
)
def test_an_unknown_draft_is_reported(schema: dict[str, Any], pointer: str) -> None:
    notes = cfgmask.Grammar.from_json_schema(schema).notes
    assert [(note.code, note.pointer) for note in notes] == [("schema-unknown-draft", pointer)]
