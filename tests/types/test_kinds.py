"""What a type's grammar writes Pydantic reads, and what Pydantic writes the grammar reads."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import cfgmask  # noqa: E402
from tests.types.kinds import FUNCTIONS, KINDS, NARROWER, WIDER  # noqa: E402
from tests.values.walks import VOCABULARY, text_of, walk  # noqa: E402

_VERSION = tuple(int(part) for part in pydantic.VERSION.split(".")[:2])
# Older ones write them as texts that nobody checks.
_NEED_2_14 = ("Fraction", "`Fraction` with bounds")


def _by_this_pydantic(names: Iterable[str]) -> list[str]:
    return [name for name in names if _VERSION >= (2, 14) or name not in _NEED_2_14]


@cache
def _grammar(name: str) -> cfgmask.Grammar:
    return cfgmask.Grammar.from_type(KINDS[name][0], strict=True)


def test_there_are_enough_kinds() -> None:
    assert len(KINDS) >= 60


@pytest.mark.parametrize("name", _by_this_pydantic(KINDS))
def test_pydantic_reads_what_the_grammar_writes(name: str) -> None:
    """In JSON mode, and in strict mode too: few kinds are strict by themselves."""
    adapter = pydantic.TypeAdapter(KINDS[name][0])
    compiled = cfgmask.compile(_grammar(name), VOCABULARY)
    rng = random.Random(name)
    for _ in range(25):
        text = text_of(walk(compiled, rng, rng.choice([3, 12, 60])))
        adapter.validate_json(text)
        adapter.validate_json(text, strict=True)


@pytest.mark.parametrize("name", _by_this_pydantic(KINDS))
@settings(max_examples=25, suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])
@given(data=st.data())
def test_the_grammar_reads_what_pydantic_writes(name: str, data: Any) -> None:
    kind, values = KINDS[name]
    adapter = pydantic.TypeAdapter(kind)
    value = data.draw(values)
    text = adapter.dump_json(value, by_alias=True)
    read = _grammar(name).parse(text)
    assert read == value


@pytest.mark.parametrize(("function", "text", "args", "kwargs"), FUNCTIONS)
def test_functions(function: Any, text: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    grammar = cfgmask.Grammar.from_type(function, strict=True)
    bound = grammar.parse(text)
    assert (bound.args, bound.kwargs) == (args, kwargs)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(text)
    for _ in range(10):
        grammar.parse(text_of(walk(compiled, rng, 20)))


def _wider(name: str) -> tuple[Any, str]:
    kind, text = WIDER[name]
    if kind == "EmailStr":
        pytest.importorskip("email_validator", reason="email-validator is not installed")
        kind = pydantic.EmailStr
    return kind, text


@pytest.mark.parametrize("name", WIDER)
def test_what_is_wider_is_a_note(name: str) -> None:
    kind, text = _wider(name)
    grammar = cfgmask.Grammar.from_type(kind)
    codes = {note.code for note in grammar.notes}
    assert codes
    assert codes <= {"type-inexact", "type-validator"}
    with pytest.raises((pydantic.ValidationError, TypeError)):
        grammar.parse(text)
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_type(list[kind], strict=True)
    assert {problem.code for problem in caught.value.diagnostics} == codes
    assert {problem.severity for problem in caught.value.diagnostics} == {"error"}


@pytest.mark.parametrize("name", _by_this_pydantic(NARROWER))
def test_what_is_narrower(name: str) -> None:
    kind, value = NARROWER[name]
    grammar = cfgmask.Grammar.from_type(kind)
    with pytest.raises(cfgmask.ParseError):
        grammar.parse(pydantic.TypeAdapter(kind).dump_json(value, by_alias=True))


def test_the_exceptions_are_those_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "types.md").read_text(encoding="utf-8")
    for heading, exceptions in (("## Wider", WIDER), ("## Narrower", NARROWER)):
        section = page.partition(heading)[2].partition("\n## ")[0]
        rows = [line.split(" | ")[0].removeprefix("| ") for line in section.splitlines() if line.startswith("| ")]
        assert rows[2:] == list(exceptions)
