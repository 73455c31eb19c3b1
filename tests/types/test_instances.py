"""Instances from texts."""

from __future__ import annotations

import datetime
import functools
from typing import Annotated, Any

import pytest

pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

import cfgmask  # noqa: E402


class User(pydantic.BaseModel):
    name: Annotated[str, pydantic.Field(min_length=1)]
    born: datetime.date
    tags: frozenset[str] = frozenset()


def test_models() -> None:
    grammar = cfgmask.Grammar.from_type(User)
    user = grammar.parse('{"name": "Ann", "born": "1990-01-31", "tags": ["a"]}')
    assert user == User(name="Ann", born=datetime.date(1990, 1, 31), tags=frozenset("a"))
    parser = grammar.parser()
    parser.feed('{"name": "Ann", "born": "19')
    assert parser.value == {"name": "Ann", "born": "19"}
    parser.feed('90-01-31"}')
    assert parser.finish()[-1].value == User(name="Ann", born=datetime.date(1990, 1, 31))


def test_a_validator_has_the_last_word() -> None:
    class Even(pydantic.BaseModel):
        n: int

        @pydantic.field_validator("n")
        @classmethod
        def is_even(cls, n: int) -> int:
            if n % 2:
                raise ValueError("odd")
            return n

    grammar = cfgmask.Grammar.from_type(Even)
    assert grammar.parse('{"n": 2}').n == 2
    with pytest.raises(pydantic.ValidationError, match="odd"):
        grammar.parse('{"n": 1}')
    (note,) = grammar.notes
    assert note.code == "type-validator"
    assert note.message == "Even.n: the grammar does not know the Python code of `Even.is_even`"


class Shop:
    def sell(self, name: str, *, count: Annotated[int, pydantic.Field(ge=1)] = 1) -> None:
        raise AssertionError("not called")


@pytest.mark.parametrize(
    ("function", "text", "arguments"),
    [
        (Shop().sell, '{"name": "a", "count": 2}', {"name": "a", "count": 2}),
        (functools.partial(Shop().sell, count=5), '{"name": "a"}', {"name": "a", "count": 5}),
        (lambda x, y=2: None, '{"x": [1]}', {"x": [1], "y": 2}),
    ],
)
def test_functions_are_bound_and_not_called(function: Any, text: str, arguments: dict[str, Any]) -> None:
    bound = cfgmask.Grammar.from_type(function).parse(text)
    assert bound.arguments == arguments
    with pytest.raises(cfgmask.ParseError):
        cfgmask.Grammar.from_type(Shop().sell).parse('{"name": "a", "count": 0}')


def test_functions_that_no_json_calls() -> None:
    def mixed(a: int, /, *, b: int) -> None: ...

    with pytest.raises(cfgmask.GrammarError, match="positional-only and keyword-only"):
        cfgmask.Grammar.from_type(mixed)


def test_yaml() -> None:
    grammar = cfgmask.Grammar.from_type(User, syntax="yaml")
    assert grammar.parse('name: Ann\nborn: "1990-01-31"\n').born == datetime.date(1990, 1, 31)
