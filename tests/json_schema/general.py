"""The rules of a schema: the core's, and those of the reader before it, which the core is tested against."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cfgmask
from cfgmask.compiler.recipe import Documents
from cfgmask.diagnostics import Span
from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, GrammarIR, Part
from cfgmask.grammar.parts import expanded, parts_of
from cfgmask.grammar.variants import spread
from cfgmask.grammar.walk import fold
from cfgmask.json_schema import FORMS, JsonSchemaOptions, schema_part
from cfgmask.json_schema.options import DEFAULTS
from cfgmask.limits import DEFAULT_LIMITS, Limits
from cfgmask.tags.excluded import without_texts
from cfgmask.tags.forms import _About
from cfgmask.tags.nodes import Schema
from cfgmask.tags.spelling import token_set
from cfgmask.tags.token_ids import TokenIds
from tests.reference.json_schema.lower import lower_schema


def general_rules(grammar: cfgmask.Grammar) -> GrammarIR:
    """The rules of a grammar from `from_json_schema`. Raises GrammarError, LimitExceeded."""
    assert grammar._recipe is not None
    assert grammar._recipe.reader == "json_schema"
    given = grammar._recipe.arguments()
    kept = given["documents"]
    retrieve = None if kept is None else Documents(None, kept)
    return lower_schema(given["schema"].value, options=given["options"], limits=given["limits"], retrieve=retrieve)


def rules_of(
    schema: Any,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    prefix: str = "",
    span: Span | None = None,
    limits: Limits = DEFAULT_LIMITS,
    retrieve: Any = None,
) -> GrammarIR:
    """All rules that the core makes of a schema, with the notes. Raises GrammarError, LimitExceeded."""
    part = schema_part(schema, prefix, options=options, span=span, limits=limits, retrieve=retrieve)
    assert isinstance(part, Part), "a terminal stands for bytes that are missing"
    return replace(part.lower(prefix), notes=part.notes())


def lowered_rules(node: Schema, prefix: str, limits: Limits, ids: TokenIds) -> GrammarIR:
    """The rules of a schema in a form."""
    tokens = {}
    if node.form in FORMS:
        markers = FORMS[node.form].all_markers()
        tokens = {marker: token_set(marker, ids) for marker in markers if ids.of(marker)}
    rules = lower_schema(node.schema, options=node.options, prefix=prefix, limits=limits, form=node.form, tokens=tokens)
    return without_texts(rules, node.excludes, limits) if node.excludes else rules


def expanded_generally(grammar: GrammarIR, ids: TokenIds) -> GrammarIR:
    """The grammar of tags with such rules in place of all parts. `ids`: those that it was made with."""
    grammar = spread(grammar)
    rules_of = {id(part): part.lower for part in parts_of(grammar)}

    def combine(expr: Expr, operands: list[Expr]) -> Expr:
        if not isinstance(expr, Part):
            return with_operands(expr, operands)
        about = rules_of[id(expr)]
        assert isinstance(about, _About)
        return replace(expr, lower=lambda name: lowered_rules(about.node, name, about.limits, ids))

    return expanded(replace(grammar, rules=tuple(replace(r, body=fold(r.body, combine)) for r in grammar.rules)))
