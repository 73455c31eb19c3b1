"""Numbers as programs write and read them, which is the default: `numbers="plain"`.

The judge is `float`: what a text is read as. A number that a program prints must be written if it is valid, and what is
written must be valid as it is read.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema import JsonSchemaOptions
from tests.json_schema.judge import accepts, compiled, vocabulary
from tests.reference.json_schema.lower import lower_schema


@cache
def both(schema: str, **options: Any) -> tuple[cfgmask.CompiledGrammar, cfgmask.CompiledGrammar]:
    """The grammar of a schema as the core reads it, if it does, and by the reference."""
    general = cfgmask.Grammar(lower_schema(schema, options=JsonSchemaOptions(**options)))
    return compiled(schema, **options), cfgmask.compile(general, vocabulary())


def takes(schema: Any, text: str, **options: Any) -> bool:
    (taken,) = {accepts(g, text) for g in both(schema if isinstance(schema, str) else json.dumps(schema), **options)}
    return taken


TABLE: list[tuple[Any, str, str]] = [
    ({"type": "integer"}, "0 -0 64 -7 123456789012345678901234567890", "64.0 1.0000 1e2 01 -"),
    ({"const": 1}, "1", "1.0 1.0000 1e0 -1"),
    ({"const": 2.0}, "2", "2.0 2e0"),
    ({"enum": [0.5, 1e-6, -3, 1e22]}, "0.5 0.000001 1e-6 1E-06 -3 10000000000000000000000", "0.50 .5 -3.0 1e22"),
    ({"multipleOf": 2}, "0 -4 10", "2.0 3 1e2"),
    ({"type": "number"}, "64.0 0.50 -0.0 1e5 1.5e-07 1E+300 1.7976931348623157e308 5e-324", "15e2 0e1 8e728 1.8e308"),
    ({"type": "number"}, "1e-323 -5e-324", "4e-324 1e-400 9E-8475994 1.7976931348623158e308 1e+0003"),
    ({"exclusiveMaximum": 1}, "0.9999999999999999 -1 0", "0.99999999999999999 1 1.0"),
    ({"exclusiveMinimum": 0}, "5e-324 0.1 1e-300", "0 0.0 -0 9E-8475994 1e-400 0." + "0" * 400 + "1"),
    ({"exclusiveMinimum": 0.1}, "0.10000000000000002 1", "0.1 0.100000000000000001"),
    ({"minimum": 1e-6, "maximum": 2e20}, "1e-06 0.000001 3e-06 2e+20 1.5e20", "9e-07 2.1e20 1e-6000"),
    ({"type": "number", "exclusiveMinimum": 2**53}, "9007199254740994", "9007199254740993 9007199254740992"),
    ({"type": "integer", "exclusiveMinimum": 2**53}, "9007199254740993", "9007199254740992"),
    ({"type": "integer", "minimum": 10**350}, str(10**350), str(10**350 - 1)),
    ({"type": "number", "not": {"const": 1}}, "0.9999999999999999 1.0000000000000002 2", "1 1.0 0.99999999999999999"),
    ({"type": "number", "not": {"minimum": 18}}, "17.999999999999996", "18 17.9999999999999999"),
    ({"type": ["integer", "string"], "minimum": 3}, '3 "a"', "3.0 2"),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: str(value)[:60])
def test_table(schema: Any, valid: str, invalid: str) -> None:
    assert [text for text in valid.split() if not takes(schema, text)] == []
    assert [text for text in invalid.split() if takes(schema, text)] == []


@pytest.mark.parametrize("most", [None, 400, 300, 5])
def test_no_run_of_digits_leaves_the_doubles(most: int | None) -> None:
    for schema in (
        {"type": "number"},
        {"type": "number", "minimum": 1e299},
        {"exclusiveMinimum": 0, "maximum": 1e-290},
    ):
        for text in (
            "9" * 301,
            "9" * 308,
            "9" * 309,
            "1" + "0" * 400,
            *("0." + "0" * n + "1" for n in (290, 323, 600)),
        ):
            value = float(text)
            assert not takes(schema, text, max_digits=most) or (math.isfinite(value) and _is_valid(schema, value)), text


def test_a_big_number_in_exponents() -> None:
    schema = {"minimum": 1.2e17, "maximum": 1.3e17}
    assert all(takes(schema, text) for text in ("1.25e17", "1.2e+17", "1.3e17", "125000000000000000"))
    assert not any(takes(schema, text) for text in ("1.19e17", "1.31e17", "1.2e18"))


def test_where_no_double_lies_between_the_bounds() -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1.0000000000000002}},
        "required": ["n"],
    }
    assert takes(schema, '{"n": 1.0000000000000001}')


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ('{"type": "number", "minimum": 1e350}', "/minimum"),
        ('{"exclusiveMaximum": -1e350}', "/exclusiveMaximum"),
        ('{"type": "integer", "minimum": 1e-350}', "/minimum"),
        ('{"const": 0.12345678901234567890}', "/const"),
        ('{"enum": [1, {"a": [1e-350]}]}', "/enum"),
        ('{"multipleOf": 1e-350}', "/multipleOf"),
    ],
)
def test_a_number_that_no_double_holds(schema: str, keyword: str) -> None:
    with pytest.raises(cfgmask.GrammarError, match='numbers="any"') as raised:
        cfgmask.Grammar.from_json_schema(schema)
    (found,) = raised.value.diagnostics
    assert (found.code, found.pointer) == ("schema-number-rounded", keyword)
    cfgmask.Grammar.from_json_schema(schema, numbers="any")
    cfgmask.Grammar.from_json_schema(schema[:-1] + ', "x-guidance": {"numbers": "any"}}')


@pytest.mark.parametrize(
    "schema",
    [
        '{"type": "integer", "maximum": 1e350}',
        '{"const": 1e350}',
        '{"multipleOf": 1e17}',
        '{"maximum": 0.1000000000000000055511151231257827021181583404541015625}',
        '{"maximum": 0.30000000000000004}',
    ],
)
def test_numbers_that_are_held(schema: str) -> None:
    cfgmask.Grammar.from_json_schema(schema)


def test_every_spelling() -> None:
    grammar = compiled({"type": "integer"}, numbers="any")
    assert accepts(grammar, "64.0")
    assert accepts(compiled({"type": "integer", "x-guidance": {"numbers": "any"}}), "64.0")
    assert accepts(compiled({"type": "number"}, numbers="any"), "8e728")
    block = cfgmask.Grammar.from_lark('start: %json {"type": "integer"} "!"')
    assert not accepts(cfgmask.compile(block, vocabulary()), "64.0!")
    assert accepts(cfgmask.compile(block, vocabulary()), "64!")


def test_yaml() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}, "c": {"const": 2}, "x": {"type": "number"}}}
    grammar = compiled(schema, syntax="yaml")
    assert all(accepts(grammar, text) for text in ("n: 64", "c: 2", "x: 64.0", "x: 1.5e+3"))
    assert not any(accepts(grammar, text) for text in ("n: 64.0", "c: 2.0", "x: 1.5e+400", "x: 15.5e+3"))
    assert accepts(compiled(schema, syntax="yaml", numbers="any"), "n: 64.0")


def _is_valid(schema: Any, value: float) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(value)


# Where doubles lie close and far, and programs begin to print exponents.
POINTS = [
    *(0.0, 0.1, 0.3, 0.5, 1.0, 2.5, 10.0, 99.0, 1e-4, 1e-5, 1e-6, 9.9e-6, 1e15, 1e16, 1.25e17, 2.0**53, 1e20, 1e22),
    *(1e-300, 2.2250738585072014e-308, 1e-310, 5e-324, 1e300, sys.float_info.max),
]
points = st.sampled_from(POINTS) | st.floats(allow_nan=False, allow_infinity=False)
numbers = st.tuples(points, st.integers(-3, 3), st.booleans()).map(lambda drawn: _near(*drawn))


def _near(point: float, steps: int, is_negative: bool) -> float:
    for _ in range(abs(steps)):
        moved = math.nextafter(point, math.copysign(math.inf, steps))
        point = moved if math.isfinite(moved) else point
    return -point if is_negative else point


bounds = st.fixed_dictionaries(
    {},
    optional={
        "minimum": numbers,
        "maximum": numbers,
        "exclusiveMinimum": numbers,
        "exclusiveMaximum": numbers,
        "not": numbers.map(lambda value: {"const": value}),
    },
)
schemas = bounds.map(lambda found: {"type": "number", **found}) | st.lists(numbers, min_size=1, max_size=4).map(
    lambda values: {"enum": values}
)


def _texts_near(value: float) -> Iterator[str]:
    yield json.dumps(value)
    yield from (f"{value:.17e}", f"{value:.0e}", f"{value:.25g}", f"{value:.3g}")
    if abs(value) < 1e30:
        yield from (f"{value:.30f}", f"{value:.1f}", str(int(value)))


def _unless_unsatisfiable(schema: dict[str, Any]) -> tuple[cfgmask.CompiledGrammar, ...]:
    try:
        return both(json.dumps(schema))
    except cfgmask.GrammarError as error:
        if [d.code for d in error.diagnostics] != ["schema-unsatisfiable"]:
            raise
        return ()


@given(schema=schemas, values=st.lists(numbers, min_size=1, max_size=5))
def test_what_is_written_is_valid_as_it_is_read(schema: dict[str, Any], values: list[float]) -> None:
    near = schema.get("enum") or [bound for bound in schema.values() if isinstance(bound, float)]
    grammars = _unless_unsatisfiable(schema)
    for value in [*values, *near, *(math.nextafter(n, math.inf) for n in near), *(math.nextafter(n, 0) for n in near)]:
        if not math.isfinite(value):
            continue
        for text in _texts_near(value):
            (taken,) = {accepts(grammar, text) for grammar in grammars} or {False}
            is_valid = math.isfinite(float(text)) and _is_valid(schema, float(text))
            assert not taken or is_valid, text
            if grammars and text == json.dumps(value) and is_valid and not _is_left_out(schema, text):
                assert taken, text


def _is_left_out(schema: dict[str, Any], text: str) -> bool:
    """A valid number that is written in another way: integral ones of a list, and with exponents beside a `not`."""
    return ("enum" in schema and ("." in text or "e" in text) and float(text).is_integer()) or (
        "not" in schema and "e" in text
    )


@given(schema=schemas, seed=st.integers(0, 2**16))
def test_walks_end_in_numbers_that_are_valid(schema: dict[str, Any], seed: int) -> None:
    grammars = _unless_unsatisfiable(schema)
    if not grammars:
        return
    grammar, _ = grammars
    rng, matcher, text = random.Random(seed), grammar.matcher(), b""
    while len(text) < 40 and not (matcher.is_accepting and rng.random() < 0.1):
        ways = [b for b in b"0123456789.eE+-" if matcher.fork().advance_bytes(bytes([b])) == 1]
        if not ways:
            break
        matcher.advance_bytes(bytes([chosen := rng.choice(ways)]))
        text += bytes([chosen])
    whole = text + bytes(matcher.completion())
    value = json.loads(whole)
    assert math.isfinite(float(value))
    assert _is_valid(schema, float(value)), whole


@given(value=st.integers() | st.integers(-(10**60), 10**60), data=st.data())
def test_integers_are_read_as_integers(value: int, data: st.DataObject) -> None:
    low, high = (
        data.draw(st.none() | st.integers(value - 9, value)),
        data.draw(st.none() | st.integers(value, value + 9)),
    )
    given_bounds = {"minimum": low, "maximum": high}
    schema = {"type": "integer", **{key: bound for key, bound in given_bounds.items() if bound is not None}}
    assert takes(schema, str(value))
    assert not takes(schema, f"{value}.0")
    grammar, _ = both(json.dumps(schema))
    assert type(json.loads(bytes(grammar.matcher().completion()))) is int
