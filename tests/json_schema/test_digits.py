"""Runs of digits end, far beyond what programs write; the numbers that a schema itself asks for stay as they are."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema import JsonSchemaOptions
from tests.json_schema.judge import Schema, accepts, compiled, vocabulary
from tests.json_schema.test_options import refused

ENDLESS: list[tuple[Schema, str, str]] = [
    ({"type": "number"}, "", ""),
    ({"type": "number"}, "-1.", ""),
    ({"type": "number"}, "1e", ""),
    ({"type": "number"}, "1.5E-", ""),
    ({"type": "integer"}, "", ""),
    ({"type": "integer", "minimum": 17}, "", ""),
    ({"type": "number", "minimum": -1.5, "maximum": 2}, "0.", ""),
    ({"type": "number", "not": {"const": 5}}, "", ""),
    ({"type": "array", "items": {"type": "number"}}, "[0.", "]"),
    (True, '{"a":', "}"),
    ({"type": "array", "items": {"type": "number"}, "uniqueItems": True}, "[", "]"),
]


NO_END: dict[str, Any] = {"max_digits": None}


@pytest.mark.parametrize(("schema", "before", "after"), ENDLESS, ids=lambda value: json.dumps(value)[:60])
def test_a_run_has_an_end(schema: Schema, before: str, after: str) -> None:
    by_default, endless, few = (compiled(schema, numbers="any", **most) for most in ({}, NO_END, {"max_digits": 7}))
    for n, grammars in ((7, [by_default, endless, few]), (100, [by_default, endless]), (150, [endless])):
        text = before + "7" * n + after
        assert [grammar for grammar in (by_default, endless, few) if accepts(grammar, text)] == grammars
    # Where it ends, it must: nothing but the end of the number is left.
    matcher = by_default.matcher()
    assert 99 <= matcher.advance_bytes((before + "7" * 150).encode()) - len(before) <= 103


VALUES: list[tuple[Schema, list[str], list[str]]] = [
    ({"const": 10**150 + 1}, [str(10**150 + 1)], [str(10**150)]),
    ({"enum": [1, 10**120]}, ["1", str(10**120)], [str(10**119)]),
    ({"type": "integer", "minimum": 10**150}, [str(10**150), str(10**200 + 7)], [str(10**150 - 1), "5"]),
    ({"type": "integer", "minimum": 0, "maximum": 10**150}, [str(10**149 + 3), str(10**150)], [str(10**150 + 1)]),
    ({"type": "integer", "minimum": 10**150, "multipleOf": 10**16}, [str(10**150), str(10**151)], [str(10**150 + 1)]),
    ('{"type":"number","minimum":1e-130,"maximum":2e-130}', [f"0.{'0' * 129}1", f"0.{'0' * 129}15"], ["0.0", "1"]),
    ({"not": {"const": 10**150}, "type": "integer", "minimum": 10**149}, [str(10**149)], [str(10**150)]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), VALUES, ids=lambda value: json.dumps(value)[:60])
def test_longer_numbers_of_the_schema_itself(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    grammar = compiled(schema)
    assert [text for text in valid if not accepts(grammar, text)] == []
    assert [text for text in invalid if accepts(grammar, text)] == []


@pytest.mark.parametrize("step", [10**18, 10**39])
def test_steps_that_are_too_long(step: int) -> None:
    with pytest.raises(cfgmask.GrammarError, match="schema-multiple-of"):
        compiled({"type": "integer", "minimum": 10**5, "multipleOf": step})


PROGRAMS = [
    0.1,
    1.7976931348623157e308,
    5e-324,
    2.2250738585072014e-308,
    1 / 3,
    2**63,
    -(2**63),
    2**128,
    2**256,
    10**99,
]


@pytest.mark.parametrize("number", PROGRAMS, ids=str)
@pytest.mark.parametrize("schema", [True, {"type": "number"}, {"type": "number", "minimum": -(2**70)}], ids=str)
@pytest.mark.parametrize("numbers", ["plain", "any"])
def test_what_programs_write(number: float, schema: Schema, numbers: str) -> None:
    assert accepts(compiled(schema, numbers=numbers), json.dumps(number))


_DECIMALS = st.integers(-30, 30).map(lambda n: n / 4)
_SCHEMAS = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer"])},
    optional={
        "minimum": _DECIMALS,
        "exclusiveMinimum": _DECIMALS,
        "maximum": _DECIMALS.map(lambda n: n + 8),
        "multipleOf": st.sampled_from([0.5, 1, 3, 20]),
        "not": st.fixed_dictionaries({"const": st.integers(-9, 9)}),
    },
)
_TEXTS = st.from_regex(r"-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,6})?(e[+-]?[0-9]{1,6})?", fullmatch=True)


@pytest.mark.long
@settings(max_examples=150)
@given(_SCHEMAS, st.integers(1, 5), st.lists(_TEXTS, min_size=20, max_size=20))
def test_nothing_but_long_runs_is_left_out(schema: dict[str, Any], most: int, texts: list[str]) -> None:
    try:
        endless = compiled(schema, numbers="any", max_digits=None)
    except cfgmask.GrammarError:
        return
    ended = compiled(schema, numbers="any", max_digits=most)
    for text in texts:
        is_short = max(map(len, re.findall("[0-9]+", text))) <= most
        if is_short:
            assert accepts(ended, text) == accepts(endless, text), text
        else:
            assert accepts(endless, text) or not accepts(ended, text), text


@pytest.mark.parametrize("most", [1, 3])
@given(schema=_SCHEMAS)
def test_no_text_gets_stuck(most: int, schema: dict[str, Any]) -> None:
    """The longest number that the digits allow, and then the end."""
    try:
        matcher = compiled(schema, max_digits=most).matcher()
    except cfgmask.GrammarError:
        return
    for _ in range(200):
        allowed = [byte for byte in b"7986543210.e-+" if matcher.try_advance([byte], consume=False)]
        if not allowed:
            break
        matcher.advance(allowed[0])
    assert not allowed, "digits without end"
    assert matcher.is_accepting


def test_blocks_of_lark_grammars() -> None:
    grammar = cfgmask.Grammar.from_lark('start: "x" %json {"type": "integer"}')
    matcher = cfgmask.compile(grammar, vocabulary()).matcher()
    assert matcher.advance_bytes(b"x" + b"1" * 300) == 101


@pytest.mark.parametrize("value", [0, -1, 2.5, "many", True, 10_001])
def test_what_the_option_may_be(value: Any) -> None:
    assert refused(max_digits=value) == f"max_digits={value!r} is not supported; it may be None or from 1 to 10000"
    assert JsonSchemaOptions(max_digits=10_000).max_digits == 10_000
