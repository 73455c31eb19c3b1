"""Problems of different kinds, in different places of one schema, are all reported, and nothing else is."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.compiler import Grammar
from cfgmask.errors import GrammarError
from cfgmask.limits import Limits
from tests.json_schema.general import rules_of


def pointers(schema: Any, limits: Limits = Limits()) -> list[str]:  # noqa: B008  # immutable
    """The places of the errors, checked to be the same with and without a text."""
    found = []
    for given_as in (schema, json.dumps(schema)):
        with pytest.raises(GrammarError) as caught:
            rules_of(given_as, limits=limits)
        found.append([str(d.pointer) for d in caught.value.diagnostics if d.severity == "error"])
    assert found[0] == found[1]
    return sorted(found[0])


UNIQUE = {"type": "array", "uniqueItems": True, "prefixItems": [{"minProperties": 1001, "maxProperties": 9999}]}
ATOMIC = {"type": "string", "pattern": "(?>x)"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # a malformed keyword beside one that cannot be enforced, in one schema and in another
        ({"minLength": -1, "pattern": "(?>x)"}, ["/minLength", "/pattern"]),
        (
            {"properties": {"a": {"type": "strnig"}, "b": UNIQUE}},
            ["/properties/a/type", "/properties/b/uniqueItems"],
        ),
        # what is no schema among schemas
        (
            {
                "properties": {"a": 3, "b": ATOMIC, "c": None},
                "allOf": [
                    True,
                    "x",
                    {"uniqueItems": True, "prefixItems": [{"minProperties": 1001, "maxProperties": 9999}]},
                ],
            },
            ["/allOf/1", "/allOf/2/uniqueItems", "/properties/a", "/properties/b/pattern", "/properties/c"],
        ),
        ({"patternProperties": {"a": 1, "(": True}}, ["/patternProperties/(", "/patternProperties/a"]),
        (
            {"dependencies": {"a": 3, "b": ["c"], "d": {"properties": {"e": UNIQUE}}}},
            ["/dependencies/a", "/dependencies/d/properties/e/uniqueItems"],
        ),
        # references that lead nowhere, and what stands where they lead
        (
            {"items": {"$ref": "x.json"}, "contains": {"$ref": "#/$defs/a"}, "properties": {"a": {"$ref": "#/$defs/b"}}}
            | {"$defs": {"b": ATOMIC, "unused": {"type": 1}}},
            ["/$defs/b/pattern", "/contains/$ref", "/items/$ref"],
        ),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"$dynamicRef": "#nowhere", **UNIQUE}}},
            ["/$defs/a/$dynamicRef", "/$defs/a/uniqueItems"],
        ),
        # what is wrong in one member says nothing of the next
        (
            {"properties": {"a": 3, "b": {"$ref": "#/properties/c"}, "c": UNIQUE}},
            ["/properties/a", "/properties/c/uniqueItems"],
        ),
        # siblings of a broken reference stay hidden where the draft hides them
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": "x.json", **UNIQUE}}
            | {
                "additionalProperties": {
                    "type": "array",
                    "uniqueItems": True,
                    "items": {"minProperties": 1001, "maxProperties": 9999},
                }
            },
            ["/additionalProperties/uniqueItems", "/items/$ref"],
        ),
        # what cannot be read, malformed and not to be enforced
        (
            {"minimum": 10**500, "items": {"enum": 3}, "additionalProperties": UNIQUE},
            ["/additionalProperties/uniqueItems", "/items/enum", "/minimum"],
        ),
        ({"required": ["a", "\ud800"], "items": UNIQUE}, ["/items/uniqueItems", "/required/1"]),
        ({"properties": {"\ud800": {}, "a": UNIQUE}}, ["/properties", "/properties/a/uniqueItems"]),
        # counts
        (
            {"minItems": 10**30, "items": {"minLength": 10**12, "maxLength": 10**20}, "additionalProperties": UNIQUE},
            ["/additionalProperties/uniqueItems", "/items/minLength", "/minItems"],
        ),
        # a contradiction may come of what is left out, so it is reported only where nothing else is
        ({"type": "null", "enum": [1], "minLength": "x"}, ["/minLength"]),
        ({"type": "null", "enum": [1]}, ["/enum"]),
        # what is malformed may hold what else is wrong
        ({"enum": [10**500], "type": "array", "uniqueItems": True}, ["/enum/0"]),
    ],
)
def test_problems_of_all_kinds_are_reported_together(schema: Any, expected: list[str]) -> None:
    assert pointers(schema) == expected


def test_duplicate_keys_hide_nothing() -> None:
    with pytest.raises(GrammarError) as caught:
        rules_of(
            '{"type": "array", "title": "", "title": "x", "uniqueItems": true, "minItems": NaN, "items": 3, '
            '"prefixItems": [{"minProperties": 1001, "maxProperties": 9999}]}'
        )
    assert [(d.code, d.pointer) for d in caught.value.diagnostics] == [
        ("schema-keyword-value", "/items"),
        ("schema-number", "/minItems"),
        ("schema-duplicate-key", "/title"),
        ("schema-unique-items", "/uniqueItems"),
    ]


def test_the_first_of_many_problems_are_shown_with_their_places() -> None:
    for text in ('{"enum": [' + "NaN, " * 200 + "1]}", json.dumps({"pattern": "*" * 200_000})):
        with pytest.raises(GrammarError) as caught:
            rules_of(text)
        first = caught.value.diagnostics[0]
        assert len(caught.value.diagnostics) >= 100
        assert first.span is not None
        assert first.span.start < 15


def test_a_crossed_limit_does_not_hide_what_was_found() -> None:
    numbers = [{"type": "number", "minimum": i, "maximum": i + 1_000} for i in range(60)]
    schema = {"properties": {"a": {"oneOf": numbers}}, "items": {"type": "strnig"}}
    assert pointers(schema, Limits(max_rules=1_500)) == ["/items/type"]


@pytest.mark.parametrize("flaw", [{"type": 1}, {"minimum": float("nan")}, UNIQUE, {"$ref": "x.json"}, ATOMIC, 3])
@pytest.mark.parametrize("alike", [True, False])
def test_the_number_of_problems_is_bounded(flaw: Any, alike: bool) -> None:
    def marked(number: int) -> Any:
        return flaw if alike or not isinstance(flaw, dict) else {**flaw, "maxItems": number + 2}

    with pytest.raises(GrammarError) as caught:
        rules_of({"properties": {f"p{i}": marked(i) for i in range(1_000)}})
    assert len(caught.value.diagnostics) == 101
    assert caught.value.diagnostics[-1].code == "schema-too-many-errors"


# A schema with places for flaws, none of which changes what the others mean.

SOUND: dict[str, Any] = {
    "$defs": {"item": {"type": "array", "items": {"type": "string"}}, "leaf": {"type": "integer"}},
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "b": {"anyOf": [{"type": "string"}, {"type": "number", "minimum": 0}, {"type": "array", "maxItems": 3}]},
        "c": {"type": "object", "additionalProperties": {"$ref": "#/$defs/leaf"}, "patternProperties": {"^x": {}}},
        "d/~": {"allOf": [{"type": "string", "minLength": 1}], "prefixItems": [True]},
        "e": {"if": {"type": "string"}, "then": {"maxLength": 4}, "else": {"type": "null"}},
    },
    "required": ["a"],
}

HOSTS = [
    ("$defs", "item"),
    ("$defs", "leaf"),
    ("properties", "a"),
    ("properties", "b", "anyOf", 0),
    ("properties", "b", "anyOf", 1),
    ("properties", "c"),
    ("properties", "c", "patternProperties", "^x"),
    ("properties", "d/~"),
    ("properties", "d/~", "allOf", 0),
    ("properties", "e", "then"),
    (),
]

# Each is a keyword with a value that is wrong wherever it stands; the values differ so that no two places are alike.
FLAWS: list[tuple[str, Any, str]] = [
    ("description", 10**500, ""),
    ("dependentRequired", 3, ""),
    ("minProperties", -1, ""),
    ("minContains", 10**12, ""),
    ("propertyNames", [], ""),
    ("not", 3, ""),
    ("dependentSchemas", {"z": "no schema"}, "/z"),
    ("exclusiveMaximum", "x", ""),
    ("$dynamicRef", "#nowhere", ""),
    ("oneOf", [True, {"$ref": "elsewhere.json"}], "/1/$ref"),
    ("contains", {"required": "x"}, "/required"),
    ("unevaluatedItems", {"const": 10**500}, "/const"),
]


def escaped(token: str | int) -> str:
    return str(token).replace("~", "~0").replace("/", "~1")


@given(st.lists(st.tuples(st.sampled_from(HOSTS), st.sampled_from(FLAWS)), min_size=1, max_size=5))
def test_planted_problems_are_found_and_no_others(planted: list[tuple[tuple[str | int, ...], Any]]) -> None:
    schema = copy.deepcopy(SOUND)
    rules_of(schema)
    expected = set()
    for path, (keyword, value, inner) in planted:
        host: Any = schema
        for token in path:
            host = host[token]
        host[keyword] = value
        expected.add("".join(f"/{escaped(token)}" for token in (*path, keyword)) + inner)
    assert pointers(schema) == sorted(expected)


# Where problems inside of patterns are shown


def test_a_pattern_in_a_block_is_shown_in_the_grammar() -> None:
    text = 'start: "x" %json {\n  "type": "string", "pattern": "a\\\\d(?>b)"\n} y\n'
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(text, name="x.lark")
    (atomic, unknown) = caught.value.diagnostics
    assert (atomic.pointer, unknown.pointer) == ("/pattern", None)
    assert atomic.span is not None
    assert atomic.span.source.name == "x.lark"
    assert text[atomic.span.start : atomic.span.end] == "(?>b)"


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"items": {"pattern": "ab(?>c)"}}, "#/items/pattern"),
        ({"patternProperties": {"ab(?>c)": {}}}, "#/patternProperties/ab(?>c)"),
    ],
)
def test_a_pattern_without_a_text_around_it_is_named_by_its_pointer(schema: Any, name: str) -> None:
    with pytest.raises(GrammarError) as caught:
        rules_of(schema)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert (diagnostic.span.source.name, diagnostic.span.source.text) == (name, "ab(?>c)")
    assert (diagnostic.span.start, diagnostic.span.end) == (2, 7)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), st.sampled_from(["value", "key"]), st.booleans())
def test_escapes_do_not_move_the_place(before: str, where: str, ascii_only: bool) -> None:
    before = "".join(character for character in before if character not in "\\()[]{}*+?|^$")
    pattern = before + "(?>b)é"
    schema: Any = {"pattern": pattern} if where == "value" else {"patternProperties": {pattern: {}}}
    text = json.dumps(schema, ensure_ascii=ascii_only)
    with pytest.raises(GrammarError) as caught:
        rules_of(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert text[diagnostic.span.start : diagnostic.span.end] == "(?>b)"
