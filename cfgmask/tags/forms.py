"""Values of a JSON Schema as rules: one function, whatever the form in which they are written."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cfgmask import json_schema
from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import GrammarIR, Part, TokenSet
from cfgmask.json_schema import FORMS as OBJECT_FORMS
from cfgmask.json_schema import lower_schema
from cfgmask.json_schema.core_forms import CoreForm, core_form, may_be_empty_in
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


def schema_part(node: Schema, name: str, limits: Limits, ids: TokenIds) -> Part | None:
    """The values as a part, of which the core makes rules when a text comes to it; None where it does not read them.

    Arguments and errors: those of `schema_rules`; `name` as in `Part`.
    """
    if node.excludes or node.form not in FORMS:
        return None
    plain = json_schema.plain_schema(node.schema, options=node.options, limits=limits)
    if plain is None:
        return None

    def notes() -> tuple[Diagnostic, ...]:
        return placed(json_schema.schema_notes(node.schema, options=node.options, span=None, limits=limits), node.at)

    if node.form == "json":
        return Part(name, plain, partial(_lowered, node, limits, ids), notes, source=node.schema)
    form = core_form(node.form, _by_id(node.form, ids))
    may_be_empty = None if form is None else may_be_empty_in(plain, form)
    if form is None or may_be_empty is None:
        return None
    lower = partial(_lowered, node, limits, ids)
    return Part(name, plain, lower, notes, None, None, form.core, _tokens(form, ids), may_be_empty)


def with_ids(part: Part, node: Schema, limits: Limits, ids: TokenIds) -> Part:
    """A part that was made without a vocabulary, with the markers of its form written by id."""
    markers = _by_id(node.form, ids)
    form = core_form(node.form, markers) if markers else None
    if form is None:
        return part
    return replace(part, lower=partial(_lowered, node, limits, ids), form=form.core, tokens=_tokens(form, ids))


def _tokens(form: CoreForm, ids: TokenIds) -> tuple[TokenSet, ...]:
    return tuple(token_set(marker, ids) for marker in form.markers)


def _by_id(form: str, ids: TokenIds) -> frozenset[str]:
    """The markers of a form that are tokens of the vocabulary."""
    markers = OBJECT_FORMS[form].all_markers() if form in OBJECT_FORMS else ()
    return frozenset([marker for marker in markers if ids.of(marker)])


def _lowered(node: Schema, limits: Limits, ids: TokenIds, prefix: str) -> GrammarIR:
    return schema_rules(node, prefix, limits, ids)
