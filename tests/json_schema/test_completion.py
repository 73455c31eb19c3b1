"""`completion` where values must not come twice: nobody tries one after another which of them are long enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cfgmask
from tests.json_schema.judge import is_valid, vocabulary

MANY = {"type": "object", "minProperties": 30}
WORDS = {"type": "object", "required": ["alpha", "beta", "é\n"], "minProperties": 5, "maxProperties": 5}
NESTED = {
    "type": "array",
    "minItems": 3,
    "items": {"type": "object", "minProperties": 3, "additionalProperties": {"type": "object", "minProperties": 3}},
}
BELOW = {"type": "object", "minProperties": 3, "additionalProperties": {"type": "array", "minItems": 2}}
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "boolean"}, "b": {"enum": [1, 2, 3, 4, 5]}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
ITEMS = {"type": "array", "uniqueItems": True, "minItems": 10, "items": CLOSED}
FEW_KEYS = {"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 6}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"whitespace": "bounded"},
        {"property_order": "any"},
        {"property_order": "any", "whitespace": "bounded"},
        {"indent": 1},
    ],
    ids=["schema", "bounded", "any", "any, bounded", "indent"],
)
@pytest.mark.parametrize(
    ("schema", "begun"),
    [
        ({"type": "object", "minProperties": 3}, [b"", b"{", b'{"', rb'{"\u0', b'{"a":{"b":[']),
        (MANY, [b"", rb'{"\u0']),
        (WORDS, [b"", b'{"', b'{"al', b'{"x":1,"']),
        (NESTED, [b"", b"[", rb'[{"\u0', b'[{"":{"":0']),
        (BELOW, [b"", b'{"":[0']),
        (ITEMS, [b"", b'[{"a":']),
        (FEW_KEYS, [b"", b'{"a']),
        ({"type": "array", "uniqueItems": True, "minItems": 40, "items": {"type": "string"}}, [b"", rb'["\u']),
        ({"type": "array", "uniqueItems": True, "minItems": 40, "items": {"multipleOf": 3, "type": "integer"}}, [b""]),
    ],
)
def test_a_way_is_found_in_few_steps(schema: dict[str, Any], begun: list[bytes], options: dict[str, Any]) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    compiled = cfgmask.compile(grammar, vocabulary(), limits=cfgmask.Limits(max_search_steps=20_000))
    for text in begun:
        matcher = compiled.matcher()
        if matcher.advance_bytes(text) < len(text):
            continue
        way = matcher.completion()
        assert way is not None
        assert is_valid(schema, (text + bytes(way)).decode())
        for length in range(len(way), 0, -1):
            way = matcher.completion()
            assert way is not None
            assert len(way) <= length
            matcher.advance(way[0])
        assert matcher.is_accepting
    assert compiled.stats()["states"] < 60_000


def test_the_shortest_way_is_found_where_few_keys_must_differ() -> None:
    schema = {
        "type": "object",
        "properties": {"ab": {"const": 1}, "a": {"const": 1}},
        "additionalProperties": {"type": "null"},
        "minProperties": 2,
    }
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary()).matcher()
    matcher.advance_bytes(b'{"')
    # Not the shortest key first: a":1,"":null}
    assert bytes(matcher.completion() or ()) == b'ab":1,"a":1}'


@pytest.mark.parametrize("options", [{}, {"property_order": "any"}])
def test_a_budget_where_keys_must_differ(options: dict[str, Any]) -> None:
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "minProperties": 3}, **options)
    compiled = cfgmask.compile(grammar, vocabulary())
    # {"":0,"a":0,"b":0}
    with pytest.raises(cfgmask.BudgetTooSmall):
        compiled.matcher(max_tokens=17)
    matcher = compiled.matcher(max_tokens=19)
    assert matcher.advance_bytes(b'{"') == 2


@pytest.mark.parametrize(
    "grammar",
    [
        '%cfgmask {{"lexer": "complete"}}\nstart: value | "x" value\nvalue: %json {schema}',
        'start: value /x(?=y)/ "y"\nvalue: %json {schema}',
    ],
    ids=["complete", "lookahead"],
)
def test_a_way_is_found_however_lexemes_end(grammar: str) -> None:
    text = grammar.format(schema='{"type": "object", "minProperties": 5}')
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(text), vocabulary())
    matcher = compiled.matcher(max_tokens=60)
    matcher.advance_bytes(rb'{"\u0')
    matcher.fill_mask(np.zeros(9, dtype=np.uint32))
    way = matcher.completion()
    assert way is not None
    assert matcher.try_advance(way) == len(way)
    assert matcher.is_accepting
    assert compiled.stats()["states"] < 60_000


@pytest.mark.long
def test_many_completions_leave_the_grammar_usable() -> None:
    """What searches for shortest texts make in vain counts against those alone."""
    inner = {"type": "object", "minProperties": 12}
    schema = {"type": "array", "items": {"type": "object", "minProperties": 40, "additionalProperties": inner}}
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary()).matcher()
    for i in range(90):
        matcher.reset()
        matcher.advance_bytes(b'[{"key%d":{"other%d' % (i, i))
        assert matcher.completion() is not None


@pytest.mark.parametrize(
    "options", [{}, {"property_order": "any"}, {"whitespace": "compact"}, {"whitespace": "bounded"}]
)
@pytest.mark.parametrize("schema", [{}, {"type": "object", "additionalProperties": {"type": "integer"}}])
@pytest.mark.parametrize("begun", ['{"":1,', '{"":1, ', '{"":1,\n ', '{"a":1,"":1,', '{"":{"":1,'])
def test_no_key_is_completed_twice(schema: dict[str, Any], begun: str, options: dict[str, Any]) -> None:
    """Behind a comma that may still have white space in it, too; and a budget has room for another key."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, **options), vocabulary())
    for budget in (None, 40):
        matcher = compiled.matcher(max_tokens=budget)
        if matcher.advance_bytes(begun.encode()) < len(begun):
            continue
        way = matcher.completion()
        assert way is not None
        assert matcher.try_advance(way) == len(way), bytes(way)
        assert matcher.is_accepting
