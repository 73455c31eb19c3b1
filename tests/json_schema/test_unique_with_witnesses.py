"""Arrays of closed items that must differ, where something in an item must hold a certain value.

Many arrays of small values are tried, and `jsonschema` says which are right.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import cfgmask
from tests.json_schema.judge import accepts, compiled, is_valid

UNIQUE = {"uniqueItems": True}
ONE, A = {"type": "array", "contains": {"enum": [1]}}, {"type": "array", "contains": {"enum": ["a"]}}
STRINGS = {"type": "array", "items": {"type": "string"}}
INSIDE: dict[str, dict[str, Any]] = {
    "an item": ONE,
    "two items": {**A, "minContains": 2},
    "an item that is not like the others": {"type": "array", "not": {"items": {"type": "integer"}}},
    "more items": {**ONE, "minItems": 2},
    "an item behind one with a place": {**ONE, "prefixItems": [{"enum": ["a", 2]}]},
    "a key that may not be there": {"not": {"additionalProperties": False, "properties": {"c": STRINGS}}},
    "deep inside": {
        "type": ["object", "array"],
        "not": {"additionalProperties": False, "properties": {"c": {"items": {"properties": {"e": STRINGS}}}}},
    },
    "one of two": {"oneOf": [ONE, A]},
    "any of two": {"anyOf": [ONE, A]},
    "one of two that rarely share a value": {"oneOf": [{"type": "array", "items": {"enum": [1, 2]}}, A]},
    "one of two arrays by their lengths": {
        "oneOf": [
            {"type": "array", "items": {"enum": [1]}},
            {"type": "array", "prefixItems": [{"enum": ["a"]}], "items": False, "minItems": 1},
        ]
    },
    "any of two patterns": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "pattern": "^u.+$"}]},
}
VALUES = [
    *([*items] for n in range(4) for items in product([1, "a", 2], repeat=n)),
    *({}, {"x": 1}, {"c": 1}, {"c": ["a"]}, {"c": [1]}, {"c": ["a", 1]}, {"c": ["a"], "x": 1}, {"c": [1], "x": 1}),
    *({"c": [{"e": ["a"]}]}, {"c": [{"e": [1]}]}, {"c": [{"e": [1]}, 1]}, "", "a", "u", "ux"),
]
SHAPES: dict[str, tuple[Callable[[Any], dict[str, Any]], Callable[[Any], list[Any]]]] = {
    "objects": (
        lambda of: {"properties": {"s": of, "t": {"type": "boolean"}}, "additionalProperties": False, "type": "object"},
        lambda value: [{"s": value}, {"s": value, "t": True}, {"t": False}, {}],
    ),
    "arrays": (
        lambda of: {"type": "array", "prefixItems": [of, {"enum": [1, 2]}], "items": False, "minItems": 1},
        lambda value: [[value], [value, 1]],
    ),
}


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("shape", SHAPES)
def test_which_arrays_may_be_written(shape: str, inside: str) -> None:
    item_of, values_of = SHAPES[shape]
    schema = {"type": "array", "items": item_of(INSIDE[inside]), "uniqueItems": True}
    grammars = [(compiled(schema), None), (compiled(schema, indent=2), 2)]
    judge, rng = Draft202012Validator(schema), random.Random(len(inside))
    items = [item for value in VALUES for item in values_of(value)]
    asked = [[item] for item in items]
    asked += [rng.choices(items, k=rng.choice([2, 2, 3])) for _ in range(300)]
    asked += [[item, rng.choice(items), item] for item in rng.choices(items, k=60)]
    n_right = 0
    for array in asked:
        is_right = judge.is_valid(array)
        n_right += is_right
        for grammar, indent in grammars:
            text = json.dumps(array, indent=indent, separators=(",", ": " if indent else ":"))
            assert accepts(grammar, text) == is_right, text
    assert 0 < n_right < len(asked)


BEGINS = {"type": "array", "prefixItems": [{"const": {}}], "uniqueItems": True}
WITH_ONE = {"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}}
ITEMS: list[Any] = [
    *([{}], [{}, {}], [{}, 1], [{}, 1, 1], [{}, 1, 2], [{}, {"a": 1}], [{}, []], [{}, [{}]], [], {}, {"a": 1}, 1, "a"),
    *([1], [1, 1], [1, 2], [2, 1], [2], [[{}]], [[{}], [{}]], [[{}, 1], [{}]], [[{}, 1]], [{}, 2, 1], [1, 2, 3]),
]


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": True, "items": BEGINS},
        {"uniqueItems": True, "items": {"type": "array", "items": BEGINS}},
        {"type": "array", "not": {"uniqueItems": True}, "items": WITH_ONE},
        {"type": "array", "not": {"uniqueItems": True}, "prefixItems": [{}], "items": WITH_ONE},
    ],
)
def test_items_that_are_told_apart_as_a_whole(schema: dict[str, Any]) -> None:
    grammar, rng = compiled(schema), random.Random(2)
    n_right = 0
    for _ in range(1_500):
        array = rng.choices(ITEMS, k=rng.choice([1, 2, 2, 3, 4]))
        array = [*array[:-1], rng.choice(array)]
        text = json.dumps(array, separators=(",", ":"))
        is_right = is_valid(schema, text)
        n_right += is_right
        assert accepts(grammar, text) == is_right, text
    assert n_right > 20


@pytest.mark.parametrize("first", [BEGINS, {"type": "array", "items": SHAPES["objects"][0]({"enum": [1]}), **UNIQUE}])
def test_an_item_is_refused_that_others_may_equal_and_write_by_other_rules(first: dict[str, Any]) -> None:
    with pytest.raises(cfgmask.GrammarError, match="uniqueItems cannot be enforced"):
        compiled({"uniqueItems": True, "prefixItems": [first]})


PAIR = {"type": "object", "properties": {"k": {"enum": [1, 2]}}, "required": ["k"], "additionalProperties": False}


def test_items_with_arrays_like_that_beside_alternatives_that_overlap() -> None:
    """The alternatives overlap, but neither holds arrays whose items are told apart by their steps."""
    either = {"anyOf": [{"type": "object", "required": ["g"]}, {"type": "object", "required": ["i"]}]}
    pairs = {"type": "array", "items": PAIR, "uniqueItems": True}
    item = {"type": "object", "properties": {"s": pairs, "u": {"type": "array", "items": either}}}
    schema = {"type": "array", "items": item, "uniqueItems": True}
    grammars = [compiled(schema), compiled({**schema, "maxItems": 3})]
    judge, rng = Draft202012Validator(schema), random.Random(1)
    lists = [[], [{"k": 1}], [{"k": 2}], [{"k": 1}, {"k": 2}], [{"k": 2}, {"k": 1}], [{"k": 1}, {"k": 1}], [{"k": 3}]]
    others = [[], [{"g": 1}], [{"i": 1}], [{"g": 1, "i": 1}], [{"i": 1, "g": 1}], [{}], [{"g": 1}, {"g": 1}]]
    items: list[Any] = [{}, {"x": 1}, *({"s": one} for one in lists), *({"u": one} for one in others)]
    items += [{"s": one, "u": other} for one in lists for other in others]
    n_right = 0
    for _ in range(1_500):
        array = rng.choices(items, k=rng.choice([1, 2, 2, 3]))
        array = [*array[:2], array[0]] if rng.random() < 0.1 else array
        is_right = judge.is_valid(array)
        n_right += is_right
        for grammar in grammars:
            assert accepts(grammar, json.dumps(array, separators=(",", ":"))) == is_right, array
    assert 0 < n_right < 1_500
