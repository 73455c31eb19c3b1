"""How values of a type are written in a constructor call: a tree of shapes, with loops where a type holds itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from cfgmask.errors import LimitExceeded

_MOST_NESTED = 90
"""Python's own parser gives up at some 100 to 200 brackets in each other."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A literal of Python that stands for a value of JSON: numbers, strings, words, and what has no shape of its own.

    kind      the type
    schema    its JSON Schema
    dialect   how patterns in the schema are written; None: as the options say
    instance  the value of the type that stands behind the JSON value
    """

    kind: Any
    schema: dict[str, Any]
    dialect: Literal["ecma", "python", "rust"] | None
    instance: Callable[[Any], Any]


@dataclass(frozen=True, eq=False)
class Names:
    """Members of enums: `Color.RED`."""

    members: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Items:
    """A list, a tuple of any length, or a set: `[1, 2]`, `(1, 2)`, `{1, 2}`, `frozenset({1, 2})`."""

    written: Literal["list", "tuple", "set", "frozenset"]
    make: Callable[[list[Any]], Any]
    item: Shape
    minimum: int = 0
    maximum: int | None = None


@dataclass(frozen=True, eq=False)
class Fixed:
    """A tuple with an item for each place: `(1, 'a')`."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """A dict whose keys and values are of a type each: `{'a': 1}`."""

    make: Callable[[dict[Any, Any]], Any]
    key: Shape
    value: Shape


@dataclass(frozen=True, eq=False)
class Field:
    """An argument of a constructor, or a key of a TypedDict.

    attribute  where an instance has it
    positional whether it may be given without its name, in its place
    """

    name: str
    attribute: str
    shape: Shape
    required: bool
    positional: bool = True


@dataclass(eq=False)
class Call:
    """A call of a constructor, with `fields` in the order of its parameters. They are filled in when all are read."""

    name: str
    make: Callable[..., Any]
    kind: Any
    fields: list[Field] = field(default_factory=list)


@dataclass(eq=False)
class Record:
    """A dict with keys of their own: `{'x': 1}` of a TypedDict."""

    name: str
    fields: list[Field] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class OneOf:
    """A value of one of several shapes."""

    parts: tuple[Shape, ...]


Shape: TypeAlias = Leaf | Names | Items | Fixed | Pairs | Call | Record | OneOf


def argument_names(model: Any) -> dict[str, str]:
    """How the constructor of a model of pydantic calls each field, by its name: by the alias, if there is one."""
    config = getattr(model, "model_config", {})
    by_name = config.get("populate_by_name") or config.get("validate_by_name")
    found = {}
    for name, info in model.model_fields.items():
        alias = info.validation_alias if info.validation_alias is not None else info.alias
        found[name] = name if alias is None or by_name else str(alias)
    return found


def too_deep() -> LimitExceeded:
    """The error for values that are nested too deeply to be read back."""
    return LimitExceeded("max_nesting", _MOST_NESTED, "calls in each other, for Python's parser")
