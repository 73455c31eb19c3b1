"""allOf, anyOf, oneOf, not, if: with siblings, overlapping, nested."""

from __future__ import annotations

import json
import random

import pytest

import cfgmask
from tests.json_schema.judge import Schema, check, is_valid

A = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}
B = {"properties": {"b": {"type": "integer"}}, "required": ["b"]}
CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]}
DOG = {
    "type": "object",
    "properties": {"kind": {"enum": ["dog", "wolf"]}, "tail": {"type": "boolean"}},
    "required": ["kind"],
}

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"a"'], ["1.5", "null"]),
    ({"anyOf": [{"minimum": 5}, {"maximum": 2}], "type": "integer"}, ["5", "2"], ["3", "4"]),
    (
        {"anyOf": [A, B], "type": "object"},
        ['{"a":1}', '{"b":1}', '{"a":1,"b":1}', '{"a":1,"b":"x"}'],
        ["{}", '{"a":"x"}', '{"c":1}'],
    ),
    (
        {"properties": {"a": True, "b": True}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        ['{"a":1}', '{"a":1,"b":2}', "1"],
        ["{}", '{"c":1}'],
    ),
    ({"anyOf": [True, {"type": "string"}]}, ["1", '"a"'], []),
    ({"anyOf": [False, {"type": "string"}]}, ['"a"'], ["1"]),
    ({"allOf": [A, B]}, ['{"a":1,"b":2}', "1"], ['{"a":1}', '{"b":1}', '{"a":1,"b":"x"}']),
    (
        {
            "allOf": [{"type": "object", "properties": {"a": {"minimum": 2}}}, {"properties": {"a": {"maximum": 3}}}],
            "required": ["a"],
        },
        ['{"a":2}', '{"a":"x"}'],
        ['{"a":1}', '{"a":4}', "{}"],
    ),
    (
        {
            "allOf": [
                {"properties": {"a": True}, "additionalProperties": False},
                {"properties": {"a": True, "b": True}},
            ],
            "type": "object",
        },
        ["{}", '{"a":1}'],
        ['{"b":1}', '{"a":1,"b":2}'],
    ),
    (
        {
            "allOf": [
                {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            ]
        },
        ["1"],
        ['"a"', "null"],
    ),
    ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, ["1", '"a"'], ["1.5", "null"]),
    ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}, ["1", "2.5"], ["2", "3", "1.5"]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, ["1", "2.5", '"a"', "null"], ["2", "3", "1.5"]),
    (
        {"oneOf": [CAT, DOG]},
        ['{"kind":"cat"}', '{"kind":"cat","lives":9}', '{"kind":"wolf","tail":true}', '{"kind":"dog","lives":"many"}'],
        ['{"kind":"cow"}', "{}", '{"kind":"cat","lives":"x"}'],
    ),
    (
        {"oneOf": [A, B], "type": "object"},
        ['{"a":1}', '{"b":1}', '{"a":1,"b":"x"}', '{"b":1,"a":"x"}'],
        ["{}", '{"a":1,"b":1}'],
    ),
    (
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": True, "b": True}, "type": "object"},
        ['{"a":1}', '{"b":1}', '{"a":1,"c":1}'],
        ["{}", '{"a":1,"b":1}'],
    ),
    (
        {
            "oneOf": [
                {"type": "object", "properties": {"a": True}, "additionalProperties": False},
                {"type": "object", "properties": {"b": True}, "additionalProperties": False},
            ]
        },
        ['{"a":1}', '{"b":1}'],
        ["{}", '{"a":1,"b":1}', '{"c":1}'],
    ),
    ({"oneOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, ['"a"', '"c"'], ['"b"', '"d"']),
    (
        {"oneOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "array", "items": {"type": "string"}}]},
        ["[1]", '["a","b"]'],
        ["[]", '[1,"a"]'],
    ),
    ({"oneOf": [True, {"type": "null"}]}, ["1", '"a"'], ["null"]),
    ({"oneOf": [{"const": 1}, {"const": 1.0}, {"const": 2}]}, ["2"], ["1", "1.0"]),
    ({"not": {"type": "object"}}, ["1", "[]", "null"], ["{}", '{"a":1}']),
    ({"not": {"type": ["string", "number"]}}, ["null", "[]"], ["1", '"a"']),
    ({"type": "object", "not": {"required": ["a"]}}, ["{}", '{"b":1}'], ['{"a":1}', '{"b":1,"a":1}']),
    ({"type": "object", "not": {"required": ["a", "b"]}}, ["{}", '{"b":1}', '{"a":1}'], ['{"a":1,"b":1}']),
    ({"type": "object", "not": A}, ["{}", '{"a":"x"}'], ['{"a":1}']),
    (
        {"type": "object", "not": {"properties": {"a": True}, "additionalProperties": False}},
        ['{"b":1}', '{"a":1,"b":1}', '{"x":0,"y":0}'],
        ["{}", '{"a":1}'],
    ),
    (
        {
            "type": "object",
            "not": {"maxProperties": 1},
            "properties": {"a": True, "b": True},
            "additionalProperties": False,
        },
        ['{"a":1,"b":1}'],
        ["{}", '{"a":1}'],
    ),
    ({"not": {"not": {"type": "string"}}}, ['"a"'], ["1"]),
    ({"not": {"anyOf": [{"type": "string"}, {"type": "number"}]}}, ["null"], ["1", '"a"']),
    ({"type": ["integer", "boolean"], "not": {"enum": [True, 3]}}, ["false", "4"], ["true", "3"]),
    ({"not": {"const": []}, "type": "array"}, ["[1]", "[[]]"], ["[]"]),
    ({"not": {"const": {"a": 1}}, "type": "object"}, ["{}", '{"a":2}', '{"a":1,"b":1}'], ['{"a":1}']),
    (
        {
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"required": ["b"]},
            "else": {"required": ["c"]},
            "properties": {"a": True, "b": True, "c": True},
            "type": "object",
        },
        ['{"a":1,"b":1}', '{"a":2,"c":1}', '{"c":1}', '{"a":1,"b":1,"c":1}'],
        ['{"a":1}', '{"a":1,"c":1}', '{"a":2}', "{}"],
    ),
    ({"if": {"type": "integer"}, "then": {"minimum": 3}}, ["3", "2.5", '"a"'], ["2"]),
    ({"if": {"type": "integer"}, "else": {"type": "string"}}, ["3", '"a"'], ["2.5", "null"]),
    ({"if": True, "then": {"type": "string"}}, ['"a"'], ["1"]),
    ({"then": {"type": "string"}}, ["1"], []),
]


def test_exactly_one_of_many_required_members() -> None:
    names = [f"k{i}" for i in range(26)]
    branches = [{"properties": {name: {"type": "integer"}}, "required": [name]} for name in names]
    schema = {"type": "object", "properties": dict.fromkeys(names, True), "oneOf": branches}
    check(schema, ['{"k0":1}', '{"k0":"x","k7":2}'], ["{}", '{"k0":1,"k7":2}', '{"k9":"x"}'])


def test_what_stands_beside_an_overlapping_one_of_keeps_it_small() -> None:
    types = ["integer", "string", "boolean", "null", "array"]
    branches = [{"properties": {f"p{i}": {"type": name} for i in range(10)}} for name in types]
    schema = {"type": "object", "maxProperties": 1, "oneOf": branches}
    check(schema, ['{"p0":1}', '{"p9":[]}'], ["{}", '{"p0":{}}', '{"x":1}', '{"p0":1,"p1":1}'])


@pytest.mark.parametrize("keyword", ["oneOf", "not"])
@pytest.mark.parametrize("seed", range(8))
def test_lists_that_share_values(seed: int, keyword: str) -> None:
    """Scalars that one list has, and several have, beside parts that are no lists."""
    rng = random.Random(seed)
    scalars = [None, True, False, 0, 1, 2.5, "", "a", "b", "é", "1"]
    parts: list[Schema] = [{"enum": rng.sample(scalars, rng.randint(1, 8))} for _ in range(rng.randint(2, 5))]
    others: list[Schema] = [{"type": "string", "maxLength": 1}, {"type": "integer"}, {"enum": ["a", [1], {"a": 1}]}]
    parts += rng.sample(others, rng.randint(0, 2))
    rng.shuffle(parts)
    schema: Schema = {"oneOf": parts} if keyword == "oneOf" else {"enum": scalars, "not": {"oneOf": parts}}
    texts = [json.dumps(value) for value in [*scalars, [1], {"a": 1}, "c", 3]]
    valid = [text for text in texts if is_valid(schema, text)]
    if not valid:
        with pytest.raises(cfgmask.GrammarError, match="schema-unsatisfiable"):
            cfgmask.Grammar.from_json_schema(schema)
        return
    check(schema, valid, [text for text in texts if text not in valid])


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def test_what_a_key_must_hold_is_asked_for_before_and_after_it_is_known() -> None:
    """What the reference says of values is met by what the negation does, in several ways."""
    schema = {
        "if": {"$ref": "#/$defs/d"},
        "$ref": "#/$defs/d",
        "not": {"$ref": "#/$defs/d", "anyOf": [{"required": [""]}, {"properties": {"é": {"type": "number"}}}]},
        "$defs": {"d": {"unevaluatedProperties": {"enum": [1, None]}}},
    }
    check(schema, ['{"é": null}', '{"é": null, "a": 1}'], ['{"é": 1}', '{"": 1, "é": null}', '{"é": 2}', "{}", "1"])
