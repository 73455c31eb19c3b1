"""Types without Pydantic: what is read then, as Pydantic reads it, and what is said of the rest."""

from __future__ import annotations

import enum
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional

import pytest

import cfgmask


class Place(typing.TypedDict):
    name: str


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Text(str, enum.Enum):
    A = "a"
    B = "b"


@dataclass
class Point:
    x: int
    y: float = 0.5


@dataclass
class Shape:
    name: str
    corners: list[Point] = field(default_factory=list)
    colour: Optional[Colour] = None  # noqa: UP045, as people write it
    rest: dict[str, list[int]] = field(default_factory=dict)
    child: Optional[Shape] = None  # noqa: UP045
    seen: int = field(default=0, init=False)


# A type, texts and what they stand for, texts that are refused.
CASES: list[tuple[Any, dict[str, Any], list[str]]] = [
    (int, {"3": 3}, ["3.5", "true"]),
    (float, {"3": 3.0, "1.5": 1.5}, ['"1"']),
    (bool, {"true": True}, ["1"]),
    (str, {'"a"': "a"}, ["a"]),
    (None, {"null": None}, ["0"]),
    (Any, {'{"a": [1]}': {"a": [1]}}, [""]),
    (list, {'[1, "a"]': [1, "a"]}, ["1"]),
    (dict, {'{"a": 1}': {"a": 1}}, ["1"]),
    (dict[str, int], {'{"a": 1}': {"a": 1}}, ['{"a": "b"}']),
    (Colour, {'"red"': Colour.RED, "2": Colour.BLUE}, ['"RED"', "1"]),
    (Literal["a", 1, None], {"1": 1, '"a"': "a", "null": None}, ["2", "true"]),
    (Literal[Text.A], {'"a"': Text.A}, ['"b"']),
    (Optional[int], {"1": 1, "null": None}, ['"a"']),  # noqa: UP045
    (int | str, {"1": 1, '"1"': "1"}, ["null"]),
    (Point, {'{"x": 1}': Point(1)}, ["{}", '{"x": 1, "z": 1}']),
    (list[Point], {'[{"x": 1, "y": 2}]': [Point(1, 2.0)]}, ["[{}]"]),
    (
        Shape,
        {
            '{"name": "a", "corners": [{"x": 1}], "colour": 2, "rest": {"a": [1]}, "child": {"name": "b"}}': Shape(
                "a", [Point(1)], Colour.BLUE, {"a": [1]}, Shape("b")
            ),
            '{"name": "a", "colour": null}': Shape("a"),
        },
        ['{"name": "a", "seen": 1}'],
    ),
]


@pytest.fixture(params=[False, True], ids=["plain", "pydantic"])
def _has_pydantic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param:
        pytest.importorskip("pydantic", reason="pydantic is not installed")
    else:
        monkeypatch.setitem(sys.modules, "pydantic", None)


@pytest.mark.usefixtures("_has_pydantic")
@pytest.mark.parametrize(("kind", "texts", "refused"), CASES, ids=lambda value: str(value)[:30])
def test_plain_types(kind: Any, texts: dict[str, Any], refused: list[str]) -> None:
    grammar = cfgmask.Grammar.from_type(kind, strict=True)
    for text, expected in texts.items():
        found = grammar.parse(text)
        assert found == expected
        assert type(found) is type(expected)
    for text in refused:
        with pytest.raises(cfgmask.ParseError):
            grammar.parse(text)


@dataclass
class Wide:
    first: Annotated[int, "a comment"]
    second: tuple[int, ...]
    third: list[bytes]
    fourth: dict[int, str]
    fifth: Callable[[], int]
    sixth: Place


def test_others_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(cfgmask.GrammarError) as caught:
        cfgmask.Grammar.from_type(Wide)
    assert [problem.message for problem in caught.value.diagnostics] == [
        "Wide.first: Pydantic reads `int`, and is not installed",
        "Wide.second: Pydantic reads `tuple[int, Ellipsis]`, and is not installed",
        "Wide.third[]: Pydantic reads `bytes`, and is not installed",
        "Wide.fourth: Pydantic reads `dict[int, str]`, and is not installed",
        "Wide.fifth: Pydantic reads `Callable[[], int]`, and is not installed",
        "Wide.sixth: Pydantic reads `Place`, and is not installed",
    ]
    assert {problem.code for problem in caught.value.diagnostics} == {"type-needs-pydantic"}
    assert {problem.help for problem in caught.value.diagnostics} == {"pip install 'cfgmask[types]'"}


def test_functions_need_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(cfgmask.GrammarError, match="type-needs-pydantic"):
        cfgmask.Grammar.from_type(test_functions_need_pydantic)


def test_names_that_are_not_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)

    @dataclass
    class Lost:
        a: Nowhere  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(cfgmask.GrammarError, match="its annotations cannot be read"):
        cfgmask.Grammar.from_type(Lost)


def test_code_of_dataclasses_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)

    @dataclass
    class Checked:
        a: int

        def __post_init__(self) -> None:
            if self.a == 1:
                raise ValueError("one")

    grammar = cfgmask.Grammar.from_type(Checked)
    assert [note.code for note in grammar.notes] == ["type-validator"]
    with pytest.raises(ValueError, match="one"):
        grammar.parse('{"a": 1}')


def test_two_classes_of_one_name() -> None:
    first = typing.cast(Any, Point)
    second = dataclass(type("Point", (), {"__annotations__": {"z": int, "inner": first}}))
    assert cfgmask.Grammar.from_type(second).parse('{"z": 1, "inner": {"x": 1}}').inner == Point(1)
