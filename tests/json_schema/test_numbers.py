"""Bounds and multiples, exactly; the regexes against arithmetic."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.regex.algebra import RegexAlgebra
from tests.json_schema.judge import Schema, accepts, check, compiled, is_valid
from tests.reference.json_schema import algebra, number_holes, numbers
from tests.reference.json_schema.number_regex import NoRegex, number_regex
from tests.reference.json_schema.numbers import NumberShape

BIG = 2**64
TABLE: list[tuple[Schema, list[str], list[str]]] = [
    ({"type": "integer", "minimum": 3}, ["3", "4", "10", "999"], ["2", "0", "-3", "2.0"]),
    (
        {"type": "integer", "minimum": -12, "maximum": 105},
        ["-12", "-9", "0", "99", "105"],
        ["-13", "106", "-100", "1000"],
    ),
    ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3}, ["1", "2"], ["0", "3"]),
    ({"type": "integer", "minimum": 1.5, "maximum": 3.5}, ["2", "3", "3.0"], ["1", "4"]),
    ({"type": "integer", "maximum": -5}, ["-5", "-10", "-99"], ["-4", "0", "5"]),
    (
        {"type": "integer", "minimum": BIG - 1, "maximum": BIG + 1},
        [str(BIG - 1), str(BIG + 1)],
        [str(BIG - 2), str(BIG + 2)],
    ),
    ({"const": 9007199254740993}, ["9007199254740993"], ["9007199254740992", "9007199254740994"]),
    ('{"type":"number","minimum":0.1}', ["0.1", "0.10", "0.2", "1", "5.75"], ["0.09999999999999999999", "0", "-1"]),
    ('{"type":"number","exclusiveMaximum":0.1}', ["0", "0.09999999999999999999", "-3.5"], ["0.1", "0.100", "0.2"]),
    ('{"type":"number","minimum":-0.25,"maximum":0.5}', ["-0.25", "0.5", "0", "0.33"], ["-0.251", "0.51", "1"]),
    ('{"type":"number","minimum":1.25,"maximum":1.5}', ["1.25", "1.3", "1.5"], ["1.2", "1.51", "1", "2"]),
    ({"type": "number", "minimum": 5, "maximum": 5}, ["5", "5.0"], ["4.9", "5.1"]),
    ({"exclusiveMinimum": 0, "maximum": 0.001}, ["0.0001", "0.001", '"any string"'], ["0", "0.0", "0.002"]),
    ({"type": "integer", "multipleOf": 5}, ["0", "5", "-10", "25"], ["1", "24"]),
    ({"type": "integer", "multipleOf": 4, "minimum": 1}, ["4", "100", "1024"], ["0", "2", "102"]),
    ({"type": "integer", "multipleOf": 7, "minimum": 0, "maximum": 50}, ["0", "7", "49"], ["1", "50", "56"]),
    ('{"multipleOf":0.01}', ["0", "1.5", "1.25", "-3.14", "1.250"], ["1.255", "0.001"]),
    ('{"multipleOf":2.5}', ["0", "2.5", "5", "7.5", "12.5", "-10.0"], ["1", "2", "2.4", "7.25"]),
    ('{"multipleOf":0.5,"type":"integer"}', ["0", "3"], ["0.5"]),
    ({"type": "integer", "multipleOf": 1}, ["3", "3.0"], ["3.5"]),
    ({"allOf": [{"multipleOf": 4}, {"multipleOf": 10}], "type": "number"}, ["0", "20", "100"], ["4", "10", "30"]),
    ({"type": "number", "not": {"type": "integer"}}, ["0.5", "-1.25"], ["1", "1.0", "1.00000000"]),
    ({"type": "number", "not": {"multipleOf": 0.5}}, ["0.25"], ["0", "-0", "-0.0", "1.5", "1.50000000"]),
    ({"type": "integer", "not": {"enum": [1, 2]}}, ["0", "3", "12"], ["1", "2", "1.0"]),
    ({"type": "number", "minimum": 0}, ["1e-06", "1.5e-07", "1e+16", "2E21"], ["-1e-06"]),
    ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, ["1e-06", "9.9e-2"], ["-1e-06", "1e1"]),
    ({"type": "number", "minimum": 1e-10, "maximum": 1e20}, ["1e-06", "1e-10", "9e19"], ["9e-11", "1e21"]),
    ({"type": "number", "minimum": -1}, ["-1e-06", "1e16"], ["-1e16"]),
    ({"type": "number", "maximum": 0}, ["0", "-1e-06", "-1e-5000"], ["1e-06", "2e-965", "9E-27833022"]),
    ({"type": "number", "minimum": 0, "maximum": 0}, ["0", "0.0"], ["1e-06", "2e-965", "-2e-965"]),
    ({"type": "integer", "multipleOf": 7}, ["0", "7", "-14", "700000000000007"], ["1", "-15", "700000000000008"]),
    ({"type": "integer", "multipleOf": 60, "minimum": 0}, ["0", "60", "3600"], ["-60", "30", "20"]),
    ({"type": "integer", "multipleOf": 256, "minimum": 1024}, ["1024", "4096", "65536.0"], ["768", "1025", "1280.5"]),
    ({"type": "number", "multipleOf": 1536}, ["0", "1536", "-3072"], ["512", "153.6", "15360.1"]),
    (
        '{"multipleOf":0.0256}',
        ["0", "0.0256", "0.256", "2.56", "16", "1.28", "-0.02560"],
        ["0.0128", "1", "25.5", "1.6"],
    ),
    ({"multipleOf": 1.5}, ["0", "1.5", "3", "4.50", "-6.0"], ["1", "0.5", "1.55"]),
    ({"allOf": [{"multipleOf": 7}, {"multipleOf": 11}], "type": "integer"}, ["77", "0"], ["7", "11"]),
    ({"type": "integer", "not": {"minimum": 0}}, ["-1"], ["0", "-0", "1"]),
    ({"type": "integer", "not": {"minimum": 0, "maximum": 10}}, ["-1", "11"], ["0", "5", "10"]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


def no(step: float) -> Schema:
    return {"not": {"multipleOf": step}}


def either(*steps: float) -> Schema:
    return {"anyOf": [{"multipleOf": step} for step in steps]}


# Each took a search through all remainders of all steps together once, up to its limit.
COMBINED: dict[str, Schema] = {
    "many holes": {"allOf": [{"multipleOf": 4004}, no(8), no(10), no(9)]},
    "what is left of several unions": {
        "allOf": [either(33, 12, 77), {"anyOf": [{"allOf": [no(6), no(7)]}, {"multipleOf": 44}]}, no(8)]
    },
    "exactly one": {
        "allOf": [{"oneOf": [{"multipleOf": 33}, {"multipleOf": 12}, {"multipleOf": 77}]}, no(8)],
    },
    "nothing but what is taken out": {"anyOf": [{"allOf": [{"multipleOf": 12}, no(6)]}, {"multipleOf": 5}]},
    "between bounds": {"allOf": [{"minimum": -300}, {"exclusiveMaximum": 0}, either(33, 12, 16), no(6), no(7)]},
    "not both": {"not": {"allOf": [{"multipleOf": 6}, no(4)]}},
    "decimals": {"allOf": [either(0.25, 0.3), no(0.5)]},
    "ranges that overlap": {"oneOf": [{"minimum": -20 * i, "maximum": 30 * i} for i in range(1, 7)]},
    "ranges of integers that overlap": {
        "multipleOf": 1,
        "oneOf": [{"multipleOf": 1, "minimum": 7 * i, "maximum": 100 - 5 * i} for i in range(6)],
    },
    "a range of integers out of the middle": {"multipleOf": 2, "not": {"multipleOf": 1, "minimum": -3, "maximum": 8}},
    "a range of integers among others": {"not": {"multipleOf": 1, "minimum": 3, "maximum": 8}},
    "a hole between bounds": {"multipleOf": 3, "not": {"multipleOf": 9, "minimum": 10, "maximum": 100}},
}


def meets(schema: Schema, value: Fraction) -> bool:
    """Whether a number meets a schema of the table above, by arithmetic."""
    assert isinstance(schema, dict)
    exact = {key: Fraction(str(held)) for key, held in schema.items() if not isinstance(held, (dict, list))}
    return (
        value % exact.get("multipleOf", value or Fraction(1)) == 0
        and value >= exact.get("minimum", value)
        and value <= exact.get("maximum", value)
        and value < exact.get("exclusiveMaximum", value + 1)
        and all(meets(part, value) for part in schema.get("allOf", []))
        and ("anyOf" not in schema or any(meets(part, value) for part in schema["anyOf"]))
        and ("oneOf" not in schema or sum(meets(part, value) for part in schema["oneOf"]) == 1)
        and ("not" not in schema or not meets(schema["not"], value))
    )


@pytest.mark.parametrize("name", COMBINED)
def test_combined_multiples(name: str) -> None:
    schema = COMBINED[name]
    grammar = compiled({"type": "number", "allOf": [schema]}, numbers="any")
    texts = [str(n) for n in range(-330, 1500)] + [f"{n}.{d}" for n in range(-5, 20) for d in ("0", "1", "25", "5")]
    texts += [str(4004 * n) for n in range(1, 200)]
    for text in texts:
        assert accepts(grammar, text) == meets(schema, Fraction(text)), text


def test_a_set_of_multiples_without_those_of_a_divisor_is_empty() -> None:
    with pytest.raises(cfgmask.GrammarError, match="no value"):
        compiled({"type": "number", "allOf": [either(12, 18, 30), no(6)]})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 4004, "not": {"multipleOf": 8}},
        {"type": "integer", "multipleOf": 1999, "minimum": 1, "maximum": 10**5},
    ],
)
def test_a_first_mask_needs_no_search_through_all_remainders(schema: Schema) -> None:
    # With 1,110 tokens of up to three digits it took a second, most of it before the first multiple was met.
    tokens = [str(n).encode() for n in range(10)] + [f"{n:03}".encode() for n in range(1000)] + [b"", b"-"]
    some = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=1010)
    limits = cfgmask.Limits(max_search_steps=2_000)
    bits = np.zeros(32, np.int32)
    cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), some, limits=limits).matcher().fill_mask(bits)
    assert bits.any()


_BOUNDS = st.one_of(
    st.none(),
    st.integers(-1200, 1200),
    st.integers(-120, 120).map(lambda n: Fraction(n, 10)),
    st.integers(-5000, 5000).map(lambda n: Fraction(n, 1000)),
    st.sampled_from([2**64, -(2**64), 10**30]),
)
_INTEGRAL_STEPS = [1, 1, 1, 2, 3, 5, 7, 8, 10, 25, 60, 256]
_STEPS = st.sampled_from(
    [None, None, *_INTEGRAL_STEPS, *map(Fraction, ("0.1", "0.01", "0.25", "2.5", "1.5", "0.07", "0.0256"))]
)


@st.composite
def shapes(draw: st.DrawFn) -> NumberShape:
    """Number sets with up to two bounds, a step and holes."""
    low, high = draw(_BOUNDS), draw(_BOUNDS)
    shape = numbers.tightened(
        NumberShape(
            low, low is not None and draw(st.booleans()), high, high is not None and draw(st.booleans()), draw(_STEPS)
        )
    )
    if draw(st.integers(0, 3)) == 0:
        hole = numbers.tightened(NumberShape(low=draw(_BOUNDS), high=draw(_BOUNDS), step=draw(_STEPS)))
        found = numbers.intersect(shape, draw(st.sampled_from(numbers.complement(hole) or (shape,))))
        return found or shape
    return shape


@st.composite
def spelled_numbers(draw: st.DrawFn, shape: NumberShape) -> str:
    """Decimals near the bounds of a shape, and others."""
    near = [bound for bound in (shape.low, shape.high, 0) if bound is not None]
    delta = draw(
        st.sampled_from(
            [Fraction(0), Fraction(1), Fraction(-1), Fraction(1, 10), Fraction(1, 1000), Fraction(-1, 1000)]
        )
    )
    value = draw(
        st.one_of(
            st.sampled_from(near).map(lambda b: b + delta), st.integers(-1300, 1300).map(lambda n: Fraction(n, 100))
        )
    )
    places = draw(st.integers(0, 4))
    scaled = round(abs(value) * 10**places)
    digits = str(scaled).rjust(places + 1, "0")
    text = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
    return ("-" if value < 0 and scaled else "") + text


@given(st.data())
def test_regexes_agree_with_arithmetic(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    try:
        regex = number_regex(shape)
    except NoRegex:
        return
    algebra = RegexAlgebra()
    for _ in range(10):
        text = data.draw(spelled_numbers(shape))
        assert algebra.matches(regex, text.encode()) == shape.admits(Fraction(text)), (shape, text)


@given(st.data())
def test_exponents_stay_within_the_bounds(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    try:
        regex = number_regex(shape)
    except NoRegex:
        return
    algebra = RegexAlgebra()
    for _ in range(10):
        text = data.draw(st.from_regex(r"\A-?[1-9](\.[0-9]{1,2})?e[+-]?0?[0-9]{1,4}\Z"))
        if algebra.matches(regex, text.encode()):
            assert shape.admits(Fraction(text)), (shape, text)


@given(shapes())
def test_no_spelling_is_ill_formed(shape: NumberShape) -> None:
    try:
        regex = number_regex(shape)
    except NoRegex:
        return
    shortest = RegexAlgebra().shortest(regex)
    if shortest is None:
        assert shape.is_plainly_empty or shape.without
    else:
        assert shape.admits(Fraction(json.loads(shortest, parse_float=Fraction)))


@given(shapes(), shapes())
def test_intersection_is_that_of_the_sets(a: NumberShape, b: NumberShape) -> None:
    both = numbers.intersect(a, b)
    for value in [a.low, a.high, b.low, b.high, 0, 1, Fraction(1, 4), 100]:
        if value is not None:
            assert (a.admits(value) and b.admits(value)) == (both is not None and both.admits(value))


@given(shapes())
def test_complement_is_that_of_the_set(a: NumberShape) -> None:
    outside = numbers.complement(a)
    for value in [a.low, a.high, 0, 1, Fraction(1, 4), -3, 10**31]:
        if value is not None:
            assert a.admits(value) != any(shape.admits(value) for shape in outside)


@given(shapes(), shapes())
def test_complement_is_that_of_the_set_within_another(a: NumberShape, within: NumberShape) -> None:
    outside = numbers.complement(a, [within])
    for value in [a.low, a.high, within.low, within.high, within.step, 0, 1, Fraction(1, 4), -3, 10**31]:
        if value is not None and within.admits(value):
            assert a.admits(value) != any(shape.admits(value) for shape in outside)


def test_thousands_of_numbers_and_texts_are_left_out() -> None:
    grammar = compiled(
        {"allOf": [{"not": {"const": value}} for i in range(1_000) for value in (2 * i, f"t{i}")]}, numbers="any"
    )
    for text in ("1", "1999", "2000", "0.5", '"t"', '"t1000"', "[]"):
        assert accepts(grammar, text), text
    for text in ("0", "1998", "1998.0", '"t0"', '"t999"'):
        assert not accepts(grammar, text), text


@given(shapes(), st.lists(shapes(), max_size=3))
def test_holes_are_told_by_arithmetic_as_the_numbers_are(a: NumberShape, holes: list[NumberShape]) -> None:
    found: tuple[NumberShape, ...] = (a,)
    for hole in holes:
        outside = numbers.complement(hole)
        pieces = [algebra.intersect_numbers(shape, piece) for shape in found for piece in outside]
        found = number_holes.without_covered(tuple(piece for piece in pieces if piece is not None))
    near = [number for shape in (a, *holes) for number in (shape.low, shape.high, shape.step) if number is not None]
    for value in [*near, *(number + 1 for number in near), 0, 1, -12, 60, 420]:
        inside = a.admits(value) and not any(hole.admits(value) for hole in holes)
        assert inside == any(shape.admits(value) for shape in found), value


# ---- multiples of several numbers together

STEPS: list[int | float] = [1, 2, 3, 4, 6, 7, 10, 15, 60, 1000, 7919, 0.1, 0.2, 0.25, 0.3, 0.7, 1.5, 2.3, 0.01]


def _combinations(steps: st.SearchStrategy[int | float]) -> st.SearchStrategy[dict[str, Any]]:
    leaves = steps.map(lambda step: {"multipleOf": step})

    def combined(parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        several = st.lists(parts, min_size=2, max_size=4)
        return st.one_of(
            st.builds(lambda keyword, all_of: {keyword: all_of}, st.sampled_from(["allOf", "anyOf", "oneOf"]), several),
            parts.map(lambda part: {"not": part}),
        )

    return st.recursive(leaves, combined, max_leaves=6)


@st.composite
def multiples_together(draw: st.DrawFn) -> dict[str, Any]:
    """Boolean combinations of `multipleOf`, of integers or numbers, between bounds perhaps."""
    schema: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    schema["allOf"] = [draw(_combinations(st.sampled_from(STEPS)))]
    for keyword in ("minimum", "exclusiveMaximum"):
        if draw(st.integers(0, 3)) == 0:
            schema[keyword] = draw(st.sampled_from([-1000, -3, 0, 0.5, 42, 1e5]))
    return schema


@st.composite
def decimals(draw: st.DrawFn) -> str:
    """Numbers without exponent, most of them multiples of something."""
    if draw(st.booleans()):
        step = Fraction(str(draw(st.sampled_from(STEPS)))) * draw(st.integers(-100, 100))
        written = (
            str(step.numerator) if step.denominator == 1 else f"{step.numerator / step.denominator:.3f}".rstrip("0")
        )
        return written
    whole = draw(st.integers(-(10**12), 10**12) | st.integers(-100, 100))
    return f"{whole}" + draw(st.sampled_from(["", "", ".5", ".25", ".7", ".1", ".123"]))


@pytest.mark.parametrize("general", [False, True], ids=["plain", "general"])
@given(multiples_together(), st.lists(decimals(), min_size=20, max_size=20))
@settings(max_examples=60)
def test_random_combinations_of_multiples(general: bool, schema: dict[str, Any], texts: list[str]) -> None:
    options: dict[str, Any] = {"pattern_dialect": "python"} if general else {}
    try:
        grammar = compiled(schema, **options)
    except cfgmask.GrammarError:
        # Nothing that is written plainly meets it.
        assert not any(_meets_plainly(schema, text) for text in texts)
        return
    for text in texts:
        assert accepts(grammar, text) == _meets_plainly(schema, text), (schema, text)


def _meets_plainly(schema: dict[str, Any], text: str) -> bool:
    value = Fraction(text)
    if schema["type"] == "integer" and "." in text:
        return False
    return meets({key: held for key, held in schema.items() if key != "type"}, value)


EIGHT = [2, 3, 5, 7, 11, 13, 17, 19]
MANY: dict[str, Schema] = {
    "integers": {"type": "integer", "oneOf": [{"multipleOf": n} for n in EIGHT]},
    "fractions": {"type": "number", "oneOf": [{"multipleOf": n / 10} for n in EIGHT]},
    "all but those of another": {
        "type": "number",
        "allOf": [{"oneOf": [{"multipleOf": n / 10} for n in EIGHT]}, {"not": {"multipleOf": 2.3}}],
    },
    "none of them": {"type": "number", "not": {"anyOf": [{"multipleOf": n / 10} for n in EIGHT]}},
    "a prime": {"type": "number", "multipleOf": 7919},
    "a large number": {"type": "integer", "multipleOf": 999999999989},
    "between bounds": {"type": "integer", "oneOf": [{"multipleOf": n} for n in EIGHT], "minimum": -(10**9)},
}


@pytest.mark.parametrize("general", [False, True], ids=["plain", "general"])
@pytest.mark.parametrize("name", MANY)
def test_many_multiples_are_one_node(name: str, general: bool) -> None:
    schema = MANY[name]
    assert isinstance(schema, dict)
    limits = cfgmask.Limits(max_regex_nodes=20_000, max_search_steps=1_000)
    options: dict[str, Any] = {"pattern_dialect": "python"} if general else {}
    grammar = compiled(schema, limits=limits, **options)
    step = Fraction(str(schema.get("multipleOf", "0.1")))
    for n in [0, 1, 2, 9, 14, 30, 143, -22, 10**6 + 4, 10**15 + 7]:
        value = n * step
        text = str(value.numerator) if value.denominator == 1 else f"{value.numerator // 10}.{abs(n) % 10}"
        if value < 0 and value.denominator > 1:
            continue
        assert accepts(grammar, text) == _meets_plainly(schema, text), text
        assert accepts(grammar, text + "1") == _meets_plainly(schema, text + "1"), text


def test_a_common_multiple_that_no_word_holds() -> None:
    primes = [999999999989, 999999999961]
    grammar = compiled({"type": "integer", "multipleOf": primes[0], "not": {"multipleOf": 7}})
    assert accepts(grammar, str(primes[0] * 8))
    assert not accepts(grammar, str(primes[0] * 7))
    with pytest.raises(cfgmask.GrammarError, match="multipleOf"):
        compiled({"type": "integer", "allOf": [{"multipleOf": prime} for prime in primes]})


TWO, THREE = {"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}
ABOVE, BELOW = {"type": "number", "minimum": 0}, {"type": "number", "exclusiveMaximum": 1}


@pytest.mark.parametrize("options", [{}, {"numbers": "any"}, {"indent": 1}, {"syntax": "yaml"}])
@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"type": "integer"}, ABOVE, BELOW]},
        {"oneOf": [{"type": "boolean"}, {"type": "integer"}, ABOVE, BELOW]},
        {"oneOf": [{"type": "string"}, TWO, THREE]},
        {"anyOf": [{"type": "string"}, TWO, THREE]},
        {"anyOf": [{"type": "array"}, TWO, {"type": "number", "minimum": 4, "multipleOf": 0.5}]},
        {"oneOf": [{"type": "null"}, TWO, THREE, ABOVE]},
    ],
)
def test_numbers_that_are_joined_beside_other_alternatives(schema: dict[str, Any], options: dict[str, Any]) -> None:
    grammar = compiled(schema, **options)
    for text in ["1.5", "-1.5", "2", "0.5", "0", "3", "6", "-2", "true", "10", "30", "null", "4.5", "7", "4.25"]:
        assert accepts(grammar, text) == is_valid(schema, text), text
