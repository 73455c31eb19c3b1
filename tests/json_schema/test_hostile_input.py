"""Schemas and texts that a stranger writes to take time. Bounds are several times what is taken now."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import cfgmask
from tests.collisions import murmur_texts, python_integers
from tests.cpu_time import cpu_seconds, hold
from tests.hostile.schema_mixes import mixes
from tests.json_schema.judge import accepts, compiled

VOCABULARY = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)
ORDERS = ("schema", "any")


@pytest.mark.parametrize("order", ORDERS)
def test_names_that_collide_without_a_seed(order: Any) -> None:
    names = murmur_texts(13)
    assert len(set(names)) == 2**13

    def read(names: list[str]) -> None:
        schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
        grammar = cfgmask.Grammar.from_json_schema(schema, property_order=order)
        matcher = cfgmask.compile(grammar, VOCABULARY).matcher()
        assert matcher.advance_bytes(f'{{"{names[-1]}":1'.encode())

    others = [name[::-1] for name in names]
    hold(cpu_seconds(lambda: read(names)), 0.2 + 3 * cpu_seconds(lambda: read(others)))


def test_strings_that_collide_without_a_seed() -> None:
    texts = murmur_texts(13)

    def read(texts: list[str]) -> None:
        parts = [{"const": text} for text in texts[:2000]]
        cfgmask.Grammar.from_json_schema({"anyOf": [{"enum": texts}, {"oneOf": parts}]})

    others = [text[::-1] for text in texts]
    hold(cpu_seconds(lambda: read(texts)), 0.2 + 3 * cpu_seconds(lambda: read(others)))


@pytest.mark.parametrize("order", ORDERS)
def test_long_lists_that_share_most_of_their_texts(order: Any) -> None:
    """Each is not compared with each: that took 5 s."""
    texts = murmur_texts(12)
    lists = [{"enum": texts[i:]} for i in range(0, len(texts), 50)]
    schema = {"oneOf": lists}
    hold(cpu_seconds(lambda: cfgmask.Grammar.from_json_schema(schema, property_order=order)), 1)
    grammar = compiled(schema, property_order=order)
    assert [accepts(grammar, f'"{texts[i]}"') for i in (0, 49, 50, 4095)] == [True, True, False, False]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wrap", [lambda n: n, lambda n: [n], lambda n: {"a": n}], ids=["number", "array", "object"])
def test_integers_that_collide_in_python(wrap: Callable[[int], Any], order: Any) -> None:
    def read(numbers: list[int]) -> None:
        cfgmask.Grammar.from_json_schema({"enum": [wrap(n) for n in numbers]}, property_order=order)

    integers = python_integers(1000)
    others = [n + i for i, n in enumerate(integers)]
    hold(cpu_seconds(lambda: read(integers)), 0.2 + 3 * cpu_seconds(lambda: read(others)))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 32_000},
        {"type": "string", "minLength": 32_000, "maxLength": 32_000},
        {"type": "string", "maxLength": 32_000, "pattern": "^[a-z]*$"},
        {"type": "string", "pattern": "^[a-z]{0,32000}$"},
        {"type": "string", "pattern": "^([a-z]{0,32000}|[A-Z]*)$"},
    ],
)
@pytest.mark.parametrize("n", [32_000, 32_001])
def test_a_string_at_its_bound(schema: dict[str, Any], n: int) -> None:
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY).matcher()
    text = b'"' + b"a" * n
    taken: list[int] = []
    hold(cpu_seconds(lambda: taken.append(matcher.advance_bytes(text))), 1)
    assert taken == [min(len(text), 1 + 32_000)]


@pytest.mark.parametrize("order", ORDERS)
def test_crossed_patterns_of_keys(order: Any) -> None:
    def crossed(patterns: dict[str, Any], others: str) -> dict[str, Any]:
        return {"patternProperties": patterns, "additionalProperties": {"type": others}}

    parts = [
        crossed({"^a": {"type": "string"}, "c": {"minimum": 1}}, "integer"),
        crossed({"b$": {"type": "integer"}, "^d": {"type": "null"}}, "string"),
        crossed({"e$": {"type": "boolean"}, "f": {"type": "null"}}, "array"),
    ]

    def read() -> None:
        with pytest.raises(cfgmask.GrammarError, match="schema-too-many-alternatives"):
            cfgmask.Grammar.from_json_schema({"not": {"oneOf": parts}}, property_order=order)

    hold(cpu_seconds(read), 3)


def test_enums_that_share_integers() -> None:
    def read(numbers: list[int]) -> None:
        parts = [{"enum": [[n] for n in numbers[i:]]} for i in range(0, len(numbers), 50)]
        cfgmask.Grammar.from_json_schema({"anyOf": parts})

    integers = python_integers(1500)
    others = [n + i for i, n in enumerate(integers)]
    hold(cpu_seconds(lambda: read(integers)), 0.2 + 3 * cpu_seconds(lambda: read(others)))


@pytest.mark.parametrize(
    ("name", "schema", "options"),
    [pytest.param(*case, id=case[0]) for case in itertools.islice(mixes(60, 1), 3, None, 40)],
)
def test_reading_ends_soon(name: str, schema: Any, options: dict[str, Any]) -> None:
    def read() -> None:
        with contextlib.suppress(cfgmask.GrammarError, cfgmask.LimitExceeded):
            cfgmask.Grammar.from_json_schema(schema, **options)

    hold(cpu_seconds(read), 3, name)
