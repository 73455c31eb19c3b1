"""Pickles of grammars: what they hold, that reading them reads nothing else, and what is made of them again."""

from __future__ import annotations

import builtins
import io
import json
import os
import pickle
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import cfgmask
from cfgmask.compiler.recipe import KeptSchema
from tests.cpu_time import cpu_seconds, hold
from tests.engine.harness import ALL_BYTES, mask_of

Grammar = cfgmask.Grammar
BYTES = cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, ALL_BYTES.end_tokens)

SEVEN = {"type": "object", "patternProperties": {name: {"type": "integer"} for name in "abcdefg"}}
SIX = {"oneOf": [{"type": "array", "maxItems": 25, "items": {"enum": [f"a{i}", f"b{i}"]}} for i in range(6)]}
MANY = {"type": "object", "properties": {f"name{i}": {"type": "string"} for i in range(200)}, "required": ["name150"]}

GRAMMARS: dict[str, Callable[[], cfgmask.Grammar]] = {
    "plain Lark": lambda: Grammar.from_lark('start: "12" | "3"', name="x"),
    "Lark": lambda: Grammar.from_lark('start[lazy]: "12" | "3"', limits=cfgmask.Limits(max_rules=1000)),
    "another start": lambda: Grammar.from_lark('start: "1"\nroot: "3"', start="root"),
    "blocks": lambda: Grammar.from_lark('start: "x" %json {"type": "object"}'),
    "@": lambda: Grammar.from_lark(
        "start: @a @b @c", grammars={"a": 'start: "a"', "b": {"const": 1}, "c": Grammar.from_regex("c+")}
    ),
    "GBNF": lambda: Grammar.from_gbnf('root ::= "a" | [bc]+', name="y"),
    "regex": lambda: Grammar.from_regex(r"(?i)a\d+", dialect="rust"),
    "choices": lambda: Grammar.from_choices(["a", "bc"]),
    "a plain schema": lambda: Grammar.from_json_schema({"enum": [12, 3]}),
    "a schema as text": lambda: Grammar.from_json_schema('{"type": "integer", "nullable": true}', name="s.json"),
    "options": lambda: Grammar.from_json_schema(MANY, property_order="any", whitespace="compact"),
    "seven patterns": lambda: Grammar.from_json_schema(SEVEN),
    "six arrays": lambda: Grammar.from_json_schema(SIX),
    "many properties": lambda: Grammar.from_json_schema(MANY),
    "an IR": lambda: Grammar(Grammar.from_regex("ab").ir, "z"),
    "a type": lambda: Grammar.from_type(list[int]),
}


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("something is read")


def read_again(grammar: cfgmask.Grammar, patch: pytest.MonkeyPatch) -> cfgmask.Grammar:
    """Through a pickle, with nothing to be read but that."""
    data = pickle.dumps(grammar)
    with patch.context() as without:
        for owner, name in ((builtins, "open"), (io, "open"), (os, "open"), (os, "stat")):
            without.setattr(owner, name, refuse)
        again: cfgmask.Grammar = pickle.loads(data)
    assert again.name == grammar.name
    assert (again.lazy is None) == (grammar.lazy is None)
    assert [note.to_json() for note in again.notes] == [note.to_json() for note in grammar.notes]
    return again


def assert_same_masks(a: cfgmask.Grammar, b: cfgmask.Grammar) -> None:
    pair = [cfgmask.compile(one, BYTES).matcher() for one in (a, b)]
    for _ in range(12):
        masks = [mask_of(matcher, 257) for matcher in pair]
        assert masks[0] == masks[1]
        token = max(masks[0])
        if token == 256:
            break
        for matcher in pair:
            matcher.advance(token)


@pytest.mark.parametrize("name", GRAMMARS)
def test_what_is_made_of_a_pickle_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = GRAMMARS[name]()
    again = read_again(grammar, monkeypatch)
    assert_same_masks(grammar, again)
    assert_same_masks(grammar, read_again(again, monkeypatch))


def test_imported_files_are_in_the_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "grammars"
    (folder / "more").mkdir(parents=True)
    (folder / "a.lark").write_text("%import .more.b.B\nA: B B")
    (folder / "more" / "b.lark").write_text('B: "b"')
    main = folder / "main.lark"
    main.write_text("%import .a.A\n%import .more.b.B\nstart: A | B")
    grammar = Grammar.from_file(main)
    data = pickle.dumps(grammar)
    shutil.rmtree(folder)
    assert_same_masks(grammar, pickle.loads(data))
    assert_same_masks(grammar, read_again(pickle.loads(data), monkeypatch))


def test_retrieved_documents_are_in_the_pickle(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"type": "array", "items": {"$ref": "https://example.org/b"}}
    asked = []

    def retrieve(uri: str) -> Any:
        asked.append(uri)
        return document if uri.endswith("a") else {"type": "null"}

    grammar = Grammar.from_json_schema({"$ref": "https://example.org/a"}, retrieve=retrieve)
    document["items"] = {"type": "string"}  # after it was read
    n_asked = len(asked)
    again = read_again(grammar, monkeypatch)
    assert_same_masks(grammar, read_again(again, monkeypatch))
    assert (n_asked, len(asked)) == (2, 2)
    assert cfgmask.compile(again, BYTES).matcher().advance_bytes(b"[null") == 5


