"""The rules that the core makes of a schema as a grammar: the same masks as when they are made one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask import _core
from cfgmask.grammar.ir import GrammarIR, Terminal
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    Alternation,
    ByteClass,
    CharClass,
    Concatenation,
    Divisible,
    JsonString,
    KeySet,
    Literal,
    Multiples,
    MultiplesCase,
    RegexTree,
    Repetition,
)
from cfgmask.limits import Limits
from tests.json_schema.random_schemas import SCHEMAS
from tests.json_schema.test_against_reference import SAMPLES, walk_with

LAYOUTS: list[dict[str, Any]] = [
    {},
    {"indent": 2},
    {"property_order": "any"},
    {"escapes": "canonical", "numbers": "any", "whitespace": "unbounded"},
]
IN_USE = json.loads((Path(__file__).parent / "in_use.json").read_text())


def compare(schema: Any, options: dict[str, Any], seeds: range) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    except cfgmask.GrammarError:
        return
    if grammar.lazy is not None:
        for seed in seeds:
            walk_with(grammar, grammar.ir, seed)


@pytest.mark.parametrize("options", LAYOUTS, ids=repr)
@pytest.mark.parametrize("name", SAMPLES)
def test_same_masks(name: str, options: dict[str, Any]) -> None:
    compare(SAMPLES[name], options, range(3))


@given(SCHEMAS, st.sampled_from(LAYOUTS), st.integers(0, 2**32))
@settings(max_examples=60)
def test_random_schemas(schema: Any, options: dict[str, Any], seed: int) -> None:
    compare(schema, options, range(seed, seed + 1))


# Regexes that schemas of the core have, as the core has them: each character by itself.
TREES: list[RegexTree] = [
    Literal(b""),
    Literal("a\u00e9\u20ac\U0001f600".encode()),
    CharClass(((0x61, 0x7A), (0xE9, 0xE9), (0x800, 0xD7FF), (0xE000, 0x10FFFF))),
    CharClass(((0x7FF, 0x800), (0xFFFF, 0x10000))),
    Concatenation((CharClass(((0xE9, 0xF1),)), Literal(b"x"), CharClass(((0x20AC, 0x20AF),)), Literal("é".encode()))),
    Alternation((Literal(b"ab"), Literal("é".encode()), CharClass(((0x30, 0x39),)))),
    Repetition(CharClass(((0, 0xD7FF), (0xE000, 0x10FFFF))), 2, 5),
    Concatenation((Repetition(Literal(b"-"), 0, 1), Repetition(CharClass(((0x30, 0x39),)), 1, None))),
    ByteClass(((0x80, 0x90), (0xFF, 0xFF))),
    Concatenation((ByteClass(((0xC3, 0xC3),)), Literal(b"x"))),
    KeySet((b"a", b"long", "é".encode())),
    Divisible(7),
    Multiples(2, (MultiplesCase(25, (10,), 2), MultiplesCase(2**40, finer=True)), 12),
    JsonString(Repetition(CharClass(((0x61, 0x7A),)), 1, 3), "canonical"),
    JsonString(KeySet((b"a", b"b")), "literal"),
    JsonString(ANY_TEXT),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_regexes_come_back(tree: RegexTree) -> None:
    """The same tree of its own regex, or another of the same one."""
    back = _core.regex_as_tree(tree, Limits().max_nesting)
    assert _core.regex_as_tree(back, Limits().max_nesting) == back
    builder = _core.RegexBuilder(vars(Limits()))
    nodes = [builder.portable(_core.portable_regex(each, Limits().max_nesting)) for each in (tree, back)]
    states = builder.automaton(nodes, 200)
    assert states is None or all(len(matched) != 1 for _, matched, _ in states)
    if isinstance(tree, (CharClass, ByteClass, KeySet, Divisible, Multiples, Literal)):
        assert back == tree


def rule_names(grammar: GrammarIR) -> list[str]:
    return [rule.name for rule in grammar.rules]


def test_rules_are_named_by_their_places() -> None:
    schema = {
        "properties": {"a": {"type": "array", "items": {"properties": {"b/c": {"type": ["null", "array"]}}}}},
        "additionalProperties": False,
        "type": "object",
    }
    grammar = cfgmask.Grammar.from_json_schema(schema)
    names = rule_names(grammar.ir)
    assert names[0] == grammar.ir.start == "#"
    assert {"#/a", "#/a/b~1c"} <= set(names)
    assert len(set(names)) == len(names)


def test_names_of_deep_places_are_short() -> None:
    schema: dict[str, Any] = {"type": "null"}
    for i in range(60):
        schema = {"type": "object", "properties": {f"member{i}": schema}, "additionalProperties": False}
    assert max(map(len, rule_names(cfgmask.Grammar.from_json_schema(schema).ir))) < 120


def test_rules_that_are_too_many() -> None:
    members = {f"k{i}": {"type": "object", "properties": {"a": {"const": i}}} for i in range(2000)}
    grammar = cfgmask.Grammar.from_json_schema({"properties": members}, limits=Limits(max_rules=60_000))
    assert grammar.lazy is not None
    with pytest.raises(cfgmask.LimitExceeded) as raised:
        grammar.ir  # noqa: B018
    assert raised.value.limit == "max_rules"
    # What is near the start is told all the same.
    assert isinstance(grammar.lazy, _core.SchemaWithLayout)
    *_, rules, is_whole = grammar.lazy.rules(None, 0, vars(Limits()), 50)
    assert not is_whole
    assert rules[0][1] is not None
    assert any(alternatives is None for _, alternatives in rules)


def test_many_alternatives_are_no_more_rules() -> None:
    """A text is matched with states that stand for several alternatives; all of them would be exponentially many."""
    objects = [
        {
            "type": "object",
            "properties": {f"k{j}": {"const": i} for j in range(i % 7, 20, 3)},
            "additionalProperties": False,
        }
        for i in range(60)
    ]
    grammar = cfgmask.Grammar.from_json_schema({"anyOf": objects})
    assert grammar.lazy is not None
    assert len(grammar.ir.rules) < 3000


def test_terminals_are_those_of_the_core() -> None:
    grammar = cfgmask.Grammar.from_json_schema({"type": "string", "pattern": "^[a-cé]+$"}, whitespace="compact")
    (rule,) = (rule for rule in grammar.ir.rules if isinstance(rule.body, Terminal))
    assert rule.body == Terminal("STRING", JsonString(Repetition(CharClass(((0x61, 0x63), (0xE9, 0xE9))), 1, None)))


@pytest.mark.parametrize("number", range(0, len(IN_USE), 4))
def test_schemas_in_use(number: int) -> None:
    compare(IN_USE[number]["schema"], LAYOUTS[number // 4 % len(LAYOUTS)], range(2))


def chain(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize("options", [{"indent": 2}, {"syntax": "yaml"}], ids=repr)
@pytest.mark.parametrize(
    ("schema", "is_too_deep"),
    [
        ({"type": "array", "maxItems": 0}, False),
        ({"type": "null"}, False),
        (chain(32), False),
        (chain(33), True),
        ({"properties": {"a": chain(32)}, "additionalProperties": False, "type": "object"}, True),
        ({"properties": {"a": chain(32)}, "additionalProperties": False, "type": "object", "maxProperties": 0}, False),
        ({"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": {"$ref": "#"}}]}, True),
        ({}, True),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_values_that_are_nested_too_deep(schema: Any, is_too_deep: bool, options: dict[str, Any]) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    assert ("schema-indent-depth" in [note.code for note in grammar.notes]) == is_too_deep
