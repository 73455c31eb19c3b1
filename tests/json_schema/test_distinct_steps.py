"""Items that the core tells apart by their steps, since nothing may be added to them, against the reference."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import cfgmask
from tests.json_schema.general import general_rules
from tests.json_schema.judge import compiled
from tests.json_schema.test_against_reference import VOCABULARY, WORDS, walk_both
from tests.json_schema.test_layouts import LAYOUTS


def distinct(items: Any, **keywords: Any) -> dict[str, Any]:
    return {"type": "array", "uniqueItems": True, "items": items, **keywords}


def closed(properties: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False, **keywords}


ID = closed({"id": {"type": "integer"}}, required=["id"])
MARKED = closed({"id": {"type": "string"}, "on": {"type": "boolean"}})
FEW = closed({"a": {"enum": ["x", "y"]}, "b": {"type": "boolean"}, "c": {"type": "null"}})
FLAGS = {"type": "array", "items": {"type": "boolean"}, "maxItems": 3}
SWITCH = closed({"z": {"type": "boolean"}})
TREE = closed({"of": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, required=["of"])

# Some that are in one order in any order, and some that are not.
SCHEMAS: dict[str, Any] = {
    "one key": distinct(ID),
    "two keys": distinct({**MARKED, "required": ["id"]}, minItems=2),
    "bounded objects": distinct({**FEW, "maxProperties": 2, "minProperties": 1}),
    "short arrays": distinct({"type": ["array", "integer"], "items": {"type": "integer"}, "maxItems": 2}),
    "few arrays": distinct(FLAGS),
    "tuples": distinct({"type": "array", "prefixItems": [{"type": "boolean"}, {"enum": ["p", "q"]}], "items": False}),
    "arrays of few that differ": distinct(distinct({"enum": ["a", "b", "c"]})),
    "arrays of some that differ": distinct(distinct({"type": "string"}, minItems=1, maxItems=3)),
    "objects of arrays of objects that differ": distinct(closed({"id": {"type": "boolean"}, "b": distinct(ID)})),
    "both kinds of arrays of objects": distinct(
        closed({"m": {"type": "array", "items": SWITCH}, "l": distinct(SWITCH)})
    ),
    "alternatives": distinct(
        {
            "anyOf": [
                closed({"k": {"const": 1}, "v": {"enum": [1, 2]}}, required=["k"]),
                closed({"k": {"const": 2}}, required=["k"]),
                {"type": "string"},
            ]
        },
        minItems=3,
    ),
    "a tree": {"$defs": {"t": TREE}, **distinct({"$ref": "#/$defs/t"})},
    "an object that goes on": distinct(closed({"a": {"type": "object"}, "b": {"enum": [1]}})),
    "anything": distinct(closed({"a": {}, "b": {"enum": [1]}})),
    "conditions": distinct(
        closed(
            {
                "s": {"type": "string", "pattern": "^[ab]{0,2}$"},
                "n": {"type": "integer", "minimum": 9, "maximum": 11},
            }
        )
    ),
    "beside each other": {"type": "object", "properties": {"x": distinct(ID), "y": distinct(MARKED)}},
    "in an object that goes on": distinct({"type": "object", "properties": {"l": distinct(ID)}, "required": ["l"]}),
    "constants": distinct({"enum": [[1], [2], {"a": 1}, {}, [], "x"]}, minItems=3),
}
NOT_INDENTED = {"a tree"}
IN_ANY_ORDER = {
    "one key",
    "short arrays",
    "few arrays",
    "tuples",
    "arrays of few that differ",
    "arrays of some that differ",
    "a tree",
    "in an object that goes on",
    "constants",
}


@pytest.mark.parametrize("options", [{}, *LAYOUTS], ids=repr)
@pytest.mark.parametrize("name", SCHEMAS)
def test_same_masks(name: str, options: dict[str, Any]) -> None:
    if "indent" in options and name in NOT_INDENTED:
        with pytest.raises(cfgmask.GrammarError, match="schema-unique-items"):
            cfgmask.Grammar.from_json_schema(SCHEMAS[name], **options)
        return
    grammar = cfgmask.Grammar.from_json_schema(SCHEMAS[name], **options)
    # Objects that are told apart by their steps have one order in the core.
    for seed in range(5 if "property_order" not in options or name in IN_ANY_ORDER else 0):
        walk_both(grammar, seed)


def walked(matcher: cfgmask.Matcher, seed: int) -> list[int]:
    """The tokens of a complete text, random ones at first."""
    rng, mask, taken = random.Random(seed), np.zeros(WORDS, np.uint32), list[int]()
    for _ in range(60):
        matcher.fill_mask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        token = int(rng.choice(allowed))
        matcher.advance(token)
        if matcher.is_finished:
            return taken
        taken.append(token)
    rest = matcher.completion()
    assert rest is not None
    end_tokens = matcher.compiled.vocabulary.end_tokens
    return [*taken, *(token for token in rest if token not in end_tokens)]


@pytest.mark.parametrize("name", sorted(SCHEMAS.keys() - IN_ANY_ORDER))
def test_in_any_order_such_objects_have_the_order_of_the_schema(name: str) -> None:
    """No dead ends, and each text is one of the reference."""
    grammar = cfgmask.Grammar.from_json_schema(SCHEMAS[name], property_order="any", whitespace="compact")
    general = cfgmask.compile(general_rules(grammar), VOCABULARY)
    for seed in range(20):
        text = walked(cfgmask.compile(grammar, VOCABULARY).matcher(), seed)
        assert general.matcher().try_advance(text) == len(text)


def test_the_order_of_such_objects() -> None:
    matcher = compiled(SCHEMAS["two keys"], property_order="any", whitespace="compact").matcher()
    taken = '[{"id":"a","on":true},{"'
    assert matcher.advance_bytes(taken.encode()) == len(taken)
    assert matcher.advance_bytes(b"on") == 0
    assert matcher.advance_bytes(b'id":"a","on":') == len(b'id":"a","on":')
    assert matcher.advance_bytes(b"true") == 0


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        (SCHEMAS["few arrays"], "[[true,true,true],[true,true,", "true"),
        (distinct(SWITCH, minItems=3), '[{"z":true},{},{"z":', "true"),
        (distinct(SWITCH, minItems=3), '[{"z":true},{},{"z":f', "true"),
        (distinct(SWITCH), '[{"z":true},{},{"z":false}', ","),
        (distinct({**FLAGS, "maxItems": 1}), "[[],[true],[false]", ","),
        (distinct(distinct({"enum": ["a", "b"]})), '[["a"],["b"],["a","b"],["b","a"],[]', ","),
    ],
)
def test_an_item_is_not_begun_that_would_come_again(schema: Any, taken: str, refused: str) -> None:
    matcher = compiled(schema).matcher()
    assert matcher.advance_bytes(taken.encode()) == len(taken)
    assert matcher.advance_bytes(refused.encode()) < len(refused)


# Numbers with few digits may run out.
@pytest.mark.parametrize("digits", [2, 10])
def test_few_digits_are_refused(digits: int) -> None:
    options = {"max_digits": digits}
    if digits == 2:
        with pytest.raises(cfgmask.GrammarError, match="schema-unique-items"):
            cfgmask.Grammar.from_json_schema(distinct(ID), **options)
    else:
        assert cfgmask.Grammar.from_json_schema(distinct(ID), **options).lazy is not None
