"""Instances from texts: with pydantic, and without it as pydantic makes them."""

from __future__ import annotations

import datetime
import enum
import sys
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pydantic
import pytest

import cfgmask
from cfgmask.types import instances


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


@dataclass
class Point:
    x: int
    y: float = 0.5


@dataclass
class Shape:
    name: str
    corners: list[Point] = field(default_factory=list)
    colour: Optional[Colour] = None  # noqa: UP045, as people write it
    rest: dict[str, tuple[int, ...]] = field(default_factory=dict)
    child: Optional[Shape] = None  # noqa: UP045


class Movie(TypedDict, total=False):
    title: str
    year: int


class User(pydantic.BaseModel):
    name: Annotated[str, pydantic.Field(min_length=1)]
    born: datetime.date
    tags: set[str] = set()


CASES: list[tuple[Any, str, Any]] = [
    (int, "3", 3),
    (float, "3", 3.0),
    (bool, "true", True),
    (None, "null", None),
    (Colour, '"red"', Colour.RED),
    (Colour, "2", Colour.BLUE),
    (Literal["a", 1], "1", 1),
    (Point, '{"x": 1}', Point(1)),
    (list[Point], '[{"x": 1, "y": 2}]', [Point(1, 2.0)]),
    (
        Shape,
        '{"name": "é", "corners": [{"x": 1}], "colour": 2, "rest": {"a": [1, 2]}, "child": {"name": ""}}',
        Shape("é", [Point(1)], Colour.BLUE, {"a": (1, 2)}, Shape("")),
    ),
    (Movie, '{"year": 1}', {"year": 1}),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (set[int], "[1, 2]", {1, 2}),
    (Union[int, str, None], '"a"', "a"),  # noqa: UP007
    (datetime.date, '"2024-02-29"', datetime.date(2024, 2, 29)),
    (uuid.UUID, '"12345678-1234-5678-1234-567812345678"', uuid.UUID("12345678-1234-5678-1234-567812345678")),
    (dict[str, Any], '{"a": [null]}', {"a": [None]}),
]


@pytest.mark.parametrize(("kind", "text", "expected"), CASES, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("has_pydantic", [True, False])
def test_instances(kind: Any, text: str, expected: Any, has_pydantic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_pydantic:
        monkeypatch.setitem(sys.modules, "pydantic", None)
        instances._adapter.cache_clear()
    found = cfgmask.Grammar.from_type(kind).parse(text)
    assert found == expected
    assert type(found) is type(expected)
    instances._adapter.cache_clear()


def test_models() -> None:
    grammar = cfgmask.Grammar.from_type(User)
    user = grammar.parse('{"name": "Ann", "born": "1990-01-31", "tags": ["a"]}')
    assert user == User(name="Ann", born=datetime.date(1990, 1, 31), tags={"a"})
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


def test_yaml() -> None:
    grammar = cfgmask.Grammar.from_type(Point, syntax="yaml")
    assert grammar.parse("x: 1\ny: 2.5\n") == Point(1, 2.5)
