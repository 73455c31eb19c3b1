"""Layouts other than the default, which the core writes by itself, against the reference."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.general import general_rules
from tests.json_schema.judge import accepts, compiled, vocabulary
from tests.json_schema.random_schemas import SCHEMAS
from tests.json_schema.test_against_reference import SAMPLES, walk_both

LAYOUTS: list[dict[str, Any]] = [
    {"escapes": "canonical"},
    {"indent": 2},
    {"indent": 0, "escapes": "canonical", "numbers": "any"},
    {"property_order": "any"},
    {"property_order": "any", "escapes": "canonical", "whitespace": "compact"},
]
# Keys that must hold something may run out in some order.
NOT_IN_ANY_ORDER = {"objects with wrong values at several keys", "closed objects of which one fits"}


def is_refused(grammar: cfgmask.Grammar) -> bool:
    """True if the reference rejects, in any order, a schema that the core enforces."""
    try:
        return not general_rules(grammar)
    except cfgmask.GrammarError as error:
        return {problem.code for problem in error.diagnostics} == {"schema-any-order"}


def same_masks(schema: Any, options: dict[str, Any], seeds: range) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    assert grammar.lazy is not None
    if is_refused(grammar):
        return
    for seed in seeds:
        walk_both(grammar, seed)


@pytest.mark.parametrize("options", LAYOUTS, ids=repr)
@pytest.mark.parametrize("name", SAMPLES)
def test_same_masks(name: str, options: dict[str, Any]) -> None:
    if "property_order" in options and name in NOT_IN_ANY_ORDER:
        with pytest.raises(cfgmask.GrammarError, match="schema-any-order"):
            cfgmask.Grammar.from_json_schema(SAMPLES[name], **options)
    else:
        same_masks(SAMPLES[name], options, range(5))


@given(SCHEMAS, st.sampled_from(LAYOUTS), st.integers(0, 2**32))
def test_layouts_do_not_matter_to_what_is_read(schema: Any, options: dict[str, Any], seed: int) -> None:
    try:
        usual = cfgmask.Grammar.from_json_schema(schema)
    except (cfgmask.GrammarError, cfgmask.LimitExceeded):
        return
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    except cfgmask.GrammarError:
        assert "property_order" in options
        return
    if "property_order" not in options or usual.lazy is None:
        assert (grammar.lazy is None) == (usual.lazy is None)
    if grammar.lazy is not None and not is_refused(grammar):
        walk_both(grammar, seed)


# Strings in all the ways in which a schema can say them, each with one that may be written with escapes.
_STRINGS: list[tuple[Any, str]] = [
    ({"type": "string"}, "a/é\n"),
    ({"type": "string", "maxLength": 4, "pattern": "/"}, "/é"),
    ({"const": "a/b"}, "a/b"),
    ({"enum": ["a", "b/", "é"]}, "é"),
    ({"enum": [f"{i}/" for i in range(100)]}, "7/"),
    ({"type": "string", "format": "uri"}, "http://a/b"),
    ({"type": "string", "pattern": "^(?!b)./$"}, "a/"),
    ({"anyOf": [{"type": "string", "pattern": f"^{c}/[0-9]+$"} for c in "abcdefgh"]}, "d/12"),
]


@pytest.mark.parametrize(("schema", "text"), _STRINGS, ids=repr)
def test_canonical_strings(schema: Any, text: str) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, escapes="canonical")
    assert grammar.lazy is not None
    canonical = compiled(schema, escapes="canonical")
    assert accepts(canonical, json.dumps(text, ensure_ascii=False))
    escaped = json.dumps(text, ensure_ascii=False).replace("/", "\\/").replace("é", "\\u00e9")
    assert not accepts(canonical, escaped)
    assert accepts(compiled(schema), escaped)


_KEYS: list[Any] = [
    {"type": "object"},
    {"properties": {"a/": {}}, "additionalProperties": False, "type": "object"},
    {"properties": {"a/": {}, "b": {}, "é/": {}}, "required": ["a/"], "type": "object"},
    {"properties": {f"{i}/": {} for i in range(100)} | {"a/": {}}, "type": "object"},
    {"patternProperties": {"/$": {}}, "additionalProperties": False, "type": "object"},
    {"const": {"a/": 1}},
    {"anyOf": [{"type": "object", "properties": {f"{i}/": {"const": i}, "a/": {}}} for i in range(80)]},
]


@pytest.mark.parametrize("schema", _KEYS, ids=lambda schema: repr(schema)[:60])
def test_canonical_keys(schema: Any) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, escapes="canonical")
    assert grammar.lazy is not None
    canonical = compiled(schema, escapes="canonical")
    assert accepts(canonical, '{"a/":1}')
    assert not accepts(canonical, '{"a\\/":1}')
    assert accepts(compiled(schema), '{"a\\/":1}')


# Values of which some are nested too deep where only one or two more brackets may be opened.
_NESTED = {"type": "object", "properties": {"a": {"type": "array", "items": {"const": 1}}}, "required": ["a"]}
DEEP: dict[str, Any] = {
    "any value": {},
    "objects with a required member": _NESTED,
    "optional members of several depths": {
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"type": "array"}, "c": _NESTED, "d": {"const": {"x": [{}]}}},
        "additionalProperties": _NESTED,
    },
    "arrays that need deep items": {"type": "array", "prefixItems": [{"const": 1}, _NESTED], "minItems": 1},
    "arrays that must contain something deep": {"type": "array", "contains": {"type": "array", "minItems": 1}},
    "objects that need keys": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": _NESTED},
        "patternProperties": {"^x": {"type": "array"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "objects with a wrong value": {
        "type": "object",
        "properties": {"a": {"type": ["array", "null"]}},
        "not": {"additionalProperties": {"type": ["null", "string"]}},
    },
    "few of many keys": {
        "type": "object",
        "properties": {"a": _NESTED, "b": {}},
        "required": ["b"],
        "maxProperties": 1,
    },
    "items that differ": {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True},
    "many objects": {
        "anyOf": [
            {"type": "object", "properties": {f"k{i}": {"const": [i]}, "a": _NESTED}, "required": [f"k{i}"][: i % 2]}
            for i in range(12)
        ]
    },
    "many arrays": {"anyOf": [{"type": "array", "prefixItems": [{"const": i}, {"const": [[i]]}]} for i in range(12)]},
    "very many objects and arrays": {
        "anyOf": [
            *({"type": "object", "properties": {f"k{i}": {"const": 1}, "a": {}}, "required": ["a"]} for i in range(70)),
            *({"type": "array", "prefixItems": [{"enum": [f"k{i}", "a"]}, {"const": [i]}]} for i in range(70)),
        ],
    },
}


@pytest.mark.parametrize("depth", [28, 29, 30, 31, 32])
@pytest.mark.parametrize("schema", DEEP.values(), ids=DEEP)
def test_near_the_greatest_depth(schema: Any, depth: int) -> None:
    whole = {
        "$ref": "#/$defs/whole",
        "$defs": {
            "whole": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/whole"}}, {"const": 1}, schema]},
        },
    }
    grammar = cfgmask.Grammar.from_json_schema(whole, indent=1)
    assert grammar.lazy is not None
    before = "".join(f"[\n{' ' * (i + 1)}" for i in range(depth))
    for seed in range(3):
        walk_both(grammar, seed, after=before.encode())


def test_values_that_are_all_too_deep() -> None:
    schema: Any = {"const": 1}
    for _ in range(32):
        schema = {"type": "array", "items": schema, "minItems": 1}
    same_masks(schema, {"indent": 0}, range(1))
    with pytest.raises(cfgmask.GrammarError, match="schema-indent-depth"):
        cfgmask.Grammar.from_json_schema({"type": "array", "items": schema, "minItems": 1}, indent=0)
    # But for one of its alternatives.
    same_masks({"anyOf": [{"type": "array", "items": schema, "minItems": 1}, {"const": [1]}]}, {"indent": 0}, range(2))


@pytest.mark.parametrize("key", ["b", "(?<=a)b"], ids=["plain", "general"])
def test_sets_of_two_schemas(key: str) -> None:
    """That an object has one key at most says nothing of the items of an array elsewhere."""
    one = {"type": "object", "patternProperties": {key: {}}, "required": ["a"], "maxProperties": 1}
    other = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 2]}}
    elements = [{"type": "json_schema", "json_schema": one, "any_order": True}]
    elements.append({"type": "json_schema", "json_schema": other})
    tag = {"type": "structural_tag", "format": {"type": "or", "elements": elements}}
    grammar = cfgmask.compile(cfgmask.Grammar.from_structural_tag(tag), vocabulary())
    assert all(accepts(grammar, text) for text in ("[]", "[1]", "[2,1]", '{"a":null}'))
    assert not any(accepts(grammar, text) for text in ("[1,1]", "{}", '{"b":1}', '{"a":null,"b":1}'))
