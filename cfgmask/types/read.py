"""Reads a type: its JSON Schema, what that leaves out, and how a value is made."""

from __future__ import annotations

import dataclasses
import importlib.util
import reprlib
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, Literal

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError

_MAX_DEPTH = 100
# A type may hold another one twice, that a third one, and so on: written out it is as long as two to its depth.
_MAX_PARTS = 100_000
_MOST_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class ReadType:
    """A type that was read.

    schema    the JSON Schema of the texts that a value is made of
    notes     what the type demands that the schema does not, and what it has that no text can say
    dialect   how patterns in the schema are written
    instance  the value that stands behind a JSON value, given with its text if it was read from JSON; raises what the
              type's validators raise
    """

    schema: dict[str, Any]
    notes: tuple[Diagnostic, ...]
    dialect: Literal["ecma", "python", "rust"]
    instance: Callable[[Any, bytes | None], Any]


def read_type(kind: Any, dialect: Literal["ecma", "python", "rust"] | None = None) -> ReadType:
    """Read a type.

    dialect  how the patterns in it are to be read. None: as Pydantic reads them
    Errors: GrammarError with a diagnostic for each part that no JSON stands for.
    Linear in the types, each as often as it is named; a class counts once.
    """
    problem = _not_read(kind)
    if problem is not None:
        raise GrammarError([problem])
    if importlib.util.find_spec("pydantic") is None:
        from cfgmask.types.plain_reader import read_plain

        return read_plain(kind, name_of(kind))
    from cfgmask.types.pydantic_reader import read_by_pydantic

    return read_by_pydantic(kind, name_of(kind), dialect)


def name_of(kind: Any, depth: int = 0) -> str:
    """How messages name a type: short, whatever is inside."""
    # What is no type may be a value of a request, and deep.
    if isinstance(kind, (dict, list, tuple, set)):
        return reprlib.repr(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return name_of(arguments[0], depth)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_short(arguments, depth))
    name = getattr(kind, "__qualname__", None) or getattr(kind, "__name__", None) or reprlib.repr(kind)
    name = str(name).rpartition("<locals>.")[2]
    return f"{name}[{', '.join(_short(arguments, depth))}]" if origin is not None and arguments else name


def _short(kinds: tuple[Any, ...], depth: int) -> list[str]:
    if depth == _MOST_SHOWN:
        return ["..."]
    rest = ["..."] if len(kinds) > _MOST_SHOWN else []
    shown = kinds[:_MOST_SHOWN]
    return [_short_name(part, depth + 1) for part in shown] + rest


def _short_name(kind: Any, depth: int) -> str:
    if kind is type(None):
        return "None"
    # Of Literal.
    return reprlib.repr(kind) if isinstance(kind, (str, int)) else name_of(kind, depth)


def _not_read(kind: Any) -> Diagnostic | None:
    """What is wrong with a text, which Pydantic would evaluate, or with a type that would take too long to read."""
    if isinstance(kind, (str, typing.ForwardRef)):
        message = f"{name_of(kind):.60}: a text is no type"
        return Diagnostic("type-unsupported", message, help="pass the type itself, not its name")
    waiting, seen, n_parts = [(kind, 0)], set[int](), 0
    while waiting:
        part, depth = waiting.pop()
        n_parts += 1
        if n_parts > _MAX_PARTS:
            message = f"{name_of(kind):.60}: it has more than {_MAX_PARTS} parts"
            help = "make a dataclass of a part that comes again and again"
            return Diagnostic("type-unsupported", message, help=help)
        if depth > _MAX_DEPTH:
            message = f"{name_of(kind):.60}: more than {_MAX_DEPTH} types stand inside each other"
            return Diagnostic("type-unsupported", message)
        if isinstance(part, type) and typing.get_origin(part) is None:
            if id(part) not in seen:
                seen.add(id(part))
                waiting += [(field, 0) for field in _fields(part)]
        else:
            waiting += [(argument, depth + 1) for argument in _arguments(part)]
    return None


def _fields(kind: type) -> Iterable[Any]:
    annotations = vars(kind).get("__annotations__", {})
    return annotations.values() if isinstance(annotations, dict) else ()


def _arguments(kind: Any) -> Iterable[Any]:
    if typing.get_origin(kind) is Literal:
        return ()
    if isinstance(kind, (list, tuple)):
        return kind
    return typing.get_args(kind)
