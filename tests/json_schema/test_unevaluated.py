"""unevaluatedProperties and unevaluatedItems: what the schemas beside them have looked at, by each way through them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import Schema, check, compiled, is_valid

HAS_A = {"properties": {"a": {"const": 1}}, "required": ["a"]}
HAS_B = {"properties": {"b": {"const": 2}}, "required": ["b"]}


def closed(**schema: Any) -> Schema:
    return {"type": "object", "unevaluatedProperties": False, **schema}


def closed_array(**schema: Any) -> Schema:
    return {"type": "array", "unevaluatedItems": False, **schema}


TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (closed(properties={"a": True}), ["{}", '{"a":1}'], ['{"b":1}']),
    (closed(allOf=[HAS_A, {"properties": {"b": True}}]), ['{"a":1}', '{"a":1,"b":0}'], ['{"a":1,"c":0}']),
    (
        closed(anyOf=[HAS_A, HAS_B]),
        ['{"a":1}', '{"b":2}', '{"a":1,"b":2}'],
        ["{}", '{"a":1,"b":0}', '{"a":0,"b":2}', '{"a":1,"c":0}'],
    ),
    (closed(anyOf=[True, {"properties": {"a": True}}]), ["{}", '{"a":1}'], ['{"b":1}']),
    (
        closed(oneOf=[HAS_A, HAS_B]),
        ['{"a":1}', '{"b":2}'],
        ['{"a":1,"b":2}', '{"a":1,"b":0}', '{"a":1,"c":0}'],
    ),
    (
        closed(**{"if": HAS_A, "then": {"properties": {"b": True}}, "else": {"properties": {"c": True}}}),
        ["{}", '{"a":1,"b":0}', '{"c":0}'],
        ['{"a":1,"c":0}', '{"a":0}', '{"b":0}'],
    ),
    (closed(**{"if": HAS_A}), ["{}", '{"a":1}'], ['{"a":0}']),
    (closed(dependentSchemas={"a": HAS_A}), ["{}", '{"a":1}'], ['{"a":2}', '{"b":1}']),
    (closed(**{"not": {"not": HAS_A}}), [], ['{"a":1}', "{}"]),
    (closed(properties={"b": True}, **{"not": HAS_A}), ["{}", '{"b":0}'], ['{"a":0}', '{"a":1}']),
    (
        closed(patternProperties={"^x": {"type": "null"}}, allOf=[{"patternProperties": {"y$": True}}]),
        ['{"xz":null}', '{"zy":0}', '{"xy":null}'],
        ['{"z":0}', '{"xy":0}'],
    ),
    (
        {"type": "object", "allOf": [HAS_A], "unevaluatedProperties": {"type": "string"}},
        ['{"a":1,"z":"s"}', '{"a":1}'],
        ['{"a":1,"z":0}', '{"a":"s"}'],
    ),
    (closed(allOf=[{"additionalProperties": {"type": "integer"}}]), ['{"z":1}'], ['{"z":"s"}']),
    (closed(allOf=[{"unevaluatedProperties": {"type": "integer"}}]), ['{"z":1}'], ['{"z":"s"}']),
    ({"type": "object", "allOf": [{"properties": {"a": True}}, closed()]}, ["{}"], ['{"a":1}']),
    (
        closed(properties={"next": {"$ref": "#"}}, **{"$ref": "#/$defs/named"}, **{"$defs": {"named": HAS_A}}),
        ['{"next":{"a":1},"a":1}'],
        ['{"next":{"a":1}}', '{"next":{"a":1,"b":1},"a":1}'],
    ),
    (closed_array(allOf=[{"prefixItems": [True]}, {"prefixItems": [True, {"const": 2}]}]), ["[0,2]"], ["[0,2,3]"]),
    (
        closed_array(anyOf=[{"prefixItems": [{"const": 1}]}, {"prefixItems": [True, {"const": 2}]}]),
        ["[]", "[1]", "[1,2]", "[0,2]", "[0]"],
        ["[1,0]", "[1,2,3]"],
    ),
    (
        closed_array(prefixItems=[True], contains={"type": "string"}),
        ['[0,"a"]', '["a"]', '["a","b"]'],
        ['["a",0]', "[]"],
    ),
    (
        {"type": "array", "contains": {"const": 1}, "unevaluatedItems": {"const": 2}},
        ["[1]", "[1,2]", "[2,1,1]"],
        ["[2]", "[1,3]", "[]"],
    ),
    (
        closed_array(allOf=[{"contains": {"multipleOf": 2}}, {"contains": {"multipleOf": 3}}]),
        ["[2,3]", "[6]", "[6,2]"],
        ["[2]", "[2,3,5]"],
    ),
    (closed_array(allOf=[{"items": True}]), ["[1,2]"], []),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    if valid:
        check(schema, valid, invalid)
    else:
        assert not any(is_valid(schema, text) for text in invalid)
        with pytest.raises(cfgmask.GrammarError, match="schema-unsatisfiable"):
            compiled(schema)


def test_contains_evaluates_nothing_before_2020_12() -> None:
    schema = {"type": "array", "contains": {"const": 1}, "unevaluatedItems": {"const": 2}}
    with pytest.raises(cfgmask.GrammarError, match="schema-unsatisfiable"):
        compiled({"$schema": "https://json-schema.org/draft/2019-09/schema", **schema})


_NAMES = st.sampled_from(["a", "b", "ab"])
_BODIES = st.fixed_dictionaries(
    {},
    optional={
        "properties": st.dictionaries(_NAMES, st.sampled_from([True, {"const": 1}]), max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), st.just(True), max_size=1),
        "required": st.lists(_NAMES, max_size=1),
        "prefixItems": st.lists(st.sampled_from([True, {"const": 1}]), min_size=1, max_size=2),
        "contains": st.sampled_from([{"const": 1}, {"type": "string"}]),
        "additionalProperties": st.just({"const": 1}),
    },
)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=2)
    applied = st.fixed_dictionaries(
        {},
        optional={
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "dependentSchemas": st.dictionaries(_NAMES, inner, max_size=1),
            "unevaluatedProperties": st.sampled_from([False, {"const": 1}]),
            "unevaluatedItems": st.sampled_from([False, {"const": 1}]),
        },
    )
    return st.builds(lambda own, more: {**own, **more}, _BODIES, applied)


_CLOSED = st.builds(
    lambda schema, keys, items: {**schema, "unevaluatedProperties": keys, "unevaluatedItems": items},
    _around(st.recursive(_BODIES, _around, max_leaves=4)),
    st.sampled_from([False, {"const": 2}]),
    st.sampled_from([False, {"const": 2}]),
)
_VALUES = st.one_of(
    st.dictionaries(_NAMES, st.sampled_from([1, 2, "s"]), max_size=3),
    st.lists(st.sampled_from([1, 2, "s"]), max_size=3),
)


@given(_CLOSED, st.lists(_VALUES, min_size=10, max_size=10))
def test_verdicts_agree_with_the_validator(schema: dict[str, Any], values: list[Any]) -> None:
    try:
        grammar = compiled(schema)
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        assert codes <= {"schema-unsatisfiable", "schema-negated-values", "schema-too-many-alternatives"}
        return
    for value in values:
        assert accepts_in_some_order(grammar, value) == is_valid(schema, json.dumps(value)), value
