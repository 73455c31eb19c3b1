"""The annotations of classes and functions, with names looked up."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from typing import Any


def hints_of(kind: Any) -> dict[str, Any]:
    """`typing.get_type_hints` with the parts of `Annotated`, and what that raises.

    Before Python 3.11 it refuses `KW_ONLY` in a dataclass whose annotations are texts.
    """
    if sys.version_info >= (3, 11) or not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return typing.get_type_hints(kind, include_extras=True)
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        # `KW_ONLY` is no field.
        fields = getattr(base, "__dataclass_fields__", base.__dict__)
        annotations = {name: hint for name, hint in inspect.get_annotations(base).items() if name in fields}
        own = type(base.__name__, (), {"__annotations__": annotations})
        module = getattr(sys.modules.get(base.__module__), "__dict__", {})
        found |= typing.get_type_hints(own, dict(vars(base)), module, include_extras=True)
    return found
