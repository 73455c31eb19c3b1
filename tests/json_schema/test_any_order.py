"""Keys in any order, as the core writes them: against the validator, against the reference, and for many keys."""

from __future__ import annotations

import json
import pickle
import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from tests.engine.harness import mask_of
from tests.json_schema.general import general_rules
from tests.json_schema.judge import accepts, compiled, is_valid, vocabulary
from tests.json_schema.test_against_reference import walk_both
from tests.json_schema.test_layouts import is_refused

ANY_ORDER: dict[str, Any] = {"property_order": "any", "whitespace": "compact"}

NAMES = ["a", "ab", "é", "/", "q"]
_HELD = st.sampled_from(
    [
        True,
        {"const": 1},
        {"type": "string", "maxLength": 1},
        {"properties": {"a": True, "b": {"const": 2}}, "required": ["b"], "type": "object"},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        False,
    ]
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(st.sampled_from(NAMES), _HELD, max_size=4),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "^[qé]$", "b$"]), _HELD, max_size=2),
        "additionalProperties": _HELD,
        "required": st.lists(st.sampled_from([*NAMES, "z"]), max_size=3, unique=True),
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(1, 4),
        "propertyNames": st.sampled_from([{"maxLength": 1}, {"enum": ["a", "ab", "q", "z"]}]),
        "dependentRequired": st.sampled_from([{"a": ["ab"]}, {"q": ["a", "z"]}]),
        "anyOf": st.just([{"required": ["a"]}, {"properties": {"q": {"const": 1}}}]),
        "unevaluatedProperties": _HELD,
        "not": st.sampled_from(
            [
                {"additionalProperties": False},
                {"properties": {"a": True}, "additionalProperties": {"const": 1}},
                {"additionalProperties": {"type": ["integer", "string"]}},
                {"required": ["a"], "properties": {"q": {"const": 1}}},
            ]
        ),
    },
)


@given(OBJECTS, st.integers(0, 2**32))
@settings(max_examples=200)
def test_both_ways_have_the_same_masks(schema: dict[str, Any], seed: int) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, property_order="any")
    except cfgmask.GrammarError:
        return
    if grammar.lazy is not None and not is_refused(grammar):
        walk_both(grammar, seed, after=b"{")


@given(OBJECTS, st.lists(st.sampled_from([*NAMES, "z"]), max_size=3, unique=True), st.sampled_from([1, "x", {"b": 2}]))
@settings(max_examples=200)
def test_all_orders_of_valid_objects(schema: dict[str, Any], names: list[str], value: Any) -> None:
    try:
        grammar = compiled(schema, **ANY_ORDER)
    except cfgmask.GrammarError:
        return
    expected = is_valid(schema, json.dumps(dict.fromkeys(names, value)))
    for order in permutations(names):
        text = json.dumps(dict.fromkeys(order, value), separators=(",", ":"), ensure_ascii=False)
        assert accepts(grammar, text) == expected, text


@given(OBJECTS, st.integers(0, 2**32))
@settings(max_examples=60)
def test_completions_and_budgets_of_both_ways(schema: dict[str, Any], seed: int) -> None:
    """Where a completion is found without much search, the ways agree on how short it is.

    Not if an object needs several keys: those that it must have for another one's sake may be longer than others.
    """
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, **ANY_ORDER)
    except cfgmask.GrammarError:
        return
    if grammar.lazy is None or is_refused(grammar):
        return
    one, other = (cfgmask.compile(way, vocabulary()).matcher() for way in (grammar, general_rules(grammar)))
    rng = random.Random(seed)
    for _ in range(12):
        try:
            found, expected = one.completion(), other.completion()
        except cfgmask.LimitExceeded:
            return
        assert found is not None
        assert expected is not None
        rest = one.fork()
        assert rest.try_advance(found) == len(found)
        assert rest.is_accepting
        if schema.get("minProperties", 0) < 2:
            assert len(found) == len(expected)
        assert one.forced_bytes() == other.forced_bytes()
        allowed = [byte for byte in b'{}[]":,abz1' if one.try_advance([byte], consume=False)]
        if not allowed:
            return
        byte = rng.choice(allowed)
        one.advance(byte)
        other.advance(byte)


MANY = [f"key{i}" for i in range(1_000)]
CLOSED = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in MANY},
    "required": MANY[::2],
    "additionalProperties": False,
}


def _shuffled(seed: int) -> str:
    names = MANY.copy()
    random.Random(seed).shuffle(names)
    return json.dumps({name: i for i, name in enumerate(names)})


