"""Schemas within a limit on the tokens of a rule: whatever the mask allows can be closed in time."""

from __future__ import annotations

import json
import random
from typing import Any, Literal

import pytest

import cfgmask
from cfgmask import Grammar, GrammarError, LimitExceeded
from cfgmask.grammar.parts import expanded
from tests.engine.budget_walks import random_schema
from tests.engine.harness import mask_of

WORDS = [b'{"', b'":', b'"}', b'", "', b'","', b"ab", b"},", b"],", b"[[", b"true", b"10"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *WORDS, b""]
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, [len(TOKENS) - 1])
LIKED = frozenset(b'{}[]",: abctruefals10!')

SCHEMAS: dict[str, Any] = {
    "required members": {
        "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {"items": {"type": "boolean"}}},
        "required": ["c", "a"],
        "type": "object",
    },
    "few values": {"type": "array", "items": {"enum": ["a", "bbbbbb", 1]}, "uniqueItems": True},
    "strings": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "any keys": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "one key": {"type": "object", "additionalProperties": {"type": "boolean"}, "minProperties": 1},
    "keys inside": {"items": {"type": "object", "additionalProperties": {"type": "integer"}}, "type": "array"},
    "many members": {"type": "object", "properties": {f"{a}{b}": {"type": "null"} for a in "abcdef" for b in "abcd"}},
    "recursive": {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "null"}}, "required": ["b"]},
    "a tree": {"properties": {"a": {"items": {"$ref": "#"}, "minItems": 1, "type": "array"}}, "type": "object"},
}
DISTINCT: dict[str, Any] = {
    "two items": {"type": "array", "items": {"enum": ["a", "bbbbbb", 1]}, "uniqueItems": True, "minItems": 2},
    "arrays": {"type": "array", "items": {"type": "array"}, "uniqueItems": True},
    "keys": {"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 3},
}


def limited(schema: Any, n: int, order: Literal["schema", "any"] = "schema") -> Grammar:
    inside = Grammar.from_json_schema(schema, property_order=order)
    return Grammar.from_lark(f'start: t "!"\nt[max_tokens={n}]: @g', grammars={"g": inside})


def walk(grammar: Grammar, seed: int, n_steps: int = 60) -> bool:
    """Along the masks of the grammar and of the same one with rules in place of parts; whether a text was ended."""
    both = [cfgmask.compile(of, VOCABULARY) for of in (grammar, expanded(grammar.compact_ir_for(VOCABULARY)))]
    matchers = [compiled.matcher() for compiled in both]
    choose = random.Random(seed)
    for _ in range(n_steps):
        masks = [mask_of(matcher, len(TOKENS)) for matcher in matchers]
        assert masks[0] == masks[1]
        assert masks[0], "a dead end"
        liked = [token for token in masks[0] if token >= 256 or token in LIKED]
        token = choose.choice(sorted(liked if liked and choose.random() < 0.9 else masks[0]))
        for matcher in matchers:
            matcher.advance(token)
        if matchers[0].is_finished:
            return True
    return False


@pytest.mark.parametrize("name", SCHEMAS)
def test_no_dead_ends(name: str) -> None:
    n_ended = 0
    for n in (4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32):
        try:
            grammar = limited(SCHEMAS[name], n)
            n_ended += sum(walk(grammar, seed) for seed in range(6))
        except GrammarError as error:
            assert [found.code for found in error.diagnostics] == ["grammar-empty"]  # noqa: PT017
    assert n_ended > 5


@pytest.mark.parametrize("name", DISTINCT)
def test_values_that_must_be_there_and_differ(name: str) -> None:
    """Each would be a dead end where the short ones are used up."""
    with pytest.raises(GrammarError, match="grammar-limited-distinct") as raised:
        cfgmask.compile(limited(DISTINCT[name], 30), VOCABULARY)
    assert [found.span and found.span.start for found in raised.value.diagnostics] == [13]


def test_keys_in_any_order() -> None:
    required = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}
    with pytest.raises(GrammarError, match="grammar-limited-distinct"):
        cfgmask.compile(limited(required, 30, "any"), VOCABULARY)
    optional = limited({**required, "required": []}, 8, "any")
    assert sum(walk(optional, seed) for seed in range(30)) > 10


def test_the_limit_itself() -> None:
    for n, is_enough in ((6, False), (7, True)):
        grammar = limited({"properties": {"a": {"const": 1}}, "required": ["a"], "type": "object"}, n)
        if is_enough:
            assert cfgmask.compile(grammar, VOCABULARY).matcher().advance_bytes(b"") == 0
            continue
        with pytest.raises(GrammarError, match="takes more than 6 tokens"):
            cfgmask.compile(grammar, VOCABULARY)


def test_random_schemas() -> None:
    choose = random.Random(7)
    n_walks = 0
    for seed in range(120):
        schema = random_schema(choose)
        try:
            grammar = limited(json.dumps(schema), choose.choice([4, 6, 9, 14, 22]))
            n_walks += sum(walk(grammar, seed + i) for i in range(3))
        except (GrammarError, LimitExceeded):
            continue
    assert n_walks > 60


def test_many_keys_take_rules_in_proportion() -> None:
    schema = {"type": "object", "properties": {f"k{i}": {"type": "null"} for i in range(3_000)}}
    matcher = cfgmask.compile(limited(schema, 50), VOCABULARY).matcher()
    assert matcher.advance_bytes(b"{") == 1
    assert ord('"') in mask_of(matcher, len(TOKENS))
