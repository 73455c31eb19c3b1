"""A few schemas of `keyword_pairs.py`; run that for thousands."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from tests.json_schema import ecma, keyword_pairs
from tests.json_schema.keyword_pairs import Examination, Wrong
from tests.json_schema.likely_values import likely_value, mutated
from tests.json_schema.paired_keywords import Maker, cuts_of, schemas_in
from tests.json_schema.shrinking import smallest

with_node = pytest.mark.skipif(not ecma.IS_INSTALLED, reason="node is not installed")


@with_node
def test_some_schemas() -> None:
    tally = keyword_pairs.run(120, seed=0)
    assert tally.wrong == []
    assert tally.counts["valid texts"] > 500
    assert tally.counts["texts"] > 2 * tally.counts["valid texts"]


@with_node
@pytest.mark.slow
def test_thousands_of_schemas() -> None:
    assert keyword_pairs.run(3_000, seed=1).wrong == []


def test_keywords_meet_in_pairs() -> None:
    """Each two keywords of arrays, and of objects, stand beside each other, and bounded parts beside unbounded ones."""
    made = [each for n in range(1_500) for each in schemas_in(Maker(random.Random(n), []).schema())]
    schemas = [each for each in made if isinstance(each, dict)]
    for keywords in (("uniqueItems", "prefixItems", "contains", "items", "minContains"), ("required", "maxProperties")):
        for one in keywords:
            assert all(any(one in each and other in each for each in schemas) for other in keywords), one
    strings_first = [each for each in schemas if {"type": "string"} in each.get("prefixItems", [])]
    assert any(each.get("uniqueItems") and "items" not in each for each in strings_first)


@pytest.mark.parametrize(
    ("judged", "written", "text", "what"),
    [
        ({"type": "null"}, {"type": "null"}, "null", []),
        ({"type": "null"}, {}, "1", ["accepted"]),
        ({"type": ["null", "integer"]}, {"type": "null"}, "1", ["refused"]),
        ({"minimum": 0.5}, {"minimum": 0.5}, "1e2", []),
        ({}, {"properties": {"a": {}, "b": {}}}, '{"b": 1, "a": 1}', []),
        ({}, False, "1", ["nothing satisfies it"]),
    ],
)
def test_what_is_wrong_is_told(judged: Any, written: Any, text: str, what: list[str]) -> None:
    """Of the grammar of one schema and the verdicts of another."""
    found = Examination(judged)
    found.grammars = keyword_pairs.Grammars(written)
    assert sorted({each.what for each in found.wrong_of(text)}) == what


def test_faults_are_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a grammar that takes what has an `a` in it, whatever the schema says."""
    monkeypatch.setattr(keyword_pairs.Grammars, "accepts", lambda _, __, text: "a" in text)
    wrong = Wrong("accepted", "schema", '["b", "cab", {"c": [1, 2]}]')
    schema = {"items": {"type": "integer"}, "minItems": 2, "$defs": {"d": {"maxItems": 1}}}
    schema, wrong = keyword_pairs.shrunk(schema, wrong)
    assert len(json.dumps(schema)) < 30
    assert len(wrong.text) < 10
    assert keyword_pairs.still_wrong(schema, wrong)


def test_smallest() -> None:
    value = {"a": [1, {"b": "xyz"}], "c": 12}
    assert smallest(value, lambda v: "y" in json.dumps(v), 100) == {"b": "y"}
    assert smallest(value, lambda _: False, 100) == value


def test_likely_values_are_often_valid() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"enum": [1, "b"]}, "minItems": 1}, "b": {"maxLength": 1}},
        "required": ["a"],
    }
    judge = keyword_pairs.judge_of(schema)
    values = [likely_value(schema, random.Random(n)) for n in range(200)]
    assert 50 < sum(judge(json.dumps(value)) for value in values) < 190
    assert all(mutated(value, random.Random(0)) is not value for value in values)


def test_cuts_stand_by_themselves() -> None:
    schema = {
        "title": "x",
        "properties": {"a": {"$ref": "#/definitions/b"}, "c": {"type": "string", "title": "y"}},
        "definitions": {"b": {}},
    }
    assert list(cuts_of(schema)) == [{"type": "string"}]
