"""A schema as a part of another grammar."""

from __future__ import annotations

from typing import Any

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.grammar.ir import GrammarIR, Part, Rule, Scope
from cfgmask.json_schema.lower import lower_schema, schema_notes
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.plain import plain_schema
from cfgmask.limits import DEFAULT_LIMITS, Limits


def schema_part(
    schema: dict[str, Any] | list[Any] | bool | str,
    name: str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    span: Span | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Part | None:
    """The part of a grammar that the schema is, if the core reads it; its rules are made as texts come to them.

    schema  not changed as long as the part is used
    name    no other part or rule of the grammar begins with it
    span    where the text of the schema stands in a larger source

    None also where something is wrong, which `lower_schema` tells. Raises LimitExceeded.
    """
    plain = plain_schema(schema, options=options, limits=limits)
    if plain is None:
        return None

    def lower(prefix: str) -> GrammarIR:
        return lower_schema(schema, options=options, prefix=prefix, span=span, limits=limits)

    def notes() -> tuple[Diagnostic, ...]:
        return schema_notes(schema, options=options, span=span, limits=limits)

    return Part(name, plain, lower, notes, span)


def schema_grammar(
    schema: dict[str, Any] | list[Any] | bool | str,
    prefix: str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    limits: Limits = DEFAULT_LIMITS,
) -> GrammarIR:
    """The grammar of the schema to be put into another one: a rule with the part, or all rules at once.

    prefix  of the names of all rules; no other rule of that grammar begins with it
    Errors: those of `lower_schema`. The notes of a part are the part's own.
    """
    part = schema_part(schema, prefix, options=options, limits=limits)
    if part is None:
        return lower_schema(schema, options=options, prefix=prefix, limits=limits)
    rule = Rule(f"{prefix}part", part)
    return GrammarIR((rule,), rule.name, (Scope("json"),), ignore_initial=False, ignore_final=False)
