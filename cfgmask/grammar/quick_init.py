"""Constructors of frozen data classes that set the fields in one dictionary, a third of the time."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def quick_init(cls: type[T]) -> type[T]:
    """A class decorator, above `@dataclass(frozen=True)`.

    The constructor that a frozen data class has calls `object.__setattr__` for each field, which took a sixth of the
    time from a grammar to its rules. Only for classes without slots, `__post_init__` and factories of defaults.
    """
    names, known = [], {}
    for field in fields(cls):  # type: ignore[arg-type]  # it is a data class
        names.append(field.name)
        if field.default is not MISSING:
            known[f"_{field.name}"] = field.default
    parameters = ", ".join(f"{name}=_{name}" if f"_{name}" in known else name for name in names)
    sets = "; ".join(f"fields[{name!r}] = {name}" for name in names)
    made: dict[str, Any] = {}
    exec(f"def __init__(self, {parameters}):\n    fields = self.__dict__; {sets}", known, made)
    cls.__init__ = made["__init__"]  # type: ignore[method-assign]
    return cls
