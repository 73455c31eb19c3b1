"""From types to shapes. What each part demands is read by `cfgmask.types`; here is only how it is written."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import inspect
import keyword
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.types.call.leaves import read_leaf, schema_without_definitions
from cfgmask.types.call.tree import Call, Field, Fixed, Items, Leaf, Names, OneOf, Pairs, Record, Shape, argument_names
from cfgmask.types.hints import hints_of

_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly"})
_MAX_DEPTH = 100
_LISTS = (
    list,
    collections.abc.Sequence,
    collections.abc.MutableSequence,
    collections.abc.Iterable,
    collections.abc.Collection,
)
_SETS = (set, collections.abc.Set, collections.abc.MutableSet)
_DICTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_OTHER_BOUNDS = "bounds on how many there are cannot be kept, since Python counts equal ones once"


def shape_of(kind: Any) -> Shape:
    """The shape of a type's values. Errors: GrammarError with a diagnostic for each part that no call writes."""
    reader = _Reader()
    shape = reader.read(kind, getattr(kind, "__name__", str(kind)))
    reader.read_classes()
    problems = reader.problems + reader.clashes()
    if problems:
        raise GrammarError(problems)
    return shape


class _Reader:
    def __init__(self) -> None:
        self.problems: list[Diagnostic] = []
        self._classes: dict[Any, Call | Record] = {}
        self._waiting: list[Callable[[], None]] = []
        self._depth = 0

    def read_classes(self) -> None:
        """Read the fields of the classes that were met, and of those that these name."""
        while self._waiting:
            self._waiting.pop()()

    def clashes(self) -> list[Diagnostic]:
        """Classes that are written alike."""
        owners: dict[str, Any] = {}
        found = []
        for shape in self._classes.values():
            if isinstance(shape, Call):
                other = owners.setdefault(shape.name, _origin(shape.kind))
                if other is not _origin(shape.kind):
                    found.append(_problem(f"two classes are called `{shape.name}`", shape.name, "rename one of them"))
        return found

    def read(self, kind: Any, place: str) -> Shape:
        """The shape of a type. `place` is how messages call it."""
        self._depth += 1
        try:
            if self._depth > _MAX_DEPTH:
                return self._refuse(f"more than {_MAX_DEPTH} types stand inside each other", place[:60])
            return self._read(kind, place)
        finally:
            self._depth -= 1

    def _read(self, kind: Any, place: str) -> Shape:
        kind = _plain(kind)
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            return self._annotated(kind, place)
        if getattr(origin, "_name", None) in _QUALIFIERS:
            return self.read(arguments[0], place)
        if origin is typing.Literal:
            return self._literal(kind, arguments, place)
        if origin in (typing.Union, types.UnionType):
            return self._union(kind, arguments, place)
        container = origin or kind
        if isinstance(container, type):
            found = self._container(container, arguments, place) or self._class(kind, container, arguments, place)
            if found is not None:
                return found
        elif inspect.isfunction(kind) or inspect.ismethod(kind):
            return self._named(kind, self._function(kind, place))
        return self._leaf(kind, place)

    def _refuse(self, message: str, place: str, help: str | None = None) -> Shape:
        self.problems.append(_problem(message, place, help))
        return OneOf(())

    def _leaf(self, kind: Any, place: str) -> Shape:
        try:
            return read_leaf(kind)
        except GrammarError as error:
            self.problems += [dataclasses.replace(one, message=f"{place}: {one.message}") for one in error.diagnostics]
            return OneOf(())

    def _annotated(self, kind: Any, place: str) -> Shape:
        inner, *metadata = typing.get_args(kind)
        shape = self.read(inner, place)
        metadata = [one for one in metadata if not _is_comment(one)]
        if not metadata:
            return shape
        if isinstance(shape, Leaf):
            return self._leaf(kind, place)
        if isinstance(shape, Items):
            bare = list if shape.written == "list" else tuple
            bounds = schema_without_definitions(_annotated((bare, *metadata)))
            known = {"minItems", "maxItems"}
            if bounds.keys() <= known | {"type", "items", "title", "description", "examples"}:
                if bounds.keys() & known and shape.written in ("set", "frozenset"):
                    return self._refuse(_OTHER_BOUNDS, place)
                return dataclasses.replace(
                    shape, minimum=bounds.get("minItems", 0), maximum=bounds.get("maxItems", shape.maximum)
                )
        if isinstance(shape, Pairs):
            return self._refuse(_OTHER_BOUNDS, place)
        shown = ", ".join(f"`{one!r:.60}`" for one in metadata)
        return self._refuse(f"{shown} cannot be kept in a call", place, "constrain the parts, or leave it out")

    def _literal(self, kind: Any, values: tuple[Any, ...], place: str) -> Shape:
        members = [value for value in values if isinstance(value, enum.Enum)]
        others = tuple(value for value in values if not isinstance(value, enum.Enum))
        if not members:
            return self._leaf(kind, place)
        names = Names({self._member(value, place): value for value in members})
        return OneOf((names, self._leaf(typing.Literal[others], place))) if others else names

    def _member(self, value: enum.Enum, place: str) -> str:
        name, owner = str(value.name), type(value).__name__
        if not _is_name(name) or not _is_name(owner):
            self._refuse(f"`{owner}.{name}` is no name", place)
        return f"{owner}.{name}"

    def _union(self, kind: Any, arguments: tuple[Any, ...], place: str) -> Shape:
        parts = [self.read(argument, place) for argument in arguments]
        if all(isinstance(part, Leaf) for part in parts):
            return self._leaf(kind, place)
        leaves = [argument for argument, part in zip(arguments, parts, strict=True) if isinstance(part, Leaf)]
        if len(leaves) > 1:
            # Together, so that whoever makes the value tells 1 from True and from '1'.
            joined = self._leaf(typing.Union[tuple(leaves)], place)  # noqa: UP007, of a tuple of types
            parts = [*(part for part in parts if not isinstance(part, Leaf)), joined]
        return OneOf(tuple(parts))

    def _container(self, origin: type, arguments: tuple[Any, ...], place: str) -> Shape | None:
        inner = f"{place}[]"
        if origin is tuple and arguments and arguments[-1] is not Ellipsis:
            return Fixed(tuple(self.read(argument, f"{place}[{n}]") for n, argument in enumerate(arguments)))
        if origin is tuple:
            return Items("tuple", tuple, self.read(arguments[0] if arguments else Any, inner))
        if origin in _LISTS:
            return Items("list", list, self.read(arguments[0] if arguments else Any, inner))
        if origin is frozenset or origin in _SETS:
            make = frozenset if origin is frozenset else set
            written: Any = make.__name__
            return Items(written, make, self.read(arguments[0] if arguments else Any, inner))
        if origin in _DICTS:
            key, value = arguments or (str, Any)
            return Pairs(dict, self.read(key, f"{place} key"), self.read(value, inner))
        return None

    def _class(self, kind: Any, origin: type, arguments: tuple[Any, ...], place: str) -> Shape | None:
        if issubclass(origin, enum.Enum):
            return Names({self._member(value, place): value for value in origin})
        if typing.is_typeddict(origin):
            return self._named(kind, self._typed_dict(kind, origin, place))
        if hasattr(origin, "model_fields") and hasattr(origin, "model_validate"):
            return self._named(kind, self._call(kind, _model_fields(origin), place))
        if dataclasses.is_dataclass(origin):
            return self._named(kind, self._call(kind, self._dataclass_fields(kind, origin, place), place))
        if issubclass(origin, tuple) and hasattr(origin, "_fields"):
            hints = self._hints(kind, origin, place)
            defaults = getattr(origin, "_field_defaults", {})
            fields = [_Parameter(name, name, hints.get(name, Any), name not in defaults) for name in origin._fields]
            return self._named(kind, self._call(kind, fields, place))
        return None

    def _named(self, kind: Any, made: tuple[Call | Record, list[_Parameter]] | None) -> Shape:
        """The shape of a class, whose fields are read later and once."""
        if kind in self._classes:
            return self._classes[kind]
        if made is None:
            return OneOf(())
        shape, parameters = made
        self._classes[kind] = shape

        def fill() -> None:
            shape.fields += [
                Field(
                    each.name,
                    each.attribute,
                    self.read(each.kind, f"{shape.name}.{each.name}"),
                    each.required,
                    each.positional,
                )
                for each in parameters
            ]

        self._waiting.append(fill)
        return shape

    def _call(self, kind: Any, parameters: list[_Parameter], place: str) -> tuple[Call, list[_Parameter]] | None:
        origin = _origin(kind)
        # Pydantic's generic classes are classes by themselves; others are called without their arguments.
        make: Any = origin if dataclasses.is_dataclass(origin) else kind
        return self._named_call(Call(origin.__name__, make, kind), parameters, place)

    def _named_call(self, call: Call, parameters: list[_Parameter], place: str) -> tuple[Call, list[_Parameter]] | None:
        """A call of names; None, and a report, if one of them is no name of Python."""
        for name in (call.name, *(each.name for each in parameters)):
            if not _is_name(name):
                self._refuse(f"`{name}` is no name, so a call cannot write it", place)
                return None
        return call, parameters

    def _dataclass_fields(self, kind: Any, origin: Any, place: str) -> list[_Parameter]:
        hints = self._hints(kind, origin, place)
        known = getattr(origin, "__pydantic_fields__", {})
        missing = dataclasses.MISSING
        found = []
        for each in dataclasses.fields(origin):
            if not each.init:
                continue
            hint = hints.get(each.name, Any)
            if each.name in known and known[each.name].metadata:
                hint = _annotated((hint, *known[each.name].metadata))
            required = each.default is missing and each.default_factory is missing
            if each.name in known:
                required = known[each.name].is_required()
            found.append(_Parameter(each.name, each.name, hint, required, not getattr(each, "kw_only", False)))
        names = {each.name for each in found}
        parameters = list(inspect.signature(origin.__init__).parameters)[1:]
        if not hasattr(origin, "__pydantic_fields__") and set(parameters) != names:
            self._refuse("its constructor takes other arguments than its fields", place, "use a plain dataclass")
        return found

    def _typed_dict(self, kind: Any, origin: Any, place: str) -> tuple[Record, list[_Parameter]]:
        hints = self._hints(kind, origin, place)
        wrong = next((name for name in hints if not name.isprintable() or set(name) & set("'\"\\")), None)
        if wrong is not None:
            self._refuse(f"the key {wrong!r} cannot be written", place)
        required = origin.__required_keys__
        return Record(origin.__name__), [_Parameter(name, name, hint, name in required) for name, hint in hints.items()]

    def _function(self, function: Any, place: str) -> tuple[Call, list[_Parameter]] | None:
        hints = self._hints(function, function, place)
        parameters = []
        signature = inspect.signature(function)
        for name, each in signature.parameters.items():
            if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
                self._refuse(f"the argument `{name}` of `{place}` has no name of its own", place)
                return None
            is_positional = each.kind is each.POSITIONAL_OR_KEYWORD
            parameters.append(_Parameter(name, name, hints.get(name, Any), each.default is each.empty, is_positional))
        return self._named_call(Call(function.__name__, signature.bind, function), parameters, place)

    def _hints(self, kind: Any, origin: Any, place: str) -> dict[str, Any]:
        try:
            hints = hints_of(origin)
        except (NameError, TypeError, SyntaxError) as error:
            self._refuse(f"its annotations cannot be read: {error}", place, "define what they name in its module")
            return {}
        bound = dict(zip(getattr(origin, "__parameters__", ()), typing.get_args(kind), strict=False))
        return {name: _bound(hint, bound) for name, hint in hints.items()} if bound else hints


