"""uniqueItems: scalars, arrays and objects are told apart by value; whatever cannot be is refused."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.json_schema import yaml_judge
from tests.json_schema.judge import accepts, compiled, is_valid

STRINGS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
ANY_SCALAR = {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}, "uniqueItems": True}
LETTERS = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True}
FEW = {"type": "array", "items": {"enum": [{"a": 1}, [1, 2], "x", {}]}, "uniqueItems": True}


ANY = {"uniqueItems": True}
WITH_STEPS = {"type": "array", "prefixItems": [{"const": {}}], "uniqueItems": True}
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
ODD = {"type": "integer", "minimum": 0, "maximum": 10**9, "not": {"multipleOf": 2}}
UNCOUNTED = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"type": "string"}, ODD]}},
    "additionalProperties": False,
}
SMALL = {"type": "object", "maxProperties": 2}
NOTHING = {"type": "string", "pattern": "^a$", "minLength": 3}
ID = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TREE = {
    "$id": "tree",
    "type": "object",
    "properties": {"of": {"items": {"$ref": "tree"}, "type": "array"}},
    "required": ["of"],
    "additionalProperties": False,
}
LIST = {
    "$id": "list",
    "type": "object",
    "properties": {"next": {"anyOf": [{"type": "null"}, {"$ref": "list"}]}},
    "required": ["next"],
    "additionalProperties": False,
}
PERSON = {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}, "required": ["id"]}
AB = {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}
ONE = {"type": "array", "items": {"enum": [0, 1]}, "maxItems": 2, "contains": {"const": 1}}
FLAGS = {"type": "object", "patternProperties": {"^p[ab]$": {"const": True}}, "additionalProperties": False}
ACTIONS = {"type": "array", "items": {"enum": [str(i) for i in range(40)]}, "uniqueItems": True}
POINT = {
    "type": "object",
    "properties": {"x": {"enum": ["left", "right"]}, "y": {"type": "boolean"}},
    "required": ["x", "y"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        (STRINGS, '["a", "b"]', ""),
        (STRINGS, '["a", "a', '"]'),
        (STRINGS, r'["a", "\u0061', '"]'),
        (ANY_SCALAR, '["1", 1, true, "true", null, 0, false]', ""),
        (ANY_SCALAR, "[1, 1.0", "]"),
        (ANY_SCALAR, "[0, -0", "]"),
        (ANY_SCALAR, "[1.5, 1.50", "]"),
        (ANY_SCALAR, "[10, 1", "e1]"),
        (LETTERS, '["a", "c", "b"]', ""),
        (LETTERS, '["a", "c", "b"', ', "a"]'),
        ({**LETTERS, "minItems": 3}, '["a", "c", "b"]', ""),
        ({**STRINGS, "contains": {"const": "x"}}, '["a", "x", "b"]', ""),
        ({**STRINGS, "contains": {"const": "x"}}, '["x", "x', '"]'),
        ({**STRINGS, "maxItems": 1}, '["x"]', ""),
        ({"items": STRINGS}, '[["a", "b"], ["a", "b"]]', ""),
        (FEW, '[{"a": 1}, "x", [1, 2], {}]', ""),
        (FEW, '[{"a": 1}, "x", {', '"a": 1.0}]'),
        (FEW, "[[1, 2], ", "[1, 2]]"),
        ({**FEW, "minItems": 2}, '[{"a": 1}', "]"),
        ({"type": "array", "items": {"enum": [[1], [True]]}, "uniqueItems": True}, "[[1], [true]", ", [1]]"),
        (ANY, '[[], {}, [[]], [{}], [[], []], {"": {}}]', ""),
        (ANY, '[[1, {"a": [], "b": 0}], [1, {"b": 0.0, "a": []}', "]]"),
        (ANY, '[[1, {"a": [], "b": 0}], [1, {"b": 0.0, "a": []}, 2]]', ""),
        (ANY, '[{"a": 1}, {"a": 1', "}]"),
        (ANY, r'[{"a": "b"}, {"\u0061": "\u0062"', "}]"),
        (ANY, '[{"a": 1, "a', '": 2}]'),
        (ANY, '["[]", [], "{}", {}]', ""),
        (ANY, "[[true], [1], [null], [null", "]]"),
        (ANY, '{"x": [{}], "y": [{}, {}]}', ""),
        ({"items": ANY}, "[[{}], [{}], [[{}], [{}, 1]]]", ""),
        ({**ANY, "items": ANY}, "[[{}], [{}, 1], [{}", "]]"),
        ({**ANY, "minItems": 2, "items": {"type": "object"}}, '[{}, {"a": 0}]', ""),
        ({**ANY, "items": CLOSED}, '[{}, {"a": "b"}, {"a": "c"}]', ""),
        ({**ANY, "items": CLOSED}, '[{}, {"a": "b"}, {', "}]"),
        ({**ANY, "items": CLOSED}, r'[{"a": "b"}, {"a": "\u0062', '"}]'),
        ({**ANY, "items": {**CLOSED, "properties": {"a": {"enum": [1, 2]}}}}, '[{"a": 1.0}, {}, {"a": ', "1}]"),
        ({**ANY, "items": {**PERSON, "additionalProperties": False}}, '[{"id": 1}, {"id": 1, ', "}]"),
        ({**ANY, "items": {**ID, "additionalProperties": False}}, '[{"id": 1}, {"id": 1', "}]"),
        ({**ANY, "items": {**ID, "additionalProperties": False}}, '[{"id": 1}, {"id": 10}, {"id": 11}]', ""),
        ({**ANY, "items": {"maxItems": 1}}, '[[[]], [[[]]], [{}], [], [1], {}, {"a": []}, {"a": [1]}]', ""),
        ({**ANY, "items": {"maxItems": 1}}, '[[{"a": 1, "b": 2}], [{"b": 2, "a": 1', "}]]"),
        ({**ANY, "items": {"type": "array", "prefixItems": [{}, NOTHING]}}, "[[], [1], [2], [", "]]"),
        ({**ANY, "items": {"items": False}}, '[[], {}, {"a": []}, ', "[]]"),
        (
            {**ANY, "items": {"anyOf": [{"type": "array"}, {"const": {"a": 1}}]}},
            '[{"a": 1}, [], [{}], [[]], [[], []]]',
            "",
        ),
        ({**ANY, "items": {"anyOf": [{"type": "array"}, {"const": {"a": 1}}]}}, '[{"a": 1}, ', '{"a": 1}]'),
        ({"items": {"enum": [[i] for i in range(9)]}, "uniqueItems": True}, "[[8], [0], [", "8]]"),
        ({"items": {"enum": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, "uniqueItems": True}, '[{"a": 1, "b": 2}', ', {"'),
        ({"items": {"enum": [[1]]}, "maxItems": 65, "uniqueItems": True}, "[[1]", ", "),
        ({**ANY, "items": TREE}, '[{"of": []}, {"of": [{"of": []}]}, {"of": [{"of": [{"of": []}]}, {"of": []}]}]', ""),
        ({**ANY, "items": TREE}, '[{"of": [{"of": []}]}, {"of": [{"of": []}', "]}]"),
        ({**ANY, "items": LIST}, '[{"next": {"next": null}}, {"next": {"next": ', "null}}]"),
        ({**ANY, "items": {**CLOSED, "properties": {"a": STRINGS}}}, '[{"a": ["x", "y"]}, {"a": ["y", "x"]}]', ""),
        ({**ANY, "items": {**CLOSED, "properties": {"a": STRINGS}}}, '[{"a": ["x", "y"]}, {"a": ["x", "y"', "]}]"),
        (
            {**ANY, "items": {**CLOSED, "properties": {"a": {**ANY, "items": ID}}}},
            '[{"a": [{"id": 1}, {"id": 1',
            "}]}]",
        ),
        ({**ANY, "items": {**AB, "maxItems": 1}}, '[["a"], [], ["b"]', ", "),
        ({**ANY, "items": AB}, '[["a"], ["b"], ["a", "b"], ["b", "a"], []]', ""),
        ({**ANY, "items": AB}, '[["a"], ["b"], ["a", "b"], ["b", "a"], []', ", ["),
        ({**ANY, "items": AB}, '[["b"], ["b", "a"], ["', 'b"]'),
        ({**ANY, "items": {**AB, "contains": {"const": "b"}, "maxContains": 0, "minContains": 0}}, '[["a"], []', ", ["),
        ({**ANY, "items": {**AB, "contains": {"enum": ["a", "b"]}, "minContains": 3}}, "[]", ""),
        ({**ANY, "items": {**AB, "minItems": 3}}, "[]", ""),
        ({**ANY, "items": {**CLOSED, "properties": {"a": {**AB, "minItems": 1}}}}, '[{"a": ["a"]}, {"a": ["a"', "]}]"),
        ({**ANY, "items": {**CLOSED, "properties": {"a": ACTIONS}}}, '[{"a": ["1", "8"]}, {"a": ["8", "1"]}]', ""),
        ({**ANY, "items": {**CLOSED, "properties": {"a": ACTIONS}}}, '[{"a": ["1", "8", "1', '"]}]'),
        ({**ANY, "items": {**STRINGS, "maxItems": 2}}, r'[["a", "b"], ["b", "a"], ["a", "\u0062', '"]]'),
        ({**ANY, "items": {**STRINGS, "maxItems": 2}}, '[["a", "b"], ["b"], ["b"', "]]"),
        (
            {**ANY, "items": {**ANY, "type": "array", "items": POINT, "maxItems": 1}},
            '[[{"x": "left", "y": true}], [{"x": "left", "y": false}], [{"x": "',
            'left"',
        ),
        (
            {**ANY, "items": {**ANY, "type": "array", "items": POINT}},
            '[[{"x": "left", "y": true}, {"x": "left", "y": false}, {"x": "',
            'left"',
        ),
        ({**ANY, "items": {**FLAGS, "minProperties": 3}}, "[]", ""),
        ({**ANY, "items": PERSON}, '[{"id": 1}, {"id": 1, "name": "x"}, {"id": 1, "x": 1}]', ""),
        ({**ANY, "items": PERSON}, '[{"id": 1}, {"id": 2}, {"id": 1', "}]"),
        ({"properties": {"x": STRINGS, "y": STRINGS}}, '{"x": ["a"], "y": ["a", "b"]}', ""),
        ({"anyOf": [STRINGS, {"type": "array", "maxItems": 2}]}, '["a", "a"]', ""),
        ({"anyOf": [STRINGS, {"type": "array", "maxItems": 2}]}, '["a", "a"', ', "b"]'),
    ],
)
def test_how_far_an_array_goes(schema: dict[str, Any], taken: str, refused: str) -> None:
    matcher = compiled(schema, numbers="any").matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


BIT = {"enum": [[], {}]}
NESTED = {"type": "array", "items": {"type": "object", "additionalProperties": False}, "maxItems": 1}
NUMBERS = {**ANY, "type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 63}}
TWO_OF_EACH = {
    **NUMBERS,
    "allOf": [{"contains": {"enum": [n for n in range(64) if n & 1 << i]}, "minContains": 2} for i in range(3)],
}
SHARING = [{"type": "object", "properties": {letter: {"type": "null"}}} for letter in "abcdefg"]


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({**ANY, "items": CLOSED, "prefixItems": [{"const": {"a": "b"}}]}, '[{"a": "b"}, {}, {"a": "c"}]', ""),
        ({**ANY, "items": CLOSED, "prefixItems": [{"const": {"a": "b"}}]}, '[{"a": "b"}, {"a": "b', '"}]'),
        ({**ANY, "items": {"enum": [[1], [2]]}, "prefixItems": [{"const": [1]}]}, "[[1], [", "1]]"),
        ({**ANY, "items": {"enum": [[1], [2]]}, "prefixItems": [{"const": [1]}]}, "[[1], [2]", ", "),
        ({**ANY, "prefixItems": [BIT, {"const": []}], "minItems": 2}, "[{}, []]", ""),
        ({**ANY, "prefixItems": [BIT, {"const": []}], "minItems": 2}, "[", "[]]"),
        ({**ANY, "prefixItems": [BIT, {"const": []}]}, "[[]", ", "),
        ({**STRINGS, "prefixItems": [{"enum": ["a", "b"]}, {"const": "a"}], "minItems": 2}, '["', 'a"]'),
        ({**STRINGS, "prefixItems": [{"enum": ["a", "b"]}, {"const": "a"}], "minItems": 2}, '["b", "a", "c"]', ""),
        ({**STRINGS, "contains": {"enum": ["x", "y"]}, "minContains": 2}, '["a", "y", "b", "x"]', ""),
        ({**STRINGS, "contains": {"enum": ["x", "y"]}, "minContains": 2}, '["a", "y", "b"', "]"),
        ({**STRINGS, "contains": {"enum": ["x", "y"]}, "minContains": 2, "maxItems": 3}, '["a", "y", "', 'b"]'),
        ({**LETTERS, "contains": {"enum": ["a", "b"]}, "maxContains": 1, "minItems": 2}, '["a", "', 'b"]'),
        ({**LETTERS, "contains": {"enum": ["a", "b"]}, "maxContains": 1, "minItems": 2}, '["a", "c"', ", "),
        ({**ANY, "contains": {"type": "object"}}, "[1, [], [[]]", "]"),
        ({**ANY, "contains": {"type": "object"}}, '[1, [], {}, {"a": 1}, [1]]', ""),
        ({**ANY, "contains": {"const": {"a": 1}}}, '[{"a": 2}, {"a": 1}, []]', ""),
        ({**ANY, "contains": {"const": {"a": 1}}}, '[{"a": 2}, [], {"a": 12}', "]"),
        ({**ANY, "contains": {"const": {"a": 1}}, "maxContains": 0, "minContains": 0}, '[{"a": 1', "}]"),
        ({**ANY, "contains": {"type": "object"}, "minContains": 2}, '[{}, 1, {"a": 1}, 2]', ""),
        ({**ANY, "contains": {"type": "object"}, "minContains": 2}, "[{}, 1", "]"),
        ({**ANY, "items": {"enum": [[1], "a"]}, "contains": {"const": "a"}}, '[[1], "a"', ", "),
        ({**ANY, "items": {"enum": [[1], "a"]}, "contains": {"const": "a"}}, "[[1]", "]"),
        ({**ANY, "items": POINT, "contains": {"required": ["x"], "properties": {"x": {"const": "left"}}},
          "maxContains": 1}, '[{"x": "left", "y": true}, {"x": "', 'left"'),
        ({**ANY, "items": POINT, "contains": {"properties": {"x": {"const": "left"}}}, "minContains": 2, "maxItems": 2},
         '[{"x": "left", "y": true}, {"x": "', 'right"'),
        ({**TWO_OF_EACH, "maxItems": 2}, "[31, 63]", ""),
        ({**TWO_OF_EACH, "maxItems": 2}, "[31, 6", "]"),
        ({**ANY, "items": {"type": "string"}, "prefixItems": [{"pattern": letter} for letter in "abcdefghij"]},
         '["a", "ab", "abc", "abcd", "abcde"]', ""),
    ],
)  # fmt: skip
def test_kinds_of_items(schema: dict[str, Any], taken: str, refused: str) -> None:
    matcher = compiled({"type": "array", **schema}).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


@pytest.mark.parametrize(
    "schema",
    [
        {**LETTERS, "minItems": 4},
        {**ANY, "items": {"enum": [[i] for i in range(9)]}, "minItems": 10},
        {**ANY, "items": {"enum": [[1], [2], "a"]}, "minItems": 4},
        {**STRINGS, "items": {"type": "string", "pattern": "^[ab]$"}, "minItems": 3},
        {**STRINGS, "prefixItems": [{"const": "a"}, {"const": "a"}], "minItems": 2},
        {**STRINGS, "contains": {"enum": ["x", "y"]}, "minContains": 3},
        {**LETTERS, "contains": {"enum": ["a", "b"]}, "maxContains": 1, "minItems": 3},
        {**ANY, "items": AB, "minItems": 6},
    ],
)
def test_there_are_too_few_items(schema: dict[str, Any]) -> None:
    with pytest.raises(cfgmask.GrammarError, match="no value satisfies"):
        compiled({"type": "array", **schema})


TEXT, LIST_OF = {"type": "string"}, {"$schema": "http://json-schema.org/draft-07/schema#"}


@pytest.mark.parametrize(
    "schema",
    [
        {"prefixItems": [TEXT]},
        {**LIST_OF, "items": [TEXT]},
        {**LIST_OF, "items": [TEXT, {}], "additionalItems": False},
        {**LIST_OF, "items": [{}, TEXT], "additionalItems": False},
        {"prefixItems": [TEXT], "items": {"type": ["string", "array"]}},
        {"prefixItems": [TEXT], "items": {"type": ["string", "object"]}},
        {"prefixItems": [{"type": ["string", "integer"]}], "items": {"type": ["object", "string"]}},
        {"prefixItems": [{"pattern": "^a", "type": "string"}], "items": {"type": ["string", "array"]}},
        {"prefixItems": [TEXT], "items": {"anyOf": [TEXT, {"type": "array", "maxItems": 1}]}},
        {"prefixItems": [TEXT], "items": {"type": ["string", "integer"]}},
    ],
)
@pytest.mark.parametrize("options", [{}, {"property_order": "any"}])
def test_strings_are_told_apart_wherever_they_stand(schema: dict[str, Any], options: dict[str, Any]) -> None:
    """First items that are strings without end, beside others that have more kinds of values."""
    whole = {**ANY, "type": "array", **schema}
    grammar = compiled(whole, **options)
    others = ['["a","b"]', '["a"]', '["a",[]]', '["a",1]', '["a","b",{"a":1}]', '["a","b",1]']
    for text in ['["a","a"]', r'["a","\u0061"]', r'["\u0061","a"]', '["a",1,"a"]', '["a","b","b"]', *others]:
        assert accepts(grammar, text) == is_valid(whole, text), text


NULL_OR_INTEGER = {"type": ["null", "integer"]}


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"prefixItems": [{"enum": ["a", "b"]}, {"const": "a"}], "contains": {"const": "b"}}, '["b"]', ""),
        ({"prefixItems": [{"enum": ["a", "b"]}, {"const": "a"}], "contains": {"const": "b"}}, '["', 'a"'),
        ({"prefixItems": [NULL_OR_INTEGER, {"type": "null"}], "contains": {"type": "integer"}}, "[1]", ""),
        ({"prefixItems": [NULL_OR_INTEGER, {"type": "null"}], "contains": {"type": "integer"}}, "[", "n"),
        ({"prefixItems": [{"type": "string"}, {"const": "a"}], "contains": {"const": "b"}}, '["a', '"'),
        ({"prefixItems": [{"type": "string"}, {"const": "a"}], "contains": {"const": "b"}}, '["c","a",["b"],"b"]', ""),
        ({"prefixItems": [{}, {"enum": [1, 2]}, {"enum": [1, 2]}], "contains": {"const": 3}}, "[1", ","),
        ({"prefixItems": [{}, {"enum": [1, 2]}, {"enum": [1, 2]}], "contains": {"const": 3}}, "[10,2,1,3]", ""),
        # Of what is not the second schema: an item behind the first, which is "a" or no string of one letter.
        ({"items": {"enum": ["a", "b"]}, "not": {"prefixItems": [{}], "items": {"const": "b"}}}, '["', 'a"'),
        ({"items": {"enum": ["a", "b"]}, "not": {"prefixItems": [{}], "items": {"const": "b"}}}, '["b","a"]', ""),
        # In an array without equal items that is itself an item of one.
    ],
)  # fmt: skip
def test_places_before_a_witness_are_filled(schema: dict[str, Any], taken: str, refused: str) -> None:
    """Nothing is begun behind which one of the first places has no value left, while something is still asked for."""
    matcher = compiled({**ANY, "type": "array", **schema}).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken)
    assert matcher.is_accepting == (not refused)
    way = matcher.completion()
    assert way is not None
    matcher.try_advance(way)
    assert matcher.is_accepting


def test_first_places_that_run_out_before_a_witness() -> None:
    with pytest.raises(cfgmask.GrammarError, match="no value satisfies"):
        compiled({**ANY, "type": "array", "prefixItems": [{"const": "a"}] * 2, "contains": {"const": "b"}})


NULL_OR_ENDLESS = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/endless"}]}


@pytest.mark.parametrize(
    "endless",
    [
        {"items": NULL_OR_ENDLESS, "minItems": 2},
        {"prefixItems": [NULL_OR_ENDLESS], "items": {**NULL_OR_ENDLESS, "title": "others"}, "minItems": 2},
        {"prefixItems": [{"type": ["null", "boolean"]}], "items": NULL_OR_ENDLESS, "minItems": 3},
        {"items": NULL_OR_ENDLESS, "contains": {"type": "array"}},
    ],
)
def test_of_few_scalars_some_item_must_be_another_such_array(endless: dict[str, Any]) -> None:
    """No array is begun that goes on in itself for ever."""
    of_endless = {"$defs": {"endless": {**ANY, "type": "array", **endless}}, "$ref": "#/$defs/endless"}
    if "title" in endless.get("items", ()):  # which is not looked at so closely
        with pytest.raises(cfgmask.GrammarError, match="uniqueItems cannot be enforced"):
            compiled(of_endless)
        return
    with pytest.raises(cfgmask.GrammarError, match="no value satisfies"):
        compiled(of_endless)
    around = {**of_endless, **ANY, "type": "array", "items": {"$ref": "#/$defs/endless"}}
    del around["$ref"]
    grammar = compiled(around, whitespace="compact")
    assert grammar.matcher().advance_bytes(b"[[") == 1
    assert accepts(grammar, "[]")


@pytest.mark.parametrize(
    "schema",
    [
        {**ANY, "items": {"propertyNames": {"pattern": "^a"}, "minProperties": 1_001, "maxProperties": 2_000}},
        {**ANY, "items": {**CLOSED, "properties": {"a": {**ANY, "type": "array", "prefixItems": SHARING}}}},
        {**ANY, "items": {**CLOSED, "properties": {"a": ODD}}},
        {**ANY, "items": {"type": "array", "maxItems": 1_002, "items": {"const": 1}}},
        {**TWO_OF_EACH, "minItems": 40},
        # Of arrays of a kind steps would be told apart, and any other rule writes the same arrays.
        {**ANY, "contains": WITH_STEPS},
        {**ANY, "prefixItems": [WITH_STEPS]},
        # Steps tell no items apart that hold `maxContains`, keys without names, or items counted by their kinds.
        {**ANY, "items": {**CLOSED, "properties": {"a": {"not": {"multipleOf": 2}}}}},
        {**ANY, "items": {"maxItems": 1, "items": {"type": "number", "not": {"type": "integer"}}, "type": "array"}},
        {**ANY, "items": ONE},
        {**ANY, "items": {**ONE, "maxContains": 1}},
        {**ANY, "items": {**AB, "prefixItems": [{"const": "b"}]}},
        {**ANY, "items": {**AB, "prefixItems": [{"enum": [1, "b"]}]}},
        {**ANY, "items": {**AB, "contains": {"const": "b"}}},
        {**ANY, "items": {**CLOSED, "properties": {"a": {**STRINGS, "contains": {"const": "x"}}}}},
        {**ANY, "items": SMALL},
        {**ANY, "items": {**SMALL, "minProperties": 2}},
        {**ANY, "items": FLAGS},
        {**ANY, "items": {**FLAGS, "properties": {"n": {"enum": [1]}}}},
        {**ANY, "prefixItems": [NESTED, {**NESTED, "minItems": 1, "contains": {"enum": [1, []]}}]},
        {**ANY, "type": "array", "items": {**ANY, "prefixItems": [{"const": "b"}, {"const": "b"}]}, "maxItems": 3},
        {**ANY, "type": "array", "items": {**ANY, "type": "array", "prefixItems": [{}, {"const": "b"}], "items": TEXT}},
    ],
)
def test_what_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        compiled(schema)
    assert {problem.code for problem in caught.value.diagnostics} == {"schema-unique-items"}


_PARTS = st.fixed_dictionaries(
    {"type": st.just("array"), "uniqueItems": st.booleans()},
    optional={
        "items": st.sampled_from([{"type": "string"}, {"type": ["string", "integer"]}, {"enum": [1, "a"]}]),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(1, 3),
    },
)
_COMBINATIONS = st.one_of(
    st.fixed_dictionaries({"oneOf": st.lists(_PARTS, min_size=2, max_size=3)}),
    st.builds(lambda part, hole: {**part, "uniqueItems": True, "not": hole}, _PARTS, _PARTS),
    st.builds(lambda part: {"type": "array", "not": {"type": "array", "not": part}}, _PARTS),
    st.builds(lambda part, then, other: {"if": part, "then": then, "else": other}, _PARTS, _PARTS, _PARTS),
)


@given(_COMBINATIONS, st.lists(st.lists(st.sampled_from([1, 2, "a", "b", "c"]), max_size=4), min_size=6, max_size=6))
def test_equal_items_that_may_not_be_are_not_asked_for(schema: dict[str, Any], values: list[list[Any]]) -> None:
    """Of `oneOf` with parts that forbid equal items, what one allows and another does not has none, either."""
    try:
        grammar = compiled(schema)
    except cfgmask.GrammarError as error:
        if {problem.code for problem in error.diagnostics} == {"schema-unsatisfiable"}:
            assert not any(is_valid(schema, json.dumps(value)) for value in values)
        return
    for value in values:
        assert accepts(grammar, json.dumps(value)) == is_valid(schema, json.dumps(value)), value


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{**STRINGS, "minItems": 1}, {**LETTERS, "maxItems": 2}]},
        {**STRINGS, "not": LETTERS},
        {"not": {"type": "array", "not": STRINGS}},
        {"if": STRINGS, "then": STRINGS, "else": {"maxItems": 1}},
    ],
)
def test_a_negation_that_meets_what_it_negates_is_enforced(schema: dict[str, Any]) -> None:
    compiled(schema)


ROWS = {"type": "array", "items": {"type": "array", "items": {"enum": [1, "a"]}, "maxItems": 2}, "maxItems": 2}


@pytest.mark.parametrize(
    ("items", "taken", "refused"),
    [
        (POINT, '- {"x": "right", "y": true}\n- {"x": "right", "y": false}\n- {"x": "left", "y": true}\n', ""),
        (POINT, '- {"x": "right", "y": true}\n- {"x": "right", "y": false}\n- {"x": "', 'right"'),
        (POINT, '- {"x": "right", "y": true}\n- {"x": "right", "y": ', "true"),
        (ROWS, "- [[1]]\n- [[1, 1]]\n- [[1], [1]]\n- []\n- [[]]\n", ""),
        (ROWS, '- [[1, "a"]]\n- [[1, "a"]', "]"),
        ({**CLOSED, "properties": {"a": {"type": "boolean"}}}, '- {}\n- {"a": false}\n- {"a": true}\n', "- {"),
        ({"type": ["array", "null"], "maxItems": 1, "items": {"type": "boolean"}}, "- null\n- []\n- [true]\n", ""),
        (TREE, '- {"of": []}\n- {"of": [{"of": []}]}\n- {"of": [{"of": [{"of": []}]}]}\n', ""),
        (TREE, '- {"of": []}\n- {"of": [', "]"),
        (LIST, '- {"next": null}\n- {"next": {"next": null}}\n- {"next": {"next": ', "null"),
        (PERSON, '- {"id": 1}\n- {"id": 1, "name": "x"}\n- {"id": 1', "}"),
        (PERSON, '- {"id": 1, "name": "x"}\n- {"id": 1, "name": "\\u0078"', "}"),
        ({}, '- a\n- ["a"]\n- ["a", {"a": {}}]\n- {"a": {}}\n- []\n- {}\n- {"a": []}\n- b\n', ""),
        ({}, '- [{"a": 1}]\n- [{"a": 1.0}', "]"),
        ({}, "- a\n- ab\n- a", "\n"),
        ({**CLOSED, "properties": {"a": STRINGS}}, '- {"a": ["x", "y"]}\n- {"a": ["y", "x"]}\n', ""),
        ({**CLOSED, "properties": {"a": STRINGS}}, '- {"a": ["x", "y"]}\n- {"a": ["x", "y"', "]"),
        (AB, '- ["b"]\n- []\n- ["a"]\n- ["b", "a"]\n- ["a"', "]"),
        (AB, '- ["b"]\n- []\n- ["a"]\n- ["b", "a"]\n- ["a", "b"]\n', "- "),
        ({**CLOSED, "properties": {"a": AB}, "required": ["a"]}, '- {"a": ["a"]}\n- {"a": ["a"', "]"),
    ],
)
def test_items_are_told_apart_in_yaml(items: dict[str, Any], taken: str, refused: str) -> None:
    """Arrays and objects among them are in brackets, on one line."""
    matcher = compiled({**ANY, "type": "array", "items": items}, syntax="yaml").matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({**ANY, "items": UNCOUNTED}, '[{"a": "b"}, {"a": "b"}]', ""),
        ({**ANY, "items": {"properties": {"x": {**ANY, "items": UNCOUNTED}}}}, '[{"x": [{"a": ""}, {"a": ""}]}]', ""),
        (
            {**ANY, "items": {"properties": {"x": {**ANY, "items": UNCOUNTED}}}},
            '[{"x": [{}, {}]}, {"x": [{}, {}]',
            "}]",
        ),
    ],
)
def test_what_is_relaxed_is_only_widened(schema: dict[str, Any], taken: str, refused: str) -> None:
    matcher = compiled(schema, on_unsupported="relax").matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)


def test_alternatives_that_overlap_in_too_many_ways_are_those_of_uniqueitems() -> None:
    lists = [{"type": "array", "items": {"pattern": f"^[a-{chr(98 + i)}]*$"}, "maxItems": 3} for i in range(20)]
    schema = {**ANY, "type": "array", "items": {"anyOf": lists}}
    with pytest.raises(cfgmask.GrammarError) as caught:
        compiled(schema)
    assert [(problem.code, problem.pointer) for problem in caught.value.diagnostics] == [
        ("schema-unique-items", "/uniqueItems")
    ]
    relaxed = compiled(schema, on_unsupported="relax")
    assert accepts(relaxed, '[["a"], ["a", "b"], ["a"]]')
    assert not accepts(relaxed, '[["A"]]')


ITEMS = st.sampled_from(
    [
        {"type": "string"},
        {"type": ["string", "number"]},
        {"enum": ["a", "b", 1, True, None]},
        {"type": "integer", "minimum": 0, "maximum": 3},
        {"type": "string", "pattern": "^[ab]{1,2}$"},
        {"type": ["boolean", "null"]},
        {"type": "number", "multipleOf": 0.5},
        {"enum": [[1], {"a": "b"}, "a", 1]},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": 1},
        {"type": "object", "properties": {"a": {"type": "boolean"}, "b": False}, "additionalProperties": False},
        {},
        {"type": ["array", "object"]},
        {"type": ["array", "boolean"], "items": {"type": ["array", "boolean"], "uniqueItems": True}},
        {"properties": {"a": {"type": "boolean"}}, "required": ["a"], "minProperties": 2},
        {"patternProperties": {"a": {"type": "boolean"}}, "dependentRequired": {"a": ["b"]}},
        {**CLOSED, "properties": {"a": {"type": ["string", "integer"]}, "b": {"type": "boolean"}}},
        {"maxProperties": 1, "minProperties": 1},
        {"type": ["object", "array"], "maxProperties": 2, "additionalProperties": {"enum": [True, 1]}},
        {**CLOSED, "patternProperties": {"^[bc]$": {"type": ["boolean", "integer"]}}, "maxProperties": 2},
        {"patternProperties": {"^b": {}}, "additionalProperties": {"type": "object"}, "maxProperties": 1},
        {**ID, "additionalProperties": False},
        {"type": ["array", "integer"], "items": {"type": "integer"}, "maxItems": 2},
        {"type": "array", "items": {"type": "array", "items": {"enum": [1, True, "a"]}}, "maxItems": 2},
        {**CLOSED, "properties": {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, "b": {}}},
        {**CLOSED, "properties": {"a": {}, "b": {}}, "required": ["a"]},
        {"anyOf": [{**CLOSED, "properties": {"a": {}}}, {**CLOSED, "properties": {"a": {}, "b": {"const": 1}}}]},
        {"oneOf": [{"type": "array", "maxItems": 1}, {"type": ["array", "null"], "items": {"type": "boolean"}}]},
        TREE,
        LIST,
        {**STRINGS, "prefixItems": [{"type": ["string", "boolean"]}], "contains": {"const": "a"}},
        {**CLOSED, "properties": {"a": {**STRINGS, "contains": {"enum": ["a", "b"]}, "maxContains": 1}}},
        {"type": ["array", "null"], "prefixItems": [True, {"$ref": "#/items"}], "uniqueItems": True, "maxItems": 3},
    ]
)
SCHEMAS = st.builds(
    lambda items, prefix, least, most: {
        "type": "array", "uniqueItems": True, "items": items, "prefixItems": prefix, "minItems": least,
        **({} if most is None else {"maxItems": least + most}),
    },
    ITEMS, st.lists(ITEMS, max_size=2), st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3)),
)  # fmt: skip


VALUES = st.sampled_from(
    [
        *["a", "b", "ab", 1, 1.0, 2, 0, 0.5, True, False, None],
        *[[], [1], [1.0], [True], [[]], [[], []], [True, False]],
        *[{"a": "b"}, {"a": True}, {}, {"a": True, "b": 1}, {"b": 1, "a": True}],
    ]
)


def written_yaml(value: Any) -> str:
    """In the way that keeps the places of dashes as they are, and strings without quotes."""
    return str(yaml.safe_dump(value, sort_keys=False))


OPTIONS = st.sampled_from([{}, {"property_order": "any"}, {"indent": 1}, {"syntax": "yaml"}])


@given(SCHEMAS, OPTIONS, st.integers(0, 2**16))
def test_walks_end_in_valid_arrays(schema: dict[str, Any], options: dict[str, Any], seed: int) -> None:
    try:
        matcher = compiled(schema, **options).matcher()
    except cfgmask.GrammarError:
        return
    rng, text, is_yaml = random.Random(seed), b"", "syntax" in options
    end = b"\n" if is_yaml else b"]"
    while not (matcher.is_accepting and text.endswith(end)):
        likely = b'"ab],]1.50tfnrueals{}:[\n' + (b"],,," if len(text) < 40 else b"]]]]]}}}}")
        if is_yaml:
            likely = b'"ab-- []{}:1.50tfnrueals' + (b"" if len(text) < 40 else b"\n\n\n")
        fits = [byte for byte in likely if matcher.try_advance([byte], consume=False)]
        fits = fits or [byte for byte in range(256) if matcher.try_advance([byte], consume=False)]
        assert fits, text
        text += bytes([rng.choice(fits)])
        matcher.advance(text[-1])
        if len(text) > 400:
            return
    assert (yaml_judge.says if is_yaml else is_valid)(schema, text.decode()), text


@given(SCHEMAS, st.lists(VALUES, max_size=5), OPTIONS)
def test_verdicts_agree(schema: dict[str, Any], value: list[Any], options: dict[str, Any]) -> None:
    try:
        matcher = compiled(schema, **options).matcher()
    except cfgmask.GrammarError:
        return
    texts = [json.dumps(each, indent=options.get("indent")) for each in (value, _with_keys_turned(value))]
    written = [written_yaml(value), written_yaml(_with_keys_turned(value))] if "syntax" in options else texts
    accepted = []
    for text in written:
        matcher.reset()
        accepted.append(matcher.advance_bytes(text.encode()) == len(text) and matcher.is_accepting)
    # Where keys have no names, or may come in any order, both are written.
    has_all_orders = all if "property_order" in options else any
    assert has_all_orders(accepted) == is_valid(schema, texts[0])
    assert any(accepted) == is_valid(schema, texts[0])


def _with_keys_turned(value: list[Any]) -> list[Any]:
    return [dict(reversed(item.items())) if isinstance(item, dict) else item for item in value]
