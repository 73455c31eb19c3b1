"""What there is to say of a schema that has no errors: keywords that restrict nothing, values that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.json_schema.guidance import POINTER as GUIDANCE
from cfgmask.json_schema.guidance import guided
from cfgmask.json_schema.nodes import Retriever
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.problems import ordered, too_deep
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.survey import surveyed
from cfgmask.json_schema.values import read_object, read_text
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask import _core


def schema_notes(
    schema: dict[str, Any] | list[Any] | bool | str,
    read: _core.SchemaWithLayout,
    *,
    options: JsonSchemaOptions,
    span: Span | None,
    limits: Limits,
    retrieve: Retriever | None = None,
) -> tuple[Diagnostic, ...]:
    """The notes of a schema that the core read. Linear. Raises LimitExceeded.

    read  the same schema
    span  where its text stands in a larger source
    """
    document = read_text(schema, span, limits) if isinstance(schema, str) else read_object(schema, limits)
    options, _ = guided(document.value, options)
    notes = shown(surveyed(Schemas(document.value, limits, retrieve), document, options).notes)
    if read.nests_too_deep:
        notes.append(too_deep())
    return tuple(document.placed(ordered(notes)))


def shown(notes: list[Diagnostic]) -> list[Diagnostic]:
    """The notes but those of options that the schema itself chooses."""
    return [note for note in notes if note.pointer != GUIDANCE]
