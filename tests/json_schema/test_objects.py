"""properties, required, additionalProperties and what else is about keys."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import Schema, accepts, check, compiled, is_valid, vocabulary

AB = {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "type": "object"}
CLOSED = {**AB, "additionalProperties": False}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (
        AB,
        ["{}", '{"a":1}', '{"b":"x"}', '{"a":1,"b":"x"}', '{"c":null}', '{"a":1,"c":[],"d":{}}'],
        ['{"a":"x"}', '{"b":1}', "[]"],
    ),
    (CLOSED, ["{}", '{"a":1}', '{"b":"x"}', '{"a":1,"b":"x"}'], ['{"c":1}', '{"a":1,"c":1}', '{"a":"x"}']),
    ({**CLOSED, "required": ["b"]}, ['{"b":"x"}', '{"a":1,"b":"x"}'], ["{}", '{"a":1}']),
    ({**AB, "required": ["c"]}, ['{"c":1}', '{"a":1,"c":null}', '{"b":"","c":1,"d":2}'], ["{}", '{"a":1}', '{"d":1}']),
    (
        {"required": ["a"], "additionalProperties": {"type": "integer"}},
        ['{"a":1}', '{"a":1,"b":2}', "3"],
        ['{"a":"x"}', '{"a":1,"b":"x"}', "{}"],
    ),
    (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        ["{}", '{"x":1,"y":2}'],
        ['{"x":"1"}', '{"x":1,"y":null}'],
    ),
    ({"type": "object", "properties": {"a": False}}, ["{}", '{"b":1}'], ['{"a":1}', '{"b":1,"a":2}']),
    (
        {**CLOSED, "properties": {"a": {"minimum": 3, "maximum": 2, "type": "integer"}, "b": True}},
        ["{}", '{"b":1}'],
        ['{"a":2}'],
    ),
    (
        {"type": "object", "properties": {"": {"const": 1}, 'a"b\n': {"const": 2}}},
        [r'{"":1,"a\"b\n":2}'],
        ['{"":2}', r'{"a\"b\n":1}'],
    ),
    (
        {"type": "object", "patternProperties": {"^i": {"type": "integer"}}},
        ["{}", '{"i":1,"x":"y"}', '{"id":2}'],
        ['{"i":"x"}', '{"x":1,"id":null}'],
    ),
    (
        {"type": "object", "patternProperties": {"^i": {"type": "integer"}}, "additionalProperties": False},
        ["{}", '{"i":1,"ii":2}'],
        ['{"x":1}', '{"i":null}'],
    ),
    (
        {"type": "object", "properties": {"id": {"minimum": 3}}, "patternProperties": {"^i": {"type": "integer"}}},
        ['{"id":3}', '{"id":4,"ix":1}'],
        ['{"id":2}', '{"id":"x"}'],
    ),
    (
        {
            "type": "object",
            "patternProperties": {"a": {"minimum": 2}, "b": {"maximum": 4}},
            "additionalProperties": {"type": "string"},
        },
        ['{"ab":3}', '{"a":9,"b":0}', '{"c":"x"}', '{"ab":"x"}'],
        ['{"ab":1}', '{"ab":5}', '{"c":1}'],
    ),
    (
        {
            "type": "object",
            "patternProperties": {"^(a|b)$": {"type": "integer"}},
            "properties": {"a": True, "b": True},
            "additionalProperties": False,
        },
        ['{"a":1,"b":2}', "{}"],
        ['{"c":1}', '{"a":null}'],
    ),
    (
        {"type": "object", "propertyNames": {"pattern": "^[a-z]{1,3}$"}},
        ["{}", '{"a":1,"abc":2}'],
        ['{"A":1}', '{"abcd":1}', '{"":0}'],
    ),
    ({**AB, "propertyNames": {"enum": ["a", "x"]}}, ["{}", '{"a":1,"x":2}'], ['{"b":"x"}', '{"y":1}']),
    ({"propertyNames": False}, ["{}", "1"], ['{"a":1}']),
    ({**CLOSED, "minProperties": 1}, ['{"a":1}', '{"b":""}', '{"a":1,"b":""}'], ["{}"]),
    ({**CLOSED, "minProperties": 2}, ['{"a":1,"b":""}'], ["{}", '{"a":1}', '{"b":""}']),
    ({**CLOSED, "maxProperties": 1}, ["{}", '{"a":1}', '{"b":""}'], ['{"a":1,"b":""}']),
    ({"type": "object", "minProperties": 1}, ['{"x":1}', '{"x":1,"y":2}'], ["{}"]),
    ({"type": "object", "maxProperties": 2}, ["{}", '{"x":1}', '{"x":1,"y":2}'], ['{"x":1,"y":2,"z":3}']),
    (
        {**AB, "maxProperties": 2},
        ["{}", '{"a":1,"x":1}', '{"a":1,"b":""}'],
        ['{"a":1,"b":"","x":1}', '{"a":1,"x":1,"y":2}'],
    ),
    ({**AB, "required": ["a"], "minProperties": 2}, ['{"a":1,"b":""}', '{"a":1,"x":0}'], ['{"a":1}', '{"b":"","x":1}']),
    ({**CLOSED, "dependentRequired": {"a": ["b"]}}, ["{}", '{"b":""}', '{"a":1,"b":""}'], ['{"a":1}']),
    (
        {"$schema": DRAFT_7, **CLOSED, "dependencies": {"a": ["b"], "b": {"minProperties": 2}}},
        ["{}", '{"a":1,"b":""}'],
        ['{"a":1}', '{"b":""}'],
    ),
    (
        {**AB, "dependentSchemas": {"a": {"properties": {"b": {"const": "x"}}}}},
        ['{"b":"y"}', '{"a":1,"b":"x"}', '{"a":1}'],
        ['{"a":1,"b":"y"}'],
    ),
    ({**AB, "unevaluatedProperties": False}, ['{"a":1}'], ['{"c":1}']),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def test_properties_come_in_the_order_of_the_schema_and_others_after_them() -> None:
    grammar = compiled({**AB, "required": ["z"]})
    assert accepts(grammar, '{"a":1,"b":"x","z":0,"y":0}')
    assert not accepts(grammar, '{"b":"x","a":1,"z":0}')
    assert not accepts(grammar, '{"z":0,"a":1}')
    assert not accepts(grammar, '{"y":0,"z":0}')


def test_orders_are_merged_from_left_to_right() -> None:
    grammar = compiled(
        {
            "allOf": [{"properties": {"a": True, "b": True}}, {"properties": {"c": True, "a": True}}],
            "anyOf": [{"required": ["d"]}, {"required": ["b"]}],
            "properties": {"d": True},
        }
    )
    assert accepts(grammar, '{"a":1,"b":2,"c":3,"d":4}')
    assert not accepts(grammar, '{"d":4,"b":2}')


def test_a_named_key_is_never_written_twice_however_it_is_spelled() -> None:
    grammar = compiled(AB)
    assert not accepts(grammar, '{"a":1,"a":"x"}')
    assert not accepts(grammar, r'{"a":1,"\u0061":"x"}')
    assert accepts(grammar, r'{"a":1,"\u0062\u0062":"x"}')


def test_many_optional_properties_take_one_rule_each() -> None:
    from tests.reference.json_schema.lower import lower_schema

    for count in (50, 100):
        schema = {"type": "object", "properties": {f"p{i}": {"type": "integer"} for i in range(count)}}
        assert len(lower_schema(schema).rules) <= 2 * count + 8


def patterned(patterns: list[str], **others: Any) -> dict[str, Any]:
    """An object whose keys match the patterns, each of which has a number of its own as value."""
    return {"type": "object", "patternProperties": {p: {"const": i} for i, p in enumerate(patterns)}, **others}


def test_many_patterns_that_are_apart() -> None:
    closed = compiled(patterned([f"^p{i}_" for i in range(1000)], additionalProperties=False))
    for text, is_taken in {
        '{"p7_":7}': True,
        '{"p999_x":999,"p0_":0}': True,
        '{"p7_":8}': False,
        '{"q":1}': False,
    }.items():
        assert accepts(closed, text) == is_taken, text
    open_ = compiled(patterned([f"^p{i}$" for i in range(1000)]))
    for text, is_taken in {'{"p7":7}': True, '{"p7x":8,"q":[]}': True, '{"p7":8}': False}.items():
        assert accepts(open_, text) == is_taken, text


@pytest.mark.parametrize(
    "schema",
    [
        patterned([f"p{i}_" for i in range(40)]),
        patterned(["^" + "a" * i for i in range(1, 400)]),
        {"allOf": [patterned([f"^p{i}_" for i in range(100)]), patterned([f"_q{i}$" for i in range(100)])]},
    ],
)
def test_too_many_patterns_that_overlap_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises((cfgmask.GrammarError, cfgmask.LimitExceeded)):
        compiled(schema)


ENDLESS = {"$ref": "#/$defs/endless"}
DEFS = {"$defs": {"endless": {"type": "object", "properties": {"x": ENDLESS}, "required": ["x"]}}}


@st.composite
def objects_with_dead_members(draw: st.DrawFn) -> dict[str, Any]:
    """Objects some of whose members have values that never end, beside null."""
    held = st.sampled_from([{"const": 1}, {"const": 1}, ENDLESS, False])
    names = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True))
    objects: dict[str, Any] = {
        "type": "object",
        "properties": {name: draw(held) for name in names},
        "required": draw(st.lists(st.sampled_from(names), max_size=1)),
        "minProperties": draw(st.integers(0, 3)),
        "additionalProperties": draw(held),
    }
    if draw(st.booleans()):
        objects["patternProperties"] = {draw(st.sampled_from(["^[de]$", "^x", "^[a-e]$"])): draw(held)}
    if draw(st.booleans()):
        objects["additionalProperties"] = False
    whole: dict[str, Any] = {"anyOf": [objects, {"type": "null"}]}
    return {"type": "array", "items": whole, "uniqueItems": True, **DEFS} if draw(st.booleans()) else {**whole, **DEFS}


# One key has a value, and two are needed.
TOO_FEW = {"properties": {"a": {"const": 1}, "b": ENDLESS, "c": ENDLESS}, "minProperties": 2, "type": "object"}
TOO_FEW |= {"additionalProperties": False}


@pytest.mark.parametrize("order", ["schema", "any"])
@given(objects_with_dead_members(), st.integers(0, 2**32))
@example({"anyOf": [TOO_FEW, {"type": "null"}], **DEFS}, 1)
@example({"type": "array", "items": {"anyOf": [TOO_FEW, {"type": "null"}]}, "uniqueItems": True, **DEFS}, 1)
@example({"type": "array", "items": TOO_FEW, "uniqueItems": True, **DEFS}, 1)
def test_no_object_is_begun_that_cannot_end(order: str, schema: dict[str, Any], seed: int) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact")
    except cfgmask.GrammarError:
        return
    rng = random.Random(seed)
    matcher = cfgmask.compile(grammar, vocabulary(), cfgmask.Limits(max_search_steps=10_000)).matcher()
    for _ in range(25):
        try:
            assert matcher.completion() is not None
        except cfgmask.LimitExceeded:
            return  # it searched for too long
        allowed = [byte for byte in range(256) if matcher.try_advance([byte], consume=False)]
        assert allowed or matcher.is_accepting
        if not allowed:
            break
        plain = [byte for byte in allowed if chr(byte) in '{}[]",:abcdex1n']
        matcher.advance(rng.choice([byte for byte in plain if chr(byte) == "{"] or plain or allowed))


_ENDLESS = {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}
_NEVER = [{"$ref": "#/$defs/endless"}, {"allOf": [{"type": "integer"}, {"type": "string"}]}, False]
_FEW_KEYS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "patternProperties": st.dictionaries(
            st.sampled_from(["^[ab]$", "^[bc]$", "^d$", "^a", "^[^abc]*$"]),
            st.sampled_from([{"type": "null"}, True, {"const": 1}, *_NEVER]),
            max_size=2,
        ),
        "additionalProperties": st.sampled_from([{"type": "null"}, True, *_NEVER]),
        "minProperties": st.integers(1, 4),
        "$defs": st.just({"endless": _ENDLESS}),
    },
    optional={
        "properties": st.dictionaries(st.sampled_from("abcd"), st.sampled_from([True, *_NEVER]), max_size=2),
        "required": st.sampled_from([["a"], ["d"]]),
        "maxProperties": st.integers(1, 4),
        "propertyNames": st.sampled_from([{"enum": ["a", "b", "c"]}, {"maxLength": 1}, {"pattern": "^[a-c]$"}]),
    },
)


@given(_FEW_KEYS, st.sampled_from(["schema", "any"]))
def test_as_many_keys_as_there_are(schema: dict[str, Any], order: str) -> None:
    """Where keys without names run out, or their values are none, all objects with enough keys are there, no others,
    and what is begun can be ended.
    """
    names = ["a", "b", "c", "d", "zz"]
    objects = [dict.fromkeys(some) for n in range(len(names)) for some in combinations(names, n)]
    valid = [value for value in objects if is_valid(schema, json.dumps(value))]
    codes: set[str] = set()
    try:
        ir = cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact")
    except cfgmask.GrammarError as error:
        codes = {problem.code for problem in error.diagnostics}
    if codes:
        assert codes == {"schema-unsatisfiable"}
        assert not valid
        return
    grammar = cfgmask.compile(ir, vocabulary(), limits=cfgmask.Limits(max_search_steps=2_000))
    assert [value for value in objects if accepts_in_some_order(grammar, value)] == valid
    matcher, pending = grammar.matcher(), [b"{"]
    while pending:
        begun = pending.pop()
        members = [(b"," if len(begun) > 1 else b"") + b'"%b":null' % name.encode() for name in names]
        longer = [begun + member for member in members]
        matcher.reset()
        assert matcher.advance_bytes(begun) == len(begun)
        with suppress(cfgmask.LimitExceeded):  # where there are endlessly many keys
            assert matcher.completion() is not None, begun
        for text in longer:
            matcher.reset()
            if text.count(b":") < 4 and matcher.advance_bytes(text) == len(text):
                pending.append(text)


def test_all_keys_but_one_of_a_pattern_must_come() -> None:
    schema = {"type": "object", "patternProperties": {"^[a-j][k-p]?$": {"type": "null"}}, "additionalProperties": False}
    grammar = compiled({**schema, "minProperties": 69})
    keys = [first + second for first in "abcdefghij" for second in ("", *"klmnop")]
    for n, is_enough in ((68, False), (69, True), (70, True)):
        assert accepts(grammar, json.dumps(dict.fromkeys(keys[:n]))) == is_enough
    matcher = grammar.matcher()
    begun = json.dumps(dict.fromkeys(keys[1:]))[:-1].encode()
    assert matcher.advance_bytes(begun) == len(begun)
    assert matcher.advance_bytes(b', "a": null}') == 12
    matcher.reset()
    matcher.advance_bytes(begun)
    assert matcher.advance_bytes(b', "ak') == 4  # which was written
