"""Masks of YAML: random walks end in valid texts, and masks are those of the oracle and of brute force."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
import cfgmask.demo
from tests.json_schema import walks, yaml_judge
from tests.json_schema.judge import Schema, accepts, compiled
from tests.json_schema.random_schemas import SCHEMAS
from tests.json_schema.test_yaml_in_use import COMPOSE, DEPLOYMENT, WORKFLOW
from tests.oracle import Oracle
from tests.oracle_parameters import expanded
from tests.strategies import discards_undecided


@cache
def small() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_gguf(cfgmask.demo.model_path())


@given(SCHEMAS, st.randoms(use_true_random=False))
def test_walks(schema: Any, rng: random.Random) -> None:
    """Random walks through the masks of random schemas end, and both readers find a valid value."""
    try:
        grammar = compiled(schema, syntax="yaml")
    except (cfgmask.GrammarError, cfgmask.LimitExceeded):
        return
    vocabulary = small()
    walker = walks.Walker(vocabulary, rng)
    text, is_finished = walker.walk(
        cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, syntax="yaml"), vocabulary).matcher()
    )
    if is_finished:
        assert accepts(grammar, text.decode())
        assert yaml_judge.says(schema, text.decode()), text


MASKED: list[Schema] = [
    {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"enum": ["b", 1]}}},
        "required": ["a"],
        "maxProperties": 3,
        "additionalProperties": {"type": ["string", "null"]},
    },
    {
        "type": "array",
        "items": {
            "anyOf": [
                {"enum": ["a", "-b", "1"]},
                {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "null"}},
            ]
        },
        "minItems": 2,
    },
    {"type": "array", "items": {"type": ["string", "integer"], "maxLength": 2}, "uniqueItems": True},
    {
        "type": "object",
        "propertyNames": {"enum": ["a", "b", "1"]},
        "minProperties": 2,
        "additionalProperties": {"type": "array", "maxItems": 2, "items": {"const": 1}},
    },
]
PIECES = [
    "\n",
    " ",
    "  ",
    "\n  ",
    "- ",
    "-",
    "\n- ",
    "a",
    "b",
    "ab",
    ":",
    ": ",
    "a:",
    "a: ",
    "a: b",
    ":\n",
    '"',
    '"a"',
    '":',
    "1",
    "1:",
    "{}",
]
PIECES += [
    "[]",
    " []",
    "null",
    "#",
    ".",
    "0",
    "é",
    "\\",
    "n",
    "u0061",
    "- a",
    "\n  - ",
    "a\n",
    "b\n  ",
    "x: ",
    ": {}\n",
]


def masks_of(matcher: cfgmask.Matcher, n_vocab: int) -> set[int]:
    bits = np.zeros((n_vocab + 31) // 32, dtype=np.uint32)
    matcher.fill_mask(bits)
    return set(np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist())


@given(st.sampled_from(MASKED), st.randoms(use_true_random=False))
@settings(max_examples=6)
@discards_undecided
def test_masks_are_the_oracles(schema: Schema, rng: random.Random) -> None:
    """The oracle knows neither parameters nor YAML but for what a scalar is worth."""
    tokens = [piece.encode() for piece in PIECES] + [b""]
    end = len(tokens) - 1
    ir = cfgmask.Grammar.from_json_schema(schema, syntax="yaml").ir
    oracle = Oracle(expanded(ir, most=2_000), tokens, frozenset({end}))
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=end)
    matcher, state = cfgmask.compile(cfgmask.Grammar(ir), vocabulary).matcher(), oracle.initial
    for _ in range(12):
        mask = oracle.mask(state)
        assert masks_of(matcher, len(tokens)) == mask
        assert matcher.is_accepting == oracle.is_accepting(state)
        going_on = sorted(mask - {end})
        if not going_on:
            break
        token = rng.choice(going_on)
        state = oracle.step_token(state, token)
        matcher.advance(token)


@given(st.sampled_from([*MASKED, DEPLOYMENT, WORKFLOW, COMPOSE, True]), st.randoms(use_true_random=False))
def test_masks_are_brute_force(schema: Schema, rng: random.Random) -> None:
    vocabulary = small()
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, syntax="yaml"), vocabulary).matcher()
    n_vocab, end = len(vocabulary.tokens), set(vocabulary.eos_token_ids)
    compared = set(rng.sample(range(20), 3))
    for step in range(20):
        mask = masks_of(matcher, n_vocab)
        if step in compared:
            assert mask == {token for token in range(n_vocab) if matcher.try_advance([token], consume=False)}
        if not mask - end:
            break
        matcher.advance(rng.choice(sorted(mask - end)))