@dataclasses.dataclass(frozen=True)
class _Parameter:
    name: str
    attribute: str
    kind: Any
    required: bool
    positional: bool = True


def _model_fields(model: Any) -> list[_Parameter]:
    """The arguments of a model of pydantic, by the names that its constructor takes them by."""
    is_root = getattr(model, "__pydantic_root_model__", False)
    found = []
    for name, taken in argument_names(model).items():
        info = model.model_fields[name]
        hint = _annotated((info.annotation, *info.metadata)) if info.metadata else info.annotation
        found.append(_Parameter(taken, name, hint, info.is_required(), is_root))
    return found


def _problem(message: str, place: str, help: str | None = None) -> Diagnostic:
    return Diagnostic("type-unsupported", f"{place}: {message}", help=help)


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _origin(kind: Any) -> Any:
    generic = getattr(kind, "__pydantic_generic_metadata__", None) or {}
    return generic.get("origin") or typing.get_origin(kind) or kind


def _plain(kind: Any) -> Any:
    """Without names that stand for types: NewType, aliases, and variables that nothing is given for."""
    while True:
        if isinstance(kind, typing.TypeVar):
            kind = kind.__bound__ or Any
        elif hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif type(kind).__name__ == "TypeAliasType":
            kind = kind.__value__
        else:
            return kind


def _bound(hint: Any, bound: dict[Any, Any]) -> Any:
    """A hint with types for its variables."""
    if isinstance(hint, typing.TypeVar):
        return bound.get(hint, hint)
    parameters = getattr(hint, "__parameters__", ())
    return hint[tuple(bound.get(one, one) for one in parameters)] if parameters else hint


def _annotated(parts: tuple[Any, ...]) -> Any:
    """`Annotated` of a type and what stands beside it."""
    return operator.getitem(typing.Annotated, parts)


def _is_comment(metadata: Any) -> bool:
    """Whether it says nothing about which values there are: a text, or a `Field` without constraints."""
    if metadata is None or isinstance(metadata, str):
        return True
    constraints = getattr(metadata, "metadata", None)
    return isinstance(constraints, list) and not constraints
