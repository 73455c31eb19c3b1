"""`json_regex` against `json` and against the `regex` package."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any, NoReturn

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.regex import parse_regex
from tests.json_schema.judge import accepts, vocabulary


@cache
def grammar(depth: int) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_regex(cfgmask.json_regex(depth=depth)), vocabulary())


@cache
def pattern(depth: int) -> Any:
    return regex.compile(cfgmask.json_regex(depth=depth))


def depth_of(text: str) -> int | None:
    """How deep the value of a text is; None where it is not JSON."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(constant)

    try:
        value = json.loads(text, parse_constant=refuse)
    except ValueError:
        return None
    if text != text.strip(" \t\n\r"):
        return None
    return depth(value)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
WAYS = [{}, {"indent": 2}, {"separators": (",", ":")}, {"separators": (" , ", "\t:\r\n")}, {"ensure_ascii": False}]
PIECES = [
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"a"',
    '""',
    '"\\n"',
    '"\\x"',
    '"\\u00e',
    "1",
    "-",
    "0",
    "1.5e3",
    ".",
    " ",
    "\n",
]


@given(VALUES, st.sampled_from(WAYS))
@settings(max_examples=60, deadline=None)
def test_values(value: Any, way: dict[str, Any]) -> None:
    text = json.dumps(value, **way)
    for bound in (0, 1, 2, 3):
        assert accepts(grammar(bound), text) == (depth(value) <= bound)
        assert bool(pattern(bound).fullmatch(text)) == (depth(value) <= bound)


@given(st.lists(st.sampled_from([*PIECES, "null", "true", "nul", "NaN", "\u00a0"]), max_size=7).map("".join))
@settings(max_examples=200, deadline=None)
def test_texts(text: str) -> None:
    found = depth_of(text)
    for bound in (0, 2):
        expected = found is not None and found <= bound
        assert accepts(grammar(bound), text) == expected
        assert bool(pattern(bound).fullmatch(text)) == expected


def test_it_means_the_same_in_every_dialect() -> None:
    text = cfgmask.json_regex(depth=2)
    assert parse_regex(text, dialect="rust") == parse_regex(text, dialect="ecma") == parse_regex(text)
    assert re.fullmatch(text, '{"a": [1, {}]}') is None
    assert re.fullmatch(text, '{"a": [1, 2]}')


def test_the_default_is_three() -> None:
    assert cfgmask.json_regex() == cfgmask.json_regex(depth=3)
    assert len(cfgmask.json_regex()) < 30_000


@pytest.mark.parametrize("bound", [-1, 6, 2**64, 10**5_000], ids=["-1", "6", "2**64", "10**5_000"])
def test_bounds(bound: int) -> None:
    with pytest.raises(ValueError, match=r"^depth must be from 0 to 5$"):
        cfgmask.json_regex(bound)


@pytest.mark.parametrize("bound", [True, 1.0, None, "3" * 1_000_000], ids=lambda bound: type(bound).__name__)
def test_what_is_no_depth(bound: Any) -> None:
    with pytest.raises(TypeError, match=f"^depth must be an int, not {type(bound).__name__}$"):
        cfgmask.json_regex(bound)
