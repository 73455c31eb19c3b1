"""Values of a JSON Schema as rules: one function, whatever the form in which they are written."""

from __future__ import annotations

from cfgmask import json_schema
from cfgmask.grammar.ir import GrammarIR, Part
from cfgmask.json_schema import FORMS as OBJECT_FORMS
from cfgmask.json_schema import lower_schema
from cfgmask.limits import Limits
from cfgmask.tags.excluded import without_texts
from cfgmask.tags.nodes import Schema
from cfgmask.tags.problems import placed
from cfgmask.tags.spelling import token_set
from cfgmask.tags.token_ids import TokenIds

FORMS = ("json", *OBJECT_FORMS)
"""The names of all forms; those that xgrammar gives the `style` of a schema are among them."""


def schema_rules(node: Schema, prefix: str, limits: Limits, ids: TokenIds, held: bytes | None = None) -> GrammarIR:
    """The rules of the values, for a node whose form is one of `FORMS`.

    prefix  of the names of all rules
    ids     the tokens that markers of the form are written by
    held    the bytes that texts of the form "json" may consist of, ascending; None: any
    Raises GrammarError, with pointers into the schema.
    """
    tokens = {}
    if node.form in OBJECT_FORMS:
        markers = OBJECT_FORMS[node.form].all_markers()
        tokens = {marker: token_set(marker, ids) for marker in markers if ids.of(marker)}
    rules = lower_schema(
        node.schema,
        options=node.options,
        prefix=prefix,
        limits=limits,
        form=node.form,
        tokens=tokens,
        held=held,
    )
    return without_texts(rules, node.excludes, limits) if node.excludes else rules


def schema_part(node: Schema, name: str, limits: Limits) -> Part | None:
    """The values as a part, of which the core makes rules when a text comes to it; None where it does not read them."""
    if node.form != "json" or node.excludes:
        return None
    part = json_schema.schema_part(node.schema, name, options=node.options, limits=limits)
    if part is None:
        return None
    return Part(part.name, part.schema, part.lower, lambda: placed(part.notes(), node.at), part.span, node.schema)
