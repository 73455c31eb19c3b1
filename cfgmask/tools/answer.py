"""Answers that are values: the argument `response_format`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.types import schema_of


@dataclass(frozen=True)
class Answer:
    """What an answer is: free text, or a value.

    schema  of the value, if `is_value`
    """

    schema: Any = field(default=None, hash=False)
    is_value: bool = False


FREE_TEXT = Answer()


def read_answer(response_format: Any) -> Answer:
    """The answer that a `response_format` asks for.

    response_format  None or {"type": "text"} for free text; a JSON Schema, {"type": "json_schema", "json_schema":
                     {"schema": …}} or its flat form, {"type": "json_object"}; or a Python type
    Errors: GrammarError (code `tools-response-format`, and `type-…` for types).
    """
    if response_format is None:
        return FREE_TEXT
    if isinstance(response_format, bool):
        return Answer(response_format, True)
    if not isinstance(response_format, Mapping):
        return Answer(schema_of(response_format), True)
    kind = response_format.get("type")
    if kind == "text":
        return FREE_TEXT
    if kind == "json_object":
        return Answer({"type": "object"}, True)
    if kind == "json_schema":
        inner = response_format.get("json_schema", response_format)
        schema = inner.get("schema") if isinstance(inner, Mapping) else None
        if not isinstance(schema, (Mapping, bool)):
            help = 'write {"type": "json_schema", "json_schema": {"name": …, "schema": …}}'
            message = "the response format has no `schema`"
            raise GrammarError([Diagnostic("tools-response-format", message, pointer="/response_format", help=help)])
        return Answer(dict(schema) if isinstance(schema, Mapping) else schema, True)
    if kind == "structural_tag":
        help = "call Grammar.from_structural_tag"
        message = "a structural tag is a whole text, and no answer beside tools"
        raise GrammarError([Diagnostic("tools-response-format", message, pointer="/response_format/type", help=help)])
    return Answer(dict(response_format), True)
