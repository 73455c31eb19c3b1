"""What is refused and what is noted: every code once in full, all places at once, and limits."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cfgmask import Grammar
from cfgmask.diagnostics import Source, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema import JsonSchemaOptions
from cfgmask.limits import Limits
from tests.json_schema.general import rules_of

_RENDERED = Path(__file__).with_name("diagnostics.txt").read_text(encoding="utf-8").split("\n## ")[1:]


@pytest.mark.parametrize("case", _RENDERED, ids=lambda case: case.split("[schema-", 1)[-1].split("]")[0])
def test_every_code_is_explained(case: str) -> None:
    schema, _, expected = case.partition("\n")
    try:
        found = "\n".join(note.render() for note in rules_of(schema).notes)
    except GrammarError as error:
        found = str(error)
    assert found == expected.rstrip("\n")


def refused(schema: Any, **options: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(GrammarError) as caught:
        rules_of(schema, **options)
    return [(diagnostic.code, diagnostic.pointer) for diagnostic in caught.value.diagnostics]


def test_all_malformed_places_are_named_at_once() -> None:
    schema = {
        "properties": {"a/b": {"type": 1}, "c": {"minLength": -1}, "d": {"items": {"required": "x"}}},
        "anyOf": [],
        "$defs": {"used": {"enum": 3}, "unused": {"enum": 3}},
        "not": {"$ref": "#/$defs/used"},
    }
    assert refused(schema) == [
        ("schema-keyword-value", "/$defs/used/enum"),
        ("schema-keyword-value", "/anyOf"),
        ("schema-keyword-value", "/properties/a~1b/type"),
        ("schema-keyword-value", "/properties/c/minLength"),
        ("schema-keyword-value", "/properties/d/items/required"),
    ]


def test_all_places_that_cannot_be_enforced_are_named_at_once() -> None:
    unique = {"type": "array", "uniqueItems": True, "items": {"minProperties": 1001, "maxProperties": 9999}}
    schema = {
        "properties": {
            "a": unique,
            "b": {"items": unique},
            "c": {"pattern": "(?>x)"},
            "d": {"multipleOf": 1000000000000000003},
        },
        "$defs": {"unused": unique},
    }
    assert refused(schema) == [
        ("schema-unique-items", "/properties/a/uniqueItems"),
        ("schema-unique-items", "/properties/b/items/uniqueItems"),
        ("regex-atomic-group", "/properties/c/pattern"),
        ("schema-multiple-of", "/properties/d/multipleOf"),
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "uniqueItems": True},
        {"properties": {"a": {"type": "array", "uniqueItems": True, "maxItems": 1}}},
        {"properties": {"a": {"type": "integer", "pattern": "(?>x)"}}},
        {
            "properties": {
                "a": {
                    "allOf": [
                        {"type": "array", "uniqueItems": True, "items": {"minProperties": 1001, "maxProperties": 9999}},
                        {"type": "string"},
                    ]
                }
            }
        },
        {"anyOf": [True, {"uniqueItems": True, "items": {"minProperties": 1001, "maxProperties": 9999}}]},
        {"type": "integer", "multipleOf": 101, "minimum": 0, "maximum": 1000},
    ],
)
def test_what_has_no_effect_is_not_refused(schema: dict[str, Any]) -> None:
    rules_of(schema)


def test_a_schema_inside_a_text_has_places_in_that_text() -> None:
    text = 'start: %json {"type": "object", "properties": {"a": {"type": "strnig"}}}'
    begin = text.index("{")
    with pytest.raises(GrammarError) as caught:
        rules_of(text[begin:], span=Span(Source("x.lark", text), begin, len(text)))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert text[diagnostic.span.start : diagnostic.span.end] == '"strnig"'
    assert diagnostic.span.source.name == "x.lark"


def test_the_rules_carry_the_prefix_and_the_span() -> None:
    text = '{"type": "array"}'
    span = Span(Source("x.lark", text), 0, len(text))
    grammar = rules_of(text, prefix="json1.", span=span)
    assert grammar.start.startswith("json1.")
    assert all(rule.name.startswith("json1.") and rule.span == span for rule in grammar.rules)
    assert grammar.scopes[0].name == "json1.json"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), Fraction(1, 3), 10**400])
def test_numbers_without_a_short_decimal_form_are_refused(value: Any) -> None:
    assert refused({"items": {"minimum": value}}) == [("schema-number", "/items/minimum")]


@pytest.mark.parametrize("schema", [{1: 2}, {"enum": {1, 2}}, {"const": b"x"}, {"enum": [object()]}])
def test_what_is_not_json_is_refused(schema: Any) -> None:
    assert [code for code, _pointer in refused(schema)] == ["schema-not-json"]


def test_formats_may_be_annotations() -> None:
    options = JsonSchemaOptions(formats="annotate")
    notes = rules_of({"format": "regex", "items": {"format": "ipv4"}}, options=options).notes
    assert [(note.code, note.pointer) for note in notes] == [
        ("schema-format-annotation", "/format"),
        ("schema-format-annotation", "/items/format"),
    ]


# Hostile input


def nested(keyword: str, depth: int, *, as_list: bool = False) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(depth):
        schema = {keyword: [schema] if as_list else schema}
    return schema


def test_nesting_is_bounded_in_text_and_in_objects() -> None:
    for schema in ["[" * 10_000, '{"not":' * 10_000 + "{}" + "}" * 10_000, nested("not", 10_000)]:
        with pytest.raises(LimitExceeded, match="max_nesting"):
            rules_of(schema)


@pytest.mark.parametrize(
    "schema",
    [
        nested("not", 59),
        nested("items", 190),
        nested("anyOf", 59, as_list=True),
        nested("oneOf", 59, as_list=True),
        {"pattern": "(" * 190 + "a" + ")*" * 190},
        {"const": json.loads("[" * 190 + "]" * 190)},
        '{"minimum": 1e-390, "maximum": 1e-389}',
    ],
)
def test_deep_schemas_within_the_limit_are_read(schema: Any) -> None:
    rules_of(schema, options=JsonSchemaOptions(numbers="any"))


@pytest.mark.parametrize("schema", [nested("not", 95), nested("anyOf", 95, as_list=True)], ids=["not", "anyOf"])
def test_schemas_for_one_value_are_nested_less_deep(schema: Any) -> None:
    assert [code for code, _pointer in refused(schema)] == ["schema-too-deep"]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(30)]},
        {"patternProperties": {chr(97 + i): {"minimum": i} for i in range(20)}},
        {"type": "object", "properties": {f"p{i}": True for i in range(300)}, "maxProperties": 150},
        {"allOf": [{"contains": {"const": i}, "minContains": 5, "maxContains": 9} for i in range(8)]},
        {"anyOf": [{"properties": {f"p{i}": True}} for i in range(30)], "unevaluatedProperties": False},
    ],
)
def test_what_multiplies_is_refused_before_it_does(schema: Any) -> None:
    with pytest.raises((GrammarError, LimitExceeded)) as caught:
        rules_of(schema, limits=Limits(max_rules=50_000))
    if isinstance(caught.value, GrammarError):
        assert {d.code for d in caught.value.diagnostics} == {"schema-too-many-alternatives"}


def test_the_size_of_a_text_is_bounded() -> None:
    with pytest.raises(LimitExceeded, match="max_source_bytes"):
        rules_of('{"title": "' + "x" * 100 + '"}', limits=Limits(max_source_bytes=100))


@pytest.mark.parametrize("inside", [[0] * 10_000, {"properties": {f"p{i}": {} for i in range(10_000)}}])
def test_long_keys_do_not_multiply(inside: Any) -> None:
    schema = {"properties": {"k" * 100_000: {"properties": {"a": inside}}}}
    for given_as in (schema, json.dumps(schema)):
        with pytest.raises(LimitExceeded, match="max_source_bytes"):
            rules_of(given_as)


def test_a_loop_is_reported_though_a_limit_is_crossed_before_it_is_met() -> None:
    """What leads back to itself takes long where it does so in many ways, so the loop is what helps."""
    large = {"type": "object", "properties": {f"p{i}": True for i in range(300)}, "maxProperties": 150}
    loop = {"anyOf": [{"type": "object", "properties": {"x": {}}}, {"allOf": [{"$ref": "#/$defs/loop"}]}]}
    schema = {"properties": {"a": large, "b": {"$ref": "#/$defs/loop"}}, "$defs": {"loop": loop}}
    with pytest.raises(LimitExceeded):
        rules_of({**schema, "$defs": {"loop": True}}, limits=Limits(max_rules=10_000))
    with pytest.raises(GrammarError) as caught:
        rules_of(schema, limits=Limits(max_rules=10_000))
    assert [(d.code, d.pointer) for d in caught.value.diagnostics] == [("schema-reference-loop", "/$defs/loop")]


def test_references_that_double_cost_nothing() -> None:
    definitions = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(25)}
    rules_of({"$defs": {**definitions, "d25": {"type": "object"}}, "$ref": "#/$defs/d0"})


@pytest.mark.parametrize(
    ("schema", "max_rules"),
    [
        ({"type": "string", "allOf": [{"not": {"pattern": f"v{i}"}} for i in range(300)]}, 5_000),
        ({"type": "string", "allOf": [{"not": {"const": f"v{i}"}} for i in range(500)]}, 2_000),
        ({"oneOf": [{"type": "number", "minimum": i, "maximum": i + 1_000} for i in range(60)]}, 1_000),
    ],
    ids=["patterns", "texts", "numbers"],
)
def test_combining_many_conditions_is_bounded(schema: dict[str, Any], max_rules: int) -> None:
    rules_of(schema)
    with pytest.raises(LimitExceeded, match="max_rules"):
        rules_of(schema, limits=Limits(max_rules=max_rules))


CROSSED = {
    "alternatives that Python answers": (
        {"items": {"anyOf": [{"multipleOf": 7, "minimum": i, "maximum": 1000 + i} for i in range(200)]}},
        Limits(max_rules=20_000),
        "max_rules = 20000 was exceeded (at /items/anyOf/N)",
    ),
    "patterns of one member": (
        {"allOf": [{"properties": {"k": {"type": "string", "pattern": f"{i}"}}} for i in range(1_000)]},
        Limits(max_search_steps=1_000),
        "max_search_steps = 1000 was exceeded (at /allOf/0/properties/k)",
    ),
    "sets of keys": (
        {"items": {"allOf": [{"propertyNames": {"pattern": f"{i}"}} for i in range(1_000)]}},
        Limits(max_search_steps=1_000),
        "max_search_steps = 1000 was exceeded (at /items",
    ),
    "questions": (
        {"properties": {f"p{i}": {"type": "string", "format": "email", "maxLength": i + 9} for i in range(500)}},
        Limits(max_rules=20_000),
        "max_rules = 20000 was exceeded (at /properties/pN)",
    ),
    "patterns that the core does not read": (
        {"properties": {f"p{i}": {"type": "string", "pattern": f"a{i}(?=b)"} for i in range(200)}},
        Limits(max_rules=20_000),
        "max_rules = 20000 was exceeded (at ",
    ),
    "ranges": (
        {"prefixItems": [{"type": "integer", "minimum": i} for i in range(200)], "uniqueItems": True},
        Limits(max_rules=2_000),
        "max_rules = 2000 was exceeded (at ",
    ),
    "multiples": (
        {"properties": {f"p{i}": {"type": "integer", "multipleOf": 2 * i + 3, "minimum": 0} for i in range(500)}},
        Limits(max_rules=20_000),
        "max_rules = 20000 was exceeded (at /properties/pN)",
    ),
}


@pytest.mark.parametrize("name", CROSSED)
def test_a_limit_that_is_crossed_names_the_place(name: str) -> None:
    schema, limits, message = CROSSED[name]
    with pytest.raises(LimitExceeded) as caught:
        Grammar.from_json_schema(schema, limits=limits)
    # Answers that were given before cost less, so that which of many alike crosses it is not the same each time.
    assert message in re.sub(r"\d+\)", "N)", str(caught.value))


def test_keys_in_any_order_count() -> None:
    schema = {"type": "object", "required": [f"k{i}" for i in range(1_000)]}
    options = JsonSchemaOptions(property_order="any")
    rules_of(schema, options=options)
    with pytest.raises(LimitExceeded, match="max_rules = 1000"):
        rules_of(schema, options=options, limits=Limits(max_rules=1_000))


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"examples": [[]] * 500}, "/examples/331"),
        ({"enum": list(range(500))}, "/enum/331"),
        ({"anyOf": [True] * 100}, "/anyOf/61"),
        ({"$defs": {f"d{i}": {} for i in range(100)}}, "/$defs/d61"),
    ],
)
def test_what_is_inside_counts(schema: dict[str, Any], place: str) -> None:
    """Millions of empty arrays or schemas take no more than some bytes each."""
    for given_as in (schema, json.dumps(schema)):
        with pytest.raises(LimitExceeded, match="max_rules = 1000") as caught:
            rules_of(given_as, limits=Limits(max_rules=1_000))
        assert f"at {place})" in str(caught.value)