def test_a_schema_is_pickled_as_it_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for schema in ({"enum": ["a"]}, {"enum": ["a"], "not": {"const": "b"}}):
        grammar = Grammar.from_json_schema(schema)
        schema["enum"] = ["b"]
        assert cfgmask.compile(read_again(grammar, monkeypatch), BYTES).matcher().advance_bytes(b'"a"') == 3


def test_another_format_is_refused() -> None:
    make, (version, *rest) = Grammar.from_regex("a").__reduce__()
    with pytest.raises(ValueError, match=r"has the format 2, and this version of cfgmask reads 1"):
        make(version + 1, *rest)


def seconds_to_first_mask(grammar: cfgmask.Grammar) -> float:
    vocabularies = iter([cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, ALL_BYTES.end_tokens) for _ in range(9)])
    return cpu_seconds(lambda: mask_of(cfgmask.compile(grammar, next(vocabularies)).matcher(), 257), runs=9)


def test_the_first_mask_of_an_unpickled_grammar_is_as_soon() -> None:
    grammar = Grammar.from_json_schema(MANY)
    again = pickle.loads(pickle.dumps(grammar))
    hold(seconds_to_first_mask(again), 4 * seconds_to_first_mask(grammar))


@pytest.mark.parametrize("schema", [SEVEN, SIX], ids=["seven patterns", "six arrays"])
def test_notes_cross_no_limit(schema: dict[str, Any]) -> None:
    assert Grammar.from_json_schema(schema).notes == ()
    noted = Grammar.from_json_schema({**schema, "nullable": True}).notes
    assert [note.pointer for note in noted] == ["/nullable"]
    block = Grammar.from_lark(f"start: %json {json.dumps({**schema, 'nullable': True})}")
    assert block.lazy is not None
    assert [note.code for note in block.notes] == [note.code for note in noted]


@pytest.mark.parametrize(
    "schema", [{"nullable": True}, {"format": "zip"}, {"type": "string", "maxLength": 2**40}, {"$defs": {"a": {}}}]
)
def test_notes_of_plain_schemas_are_those_of_their_rules(schema: dict[str, Any]) -> None:
    grammar = Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    notes = grammar.notes
    assert notes == grammar.ir.notes == grammar.notes


def test_a_bound_on_classes_of_keys_is_named_as_it_is() -> None:
    eight = {"patternProperties": {c: {"type": "integer"} for c in "abcdefgh"}}
    for options in OPTIONS:
        with pytest.raises(
            cfgmask.GrammarError, match=r"sort the keys into more than 128 classes[^?]*write fewer patterns"
        ):
            Grammar.from_json_schema(eight, **options)


OPTIONS: list[dict[str, Any]] = [{}, {"property_order": "any"}, {"indent": 2}, {"syntax": "yaml"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_all_ways_read_seven_patterns(options: dict[str, Any]) -> None:
    """One way had room for 128 classes of keys, and the other for half as many."""
    grammar = Grammar.from_json_schema(SEVEN, **options)
    again = pickle.loads(pickle.dumps(grammar))
    assert {note.severity for note in grammar.notes} <= {"note"}
    assert (again.ir, again.notes) == (grammar.ir, grammar.notes)
    named = Grammar.from_lark("start: @named", grammars={"named": grammar})

    def written(key: str, value: int | None) -> str:
        if options.get("syntax") == "yaml":
            return f"{key}: {json.dumps(value)}\n"
        return json.dumps({key: value}, indent=options.get("indent"))

    for read in (grammar, again, named):
        read.parse(written("abc", 1))
        read.parse(written("x", None))
        with pytest.raises(cfgmask.ParseError):
            read.parse(written("abc", None))


@pytest.mark.parametrize("name", ["jsonc", "xml_elements", "sql"])
def test_shipped_grammars_are_those_of_the_package_that_unpickles(name: str) -> None:
    """Where the package lies differs between machines, so a pickle does not hold it."""
    grammar = cfgmask.Grammar.from_lark(f"%import cfgmask.{name}.start -> shipped\nstart: shipped")
    data = pickle.dumps(grammar)
    assert str(cfgmask.grammars.folder()).encode() not in data
    assert pickle.loads(data).ir == grammar.ir


def test_schemas_are_kept_as_they_are() -> None:
    """Deep ones, those with parts that are one object, and those that hold themselves; a change reaches no copy."""
    deep: dict[str, Any] = {}
    for _ in range(50_000):
        deep = {"a": [deep]}
    shared = {"b": Decimal("1.5")}
    whole: dict[str, Any] = {"shared": [shared, shared], "deep": deep}
    whole["whole"] = whole
    kept = KeptSchema.of(whole)
    shared["b"] = Decimal(2)
    first, second = kept.value, kept.value
    assert first is not second
    for value in (first, second):
        assert value["whole"] is value
        assert value["shared"][0] is value["shared"][1] is not shared
        assert value["shared"] == [{"b": Decimal("1.5")}] * 2
        depth, below = 0, value["deep"]
        while below:
            depth, below = depth + 1, below["a"][0]
        assert depth == 50_000
