"""Types that are written as literals: what they allow is read as for JSON."""

from __future__ import annotations

from functools import partial
from typing import Any

from cfgmask.types.call.tree import Leaf
from cfgmask.types.instances import instance_of
from cfgmask.types.schema import schema_of

# What a literal of Python must be for these; Pydantic also takes 1 for True, and '1' for 1.
_EXACT: dict[Any, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (float, int),
    str: (str,),
    type(None): (type(None),),
}


def read_leaf(kind: Any) -> Leaf:
    """The literals of a type. Errors: GrammarError."""
    return Leaf(kind, schema_of(kind), None, partial(_instance, kind))


def schema_without_definitions(kind: Any) -> dict[str, Any]:
    """The keywords of a type's own schema. Errors: GrammarError."""
    schema = schema_of(kind)
    for bounds in schema.pop("allOf", []):
        schema |= bounds
    return schema


def _instance(kind: Any, value: Any) -> Any:
    exact = _EXACT.get(kind if isinstance(kind, type) else None)
    if exact is not None and type(value) not in exact:
        raise ValueError(f"{value!r:.60} is no {kind.__name__}")
    return instance_of(kind, value, None)
