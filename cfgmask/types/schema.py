"""The JSON Schema of a Python type: of the texts from which a value of the type can be made."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import reprlib
import types
import typing
import uuid
from collections.abc import Callable, Iterable
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.types.constraints import NotAConstraint, keywords_of

_SCALARS: dict[Any, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    Any: {},
}
_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly"})
_MAX_DEPTH = 100
# A type may hold another one twice, that a third one, and so on: written out it is as long as two to its depth.
_MAX_PARTS = 100_000


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type.

    Read are bool, int, float, str, None, Any, dates, times and UUIDs; Literal, Enum, unions; list, tuple, set, dict;
    dataclasses, TypedDicts and models of pydantic, recursive ones too; Annotated with constraints.
    Fields with defaults may be left out, and dataclasses and TypedDicts have no further keys.
    What validators of pydantic check beyond the model's own schema is not seen.
    Errors: GrammarError with a diagnostic for each part that has no schema. Linear in the types, each as often as it is
    named; a class counts once.
    """
    reader = _Reader()
    try:
        schema = reader.read(kind, _name(kind))
        reader.read_classes()
    except _TooManyPartsError:
        raise GrammarError([_too_many_parts(_name(kind))]) from None
    if reader.problems:
        raise GrammarError(reader.problems)
    return schema | {"$defs": reader.definitions} if reader.definitions else schema


class _TooManyPartsError(Exception):
    """More than `_MAX_PARTS` types were read."""


def _too_many_parts(place: str) -> Diagnostic:
    message = f"{place:.60}: it has more than {_MAX_PARTS} parts"
    return Diagnostic("type-unsupported", message, help="make a dataclass of a part that comes again and again")


def _name(kind: Any) -> str:
    # What is no type may be a value of a request, and deep.
    shown = reprlib.repr if isinstance(kind, (dict, list, tuple, set)) else str
    return getattr(kind, "__qualname__", None) or shown(kind)


def _is_scalar(kind: Any) -> bool:
    # `Annotated[int, {}]` cannot be looked up: what holds something without a hash has none.
    return (isinstance(kind, type) or kind is None or kind is Any) and kind in _SCALARS


