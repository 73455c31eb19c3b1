"""Instances of Python types from values of JSON: through pydantic where it is installed, else of plain types only."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import types
import typing
import uuid
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_FROM_TEXT: dict[Any, Callable[[str], Any]] = {
    datetime.datetime: lambda text: datetime.datetime.fromisoformat(_iso(text)),
    datetime.date: datetime.date.fromisoformat,
    datetime.time: lambda text: datetime.time.fromisoformat(_iso(text)),
    uuid.UUID: uuid.UUID,
}


def instance_of(kind: Any, value: Any, text: bytes | None) -> Any:
    """The instance of a type that a value of JSON is.

    text  the value in JSON, if it was read from that
    Errors: `pydantic.ValidationError` where a validator of the type refuses it, and without pydantic what constructors
    raise; ValueError where no part of a union fits.
    """
    adapter = _adapter(kind) if _is_hashable(kind) else _adapter.__wrapped__(kind)
    if adapter is not None:
        return adapter.validate_json(json.dumps(value) if text is None else text)
    return _made(kind, value)


def _is_hashable(kind: Any) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True


@lru_cache(maxsize=256)
def _adapter(kind: Any) -> Any:
    """Pydantic's adapter of a type; None without pydantic, and for types that it refuses."""
    try:
        from pydantic import TypeAdapter
        from pydantic.errors import PydanticUserError
    except ImportError:
        return None
    try:
        return TypeAdapter(kind)
    except PydanticUserError:
        # `typing.TypedDict` before Python 3.12, say.
        return None


def _iso(text: str) -> str:
    """As Python 3.10 reads it."""
    return text[:-1] + "+00:00" if text[-1:] in "Zz" else text


def _made(kind: Any, value: Any) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated or getattr(origin, "_name", None) in ("Required", "NotRequired", "ReadOnly"):
        return _made(arguments[0], value)
    if origin is typing.Literal:
        return _literal(arguments, value)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments, value)
    if kind in _FROM_TEXT:
        return _FROM_TEXT[kind](_checked(str, value))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, _checked(dict, value))
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind, include_extras=True)
        return {key: _made(hints[key], item) for key, item in _checked(dict, value).items()}
    container = origin or kind
    if container in (list, set, frozenset):
        items = (_made(arguments[0], item) if arguments else item for item in _checked(list, value))
        return container(items)
    if container is tuple:
        return _tuple(arguments, _checked(list, value))
    if container is dict:
        return {key: _made(arguments[1], item) if arguments else item for key, item in _checked(dict, value).items()}
    if kind is None or kind is type(None):
        return _checked(type(None), value)
    if kind is float:
        return float(_checked((int, float), value))
    return _checked(kind, value) if kind in (bool, int, str) else value


def _checked(kind: Any, value: Any) -> Any:
    """The value, if it is of the type; what a union tries next is for the error."""
    is_wrong_bool = isinstance(value, bool) and kind is not bool
    if not isinstance(value, kind) or is_wrong_bool:
        raise ValueError(f"a value of the type {getattr(kind, '__name__', kind)} was expected, not {value!r:.60}")
    return value


def _literal(choices: tuple[Any, ...], value: Any) -> Any:
    for choice in choices:
        plain = choice.value if isinstance(choice, enum.Enum) else choice
        if type(plain) is type(value) and plain == value:
            return choice
    raise ValueError(f"{value!r:.60} is none of {choices!r:.200}")


def _union(kinds: tuple[Any, ...], value: Any) -> Any:
    for kind in kinds:
        try:
            return _made(kind, value)
        except (ValueError, TypeError, KeyError):
            continue
    raise ValueError(f"{value!r:.60} is of none of the types of the union")


def _tuple(kinds: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        return tuple(_made(kinds[0], item) for item in items)
    if kinds and len(kinds) != len(items):
        raise ValueError(f"{len(kinds)} items were expected, not {len(items)}")
    return tuple(map(_made, kinds, items)) if kinds else tuple(items)


def _dataclass(kind: Any, members: dict[str, Any]) -> Any:
    hints = typing.get_type_hints(kind, include_extras=True)
    return kind(**{key: _made(hints[key], item) for key, item in members.items()})
