"""Strings within bounds: as long as no token comes near one, a position is so many characters behind another one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.engine.harness import mask_of

# Short ones, and long ones of many lengths: plain, beyond ASCII, with escapes, with half a character or half an escape
# at the end, and with a quote behind which another key begins.
PIECES = [
    "a",
    "b",
    "ab",
    "é",
    "1",
    "-",
    " ",
    "\\",
    "n",
    "\\n",
    "\\u0061",
    "u00",
    "4",
    '"',
    '"}',
    '","',
    '":"',
    '{"',
    '"]',
]
PIECES += ['["', "]", "}", ",", ":", "{"]
LONG = ["a" * n for n in (5, 8, 13, 20, 33, 34, 64)]
LONG += [
    "é" * 7,
    "aé" * 9,
    "\\n" * 6,
    "\\n" * 11,
    "\\u00e9" * 3,
    "aaaa\\u0061aaaa",
    "b" * 9 + "\\",
    "ab" * 10,
    "-" * 12,
]
LONG += ["aè" * 8 + "a", "aaa-" + "a" * 20, "\\u0061" * 7]
LONG += ['aaaaaa"', "a" * 12 + '","b":"', "b" * 21 + '"}', '","b":"' + "a" * 10, '","', "\\" * 14, "\\" * 15]
TOKENS = [text.encode() for text in PIECES + LONG]
TOKENS += ["é".encode()[:1], "é".encode()[1:], b"aaaaaaaaaa" + "é".encode()[:1], "é".encode()[1:] + b"aaaaaaaa"]
# An escape by digits may be half a character, so that few lengths below one are alike.
LITERAL = [token for token in TOKENS if b"\\u" not in token]
# Most vocabularies have more short tokens than are looked at one by one.
# All bytes: without some, strings would be what the others write.
MANY = [*TOKENS, *(b"%03d" % n for n in range(600)), *(bytes([byte]) for byte in range(256))]

LENGTHS = st.one_of(
    st.just({}),
    st.builds(lambda n: {"maxLength": n}, st.integers(0, 140)),
    st.builds(lambda few, more: {"minLength": few, "maxLength": few + more}, st.integers(1, 9), st.integers(0, 140)),
)
PATTERNS = st.sampled_from(
    [
        "^[ab]*$",
        "^[a-z]+$",
        "^[^b]{1,90}$",
        "^a[^n]{0,60}$",
        "^(a|ab-)*$",
        "^[ab]*-[ab]*$",
        "^([ab]{0,40}-)?[ab]{2,65}$",
        "^[a-é]*1*$",
        "b{0,60}$",
    ]
)
STRING = st.one_of(
    LENGTHS.map(lambda lengths: {"type": "string", **lengths}),
    st.builds(lambda pattern, lengths: {"type": "string", "pattern": pattern, **lengths}, PATTERNS, LENGTHS),
)
SCHEMAS = st.one_of(
    STRING,
    st.builds(lambda a, b: {"properties": {"a": a, "b": b}, "required": ["a"], "type": "object"}, STRING, STRING),
    st.builds(lambda name, a: {"propertyNames": name, "additionalProperties": a, "type": "object"}, STRING, STRING),
    st.builds(lambda a: {"anyOf": [a, {"type": "array", "items": a, "maxItems": 3}]}, STRING),
    st.builds(lambda a, unique: {"type": "array", "items": a, "uniqueItems": unique}, STRING, st.booleans()),
)


def allowed_by_steps(matcher: cfgmask.Matcher, n_vocab: int) -> set[int]:
    return {token for token in range(n_vocab) if matcher.try_advance([token], consume=False) == 1}


@given(
    schema=SCHEMAS,
    tokens=st.sampled_from([TOKENS, LITERAL, MANY]),
    order=st.sampled_from(["schema", "any"]),
    seed=st.integers(0, 2**32),
)
def test_positions_ahead_are_as_bytes_lead_there(
    schema: dict[str, Any], tokens: list[bytes], order: str, seed: int
) -> None:
    """Masks, steps, states and ways to the end, as of a grammar that takes bytes: there each length has a state."""
    try:
        ir = cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact")
    except cfgmask.GrammarError:
        return
    n_vocab = len(tokens) + 1
    by_tokens, by_bytes = (
        cfgmask.compile(ir, cfgmask.Vocabulary.from_bytes([*tokens, b""], [len(tokens)], {})) for _ in range(2)
    )
    rng = random.Random(seed)
    for _ in range(2):
        fast, slow = by_tokens.matcher(), by_bytes.matcher()
        steps = []
        for _ in range(30):
            mask = mask_of(slow, n_vocab)
            assert mask_of(fast, n_vocab) == mask
            fitting = sorted(token for token in mask if token < len(tokens))
            if not fitting:
                break
            inside = [token for token in fitting if b'"' not in tokens[token]]
            token = rng.choice(inside if inside and rng.random() < 0.95 else fitting)
            steps.append((fast.fork(), mask, token))
            fast.advance(token)
            assert slow.advance_bytes(tokens[token]) == len(tokens[token])
            if rng.random() < 0.1:
                way = fast.completion()
                assert (way is None) == (slow.completion() is None)
                assert way is None or fast.try_advance(way, consume=False) == len(way)
        for fork, mask, token in rng.sample(steps, min(4, len(steps))):
            assert allowed_by_steps(fork, n_vocab) == mask
            written = fork.fork()
            written.advance(token)
            assert fork.advance_bytes(tokens[token]) == len(tokens[token])
            assert written.state == fork.state
            assert written.is_accepting == fork.is_accepting
            assert written.expected() == fork.expected()
            written.rollback(1)
            assert mask_of(written, n_vocab) == mask


def compiled_strings(tokens: list[bytes], **schema: Any) -> cfgmask.CompiledGrammar:
    vocabulary = cfgmask.Vocabulary.from_bytes([*tokens, b""], [len(tokens)], {})
    return cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "string", **schema}), vocabulary)


@pytest.mark.parametrize("schema", [{}, {"pattern": "^[ab]+$"}, {"pattern": "^[a-y]*z?[ab]*$"}], ids=str)
def test_far_from_a_bound_no_states_are_made(schema: dict[str, Any]) -> None:
    compiled = compiled_strings(MANY, maxLength=400, **schema)
    matcher = compiled.matcher()
    matcher.advance(TOKENS.index(b'"'))
    for _ in range(40):
        mask_of(matcher, len(MANY) + 1)
        matcher.advance(TOKENS.index(b"ab"))
        mask_of(matcher, len(MANY) + 1)
        matcher.advance(TOKENS.index(b"a" * 5))
    stats = compiled.stats()
    assert stats["masks"] < 6
    assert stats["states"] < 12


@pytest.mark.parametrize("schema", [{}, {"pattern": "^[ab]*$"}, {"pattern": "^[a-z]*(-[a-z]+)*$"}], ids=str)
@pytest.mark.parametrize("letter", ["a", "é"])
@pytest.mark.parametrize("tokens", [TOKENS, LITERAL, MANY], ids=["all", "literal", "many"])
def test_each_token_fits_as_long_as_it_may(schema: dict[str, Any], letter: str, tokens: list[bytes]) -> None:
    """Of each length to the last: 64 letters are a token, 33 and 34 the next ones, and nothing is between these."""
    n_vocab = len(tokens) + 1
    for maximum in range(1, 72):
        by_tokens, by_bytes = (compiled_strings(tokens, maxLength=maximum, **schema).matcher() for _ in range(2))
        token = tokens.index(b'"')
        while by_tokens.try_advance([token]):
            assert by_bytes.advance_bytes(tokens[token]) == len(tokens[token])
            assert mask_of(by_tokens, n_vocab) == mask_of(by_bytes, n_vocab)
            token = tokens.index(letter.encode())
        assert len(by_bytes.completion() or []) == 1
