"""References by URI and anchor, and to other documents, which the core resolves, against the reference."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema.core_reader import read_at_once
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.limits import Limits
from tests.cpu_time import cpu_seconds, hold
from tests.json_schema import test_dynamic_references, test_references
from tests.json_schema.judge import accepts, compiled
from tests.json_schema.test_against_reference import walk_both
from tests.json_schema.test_drafts import METASCHEMAS, in_draft
from tests.json_schema.test_official_suite import SUITE, retrieve

# Their `unevaluatedProperties` looks at what a reference says.
LEFT = [test_dynamic_references.strict_tree(recursive=flag) for flag in (True, False)]
TABLE = [row[0] for row in test_references.TABLE + test_dynamic_references.TABLE if row[0] not in LEFT]
TABLE += [
    {"$id": "http://a/b/c", "$ref": "../d?e#f", "$defs": {"x": {"$id": "/d?e", "$anchor": "f", "type": "null"}}},
    {"$id": "a/b", "$ref": "c", "$defs": {"x": {"$id": "http://h/", "$ref": "a"}, "y": {"$id": "c", "const": 1}}}
    | {"allOf": [{"$id": "http://h/a", "type": "integer"}]},
    # In a resource of its own, a fragment is one of that.
    {
        "items": {"$ref": "x#y"},
        "$defs": {"a": {"$id": "x", "items": {"$anchor": "y", "const": 1}}, "y": {"$anchor": "y"}},
    },
    {
        "$ref": "#/$defs/a/properties/c",
        "$defs": {"a": {"$id": "b", "properties": {"c": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}}},
    },
    in_draft(
        "7",
        **{"$ref": "#/definitions/a", "$id": "http://x/"},
        definitions={"a": {"$id": "#b", "items": {"$ref": "#b"}}},
    ),
    in_draft(
        "4",
        id="http://x/y",
        items={"$ref": "z#/definitions/n"},
        definitions={"a": {"id": "z", "definitions": {"n": {"type": "integer"}}}},
    ),
    # The same schema in two scopes, for the same value.
    {
        "$ref": "outer",
        "$defs": {
            "o": {"$id": "outer", "$ref": "inner", "$defs": {"x": {"$dynamicAnchor": "x", "$ref": "inner#/$defs/z"}}},
            "i": {
                "$id": "inner",
                "$dynamicRef": "#x",
                "$defs": {"x": {"$dynamicAnchor": "x", "type": "string"}, "z": {"type": "null"}},
            },
        },
    },
]


@pytest.mark.parametrize("schema", TABLE, ids=lambda value: json.dumps(value)[:60])
def test_same_masks(schema: Any) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    for seed in range(10):
        walk_both(grammar, seed)


@pytest.mark.skipif(not SUITE.exists(), reason="the official test suite is not beside the repository")
@pytest.mark.parametrize("name", ["anchor", "defs", "dynamicRef", "ref", "refRemote", "vocabulary"])
def test_the_core_resolves_the_references_of_the_suite(name: str) -> None:
    for group in json.loads((SUITE / f"{name}.json").read_text(encoding="utf-8")):
        try:
            grammar = cfgmask.Grammar.from_json_schema(
                group["schema"], numbers="any", formats="annotate", retrieve=retrieve
            )
        except cfgmask.GrammarError:
            continue
        if grammar.lazy is None:
            assert "unevaluatedProperties" in json.dumps(group["schema"]), group["description"]
        else:
            walk_both(grammar, 0, steps=60)


@pytest.mark.parametrize("draft", ["draft-06", "draft-07", "draft/2019-09", "draft/2020-12"])
def test_metaschemas(draft: str) -> None:
    uri = f"http{'s' if '/' in draft else ''}://json-schema.org/{draft}/schema"
    try:
        retrieve(uri)
    except LookupError:
        uri += "#"
    grammar = cfgmask.Grammar.from_json_schema({"items": {"$ref": uri}}, retrieve=retrieve)
    assert grammar.lazy is not None
    for seed in range(3):
        walk_both(grammar, seed, steps=60)
    matches = cfgmask.compile(
        grammar, cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)
    )
    assert accepts(matches, '[{"properties":{"a":{"minLength":3}}}]')
    assert not accepts(matches, '[{"properties":{"a":{"minLength":-3}}}]')


def test_metaschemas_of_ones_own() -> None:
    schema = {"$schema": "x:no-validation", "properties": {"a": {"type": "null"}, "b": {"items": False}}}
    grammar = cfgmask.Grammar.from_json_schema(schema, retrieve=METASCHEMAS.__getitem__)
    assert grammar.lazy is not None
    walk_both(grammar, 0)


def test_what_is_retrieved_is_read_as_what_refers_to_it() -> None:
    documents = {"x:a": {"type": "integer"}, "x:b": {"$ref": "x:a", "minimum": 1}, "x:c": in_draft("7", const=1.5)}
    asked = []

    def give(uri: str) -> Any:
        asked.append(uri)
        return documents[uri]

    schema = in_draft("4", items={"anyOf": [{"$ref": "x:b#"}, {"$ref": "x:c"}, {"$ref": "x:c#"}]})
    grammar = cfgmask.Grammar.from_json_schema(schema, numbers="any", retrieve=give)
    assert grammar.lazy is not None
    assert asked == ["x:b", "x:a", "x:c"]
    matches = compiled(schema, numbers="any", retrieve=give)
    # Draft 4 lets `$ref` hide what is beside it.
    assert accepts(matches, "[1,0,1.5]")
    assert not accepts(matches, "[1.0]")
    assert not accepts(matches, "[2.5]")
    documents.clear()
    assert [note.code for note in grammar.notes] == ["schema-hidden-by-reference"]
    walk_both(grammar, 0)


def test_what_cannot_be_retrieved_is_an_error() -> None:
    for document in (3, [], "{}", {"a": float("nan")}):
        with pytest.raises(cfgmask.GrammarError, match="reference"):
            cfgmask.Grammar.from_json_schema({"$ref": "x:a"}, retrieve={"x:a": document}.__getitem__)
    with pytest.raises(cfgmask.GrammarError, match="schema-remote-reference"):
        cfgmask.Grammar.from_json_schema({"$ref": "x:b"}, retrieve={}.__getitem__)


_NAMES = ["a", "b", "http://x/a", "http://x/y/b"]
_ANCHORS = ["p", "q"]


def _resources(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.fixed_dictionaries(
        {},
        optional={
            "$id": st.sampled_from(_NAMES),
            "$anchor": st.sampled_from(_ANCHORS),
            "$dynamicAnchor": st.sampled_from(_ANCHORS),
            "type": st.sampled_from(["array", "integer", "null", "object"]),
            "items": inner,
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "$defs": st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
        },
    )
    return named


_PLACES = ["", "p", "q", "/$defs/x", "/$defs/y", "/$defs/x/items", "/properties/a"]
_REFERENCES = st.builds(
    lambda keyword, document, place: {keyword: f"{document}#{place}" if place or not document else document},
    st.sampled_from(["$ref", "$dynamicRef"]),
    st.sampled_from(["", *_NAMES]),
    st.sampled_from(_PLACES),
)
_SCHEMAS = st.recursive(st.just({}) | st.just({"type": "null"}) | _REFERENCES, _resources, max_leaves=12)


@given(_SCHEMAS, st.integers(0, 2**32))
def test_random_references(schema: Any, seed: int) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema)
    except cfgmask.GrammarError:
        return
    if grammar.lazy is not None:
        walk_both(grammar, seed, steps=40)


@given(_SCHEMAS, _SCHEMAS, _SCHEMAS, st.integers(0, 2**32))
def test_random_documents(root: Any, a: Any, b: Any, seed: int) -> None:
    documents = {"http://x/a": a, "b": b}
    try:
        grammar = cfgmask.Grammar.from_json_schema(root, retrieve=documents.__getitem__)
    except cfgmask.GrammarError:
        return
    if grammar.lazy is not None:
        walk_both(grammar, seed, steps=40)


def _read(schema: Any, limits: Limits) -> Any:
    return read_at_once(schema, options=JsonSchemaOptions(), limits=limits)


def _read_too_much(schema: Any, limits: Limits) -> None:
    with pytest.raises(cfgmask.LimitExceeded, match="max_rules"):
        _read(schema, limits)


def test_many_resources() -> None:
    n = 3_000
    resources = {f"d{i}": {"$id": f"i{i}", "$anchor": "a", "items": {"$ref": f"i{(i + 7) % n}#a"}} for i in range(n)}
    schema = {"$id": "http://x/", "$ref": "i0", "$defs": resources}
    assert _read(schema, Limits()) is not None
    hold(cpu_seconds(lambda: _read(schema, Limits())), 1)


def test_long_uris_are_bounded() -> None:
    resources = {f"d{i}": {"$id": f"i{i}"} for i in range(3_000)}
    schema = {"$id": f"http://x/{'y' * 1_000_000}/", "$ref": "i0", "$defs": resources}
    hold(cpu_seconds(lambda: _read_too_much(schema, Limits())), 2)


def test_scopes_are_bounded() -> None:
    schema = test_dynamic_references.multiplying_scopes()
    hold(cpu_seconds(lambda: _read_too_much(schema, Limits(max_rules=50_000))), 2)
