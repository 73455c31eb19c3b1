"""A schema as a part of another grammar."""

from __future__ import annotations

from typing import Any

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import GrammarIR, Part, Terminal
from cfgmask.json_schema.core_rules import core_grammar
from cfgmask.json_schema.nodes import Retriever
from cfgmask.json_schema.notes import schema_notes
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.reading import read_schema
from cfgmask.json_schema.written import other_bytes
from cfgmask.limits import DEFAULT_LIMITS, Limits


def schema_part(
    schema: dict[str, Any] | list[Any] | bool | str,
    name: str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    span: Span | None = None,
    limits: Limits = DEFAULT_LIMITS,
    retrieve: Retriever | None = None,
    held: bytes | None = None,
) -> Part | Terminal:
    """The part of a grammar that the schema is; its rules are made as texts come to them.

    schema  not changed as long as the part is used
    name    no other part or rule of the grammar begins with it
    span    where the text of the schema stands in a larger source
    held    the bytes that texts may consist of, ascending; None: any. Where no value can be written in them, the result
            is a terminal of another byte

    Raises GrammarError with every error, and LimitExceeded.
    """
    try:
        read = read_schema(schema, options=options, limits=limits, span=span, retrieve=retrieve, held=held)
    except GrammarError as error:
        if held is None or any(d.code != "schema-unsatisfiable" for d in error.diagnostics):
            raise
        # A schema that no value satisfies, whatever the bytes, was refused before.
        return other_bytes(held)
    in_core, known_notes = read

    def lower(prefix: str) -> GrammarIR:
        return core_grammar(in_core, prefix=prefix, span=span, limits=limits)

    def notes() -> tuple[Diagnostic, ...]:
        if known_notes is not None:
            return known_notes
        return schema_notes(schema, in_core, options=options, span=span, limits=limits, retrieve=retrieve)

    return Part(name, in_core, lower, notes, span)
