"""The annotations of classes are those of `typing.get_type_hints`, on every version of Python."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar

import pytest

import cfgmask
from cfgmask.types.hints import hints_of


@dataclasses.dataclass
class Base:
    first: Annotated[int, "kept"]
    shared: ClassVar[int] = 0


@dataclasses.dataclass
class WithKeywords(Base):
    _: dataclasses.KW_ONLY
    second: list[Base] = dataclasses.field(default_factory=list)


class Plain:
    item: str | None = None


def function(first: int, second: Base | None = None) -> str:
    return ""


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (WithKeywords, {"first": Annotated[int, "kept"], "shared": ClassVar[int], "second": list[Base]}),
        (Plain, {"item": str | None}),
        (function, {"first": int, "second": Base | None, "return": str}),
    ],
)
def test_hints(kind: object, expected: dict[str, object]) -> None:
    found = hints_of(kind)
    found.pop("_", None)  # from Python 3.11 on
    assert found == expected


def test_a_dataclass_with_keywords_alone_is_read_as_json_and_as_a_call() -> None:
    value = WithKeywords(1, second=[Base(2)])
    assert cfgmask.Grammar.from_type(WithKeywords, syntax="call").parse("WithKeywords(1, second=[Base(2)])") == value
    assert cfgmask.Grammar.from_type(WithKeywords).parse('{"first": 1, "second": [{"first": 2}]}') == value


def test_an_unknown_name_is_an_error() -> None:
    @dataclasses.dataclass
    class Unknown:
        item: Missing  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(NameError):
        hints_of(Unknown)
