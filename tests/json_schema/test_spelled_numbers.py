"""Numbers between bounds, as the core spells them: against exact arithmetic, and against the reference."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.general import general_rules
from tests.json_schema.judge import accepts, vocabulary

DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DIGITS = st.text("019", max_size=3)
# As they stand in a schema: with superfluous zeros, exponents, and more digits than a float has.
NUMBERS = st.one_of(
    st.builds(lambda s, w, f: f"{s}{w.lstrip('0') or '0'}{f and '.' + f}", st.sampled_from(["", "-"]), DIGITS, DIGITS),
    st.sampled_from(["1e2", "-1E-2", "2.50e1", "0e9", "-0.0", "99.99", "100.00", "123456789012345678901.5", "1e-30"]),
)
STEPS = st.sampled_from(
    ["1", "2", "3", "5", "7", "1e1", "12", "7919", "123456789012345678", "2.5", "0.5", "0.25", "1.20", "0.01", "1e-3"]
)
BOUNDS = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer"])},
    optional={
        **dict.fromkeys(["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"], NUMBERS),
        "multipleOf": STEPS,
    },
)
LISTED = st.lists(NUMBERS, min_size=1, max_size=4)


def text_of(schema: dict[str, Any]) -> str:
    """A schema whose numbers are spelled as they are given."""

    shown = [
        f'"{key}":' + (f'"{value}"' if key == "type" else value if isinstance(value, str) else f"[{','.join(value)}]")
        for key, value in schema.items()
    ]
    return "{" + ",".join(shown) + "}"


def compiled(schema: str) -> cfgmask.CompiledGrammar | None:
    """As the core reads it, without asking for any regex; None where there are no such numbers."""
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, numbers="any")
    except cfgmask.GrammarError as error:
        if error.diagnostics[0].code != "schema-unsatisfiable":
            raise
        return None
    assert grammar.lazy is not None
    assert grammar.lazy.regexes == []
    return cfgmask.compile(grammar, vocabulary())


def admits(schema: dict[str, Any], value: Fraction) -> bool:
    bounds = {key: Fraction(bound) for key, bound in schema.items() if key[:2] in ("mi", "ma", "ex")}
    return (
        (schema["type"] == "number" or value.denominator == 1)
        and ("multipleOf" not in schema or value % Fraction(schema["multipleOf"]) == 0)
        and value >= bounds.get("minimum", value)
        and value <= bounds.get("maximum", value)
        and ("exclusiveMinimum" not in bounds or value > bounds["exclusiveMinimum"])
        and ("exclusiveMaximum" not in bounds or value < bounds["exclusiveMaximum"])
        and ("enum" not in schema or value in [Fraction(listed) for listed in schema["enum"]])
    )


def near(bound: str) -> list[str]:
    """Spellings of a number and of numbers beside it."""
    value = Fraction(bound)
    digits = len(bound) + 31
    around = [value + Fraction(n, 10**k) for n in (-1, 0, 1) for k in (0, 1, 2, 3, digits)]
    return [spelled for number in around for spelled in (decimal(number), decimal(number) + "0")]


def decimal(number: Fraction) -> str:
    places = next(k for k in range(100) if (number * 10**k).denominator == 1)
    digits = str(abs(int(number * 10**places))).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + digits[: len(digits) - places] + ("." + digits[-places:] if places else "")


def is_spelled(text: str) -> bool:
    """Whether it is JSON, whose integers here end in at most four zeros after the point."""
    return "." in text or not text.lstrip("-").startswith("0") or text.lstrip("-") == "0"


@given(BOUNDS, st.one_of(st.none(), LISTED), st.lists(NUMBERS, max_size=3))
def test_exact_arithmetic(schema: dict[str, Any], listed: list[str] | None, others: list[str]) -> None:
    schema |= {} if listed is None else {"enum": listed}
    grammar = compiled(text_of(schema))
    numbers = [schema[key] for key in schema if key[:2] in ("mi", "ma", "ex")] + (listed or []) + others
    if "multipleOf" in schema:
        step = Fraction(schema["multipleOf"])
        numbers += [decimal(Fraction(number) // step * step + n * step) for number in numbers for n in (-1, 0, 1, 2)]
        numbers.append(schema["multipleOf"])
    for text in [spelled for number in numbers for spelled in near(number)]:
        zeros = len(text) - len(text.rstrip("0"))
        if is_spelled(text) and (("." not in text) or zeros <= 4):
            assert (grammar is not None and accepts(grammar, text)) == admits(schema, Fraction(text)), text


@given(BOUNDS, st.one_of(st.none(), LISTED), st.sampled_from([1, 2, 3, 100, None]), st.integers(0, 2**32))
def test_as_the_general_way(schema: dict[str, Any], listed: list[str] | None, most: int | None, seed: int) -> None:
    same_texts(text_of(schema | ({} if listed is None else {"enum": listed})), most, seed)


@settings(max_examples=50)
@given(BOUNDS, BOUNDS, LISTED, st.sampled_from(["allOf", "oneOf"]), st.integers(0, 2**32))
def test_combinations(
    first: dict[str, Any], second: dict[str, Any], listed: list[str], together: str, seed: int
) -> None:
    parts = [text_of(first), text_of(second), text_of({"enum": listed})]
    grammar = cfgmask.Grammar.from_json_schema
    for chosen in (parts[:2], parts[1:]):
        try:
            plain = grammar(text_of({together: chosen}), numbers="any").lazy
        except cfgmask.GrammarError:
            continue
        assert plain is not None
        same_texts(text_of({together: chosen}), 100, seed)


@pytest.mark.parametrize(
    "schema",
    [
        f'{{"$schema":"{DRAFT_4}","type":"integer","minimum":-2,"exclusiveMinimum":true,"maximum":3}}',
        f'{{"$schema":"{DRAFT_4}","type":"number","minimum":0.5,"maximum":3,"exclusiveMaximum":true}}',
        f'{{"$schema":"{DRAFT_4}","type":"integer","enum":[1.0,2.5,30]}}',
        f'{{"$schema":"{DRAFT_4}","type":["integer","null"],"exclusiveMinimum":true}}',
        '{"type":"number","minimum":1,"exclusiveMinimum":true,"exclusiveMaximum":2}',
        '{"type":"number","minimum":1,"exclusiveMinimum":false,"maximum":1}',
        '{"const":-0.0}',
        '{"enum":[[1.50,-2e3]]}',
        '{"type":"integer"}',
        '{"type":"number","minimum":1e-30,"maximum":1e30}',
        '{"type":"number","multipleOf":0.5,"minimum":1,"maximum":1}',
        '{"type":"integer","multipleOf":7919,"minimum":100}',
        '{"type":"integer","multipleOf":5,"minimum":-4,"maximum":4}',
        '{"type":"number","multipleOf":0.25,"maximum":-0.1}',
        f'{{"$schema":"{DRAFT_4}","type":"integer","multipleOf":2.5,"minimum":1}}',
    ],
)
def test_forms(schema: str) -> None:
    for seed in range(5):
        for most in (2, 100):
            same_texts(schema, most, seed)


@pytest.mark.parametrize("number", ["1" + "0" * 401, "1e401", "1e-401", "1e99999999999999999999"])
def test_numbers_that_are_too_long_are_left_to_the_general_way(number: str) -> None:
    with pytest.raises(cfgmask.GrammarError, match="at most 400 digits"):
        cfgmask.Grammar.from_json_schema(f'{{"type":"number","maximum":{number}}}')


def same_texts(schema: str, most: int | None, seed: int, steps: int = 150) -> None:
    """From text to text, byte by byte: both ways allow the same bytes everywhere."""
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema, max_digits=most, numbers=("any", "plain")[seed % 2])
    except cfgmask.GrammarError:
        return
    assert grammar.lazy is not None
    rng = random.Random(seed)
    start = [cfgmask.compile(way, vocabulary()).matcher() for way in (grammar, general_rules(grammar))]
    mask, expected = np.zeros(9, np.uint32), np.zeros(9, np.uint32)
    todo = [(b"", *start)]
    for _ in range(steps):
        if not todo:
            return
        text, one, other = todo.pop(rng.randrange(len(todo)))
        one.fill_mask(mask)
        other.fill_mask(expected)
        assert (mask == expected).all(), text
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[:256]).tolist()
        for byte in rng.sample(allowed, min(4, len(allowed))):
            forks = one.fork(), other.fork()
            for matcher in forks:
                matcher.advance(byte)
            todo.append((text + bytes([byte]), *forks))
