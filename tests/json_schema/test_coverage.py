"""What becomes of each keyword: a table, and that nothing is left out or said twice."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema import JsonSchemaOptions, coverage
from cfgmask.json_schema.nodes import subschema_places
from cfgmask.limits import Limits
from tests.json_schema.judge import is_valid
from tests.json_schema.random_schemas import SCHEMAS, VALUES

TWICE = r"(.)\1"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def statuses(schema: Any, **options: Any) -> dict[str, str]:
    """The status at each place, with the code where there is one."""
    covered = coverage(schema, options=JsonSchemaOptions(**options))
    return {entry.pointer: entry.status + (f" {entry.code}" if entry.code else "") for entry in covered}


TABLE: list[tuple[Any, dict[str, str]]] = [
    # enforced
    ({"type": "string", "minLength": 1}, {"/type": "enforced", "/minLength": "enforced"}),
    ({"minLength": 1, "minimum": 0}, {"/minLength": "enforced", "/minimum": "enforced"}),
    ({"type": "integer", "minimum": 0}, {"/type": "enforced", "/minimum": "enforced"}),
    (
        {"properties": {"a/b": {"items": {"const": 1}}}},
        {"/properties": "enforced", "/properties/a~1b/items": "enforced", "/properties/a~1b/items/const": "enforced"},
    ),
    # what a reference leads to, wherever it stands
    (
        {"$ref": "#/x/y", "x": {"y": {"type": "null"}}},
        {"/$ref": "enforced", "/x": "annotation schema-unknown-keyword", "/x/y/type": "enforced"},
    ),
    # annotations
    ({"title": "x", "$comment": "y"}, {"/title": "annotation", "/$comment": "annotation"}),
    ({"nullable": True}, {"/nullable": "annotation schema-unknown-keyword"}),
    ({"format": "color"}, {"/format": "annotation schema-format-annotation"}),
    (
        {"$schema": DRAFT_7, "dependentRequired": {"a": ["b"]}},
        {"/$schema": "annotation", "/dependentRequired": "annotation schema-other-draft"},
    ),
    ({"x-guidance": {"whitespace_flexible": False}}, {"/x-guidance": "annotation"}),
    # values are no schemas, whatever they look like
    ({"const": {"type": 1}, "default": {"type": 1}}, {"/const": "enforced", "/default": "annotation"}),
    # idle: in a definition to which nothing refers, or only something idle
    (
        {"$defs": {"a": {"type": 1, "$ref": "#/$defs/b", "title": ""}, "b": {"const": 1}}},
        {
            "/$defs": "annotation",
            "/$defs/a/type": "idle",
            "/$defs/a/$ref": "idle",
            "/$defs/a/title": "annotation",
            "/$defs/b/const": "idle",
        },
    ),
    # under a type that never occurs
    (
        {"type": ["string", "null"], "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"const": 1}}},
        {
            "/type": "enforced",
            "/items": "idle",
            "/items/$ref": "idle",
            "/$defs": "annotation",
            "/$defs/a/const": "idle",
        },
    ),
    ({"type": "null", "pattern": TWICE}, {"/type": "enforced", "/pattern": "idle"}),
    # without the keyword that they belong to
    ({"then": {"const": 1}, "else": True}, {"/then": "idle", "/then/const": "idle", "/else": "idle"}),
    ({"if": {"const": 1}}, {"/if": "idle", "/if/const": "idle"}),
    ({"if": {"const": 1}, "else": False}, {"/if": "enforced", "/if/const": "enforced", "/else": "enforced"}),
    (
        {"if": {"prefixItems": [True]}, "unevaluatedItems": False},
        {"/if": "enforced", "/if/prefixItems": "enforced", "/unevaluatedItems": "enforced"},
    ),
    ({"minContains": 2, "additionalItems": False}, {"/minContains": "idle", "/additionalItems": "idle"}),
    ({"items": [True], "additionalItems": False}, {"/items": "enforced", "/additionalItems": "enforced"}),
    (
        {"exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True},
        {"/exclusiveMinimum": "idle", "/maximum": "enforced", "/exclusiveMaximum": "enforced"},
    ),
    # or too large to matter
    ({"maxItems": 10**12}, {"/maxItems": "idle schema-idle-maximum"}),
    # or beside a reference that hides it
    (
        {"$schema": DRAFT_7, "allOf": [{"$ref": "#/definitions/a", "type": "null", "title": ""}]}
        | {"definitions": {"a": {"const": 1}}},
        {
            "/$schema": "annotation",
            "/allOf": "enforced",
            "/allOf/0/$ref": "enforced",
            "/allOf/0/type": "idle schema-hidden-by-reference",
            "/allOf/0/title": "annotation",
            "/definitions": "annotation",
            "/definitions/a/const": "enforced",
        },
    ),
    # refused
    (
        {"multipleOf": 1000000000000000003, "pattern": TWICE},
        {"/multipleOf": "refused schema-multiple-of", "/pattern": "refused regex-backreference"},
    ),
    (
        {"anyOf": [{"type": "strin", "minLength": 1}, {"$ref": "#/x"}]},
        {
            "/anyOf": "enforced",
            "/anyOf/0/type": "refused schema-keyword-value",
            "/anyOf/0/minLength": "enforced",
            "/anyOf/1/$ref": "refused schema-reference",
        },
    ),
    # schemas that say the same
    (
        {"properties": {"a": {"multipleOf": 1000000000000000003}, "b": {"multipleOf": 1000000000000000003}}},
        {
            "/properties": "enforced",
            "/properties/a/multipleOf": "refused schema-multiple-of",
            "/properties/b/multipleOf": "refused schema-multiple-of",
        },
    ),
    # at places that are no keywords
    (False, {"": "refused schema-unsatisfiable"}),
    (
        {"properties": {"a": 3}, "required": ["\ud800"], "patternProperties": {"(": True}},
        {
            "/properties": "enforced",
            "/properties/a": "refused schema-not-a-schema",
            "/required": "enforced",
            "/required/0": "refused schema-lone-surrogate",
            "/patternProperties": "enforced",
            "/patternProperties/(": "refused regex-unclosed-group",
        },
    ),
    # where nothing is left to enforce
    ({"uniqueItems": True, "maxItems": 1}, {"/uniqueItems": "enforced", "/maxItems": "enforced"}),
]


@pytest.mark.parametrize(("schema", "expected"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Any, expected: dict[str, str]) -> None:
    assert statuses(schema) == expected
    assert statuses(json.dumps(schema)) == expected


def test_options() -> None:
    schema = {"format": "date", "pattern": TWICE, "uniqueItems": True, "maxItems": 1}
    assert statuses(schema, formats="annotate", on_unsupported="relax") == {
        "/format": "annotation schema-format-annotation",
        "/pattern": "relaxed regex-backreference",
        "/uniqueItems": "enforced",
        "/maxItems": "enforced",
    }


def test_other_documents_are_covered_where_they_are_referred_to() -> None:
    library = {"urn:x": {"$defs": {"a": {"type": "null", "not": {"const": 1}}, "b": {"const": 2}}}}
    found = coverage(
        {"$ref": "urn:x#/$defs/a"}, options=JsonSchemaOptions(), limits=Limits(), retrieve=library.__getitem__
    )
    assert [(entry.pointer, entry.status) for entry in found] == [
        ("/$ref", "enforced"),
        ("urn:x#/$defs/a/type", "enforced"),
        ("urn:x#/$defs/a/not", "enforced"),
        ("urn:x#/$defs/a/not/const", "enforced"),
    ]


@pytest.mark.parametrize("flaw", [{"type": 1}, {"multipleOf": 1000000000000000003}])
@pytest.mark.parametrize("on_unsupported", ["error", "relax"])
def test_nothing_is_called_enforced_where_not_all_problems_are_known(flaw: Any, on_unsupported: str) -> None:
    """They are reported up to a bound."""
    schema = {"title": "", "properties": {f"p{i}": flaw for i in range(300)}}
    found = statuses(schema, on_unsupported=on_unsupported)
    assert len(found) == 302
    assert (found["/title"], found["/properties"]) == ("annotation", "unknown")
    assert not any(status == "enforced" for status in found.values())


def test_relaxations_are_told_of_beside_problems() -> None:
    schema = {"properties": {"a": {"pattern": TWICE}, "b": {"$ref": "#/properties/b"}}}
    found = statuses(schema, on_unsupported="relax")
    assert found["/properties/a/pattern"] == "relaxed regex-backreference"
    assert found["/properties/b"] == "refused schema-reference-loop"


def test_a_crossed_limit() -> None:
    schema: dict[str, Any] = {"allOf": [{"propertyNames": {"pattern": f"{i}"}} for i in range(300)]}
    with pytest.raises(LimitExceeded):
        coverage(schema, limits=Limits(max_search_steps=1_000))
    found = coverage({**schema, "items": {"type": "strnig"}}, limits=Limits(max_search_steps=1_000))
    assert {entry.status for entry in found} == {"unknown", "refused"}


def test_what_is_no_json() -> None:
    with pytest.raises(GrammarError):
        coverage("{")


# Nothing is left out, nothing is said twice


def keyword_places(schema: Any) -> list[str]:
    """The places of all keywords of a schema and of the schemas in it, in order."""
    if not isinstance(schema, dict):
        return []
    found = []
    for keyword in schema:
        found.append(f"/{_escaped(keyword)}")
        for path in subschema_places({keyword: schema[keyword]}):
            inner: Any = schema
            for token in path:
                inner = inner[int(token) if isinstance(inner, list) else token]
            found += ["".join(f"/{_escaped(token)}" for token in path) + place for place in keyword_places(inner)]
    return found


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")


@st.composite
def _flawed(draw: st.DrawFn) -> Any:
    """A schema with keywords that are unknown, annotations, not to be enforced or malformed at some of its places."""
    schema = copy.deepcopy(draw(SCHEMAS))
    hosts = [schema, *schema["$defs"].values()]
    hosts += [part for part in hosts for part in part.values() if isinstance(part, dict) and "$defs" not in part]
    flaws = [
        {"title": "x"},
        {"nullable": 1},
        {"multipleOf": 1000000000000000003},
        {"pattern": TWICE},
        {"type": "x"},
        {"not": 3},
    ]
    for host in hosts[:4]:
        if "one" not in host:
            host.update(draw(st.sampled_from([{}, {}, *flaws])))
    return schema


def reported(schema: Any, on_unsupported: str) -> tuple[Diagnostic, ...]:
    try:
        return cfgmask.Grammar.from_json_schema(schema, on_unsupported=on_unsupported).notes
    except GrammarError as error:
        return error.diagnostics


@given(_flawed(), st.sampled_from(["error", "relax"]))
def test_each_keyword_once_and_each_problem_at_its_place(schema: Any, on_unsupported: Any) -> None:
    found = coverage(schema, options=JsonSchemaOptions(on_unsupported=on_unsupported))
    assert [entry.pointer for entry in found if entry.keyword is not None] == keyword_places(schema)
    assert len({entry.pointer for entry in found}) == len(found)
    places: dict[str, set[str | None]] = {"error": set(), "warning": set(), "note": set()}
    for diagnostic in reported(schema, on_unsupported):
        # What is probably not meant is enforced, or restricts nothing, all the same.
        if diagnostic.code in ("schema-contradiction", "schema-misspelt-keyword"):
            continue
        places[diagnostic.severity].add(diagnostic.pointer)
    assert {entry.pointer for entry in found if entry.status == "refused"} == places["error"]
    if not places["error"]:
        # Errors are raised alone, so otherwise nothing else was reported.
        assert {entry.pointer for entry in found if entry.status == "relaxed"} == places["warning"]
        assert places["note"] <= {e.pointer for e in found if e.status in ("idle", "annotation") and e.code}


def without(schema: Any, pointers: list[str]) -> Any:
    """The schema without the keywords at these places, outer ones first."""
    schema = copy.deepcopy(schema)
    for pointer in sorted(pointers):
        *path, last = [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]
        host = schema
        for token in path:
            host = host[int(token)] if isinstance(host, list) else host.get(token, {})
        host.pop(last, None)
    return schema


@given(SCHEMAS, st.lists(VALUES, min_size=8, max_size=8))
def test_what_is_idle_can_be_taken_out(schema: Any, values: list[Any]) -> None:
    idle = [entry.pointer for entry in coverage(schema) if entry.status == "idle"]
    shorter = without(schema, idle)
    for value in values:
        assert is_valid(schema, json.dumps(value)) == is_valid(shorter, json.dumps(value))


def test_bounds_that_contradict_each_other_are_enforced() -> None:
    found = coverage({"properties": {"a": {"minimum": 10, "maximum": 5}}})
    assert {entry.status for entry in found if entry.keyword is not None} == {"enforced"}
