"""Scalars of large unions, and ways of large patterns, which the core reads by what they begin with, and large lists,
which it sorts when it reads a schema: against the reference, which makes each of them at once.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.beside import beside, needs_no_others
from tests.json_schema.test_against_reference import VOCABULARY

MANY = 64
# Sequences of so many parts are read part by part.
SEQUENCE = 256
# Some begin others, some may be written with escapes, and one begins as an escape does.
WORDS_OF_PATTERNS = ["a", "ab", "abc", "b", "é", "éa", "q", "u0061", "b/", "ab ", "1", "-"]
ENDS = ["", "[a-c]", "b*", "(c|1)?", "[^a]{1,2}", ".", "é+", "(ab|b){2}"]


def pattern(rng: random.Random) -> str:
    words = rng.choices(WORDS_OF_PATTERNS, k=rng.choice([1, 1, 2]))
    body = "".join(words) + rng.choice(ENDS)
    return rng.choice(["^", "^", "^", "^", ""]) + body + rng.choice(["$", "$", "$", ""])


def patterns(rng: random.Random) -> list[Any]:
    found = [{"type": "string", "pattern": pattern(rng)} for _ in range(rng.randrange(MANY, 2 * MANY))]
    return [part | ({"maxLength": 3} if rng.random() < 0.1 else {}) for part in found]


def bound(rng: random.Random) -> float:
    return rng.choice([rng.randrange(-1200, 1200), rng.randrange(-30, 30) / 4, rng.randrange(100, 130)])


def ranges(rng: random.Random) -> list[Any]:
    found: list[Any] = []
    for _ in range(rng.randrange(MANY, 2 * MANY)):
        low = bound(rng)
        high = rng.choice([low + rng.randrange(6), low + rng.randrange(400), low + 0.5])
        keyword = rng.choice(["minimum", "minimum", "exclusiveMinimum"])
        found.append({"type": rng.choice(["number", "integer"]), keyword: low, "maximum": high})
    return found


def one_pattern(rng: random.Random) -> Any:
    ways = [
        "".join(rng.choices(WORDS_OF_PATTERNS, k=2)) + rng.choice(["", *ENDS])
        for _ in range(rng.randrange(MANY, 2 * MANY))
    ]
    ways += rng.choices(["[ab]c", "", "(a|b)+"], k=rng.randrange(2))
    if rng.random() < 0.4:
        ways = [rng.choice(["^", "^", "", "^x"]) + way + rng.choice(["$", "$", "", "b$"]) for way in ways if way]
        return {"type": "string", "pattern": "|".join(ways)}
    return {"type": "string", "pattern": f"^x?({'|'.join(ways)}){rng.choice(['', 'a', '[ab]+'])}$"}


def part_of_sequence(rng: random.Random, is_rare: bool) -> str:
    """Mostly one that may be left out, by what it begins with; `is_rare`: one that must be there, or begins anyhow."""
    ways = ["".join(rng.choices(WORDS_OF_PATTERNS, k=2)) + rng.choice(["", *ENDS]) for _ in range(rng.randrange(1, 3))]
    if is_rare:
        return rng.choice([f"({'|'.join(ways)})", "[ab]?", "(a*|b)", "é", "()", "(a|b?)?", "(ab){2}", "[^a]"])
    return f"({'|'.join(ways)}){rng.choice(['?', '?', '?', '*', '{0,2}'])}" if rng.random() < 0.8 else f"({ways[0]}|)"


def long_sequence(rng: random.Random) -> Any:
    rare = rng.choice([0.0, 0.005, 0.03, 0.3])
    parts = [part_of_sequence(rng, rng.random() < rare) for _ in range(SEQUENCE + rng.randrange(50))]
    # Where some parts must be there, whether such a text fits is a long search.
    limit = {"maxLength": rng.randrange(20, 200)} if rare == 0 and rng.random() < 0.2 else {}
    return {
        "type": "string",
        "pattern": rng.choice(["^", "^", ""]) + "".join(parts) + rng.choice(["$", "$", ""]),
        **limit,
    }


def schema(rng: random.Random) -> Any:
    kind = rng.randrange(4)
    if kind == 0:
        return one_pattern(rng)
    parts = [*(patterns(rng) if kind != 1 else []), *(ranges(rng) if kind != 2 else [])]
    parts += rng.choices([{"const": "abc"}, {"type": "null"}, {"type": "array", "items": {"type": "null"}}], k=2)
    rng.shuffle(parts)
    return {"anyOf": parts}


def texts(rng: random.Random) -> list[str]:
    found = [
        "".join(rng.choices(WORDS_OF_PATTERNS, k=rng.randrange(1, 4))) for _ in range(rng.randrange(MANY, 3 * MANY))
    ]
    return list(dict.fromkeys([*found, *(f"a{i}" for i in range(MANY))]))


def large_object(rng: random.Random) -> Any:
    names = texts(rng)
    found = {"type": "object", "properties": {name: {"const": rng.choice([1, "a"])} for name in names}}
    found["additionalProperties"] = rng.choice([False, False, {"type": "null"}])
    found["required"] = rng.sample(names, rng.randrange(3))
    return found | rng.choice([{}, {"minProperties": rng.randrange(1, 5)}, {"maxProperties": rng.randrange(3, 6)}])


def large_list(rng: random.Random) -> Any:
    numbers = [bound(rng) for _ in range(3 * MANY)]
    return rng.choice(
        [
            {"enum": texts(rng)},
            {"enum": numbers},
            {"enum": [*texts(rng), *numbers, None]},
            {"type": "object", "propertyNames": {"enum": texts(rng)}, "additionalProperties": {"const": 1}},
            large_object(rng),
        ]
    )


@given(st.integers(0, 2**32), st.booleans())
@settings(deadline=None)
def test_large_lists(seed: int, has_budget: bool) -> None:
    rng = random.Random(seed)
    check(rng, large_list(rng), has_budget)


@given(st.integers(0, 2**32), st.booleans())
@settings(deadline=None)
def test_the_same_as_each_at_once(seed: int, has_budget: bool) -> None:
    rng = random.Random(seed)
    check(rng, schema(rng), has_budget)


@pytest.mark.long
@given(st.integers(0, 2**32), st.booleans())
@settings(deadline=None, max_examples=60)
def test_long_sequences(seed: int, has_budget: bool) -> None:
    rng = random.Random(seed)
    check(rng, long_sequence(rng), has_budget)


def check(rng: random.Random, schema: Any, has_budget: bool) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema)
    room = 8 if has_budget else None
    for _ in beside(grammar, rng, n_steps=20, room=room, are_shortest=needs_no_others(schema)):
        pass


@pytest.mark.parametrize(
    ("part", "taken", "refused"),
    [
        (lambda i: {"type": "string", "pattern": f"^w{i}[a-c]$"}, ['"w64b"', '"w6400a"'], ['"w64d"', '"w"', '"w64"']),
        (lambda i: {"type": "integer", "minimum": 10 * i, "maximum": 10 * i + 3}, ["643", "64000"], ["644", "6e2"]),
    ],
)
def test_thousands_of_parts(part: Any, taken: list[str], refused: list[str]) -> None:
    parts = [part(i) for i in range(20_000)]
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema({"anyOf": parts}), VOCABULARY)
    for text in taken + refused:
        matcher = compiled.matcher()
        fits = matcher.advance_bytes(text.encode()) == len(text) and matcher.is_accepting
        assert fits == (text in taken), text


def test_thousands_of_patterns_that_begin_anywhere() -> None:
    """That ended at `max_regex_nodes` after seconds, when each began with any text by itself."""
    pattern = "|".join(f"a{i}.*c" for i in range(10_000, 50_000))
    schema = {"type": "object", "propertyNames": {"pattern": pattern}}
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, whitespace="compact"), VOCABULARY)
    for text, fits in [('{"xa10007-c.":1}', True), ('{"a49999c":1,"a10000 c":2}', True), ('{"a1000-c":1}', False)]:
        matcher = compiled.matcher()
        assert (matcher.advance_bytes(text.encode()) == len(text) and matcher.is_accepting) == fits
