"""Types without Pydantic: enums, Literal and dataclasses of JSON's own types."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.types.hints import hints_of
from cfgmask.types.read import ReadType, name_of

_Make: TypeAlias = Callable[[Any], Any]
# A type's schema, and how a value is made of that of JSON; ValueError where it is none of the type.
_Read: TypeAlias = tuple[dict[str, Any], _Make]

INSTALL = "pip install 'cfgmask[types]'"


def read_plain(kind: Any, name: str) -> ReadType:
    """Read a type. Errors: GrammarError that says what to install for each part that takes Pydantic."""
    reader = _Reader()
    schema, make = reader.read(kind, name)
    if reader.problems:
        raise GrammarError(reader.problems)
    if reader.definitions:
        schema = {**schema, "$defs": reader.definitions}
    return ReadType(schema, tuple(reader.notes), "ecma", lambda value, _: make(value))


class _Reader:
    """`definitions`: the schemas of dataclasses, to which others refer."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.problems: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []
        self._classes: dict[type, tuple[str, list[_Make]]] = {}

    def read(self, kind: Any, place: str) -> _Read:
        """Read a type. `place` is how messages call it: `Person.age`."""
        kind = type(None) if kind is None else kind
        if kind is Any:
            return {}, _same
        if kind in (list, dict):
            return self._container(kind, (), place)
        if isinstance(kind, type) and typing.get_origin(kind) is None:
            return self._class(kind, place)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Literal:
            return self._one_of(arguments, [getattr(value, "value", value) for value in arguments], place)
        if origin in (typing.Union, types.UnionType):
            return self._union(arguments, place)
        if origin is list or (origin is dict and arguments[0] is str):
            return self._container(origin, arguments, place)
        return self._refuse(kind, place)

    def _refuse(self, kind: Any, place: str) -> _Read:
        message = f"{place}: Pydantic reads `{name_of(kind):.60}`, and is not installed"
        self.problems.append(Diagnostic("type-needs-pydantic", message, help=INSTALL))
        return {}, _same

    def _class(self, kind: type, place: str) -> _Read:
        scalar = _SCALARS.get(kind)
        if scalar is not None:
            name, accepted = scalar
            return {"type": name}, lambda value: kind(_checked(accepted, value)) if kind is not type(None) else None
        if issubclass(kind, enum.Enum):
            members = list(kind)
            return self._one_of(members, [member.value for member in members], place)
        # Pydantic's own classes have its constraints.
        if dataclasses.is_dataclass(kind) and not hasattr(kind, "__pydantic_core_schema__"):
            return self._dataclass(kind, place)
        return self._refuse(kind, place)

    def _one_of(self, choices: Iterable[Any], values: list[Any], place: str) -> _Read:
        choices = list(choices)
        for choice, value in zip(choices, values, strict=True):
            if not isinstance(value, (str, int, float, bool, type(None))):
                return self._refuse(choice, place)

        def make(value: Any) -> Any:
            for choice, plain in zip(choices, values, strict=True):
                if type(plain) is type(value) and plain == value:
                    return choice
            raise ValueError(f"{value!r:.60} is none of {values!r:.200}")

        return {"enum": values}, make

    def _union(self, kinds: tuple[Any, ...], place: str) -> _Read:
        parts = [self.read(kind, place) for kind in kinds]

        def make(value: Any) -> Any:
            for _, make_part in parts:
                try:
                    return make_part(value)
                except (ValueError, TypeError, KeyError):
                    continue
            raise ValueError(f"{value!r:.60} is of none of the types of the union")

        return {"anyOf": [schema for schema, _ in parts]}, make

    def _container(self, origin: Any, arguments: tuple[Any, ...], place: str) -> _Read:
        schema, make = self.read(arguments[-1], f"{place}[]") if arguments else ({}, _same)
        if origin is list:
            return {"type": "array", "items": schema}, lambda value: [make(item) for item in _checked(list, value)]
        schema = {"type": "object", "additionalProperties": schema}
        return schema, lambda value: {key: make(item) for key, item in _checked(dict, value).items()}

    def _dataclass(self, kind: Any, place: str) -> _Read:
        """A reference to the schema of a class, which is read once."""
        if kind not in self._classes:
            names = {name for name, _ in self._classes.values()}
            name, number = kind.__name__, 1
            while name in names:
                number += 1
                name = f"{kind.__name__}{number}"
            makes: list[_Make] = []
            self._classes[kind] = name, makes
            self.definitions[name], make = self._fields(kind)
            makes.append(make)
        name, makes = self._classes[kind]
        return {"$ref": f"#/$defs/{name}"}, lambda value: makes[0](value)

    def _fields(self, kind: Any) -> _Read:
        place = name_of(kind)
        if hasattr(kind, "__post_init__"):
            message = f"{place}: the grammar does not know the Python code of `{name_of(kind.__post_init__)}`"
            self.notes.append(Diagnostic("type-validator", message, severity="note"))
        try:
            hints = hints_of(kind)
        except (NameError, TypeError, SyntaxError) as error:
            message = f"{place}: its annotations cannot be read: {error}"
            help = "define what they name in its module"
            self.problems.append(Diagnostic("type-unsupported", message, help=help))
            return {}, _same
        fields = [field for field in dataclasses.fields(kind) if field.init]
        parts = {field.name: self.read(hints[field.name], f"{place}.{field.name}") for field in fields}
        missing = dataclasses.MISSING
        required = [f.name for f in fields if f.default is missing and f.default_factory is missing]
        schema = {
            "type": "object",
            "properties": {name: schema for name, (schema, _) in parts.items()},
            "required": required,
            "additionalProperties": False,
        }

        def make(value: Any) -> Any:
            return kind(**{name: parts[name][1](item) for name, item in _checked(dict, value).items()})

        return schema, make


def _same(value: Any) -> Any:
    return value


def _checked(kind: Any, value: Any) -> Any:
    """The value, if it is of the type; a union goes on after the error."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"a value of the type {getattr(kind, '__name__', kind)} was expected, not {value!r:.60}")
    return value


_SCALARS: dict[type, tuple[str, Any]] = {
    bool: ("boolean", bool),
    int: ("integer", int),
    float: ("number", (int, float)),
    str: ("string", str),
    type(None): ("null", type(None)),
}
