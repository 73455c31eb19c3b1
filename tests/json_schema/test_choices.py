"""Keys of which any may come next are one choice in the core: against the general way, where each has a rule."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.beside import beside
from tests.json_schema.test_plain import VOCABULARY

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
        # Over single bytes, a search for a shortest text with more keys that have no names ends at its limit.
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
    for one, other in beside(grammar, random.Random(seed), n_steps=40, room=12 if has_budget else None):
        assert sorted(one.expected()) == sorted(other.expected())


def test_what_is_expected_of_many_keys() -> None:
    schema = {"properties": {name: {"type": "null"} for name in NAMES}, "additionalProperties": False, "type": "object"}
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY).matcher()
    for token in [ord("{"), ord('"'), ord("a"), ord("b")]:
        matcher.advance(token)
    assert matcher.expected() == ['"ab"', '"abc"']
    assert matcher.explain(ord("x")).expected[0].name == '"ab"'
