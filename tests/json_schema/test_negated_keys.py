"""Random objects whose keys meet patterns, negated and combined: every small object, in both orders of keys."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import numpy as np
import pytest

import cfgmask
from tests.json_schema.judge import accepts, compiled, judge_of

PATTERNS = ("^a", "b$", "^[ab]$", "c", "^a?b$")
HELD: tuple[Any, ...] = (
    {"const": 1},
    {"type": "string"},
    {"enum": [1, "x"]},
    False,
    True,
    {"type": ["null", "integer"]},
)
NAMES = ("a", "ab", "b", "c", "z")
OBJECTS = [
    dict(zip(names, held, strict=True))
    for n in range(4)
    for names in itertools.combinations(NAMES, n)
    for held in itertools.product((1, "x", None), repeat=n)
]
# Objects judged for each schema, and bytes of a walk.
N_JUDGED, N_STEPS = 40, 60


def objects(rng: random.Random) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if rng.random() < 0.7:
        found["patternProperties"] = {p: rng.choice(HELD) for p in rng.sample(PATTERNS, rng.randint(1, 2))}
    if rng.random() < 0.4:
        found["properties"] = {name: rng.choice(HELD) for name in rng.sample(NAMES, rng.randint(1, 2))}
    if rng.random() < 0.5:
        found["additionalProperties"] = rng.choice(HELD)
    if rng.random() < 0.25:
        found["propertyNames"] = rng.choice(
            [{"pattern": rng.choice(PATTERNS)}, {"enum": ["a", "b", "z"]}, {"maxLength": 1}]
        )
    if rng.random() < 0.2:
        found["required"] = [rng.choice(NAMES)]
    if rng.random() < 0.2:
        found["minProperties"] = rng.randint(1, 3)
    if rng.random() < 0.2:
        found["maxProperties"] = rng.randint(0, 3)
    return found


def combined(rng: random.Random) -> dict[str, Any]:
    found = {"type": "object", **objects(rng)}
    kind = rng.randrange(4)
    if kind == 0:
        return {**found, "not": objects(rng)}
    if kind == 1:
        return {**found, "oneOf": [objects(rng), objects(rng)]}
    if kind == 2:
        return {**found, "if": objects(rng), "then": objects(rng), "else": objects(rng)}
    return {**found, "not": {"anyOf": [objects(rng), objects(rng)]}}


@pytest.mark.parametrize("order", ["schema", "any"])
def test_every_small_object(order: str) -> None:
    rng = random.Random(45)
    n_compiled = 0
    for _ in range(150):
        schema = combined(rng)
        judge = judge_of(schema)
        try:
            grammar = compiled(schema, property_order=order)
        except cfgmask.GrammarError as error:
            if error.diagnostics[0].code == "schema-unsatisfiable":
                assert not any(judge(json.dumps(value)) for value in OBJECTS), schema
            continue
        n_compiled += 1
        for value in rng.sample(OBJECTS, N_JUDGED):
            orders = list(itertools.permutations(value.items()))
            accepted = [accepts(grammar, json.dumps(dict(items))) for items in orders]
            assert (any(accepted) if order == "schema" else all(accepted)) == judge(json.dumps(value)), (schema, value)
        assert_no_dead_end(grammar, rng)
    assert n_compiled > 50


def assert_no_dead_end(grammar: cfgmask.CompiledGrammar, rng: random.Random) -> None:
    matcher = grammar.matcher()
    bits = np.zeros((257 + 31) // 32, dtype=np.uint32)
    for _ in range(N_STEPS):
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        assert allowed.size
        likely = [token for token in allowed if token < 256 and chr(token) in '{}":,1xabcz']
        token = int(rng.choice(likely or list(allowed)))
        if token == 256:
            return
        matcher.advance(token)
    matcher.completion()
