"""Values of a JSON Schema as rules: one function, whatever the form in which they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cfgmask import json_schema
from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import GrammarIR, Part, TokenSet
from cfgmask.json_schema import FORMS as OBJECT_FORMS
from cfgmask.json_schema import lower_schema
from cfgmask.json_schema.core_forms import CoreForm, PlainSchema, core_form, may_be_empty_in
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
    held    the bytes that texts may consist of, ascending, as `lower_schema` takes them; None: any
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
    return None if plain is None else _parts([node], [plain], [name], limits, ids)[0]


def schema_parts(
    nodes: Sequence[Schema], schemas: Sequence[Any], names: Sequence[str], limits: Limits, ids: TokenIds
) -> list[Part | None]:
    """What `schema_part` makes of many nodes in half of the time; None also for some of which it makes a part.

    nodes    of the same form and options
    schemas  those of the nodes, or equal ones
    """
    if not nodes or nodes[0].form not in FORMS or any(node.excludes for node in nodes):
        return [None] * len(nodes)
    plain = json_schema.plain_schemas(list(schemas), options=nodes[0].options, limits=limits)
    return _parts(nodes, plain, names, limits, ids)


def _parts(
    nodes: Sequence[Schema],
    plain: Sequence[PlainSchema | None],
    names: Sequence[str],
    limits: Limits,
    ids: TokenIds,
) -> list[Part | None]:
    """The parts of nodes with the same form. Raises LimitExceeded."""
    form_name = nodes[0].form
    found: list[Part | None] = []
    if form_name == "json":
        for node, schema, name in zip(nodes, plain, names, strict=True):
            about = _Lowered(node, limits, ids)
            found.append(None if schema is None else Part(name, schema, about, about.notes, source=about.source))
        return found
    form = core_form(form_name, _by_id(form_name, ids))
    if form is None:
        return [None] * len(nodes)
    tokens = _tokens(form, ids)
    empty = iter(may_be_empty_in([schema for schema in plain if schema is not None], form))
    for node, schema, name in zip(nodes, plain, names, strict=True):
        may_be_empty = None if schema is None else next(empty)
        if schema is None or may_be_empty is None:
            found.append(None)
            continue
        about = _Lowered(node, limits, ids)
        found.append(Part(name, schema, about, about.notes, None, None, form.core, tokens, may_be_empty))
    return found


def with_ids(parts: Sequence[Part], nodes: Sequence[Schema], limits: Limits, ids: TokenIds) -> Sequence[Part]:
    """Parts of one form that were made without a vocabulary, with the markers of the form written by id."""
    form_name = nodes[0].form if nodes else "json"
    markers = _by_id(form_name, ids)
    form = core_form(form_name, markers) if markers else None
    if form is None:
        return parts
    core, tokens = form.core, _tokens(form, ids)
    return [
        replace(part, lower=_Lowered(node, limits, ids), form=core, tokens=tokens)
        for part, node in zip(parts, nodes, strict=True)
    ]


def _tokens(form: CoreForm, ids: TokenIds) -> tuple[TokenSet, ...]:
    return tuple(token_set(marker, ids) for marker in form.markers)


def _by_id(form: str, ids: TokenIds) -> frozenset[str]:
    """The markers of a form that are tokens of the vocabulary."""
    markers = OBJECT_FORMS[form].all_markers() if form in OBJECT_FORMS else ()
    return frozenset([marker for marker in markers if ids.of(marker)])


class _Lowered:
    """The rules and notes of a part, for those who ask."""

    __slots__ = ("_ids", "_limits", "_node")

    def __init__(self, node: Schema, limits: Limits, ids: TokenIds) -> None:
        self._node = node
        self._limits = limits
        self._ids = ids

    def __call__(self, prefix: str) -> GrammarIR:
        return schema_rules(self._node, prefix, self._limits, self._ids)

    def source(self) -> Any:
        """See `Part`."""
        return self._node.schema

    def notes(self) -> tuple[Diagnostic, ...]:
        """See `Part`."""
        node = self._node
        if node.form in OBJECT_FORMS and "$key" in OBJECT_FORMS[node.form].end:
            # Keys without names are left out, which only the rules tell.
            return placed(self("").notes, node.at)
        found = json_schema.schema_notes(node.schema, options=node.options, span=None, limits=self._limits)
        return placed(found, node.at)
