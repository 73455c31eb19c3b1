"""items, prefixItems, their bounds, contains."""

from __future__ import annotations

import json

import pytest

from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.limits import Limits
from tests.json_schema.judge import Schema, accepts, check, compiled

INT = {"type": "integer"}
TABLE: list[tuple[Schema, list[str], list[str]]] = [
    ({"type": "array"}, ["[]", "[1]", '[1,"a",[]]'], ["{}", "1"]),
    ({"type": "array", "items": INT}, ["[]", "[1]", "[1,2,3]"], ['["a"]', "[1,null]"]),
    ({"items": INT}, ["[]", "[1]", '"x"'], ['["a"]']),
    ({"type": "array", "items": False}, ["[]"], ["[1]"]),
    ({"type": "array", "items": INT, "minItems": 2}, ["[1,2]", "[1,2,3]"], ["[]", "[1]"]),
    ({"type": "array", "items": INT, "maxItems": 2}, ["[]", "[1]", "[1,2]"], ["[1,2,3]"]),
    ({"type": "array", "items": INT, "minItems": 1, "maxItems": 1}, ["[1]"], ["[]", "[1,2]"]),
    ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
    (
        {"type": "array", "prefixItems": [INT, {"type": "string"}]},
        ["[]", "[1]", '[1,"a"]', '[1,"a",null]'],
        ['["a"]', "[1,2]"],
    ),
    (
        {"type": "array", "prefixItems": [INT, {"type": "string"}], "items": False},
        ["[]", "[1]", '[1,"a"]'],
        ['[1,"a",null]'],
    ),
    (
        {
            "type": "array",
            "prefixItems": [INT, {"type": "string"}],
            "items": {"type": "null"},
            "minItems": 2,
            "maxItems": 4,
        },
        ['[1,"a"]', '[1,"a",null]', '[1,"a",null,null]'],
        ["[1]", '[1,"a",1]', '[1,"a",null,null,null]'],
    ),
    ({"type": "array", "prefixItems": [INT, False, INT]}, ["[]", "[1]"], ["[1,2]", "[1,2,3]"]),
    ({"type": "array", "items": {"type": "integer", "minimum": 2, "maximum": 1}}, ["[]"], ["[1]"]),
    ({"type": "array", "contains": {"const": 1}}, ["[1]", '["a",1]', "[1,1]", "[0,1,2]"], ["[]", "[2]"]),
    (
        {"type": "array", "contains": {"const": 1}, "items": INT, "minItems": 2, "maxItems": 3},
        ["[1,2]", "[2,1]", "[0,1,2]", "[0,0,1]"],
        ["[1]", "[2,3]", '["a",1]', "[0,0,0,1]"],
    ),
    ({"type": "array", "contains": {"const": 1}, "minContains": 0}, ["[]", "[2]"], []),
    ({"contains": {}, "minContains": 2, "maxContains": 1}, ["1", "{}"], ["[]", "[1]", "[1,1]"]),
    ({"contains": {"const": 1}, "minContains": 2, "maxContains": 1}, ["1", "{}"], ["[]", "[1]", "[1,1]"]),
    ({"type": "array", "contains": {"const": 1}, "minContains": 2}, ["[1,0,1]", "[1,1,1]"], ["[]", "[1]", "[1,0]"]),
    ({"type": "array", "contains": {"const": 1}, "maxContains": 2}, ["[1,0,1]", "[1]"], ["[1,1,0,1]", "[]"]),
    ({"type": "array", "contains": INT, "minContains": 0, "maxContains": 1}, ["[]", '["a",1]'], ['[1,"a",1]']),
    ({"type": "array", "contains": INT, "minContains": 0, "maxContains": 0}, ["[]", '["a"]'], ["[1]"]),
    (
        {"type": "array", "contains": True, "minContains": 2, "maxContains": 3},
        ["[1,1]", "[1,1,1]"],
        ["[1]", "[1,1,1,1]"],
    ),
    (
        {"type": "array", "not": {"contains": INT, "minContains": 2, "maxContains": 3}},
        ["[]", '[1,"a"]', '[1,1,"a",1,1]'],
        ['[1,"a",1]', "[1,1,1]"],
    ),
    (
        {"type": "array", "allOf": [{"contains": INT, "minContains": 2}, {"contains": {"const": 1}, "maxContains": 1}]},
        ["[1,2]", "[2,1,3]"],
        ["[1]", "[1,1]", "[2,2]", '[1,"a"]'],
    ),
    (
        {"type": "array", "prefixItems": [INT], "contains": INT, "minContains": 2, "maxItems": 3, "minItems": 3},
        ['[1,"a",2]'],
        ["[1,2]", '[1,"a","b"]', '["a",1,2]'],
    ),
    ({"type": "array", "not": {"items": INT}}, ['["a"]', "[1,null]"], ["[]", "[1]"]),
    ({"type": "array", "not": {"prefixItems": [INT, INT]}}, ['["a"]', '[1,"a"]'], ["[]", "[1]", "[1,2]"]),
    ({"type": "array", "not": {"contains": INT}}, ["[]", '["a"]'], ["[1]", '["a",1]']),
    ({"type": "array", "not": {"minItems": 2}}, ["[]", "[1]"], ["[1,2]"]),
    ({"type": "array", "uniqueItems": False}, ["[1,1]"], []),
    ({"type": "array", "uniqueItems": True, "maxItems": 1}, ["[]", "[1]"], ["[1,1]"]),
    (
        {"type": "array", "allOf": [{"items": {"minimum": 2}}, {"prefixItems": [INT]}]},
        ["[]", '[2,"a"]', "[3,2.5]"],
        ["[1]", "[2.5]", "[2,1]"],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def test_large_bounds_are_counted_not_unrolled() -> None:
    from tests.reference.json_schema.lower import lower_schema

    schema = {"type": "array", "items": INT, "minItems": 2, "maxItems": 1_000_000}
    assert len(lower_schema(schema).rules) < 5
    grammar = compiled(schema)
    assert accepts(grammar, json.dumps(list(range(1_000))))
    assert not accepts(grammar, "[1]")


def test_ways_to_meet_several_contains_are_counted() -> None:
    from tests.reference.json_schema.lower import lower_schema

    some = [{"contains": {"type": ["string", "null"], "minLength": i}, "maxContains": 3} for i in range(4)]
    schema: Schema = {"type": "array", "maxItems": 10, "allOf": some}
    lower_schema(schema, limits=Limits(max_rules=2_000_000))
    with pytest.raises(LimitExceeded, match="max_rules"):
        lower_schema(schema, limits=Limits(max_rules=200_000))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "allOf": [{"contains": {"const": i}} for i in range(60)]},
        {"type": "object", "allOf": [{"not": {"additionalProperties": {"maxLength": i}}} for i in range(60)]},
    ],
)
def test_ways_are_paid_for_before_there_are_any(schema: Schema) -> None:
    """There would be 2**60 of them."""
    with pytest.raises(GrammarError, match="schema-too-many-alternatives"):
        compiled(schema)
