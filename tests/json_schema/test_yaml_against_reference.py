"""Schemas in YAML, which the core writes by itself, against the reference."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.json_schema import yaml_judge
from tests.json_schema.general import general_rules
from tests.json_schema.random_schemas import SCHEMAS
from tests.json_schema.test_against_reference import SAMPLES
from tests.json_schema.test_layouts import DEEP

# Every byte, and tokens that cross lexemes and lines.
PIECES = ["\n  ", "\n    ", "- ", "- - ", "\n- ", "\n  - ", "ab", ": ", "a:", "a: ", "a: b", ":\n", ":\n  ", ":\n- "]
PIECES += [":\n  - ", '"a"', '":', "1:", "{}", "[]", " []", " {}", "null", " null", " 1", "é", "- a", "b\n  ", "x: "]
TOKENS = [*(bytes([i]) for i in range(256)), *(piece.encode() for piece in PIECES), b""]
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
LIKED = np.array([len(token) > 1 or token in (b"\n", b" ", b":", b"-", b'"') for token in TOKENS])

# In these the core has brackets around arrays and objects that must differ: nothing closes a block.
TOLD_APART = {
    name
    for name in SAMPLES
    if name.startswith(("objects that differ", "objects and other values that differ"))
    or name
    in (
        "alternatives that differ",
        "arrays that differ of items that differ",
        "arrays that differ, with a first item",
        "nodes that differ at each depth",
        "numbers with conditions in objects that differ",
        "values that differ",
    )
}
# Those that need keys that never run out: in YAML keys are short.
REFUSED = {
    "a negated pattern of keys",
    "negated kinds of keys",
    "maps of which one fits",
    "objects with a wrong value at some key",
    "objects with wrong values at several keys",
}


def walk_both(grammar: cfgmask.Grammar, seed: int, after: bytes = b"") -> None:
    """Random walks through the masks of both ways: they are equal all along, and never empty."""
    one = cfgmask.compile(grammar, VOCABULARY).matcher()
    other = cfgmask.compile(general_rules(grammar), VOCABULARY).matcher()
    n_taken = one.try_advance(list(after))
    assert other.try_advance(list(after)) == n_taken
    if n_taken < len(after):
        return
    rng, text = random.Random(seed), after
    mask, expected = (np.zeros((len(TOKENS) + 31) // 32, np.uint32) for _ in range(2))
    for _ in range(50):
        one.fill_mask(mask)
        other.fill_mask(expected)
        assert (mask == expected).all(), text
        allowed = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(TOKENS)].astype(bool)
        assert allowed.any(), text
        liked = allowed & LIKED
        token = int(rng.choice(np.flatnonzero(liked if liked.any() and rng.random() < 0.7 else allowed)))
        one.advance(token)
        other.advance(token)
        if one.is_finished:
            return
        text += TOKENS[token]


def walk_judged(grammar: cfgmask.Grammar, schema: Any, seed: int) -> None:
    """Complete a random text. Both versions of YAML must read the same valid value."""
    matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
    rng, mask, text = random.Random(seed), np.zeros((len(TOKENS) + 31) // 32, np.uint32), b""
    for _ in range(50):
        matcher.fill_mask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(TOKENS)])
        assert len(allowed), text
        token = int(rng.choice(allowed))
        matcher.advance(token)
        if matcher.is_finished:
            break
        text += TOKENS[token]
    else:
        way = matcher.completion()
        assert way is not None, text
        text += b"".join(TOKENS[token] for token in way)
    assert yaml_judge.says(schema, text.decode()), text


@pytest.mark.parametrize("indent", [None, 3])
@pytest.mark.parametrize("name", SAMPLES)
def test_same_masks(name: str, indent: int | None) -> None:
    if name in REFUSED:
        with pytest.raises(cfgmask.GrammarError, match="schema-negated-values"):
            cfgmask.Grammar.from_json_schema(SAMPLES[name], syntax="yaml", indent=indent)
        return
    grammar = cfgmask.Grammar.from_json_schema(SAMPLES[name], syntax="yaml", indent=indent)
    for seed in range(3):
        if name in TOLD_APART:
            walk_judged(grammar, SAMPLES[name], seed)
        else:
            walk_both(grammar, seed)


@given(SCHEMAS, st.sampled_from([None, 1, 4]), st.integers(0, 2**32))
def test_random_schemas(schema: Any, indent: int | None, seed: int) -> None:
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, syntax="yaml", indent=indent)
    except (cfgmask.GrammarError, cfgmask.LimitExceeded):
        return
    if "uniqueItems" not in json.dumps(schema):
        walk_both(grammar, seed)


@pytest.mark.parametrize("indent", [1, 2, 4])
@pytest.mark.parametrize("below", [b"- ", b"a:\n"])
@pytest.mark.parametrize("name", sorted(DEEP.keys() - {"objects with a wrong value"}))
def test_near_the_greatest_depth(name: str, below: bytes, indent: int) -> None:
    """The last blocks that fit, each within the others by a dash or a key."""
    whole = {"$ref": "#/$defs/whole", "$defs": {"whole": {"anyOf": [DEEP[name], _around(below == b"- ")]}}}
    grammar = cfgmask.Grammar.from_json_schema(whole, syntax="yaml", indent=indent)
    assert grammar.lazy is not None
    step = 2 if below == b"- " else indent
    most = 31 * max(2, indent)
    for columns in range(most - 3 * step, most + 1):
        if columns % step:
            continue
        n = columns // step
        text = b"- " * n if below == b"- " else b"".join(b" " * (indent * i) + b"a:\n" for i in range(n))
        walk_both(grammar, columns, text if below == b"- " else text[:-1])


def _around(is_array: bool) -> dict[str, Any]:
    inner = {"$ref": "#/$defs/whole"}
    if is_array:
        return {"type": "array", "prefixItems": [inner], "items": False, "minItems": 1}
    return {"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": False}


def test_values_that_are_all_too_deep() -> None:
    schema: Any = {"const": 1}
    for _ in range(32):
        schema = {"type": "array", "items": schema, "minItems": 1}
    walk_both(cfgmask.Grammar.from_json_schema(schema, syntax="yaml"), 0)
    deeper = {"type": "array", "items": schema, "minItems": 1}
    with pytest.raises(cfgmask.GrammarError, match="schema-indent-depth"):
        cfgmask.Grammar.from_json_schema(deeper, syntax="yaml")
    # But for one of its alternatives.
    walk_both(cfgmask.Grammar.from_json_schema({"anyOf": [deeper, {"const": [1]}]}, syntax="yaml"), 1)


@pytest.mark.parametrize("name", ["k" * 171, "é" * 171, "k\x85" * 140, "a: b", "yes", "\x7f", "\ufeffa", "a\\b\"c'd"])
def test_keys_with_names(name: str) -> None:
    grammar = cfgmask.Grammar.from_json_schema({"properties": {name: {"const": 1}}, "required": [name]}, syntax="yaml")
    assert grammar.lazy is not None
    walk_both(grammar, 0)


@pytest.mark.parametrize(
    ("keys", "taken", "refused"),
    [
        ({"^x{169}": {"const": 1}}, b"x" * 170, b"x" * 171),
        ({"^x{169}": {"const": 1}, "^b": {}}, b"b", b"x" * 171),
    ],
)
def test_patterns_of_keys(keys: dict[str, Any], taken: bytes, refused: bytes) -> None:
    schema = {"type": "object", "patternProperties": keys, "additionalProperties": False, "minProperties": 3}
    grammar = cfgmask.Grammar.from_json_schema(schema, syntax="yaml")
    assert grammar.lazy is not None
    matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
    assert matcher.fork().advance_bytes(taken + b": 1\n") == len(taken) + 4
    assert matcher.fork().advance_bytes(refused + b":") < len(refused) + 1
    walk_both(grammar, 0, taken[:160])


def test_patterns_of_keys_that_are_too_long() -> None:
    schema = {"type": "object", "patternProperties": {"^x{171}": {}}, "additionalProperties": False, "minProperties": 1}
    with pytest.raises(cfgmask.GrammarError, match="schema-unsatisfiable"):
        cfgmask.Grammar.from_json_schema(schema, syntax="yaml")


@pytest.mark.parametrize("name", ["k" * 1025, "\x85" * 171, '"' * 512])
def test_keys_that_are_too_long(name: str) -> None:
    with pytest.raises(cfgmask.GrammarError, match="schema-yaml-key"):
        cfgmask.Grammar.from_json_schema({"properties": {name: {"const": 1}}}, syntax="yaml")


def test_limits_on_tokens() -> None:
    """Blocks that nothing closes can be closed within a limit on tokens."""
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}, "b": {}}}
    values = cfgmask.Grammar.from_json_schema({**schema, "required": ["a"]}, syntax="yaml")
    grammar = cfgmask.Grammar.from_lark("start: x\nx[max_tokens=12]: @values", grammars={"values": values})
    matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
    rng, mask = random.Random(0), np.zeros((len(TOKENS) + 31) // 32, np.uint32)
    for _ in range(12):
        matcher.fill_mask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        matcher.advance(int(rng.choice(allowed)))
        if matcher.is_finished:
            break
    assert matcher.is_finished or matcher.is_accepting
