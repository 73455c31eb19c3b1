"""Keys of which any may come next are one choice in the core: against the reference, where each has a rule."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.beside import beside, needs_no_others
from tests.json_schema.general import general_rules
from tests.json_schema.test_against_reference import TOKENS, VOCABULARY, WORDS

# Some begin others, some may be written with escapes, and some begin with what escapes do.
NAMES = ["a", "ab", "abc", "b", "bc", "é", "a/b", 'q"', "q", "\\", "u0061"]
VALUES: list[Any] = [{"const": 1}, {"type": "null"}, {"const": "a"}, False, {"type": "array", "items": {"const": 2}}]

OBJECTS = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=7).map(dict),
        "additionalProperties": st.sampled_from([False, False, {"type": "null"}]),
    },
    optional={
        "required": st.lists(st.sampled_from(NAMES[:6]), max_size=2, unique=True),
        # Over single bytes, most searches for a shortest text with more keys that have no names end at their limit.
        "minProperties": st.integers(1, 3),
        "maxProperties": st.integers(1, 6),
    },
)
SCHEMAS = OBJECTS | st.lists(OBJECTS, min_size=2, max_size=3).map(lambda objects: {"anyOf": objects})


@given(SCHEMAS, st.integers(0, 2**32), st.booleans())
def test_the_same_as_a_rule_for_each(schema: dict[str, Any], seed: int, has_budget: bool) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema)
    except cfgmask.GrammarError:
        return
    room, are_shortest = 12 if has_budget else None, needs_no_others(schema)
    for one, other in beside(grammar, random.Random(seed), n_steps=40, room=room, are_shortest=are_shortest):
        assert sorted(one.expected()) == sorted(other.expected())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"', ["a/b", "é", "😀/", "😃"]),
        ('{"\\', ["é", "😀/", "😃"]),  # only what must be escaped may be, and an `a` need not
        (r'{"\u', ["é", "😀/", "😃"]),
        (r'{"\u00', ["é"]),
        (r'{"\uD8', ["😀/", "😃"]),
        ('{"\\uD83D\\', ["😀/", "😃"]),
        (r'{"\uD83D\uDE0', ["😀/", "😃"]),
        (r'{"\uD83D\uDE03', ["😃"]),
        ('{"a\\', ["a/b"]),
    ],
)
def test_what_is_expected_after_half_an_escape(text: str, expected: list[str]) -> None:
    members = {name: {"type": "null"} for name in ["a/b", "é", "😀/", "😃"]}
    schema = {"properties": members, "additionalProperties": False, "type": "object"}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    for way in (grammar, grammar.ir, general_rules(grammar)):
        matcher = cfgmask.compile(way, VOCABULARY).matcher()
        assert matcher.advance_bytes(text.encode()) == len(text)
        assert sorted(matcher.expected()) == sorted(f'"{name}"' for name in expected)


@pytest.mark.parametrize("begun", ["", "é", "éa", r"\u00e9a", "b"])
def test_what_follows_a_key_is_its_own(begun: str) -> None:
    """Where all keys that are left may be spelled with escapes, a token may end one of them and begin its value."""
    members = {key: {"type": "null"} for key in ["/", "a", "b"]} | {"éa": {"const": 1}, "éab": {"const": "x"}}
    schema = {"type": "object", "properties": members, "additionalProperties": False}
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY)
    matcher, bits = compiled.matcher(), np.zeros(WORDS, np.uint32)
    assert matcher.advance_bytes(f'{{"{begun}'.encode()) == len(f'{{"{begun}'.encode())
    matcher.fill_mask(bits)
    mask = np.unpackbits(bits.view(np.uint8), bitorder="little")
    for token, text in enumerate(TOKENS):
        assert mask[token] == matcher.try_advance([token], consume=False), text


def test_what_is_expected_of_many_keys() -> None:
    schema = {"properties": {name: {"type": "null"} for name in NAMES}, "additionalProperties": False, "type": "object"}
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY).matcher()
    for token in [ord("{"), ord('"'), ord("a"), ord("b")]:
        matcher.advance(token)
    assert matcher.expected() == ['"ab"', '"abc"']
    assert matcher.explain(ord("x")).expected[0].name == '"ab"'
