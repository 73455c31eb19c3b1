"""on_unsupported="relax": what cannot be enforced is reported and widens the language, wherever it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import Schema, accepts, compiled, is_valid
from tests.json_schema.random_schemas import SCHEMAS, VALUES

# A backreference: no regular language, whatever the engine learns.
TWICE = {"type": "string", "pattern": r"^(.*)\1$"}
SHORT = {"type": "string", "maxLength": 2}

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (TWICE, ['"aa"', '"ab"'], ["1"]),
    ({"allOf": [TWICE, SHORT]}, ['"aa"', '"ab"'], ['"abc"']),
    ({"type": ["string", "null"], "not": TWICE}, ['"ab"', '"aa"', "null"], ["1"]),
    ({"oneOf": [TWICE, SHORT]}, ['"ab"', '"aa"', '"abab"'], ["1"]),
    ({"if": TWICE, "then": {"maxLength": 4}, "else": {"minLength": 3}}, ['"aa"', '"abc"', '"ababab"'], []),
    ({"type": "object", "propertyNames": TWICE, "maxProperties": 1}, ["{}", '{"ab":1}'], ['{"a":1,"b":2}']),
    (
        {"type": "object", "patternProperties": {r"^(.)\1": {"type": "null"}}, "additionalProperties": False},
        ["{}", '{"aa":null}', '{"b":1}'],
        ["1"],
    ),
    (
        {"type": "object", "patternProperties": {r"^(.)\1": {"type": "null"}}, "unevaluatedProperties": False},
        ["{}", '{"aa":null}', '{"b":1}'],
        ["1"],
    ),
    ({"type": "array", "contains": TWICE, "maxContains": 1}, ['["aa"]', '["aa","ab"]', '["ab","ba"]'], ["[]", "[1]"]),
]


@pytest.mark.parametrize(("schema", "allowed", "refused"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, allowed: list[str], refused: list[str]) -> None:
    grammar = compiled(schema, on_unsupported="relax")
    for text in allowed:
        assert accepts(grammar, text), text
    for text in refused:
        assert not is_valid(schema, text)
        assert not accepts(grammar, text), text


def test_relaxations_are_warnings_at_their_places() -> None:
    schema = {"properties": {"a": TWICE, "b": {"type": "integer"}}}
    notes = cfgmask.Grammar.from_json_schema(schema, on_unsupported="relax").notes
    assert [(note.code, note.severity, note.pointer) for note in notes] == [
        ("regex-backreference", "warning", "/properties/a/pattern")
    ]


def test_errors_stay_errors() -> None:
    for schema in ({"type": "strin"}, {"$ref": "x.json"}, {"$ref": "#"}, False):
        with pytest.raises(cfgmask.GrammarError):
            compiled(schema, on_unsupported="relax")


def _with_unsupported(schema: Any, draw: st.DrawFn) -> Any:
    """The schema with keywords that cannot be enforced at some of its places."""
    if not isinstance(schema, dict):
        return schema
    added = draw(st.sampled_from([{}, {}, {"pattern": TWICE["pattern"]}, {"uniqueItems": True}]))
    nested = ("not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames")
    changed = {key: _with_unsupported(value, draw) if key in nested else value for key, value in schema.items()}
    for key in ("allOf", "anyOf", "oneOf"):
        if key in changed:
            changed[key] = [_with_unsupported(part, draw) for part in changed[key]]
    return {**changed, **added}


@st.composite
def _unsupported(draw: st.DrawFn) -> Any:
    return _with_unsupported(draw(SCHEMAS), draw)


@given(_unsupported(), st.lists(VALUES, min_size=8, max_size=8))
def test_nothing_valid_is_refused(schema: dict[str, Any], values: list[Any]) -> None:
    try:
        grammar = compiled(schema, on_unsupported="relax")
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics if diagnostic.severity == "error"}
        event(", ".join(sorted(codes)))
        if codes == {"schema-unsatisfiable"}:
            assert not any(is_valid(schema, json.dumps(value)) for value in values)
        return
    for value in values:
        if is_valid(schema, json.dumps(value)):
            assert accepts_in_some_order(grammar, value), value


# These are exact but for keys that are written twice, which values in Python do not have.
BUT_FOR_REPEATED_KEYS = {"schema-min-properties", "schema-negated-values"}


@given(SCHEMAS, st.lists(VALUES, min_size=8, max_size=8))
def test_only_repeated_keys_are_let_through(schema: dict[str, Any], values: list[Any]) -> None:
    try:
        compiled(schema)
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics if diagnostic.severity == "error"}
        event(", ".join(sorted(codes)))
        if codes <= BUT_FOR_REPEATED_KEYS:
            grammar = compiled(schema, on_unsupported="relax")
            for value in values:
                assert accepts_in_some_order(grammar, value) == is_valid(schema, json.dumps(value)), value


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"minProperties": 3}, ['{"a":1,"b":2,"c":3}'], ['{"a":1,"b":2}']),
        (
            {"not": {"additionalProperties": {"type": "null"}}, "type": "object"},
            ['{"a":null,"b":1,"c":null}', '{"b":1}'],
            ["{}", '{"a":null}'],
        ),
        (
            {
                "type": "object",
                "not": {"anyOf": [{"additionalProperties": {"type": "integer"}}, {"patternProperties": {"^a": False}}]},
            },
            ['{"a":"x"}', '{"b":"x","a":1}', '{"a":1,"b":"x"}'],
            ["{}", '{"a":1}', '{"b":"x"}'],
        ),
    ],
)
def test_keys_without_names_are_counted_and_looked_at(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    grammar = compiled(schema, on_unsupported="relax")
    for text in valid:
        assert is_valid(schema, text)
        assert accepts(grammar, text), text
    for text in invalid:
        assert not is_valid(schema, text)
        assert not accepts(grammar, text), text
