"""Types that are written as literals: what they allow is read as for JSON."""

from __future__ import annotations

from typing import Any

from cfgmask.types.call.tree import Leaf
from cfgmask.types.read import read_type

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
    read = read_type(kind)
    exact = _EXACT.get(kind if isinstance(kind, type) else None)

    def instance(value: Any) -> Any:
        if exact is not None and type(value) not in exact:
            raise ValueError(f"{value!r:.60} is no {kind.__name__}")
        return read.instance(value, None)

    return Leaf(kind, read.schema, read.dialect, instance)


def schema_without_definitions(kind: Any) -> dict[str, Any]:
    """The keywords of a type's own schema. Errors: GrammarError."""
    schema = read_type(kind).schema
    for bounds in schema.pop("allOf", []):
        schema |= bounds
    return schema