def test_many_keys() -> None:
    grammar = cfgmask.Grammar.from_json_schema(CLOSED, property_order="any")
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, vocabulary())
    for seed in range(3):
        text = _shuffled(seed)
        matcher = compiled.matcher()
        assert matcher.advance_bytes(text[:-1].encode()) == len(text) - 1
        assert matcher.advance_bytes(b",") == 0
        assert matcher.forced_bytes() == b""
        matcher.advance(ord("}"))
        assert matcher.is_accepting
        matcher.rollback(1)
        assert not matcher.is_accepting
        assert matcher.completion() == [ord("}")]
        with_one_missing = text.replace('"key500": ', '"key501": ', 1).encode()
        assert compiled.matcher().advance_bytes(with_one_missing) < len(with_one_missing)


@pytest.mark.parametrize("n", [1, 40])
def test_required_keys_that_are_missing_are_forced(n: int) -> None:
    names = [f"{i:02}" for i in range(n)]
    properties = {name: {"const": 1} for name in names} | {"other": {"const": 2}}
    schema = {"type": "object", "properties": properties, "required": names, "additionalProperties": False}
    matcher = compiled(schema, **ANY_ORDER).matcher()
    written = ",".join(f'"{name}":1' for name in names[:-1])
    text = "{" + (written + "," if written else "") + '"other":2'
    assert matcher.advance_bytes(text.encode()) == len(text)
    assert matcher.forced_bytes() == f',"{names[-1]}":1}}'.encode()


def test_completions_of_many_required_keys() -> None:
    schema = {"type": "object", "properties": {name: {"const": 1} for name in MANY[:60]}, "required": MANY[:60:3]}
    matcher = compiled(schema, **ANY_ORDER).matcher()
    assert matcher.advance_bytes(b'{"key3":1,"x":2,') > 0
    rest = matcher.completion()
    assert rest is not None
    assert matcher.try_advance(rest) == len(rest)
    assert matcher.is_accepting


def test_it_is_pickled_and_noted_like_any_other() -> None:
    schema = {"type": "object", "properties": {"a": {"format": "unknown"}, "b": True}, "required": ["b"]}
    grammar = cfgmask.Grammar.from_json_schema(schema, property_order="any")
    again = pickle.loads(pickle.dumps(grammar))
    assert again.notes == grammar.notes
    assert [note.code for note in grammar.notes]
    assert accepts(cfgmask.compile(again, vocabulary()), '{"b":1,"a":2}')


def test_a_part_of_another_grammar() -> None:
    inner = cfgmask.Grammar.from_json_schema(CLOSED, property_order="any")
    outer = cfgmask.Grammar.from_lark('start: "<" @s ">" @s', grammars={"s": inner})
    text = f"<{_shuffled(1)}>{_shuffled(2)}"
    assert accepts(cfgmask.compile(outer, vocabulary()), text)
    assert not accepts(cfgmask.compile(outer, vocabulary()), text.replace('"key0": ', '"key1": ', 1))


def test_answers_beside_tools_are_parsed() -> None:
    """The part of the answer is the last of the text, and no set is open around it."""
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}]
    answer = {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "object"}}, "required": ["b"]}
    grammar = cfgmask.Grammar.from_tools(tools, style="hermes", response_format=answer, property_order="any")
    assert grammar.parse('{"a": {"k": []}, "b": 42}').value == {"a": {"k": []}, "b": 42}
    call = '<tool_call>\n{"name": "f", "arguments": {"x": "y"}}\n</tool_call>'
    assert [found.arguments for found in grammar.parse(call).tool_calls] == [{"x": "y"}]


SEVERAL: dict[str, Any] = {"type": "object", "minProperties": 2, "dependentRequired": {"a": ["ab"]}}


@pytest.mark.parametrize("begun", ['{"z":{', '{"":{', '{"z":{"a":[{', '{"a":{"":0', '{"z":[{"":{"a":0'])
def test_completions_write_no_key_of_an_inner_object(begun: str) -> None:
    """Registers of the outer object ask for keys; a way that wrote some into an inner one repeated them."""
    matcher = compiled(json.dumps(SEVERAL), **ANY_ORDER).matcher()
    matcher.advance_bytes(begun.encode())
    completion = matcher.completion()
    assert completion is not None
    rest = bytes(completion).decode()
    assert rest.startswith("}")
    assert matcher.try_advance(completion) == len(completion)
    assert matcher.is_accepting
    assert is_valid(SEVERAL, begun + rest)


@pytest.mark.parametrize("seed", range(40))
def test_budgets_lead_to_an_end_inside_of_inner_objects(seed: int) -> None:
    rng = random.Random(seed)
    matcher = compiled(json.dumps(SEVERAL), **ANY_ORDER).matcher(max_tokens=rng.randint(20, 40))
    text = b""
    while not matcher.is_finished:
        allowed = sorted(mask_of(matcher, 257))
        assert allowed, text
        token = rng.choice([byte for byte in allowed if byte in set(b'{"a:,z')] or allowed)
        matcher.advance(token)
        text += vocabulary().tokens[token]  # none for the end
    assert is_valid(SEVERAL, text.decode())