class _Reader:
    """`definitions`: the schemas of classes, to which others refer; `problems`: what was found to have none."""

    def __init__(self) -> None:
        self.definitions: dict[str, Any] = {}
        self.problems: list[Diagnostic] = []
        self._names: dict[Any, str] = {}
        self._waiting: list[tuple[str, Any, Callable[[Any, str], dict[str, Any]]]] = []
        self._depth = 0
        self._n_parts = 0

    def read_classes(self) -> None:
        """Read the classes that have been named, and those that they name."""
        while self._waiting:
            name, kind, read = self._waiting.pop()
            self.definitions[name] = read(kind, kind.__name__)

    def read(self, kind: Any, place: str) -> dict[str, Any]:
        """The schema of a type. `place` is how messages call it: `Person.age`."""
        self._n_parts += 1
        if self._n_parts > _MAX_PARTS:
            raise _TooManyPartsError
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            schema = self._refuse(f"more than {_MAX_DEPTH} types stand inside each other", place[:60])
        else:
            schema = self._read(kind, place)
        self._depth -= 1
        return schema

    def _read(self, kind: Any, place: str) -> dict[str, Any]:
        if _is_scalar(kind):
            return dict(_SCALARS[kind])
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self._annotated(arguments[0], arguments[1:], place)
        if origin is typing.Literal:
            return self._values(arguments, place)
        if origin in (typing.Union, types.UnionType):
            return {"anyOf": [self.read(argument, place) for argument in arguments]}
        if getattr(origin, "_name", None) in _QUALIFIERS:
            return self.read(arguments[0], place)
        if origin is not None or kind in (list, tuple, set, frozenset, dict):
            return self._container(kind, origin or kind, arguments, place)
        if isinstance(kind, type):
            return self._class(kind, place)
        return self._refuse(f"`{_name(kind)}` has no JSON Schema", place)

    def _refuse(self, message: str, place: str, help: str | None = None) -> dict[str, Any]:
        self.problems.append(Diagnostic("type-unsupported", f"{place}: {message}", help=help))
        return {}

    def _annotated(self, kind: Any, metadata: Iterable[Any], place: str) -> dict[str, Any]:
        schema = self.read(kind, place)
        bounds: list[dict[str, Any]] = []
        for constraint in metadata:
            try:
                bounds.append(keywords_of(constraint, schema.get("type")))
            except NotAConstraint as error:
                help = "constraints are those of `annotated_types` and of pydantic's `Field`"
                self._refuse(f"`{constraint!r:.80}` {error}", place, help)
        extra = [bound for bound in bounds if bound]
        # Two constraints may set one keyword, so they stand beside each other.
        return {**schema, "allOf": extra} if extra else schema

    def _values(self, values: Iterable[Any], place: str) -> dict[str, Any]:
        """One of some values of JSON; those of an Enum count by their own values."""
        plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
        for value in plain:
            if not isinstance(value, (str, int, float, bool, type(None))):
                return self._refuse(f"the value `{value!r:.60}` has no JSON", place)
        return {"enum": plain}

    def _container(self, kind: Any, origin: Any, arguments: tuple[Any, ...], place: str) -> dict[str, Any]:
        if origin in (list, set, frozenset):
            items = self.read(arguments[0], f"{place}[]") if arguments else {}
            unique = {} if origin is list else {"uniqueItems": True}
            return {"type": "array", "items": items, **unique}
        if origin is tuple:
            return self._tuple(arguments, place, any_length=kind in (tuple, typing.Tuple))  # noqa: UP006, as people write it
        if origin is dict:
            if arguments and arguments[0] is not str:
                return self._refuse("the keys of a dict must be str", place)
            values = self.read(arguments[1], f"{place}[]") if arguments else {}
            return {"type": "object", "additionalProperties": values}
        return self._refuse(f"`{_name(origin)}` has no JSON Schema", place)

    def _tuple(self, arguments: tuple[Any, ...], place: str, *, any_length: bool) -> dict[str, Any]:
        """`tuple` itself is of any length, and `tuple[()]`, which has no arguments either, is empty."""
        if any_length:
            return {"type": "array"}
        if arguments and arguments[-1] is Ellipsis:
            return {"type": "array", "items": self.read(arguments[0], f"{place}[]")}
        if not arguments:
            return {"type": "array", "maxItems": 0}
        items = [self.read(argument, f"{place}[{index}]") for index, argument in enumerate(arguments)]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}

    def _class(self, kind: type, place: str) -> dict[str, Any]:
        if issubclass(kind, enum.Enum):
            return self._values(kind, place)
        if hasattr(kind, "model_json_schema"):
            return self._named(kind, self._pydantic)
        if hasattr(kind, "__pydantic_core_schema__"):
            return self._named(kind, self._pydantic_dataclass)
        if dataclasses.is_dataclass(kind):
            return self._named(kind, self._dataclass)
        if typing.is_typeddict(kind):
            return self._named(kind, self._typed_dict)
        return self._refuse(f"the class `{kind.__qualname__}` has no JSON Schema", place, "make it a dataclass")

    def _named(self, kind: type, read: Callable[[Any, str], dict[str, Any]]) -> dict[str, Any]:
        """A reference to the schema of a class, which is read later and once."""
        if kind not in self._names:
            name, number = kind.__name__, 1
            while name in self._names.values():
                number += 1
                name = f"{kind.__name__}{number}"
            self._names[kind] = name
            self._waiting.append((name, kind, read))
        return {"$ref": f"#/$defs/{self._names[kind]}"}

    def _dataclass(self, kind: Any, place: str) -> dict[str, Any]:
        hints = self._hints(kind, place)
        fields = [field for field in dataclasses.fields(kind) if field.init and field.name in hints]
        for field in fields:
            if hasattr(field.default, "metadata") and hasattr(field.default, "json_schema_extra"):
                help = "use `pydantic.dataclasses.dataclass`, or `Annotated[…, Field(…)]`"
                self._refuse(
                    "pydantic's `Field` as a default does nothing in this dataclass", f"{place}.{field.name}", help
                )
        missing = dataclasses.MISSING
        required = [f.name for f in fields if f.default is missing and f.default_factory is missing]
        return self._object({field.name: hints[field.name] for field in fields}, required, place)

    def _typed_dict(self, kind: Any, place: str) -> dict[str, Any]:
        hints = self._hints(kind, place)
        return self._object(hints, [name for name in hints if name in kind.__required_keys__], place)

    def _hints(self, kind: Any, place: str) -> dict[str, Any]:
        try:
            return typing.get_type_hints(kind, include_extras=True)
        except (NameError, TypeError, SyntaxError) as error:
            self._refuse(f"its annotations cannot be read: {error}", place, "define what they name in its module")
            return {}

    def _object(self, fields: dict[str, Any], required: list[str], place: str) -> dict[str, Any]:
        properties = {name: self.read(kind, f"{place}.{name}") for name, kind in fields.items()}
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}

    def _pydantic(self, kind: Any, place: str) -> dict[str, Any]:
        return self._by_pydantic(kind, kind.model_json_schema, place)

    def _pydantic_dataclass(self, kind: Any, place: str) -> dict[str, Any]:
        # pydantic made the class, so it is there; `import cfgmask` does not need it.
        from pydantic import TypeAdapter

        return self._by_pydantic(kind, TypeAdapter(kind).json_schema, place)

    def _by_pydantic(self, kind: Any, json_schema: Callable[..., dict[str, Any]], place: str) -> dict[str, Any]:
        """The class's own schema, its definitions moved among those of the others."""
        prefix = f"{self._names[kind]}:"
        try:
            schema = json_schema(ref_template=f"#/$defs/{prefix}{{model}}")
        except Exception as error:  # pydantic has no one base of what a model's schema can raise
            return self._refuse(f"pydantic has no JSON Schema of it: {error!s:.200}", place)
        for name, definition in schema.pop("$defs", {}).items():
            self.definitions[prefix + name] = _closed(definition)
        return _closed(schema)


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a class without keys that it has no field for.

    pydantic's schemas say nothing about such keys unless the class sets `extra`: it reads and ignores them, so
    a model should not write them.
    """
    is_silent = "properties" in schema and "additionalProperties" not in schema
    return {**schema, "additionalProperties": False} if is_silent else schema
