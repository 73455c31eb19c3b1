"""From an instance to its constructor call, as the grammar of its type has it: for examples in prompts."""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import Any

from cfgmask.types.call.tree import argument_names, too_deep

_ESCAPES = re.compile(r"['\\\x00-\x1f\x7f]")
_SHORT = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def write_call(value: Any) -> str:
    """The call that makes a value: `Point(x=1, name='a')`.

    value  an instance of a dataclass, a model of pydantic or a named tuple, a member of an enum, or a value of Python's
           own types with such inside
    Errors: TypeError for anything else; ValueError for a number that no literal stands for; LimitExceeded for values
    too deep in each other, or in themselves.
    """
    try:
        return _written(value)
    except RecursionError:
        raise too_deep() from None


def _written(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, str):
        return "'" + _ESCAPES.sub(lambda found: _SHORT.get(found[0], f"\\x{ord(found[0]):02x}"), value) + "'"
    if isinstance(value, (int, float)):
        return _number(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return _call(type(value).__name__, zip(value._fields, value, strict=True))
    if isinstance(value, (list, tuple, set, frozenset)):
        return _items(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_written(key)}: {_written(item)}" for key, item in value.items()) + "}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return _call(type(value).__name__, ((name, getattr(value, name)) for name in fields))
    if hasattr(type(value), "model_fields"):
        return _model(value)
    raise TypeError(f"a {type(value).__name__} has no constructor call that a grammar writes")


def _number(value: float) -> str:
    # Of subclasses, such as IntEnum's members, the number itself.
    written = repr(float(value) if isinstance(value, float) else int(value))
    if not re.fullmatch(r"-?[0-9.]+(e[+-]?[0-9]+)?", written):
        raise ValueError(f"no literal stands for {written}")
    return written


def _items(value: Any) -> str:
    inside = ", ".join(map(_written, value))
    if isinstance(value, list):
        return f"[{inside}]"
    if isinstance(value, tuple):
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, frozenset):
        return f"frozenset({{{inside}}})" if value else "frozenset()"
    return f"{{{inside}}}" if value else "set()"


def _call(name: str, members: Any) -> str:
    return f"{name}(" + ", ".join(f"{key}={_written(item)}" for key, item in members) + ")"


def _model(value: Any) -> str:
    kind = type(value)
    generic = getattr(kind, "__pydantic_generic_metadata__", {}).get("origin") or kind
    return _call(generic.__name__, ((taken, getattr(value, name)) for name, taken in argument_names(kind).items()))
