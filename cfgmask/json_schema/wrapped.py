"""Objects that hold a schema and are none: tools and response formats of OpenAI, Anthropic and MCP."""

from __future__ import annotations

import json
import re
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.drafts import ASSERTIONS

# Where the schema is, from the outside in, and what the object is then; a name is needed beside "…".
_FORMS: tuple[tuple[tuple[str, ...], frozenset[str], str], ...] = (
    (("json_schema", "schema"), frozenset(), "a response format"),
    (("function", "parameters"), frozenset(), "a tool"),
    (("function", "schema"), frozenset(), "a tool"),
    (("inputSchema",), frozenset(), "a tool of MCP"),
    (("input_schema",), frozenset(), "a tool"),
    (("schema",), frozenset(["name", "strict"]), "a response format"),
    (("parameters",), frozenset(["name"]), "a function"),
)
_SAY_MORE = ASSERTIONS.keys() - {"type"}
_TYPES = frozenset(["function", "json_schema", "custom", "object_schema"])
_FIRST_KEY = re.compile(r'\s*\{\s*"([^"\\]*)"\s*:\s*("(?:function|json_schema)")?')
_FIRST_KEYS = frozenset(
    [
        *["name", "strict", "schema", "title", "description", "annotations", "type", "parameters"],
        *["inputSchema", "input_schema", "json_schema", "function", "outputSchema"],
    ]
)
_HOLDERS = ('"inputSchema"', '"input_schema"', '"json_schema"', '"function"', '"schema"', '"parameters"')


def wrapped(schema: Any) -> Diagnostic | None:
    """The error for an object that holds a schema and is none; None for anything else. `schema` as Python values.

    Constant time: only the outermost keys are looked at.
    """
    if not isinstance(schema, dict):
        return None
    if not _SAY_MORE.isdisjoint(schema):
        return None
    kind = schema.get("type")
    if kind is not None and not (isinstance(kind, str) and kind in _TYPES):
        return None
    for path, beside, what in _FORMS:
        if beside and beside.isdisjoint(schema):
            continue
        inner: Any = schema
        for key in path:
            inner = inner.get(key) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            pointer = "".join(f"/{key}" for key in path)
            part = "".join(f'["{key}"]' for key in path)
            return Diagnostic(
                "schema-wrapped",
                f"this is {what} and not a schema: its schema is at {pointer}",
                pointer=pointer,
                help=f"pass that part alone: `schema{part}`",
            )
    return None


def may_be_wrapped(text: str) -> bool:
    """Whether a JSON text may hold what `wrapped` finds, without reading it. Cheap."""
    first = _FIRST_KEY.match(text)
    if first is None or first[1] not in _FIRST_KEYS or (first[1] == "type" and first[2] is None):
        return False
    return any(holder in text for holder in _HOLDERS)


def is_wrapped(schema: Any) -> bool:
    """Whether a schema, as Python values or as JSON text, is what `wrapped` finds; False for what is not JSON."""
    if isinstance(schema, str):
        if not may_be_wrapped(schema):
            return False
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError):
            return False
    return wrapped(schema) is not None
