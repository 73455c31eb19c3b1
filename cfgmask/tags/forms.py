"""Values of a JSON Schema as rules: one function, whatever the form in which they are written."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cfgmask import json_schema
from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError
from cfgmask.grammar.ir import GrammarIR, Part, Rule, Sequence, Terminal, TokenSet
from cfgmask.json_schema import FORMS as OBJECT_FORMS
from cfgmask.json_schema import form_bytes, lexemes
from cfgmask.json_schema.core_forms import CoreForm, InForm, SchemaWithLayout, core_form, in_form
from cfgmask.json_schema.forms import keys_without_names
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.reading import read_schema
from cfgmask.json_schema.session import session
from cfgmask.limits import Limits
from cfgmask.tags.excluded import without_texts
from cfgmask.tags.nodes import Schema
from cfgmask.tags.problems import placed
from cfgmask.tags.spelling import token_set
from cfgmask.tags.token_ids import NO_TOKENS, TokenIds

if TYPE_CHECKING:
    from cfgmask import _core

FORMS = ("json", *OBJECT_FORMS)
"""The names of all forms; those that xgrammar gives the `style` of a schema are among them."""


def schema_rules(node: Schema, prefix: str, limits: Limits, ids: TokenIds, held: bytes | None = None) -> GrammarIR:
    """The rules of the values, for a node whose form is one of `FORMS`.

    prefix  of the names of all rules
    ids     the tokens that markers of the form are written by
    held    the bytes that texts may consist of, ascending; None: any. Values of JSON that cannot be written in them are
            left out. In another form, all are left in, and a set that may need one is an error (`schema-form-bytes`)
    Raises GrammarError, with pointers into the schema, and LimitExceeded.
    """
    if node.form != "json":
        rules = _rules_in_form(node, prefix, limits, ids)
        if held is not None:
            with session(limits):
                problems = form_bytes.unwritten(rules, held, node.options)
            if problems:
                raise GrammarError(problems)
        return rules
    part = json_schema.schema_part(node.schema, prefix, options=node.options, limits=limits, held=held)
    if isinstance(part, Terminal):
        return GrammarIR((Rule(f"{prefix}none", part),), f"{prefix}none", ignore_initial=False, ignore_final=False)
    rules = replace(part.lower(prefix), notes=part.notes())
    return without_texts(rules, node.excludes, limits) if node.excludes else rules


def _rules_in_form(node: Schema, prefix: str, limits: Limits, ids: TokenIds) -> GrammarIR:
    written = _written(node, limits, ids)
    if not written.in_form.has_texts:
        return _empty_text(node, prefix, written, limits)
    about = written.part(node, prefix, limits, ids).lower
    assert isinstance(about, _About)
    return replace(about(prefix), notes=about.own_notes())


def _empty_text(node: Schema, prefix: str, written: _Written, limits: Limits) -> GrammarIR:
    """The rules of an object without members in a form in which that is the empty text."""
    start = f"{prefix}arguments"
    scopes = (lexemes.scope(f"{prefix}json", node.options),)
    notes = _notes(node, written.schema, written.known_notes, limits)
    return GrammarIR((Rule(start, Sequence(())),), start, scopes, ignore_initial=False, ignore_final=False, notes=notes)


def schema_part(node: Schema, name: str, limits: Limits, ids: TokenIds) -> Part | None:
    """The values as a part, of which the core makes rules when a text comes to it.

    Arguments and errors: those of `schema_rules`; `name` as in `Part`. None where texts are excluded, for a form that
    is none of `FORMS`, and if only the empty text is left.
    """
    if node.excludes or node.form not in FORMS:
        return None
    if node.form == "json":
        in_core, notes = read_schema(node.schema, options=node.options, limits=limits)
        about = _About(node, in_core, None, (), may_be_empty=False, limits=limits, known_notes=notes)
        return Part(name, in_core, about, about.notes, None, about.source)
    written = _written(node, limits, ids)
    return written.part(node, name, limits, ids) if written.in_form.has_texts else None


@dataclass(frozen=True)
class _Written:
    """A schema that the core writes in a form that is not JSON.

    known_notes  on the schema; None if they are not known yet
    """

    schema: SchemaWithLayout
    in_form: InForm
    known_notes: tuple[Diagnostic, ...] | None

    def part(self, node: Schema, name: str, limits: Limits, ids: TokenIds) -> Part:
        """See `schema_part`. Some text that is not empty is left."""
        form, tokens = form_in(node.form, ids)
        may_be_empty = self.in_form.may_be_empty
        about = _About(node, self.schema, form, tokens, may_be_empty, limits, self.known_notes)
        return Part(name, self.schema, about, about.notes, None, None, form, tokens, may_be_empty)


def _written(node: Schema, limits: Limits, ids: TokenIds) -> _Written:
    """What the core writes of a schema in a form. Errors: `schema_rules`."""
    core = core_form(node.form, _by_id(node.form, ids))
    with session(limits):
        in_core, notes = read_schema(node.schema, options=node.options, limits=limits)
        found = in_form(in_core, core, limits)
    return _Written(in_core, found.checked(), notes)


@dataclass(frozen=True, eq=False)
class ReadSchemas:
    """Schemas of one form, as the core read them.

    schemas       None for those that are no parts, or may be none
    may_be_empty  as in `Part`, for each
    """

    form: str
    schemas: SequenceOf[SchemaWithLayout | None]
    may_be_empty: SequenceOf[bool]

    def part(self, number: int, node: Schema, name: str, limits: Limits, ids: TokenIds) -> Part | None:
        """One of them as a part. `node` has this schema and form; other arguments as those of `schema_part`."""
        schema = self.schemas[number]
        if schema is None:
            return None
        form, tokens = form_in(self.form, ids)
        about = _About(node, schema, form, tokens, self.may_be_empty[number], limits)
        source = about.source if self.form == "json" else None
        return Part(name, schema, about, about.notes, None, source, form, tokens, self.may_be_empty[number])


def read_schemas(schemas: SequenceOf[Any], form: str, options: JsonSchemaOptions, limits: Limits) -> ReadSchemas:
    """What `schema_part` makes of many schemas, in half of the time; None also for some of which it makes a part.

    Raises LimitExceeded.
    """
    if form not in FORMS:
        return ReadSchemas(form, [None] * len(schemas), [False] * len(schemas))
    return _in_form(
        form, json_schema.read_all_at_once(list(schemas), options=options, limits=limits), limits, NO_TOKENS
    )


def _in_form(form: str, schemas: SequenceOf[SchemaWithLayout | None], limits: Limits, ids: TokenIds) -> ReadSchemas:
    """Those that the core writes in a form, as some text that is not empty. Raises LimitExceeded."""
    if form == "json":
        return ReadSchemas(form, schemas, [False] * len(schemas))
    core = core_form(form, _by_id(form, ids))
    found = [None if schema is None else in_form(schema, core, limits) for schema in schemas]
    written = [one if one is not None and one.has_texts and not one.problems else None for one in found]
    left = [None if one is None else schema for one, schema in zip(written, schemas, strict=True)]
    return ReadSchemas(form, left, [one is not None and one.may_be_empty for one in written])


def form_in(name: str, ids: TokenIds) -> tuple[_core.SchemaForm | None, tuple[TokenSet, ...]]:
    """A form of parts as a vocabulary writes it, and the markers that it writes by id; None for JSON."""
    if name == "json":
        return None, ()
    form = core_form(name, _by_id(name, ids))
    return form.core, _tokens(form, ids)


def with_ids(parts: SequenceOf[Part], nodes: SequenceOf[Schema], limits: Limits, ids: TokenIds) -> SequenceOf[Part]:
    """Parts of one form that were made without a vocabulary, with the markers of the form written by id."""
    form_name = nodes[0].form if nodes else "json"
    markers = _by_id(form_name, ids)
    if not markers:
        return parts
    form = core_form(form_name, markers)
    core, tokens = form.core, _tokens(form, ids)
    return [
        replace(
            part,
            lower=_About(node, part.schema, core, tokens, part.may_be_empty, limits),
            form=core,
            tokens=tokens,
        )
        for part, node in zip(parts, nodes, strict=True)
    ]


def _tokens(form: CoreForm, ids: TokenIds) -> tuple[TokenSet, ...]:
    return tuple(token_set(marker, ids) for marker in form.markers)


def _by_id(form: str, ids: TokenIds) -> frozenset[str]:
    """The markers of a form that are tokens of the vocabulary."""
    markers = OBJECT_FORMS[form].all_markers() if form in OBJECT_FORMS else ()
    return frozenset([marker for marker in markers if ids.of(marker)])


@dataclass(frozen=True, eq=False, slots=True)
class _About:
    """The rules and notes of a part, for those who ask."""

    node: Schema
    schema: SchemaWithLayout
    form: _core.SchemaForm | None
    tokens: tuple[TokenSet, ...]
    may_be_empty: bool
    limits: Limits
    known_notes: tuple[Diagnostic, ...] | None = None

    def __call__(self, prefix: str) -> GrammarIR:
        return json_schema.core_grammar(
            self.schema,
            prefix=prefix,
            form=self.form,
            tokens=self.tokens,
            may_be_empty=self.may_be_empty,
            limits=self.limits,
        )

    def source(self) -> Any:
        """See `Part`."""
        return self.node.schema

    def notes(self) -> tuple[Diagnostic, ...]:
        """See `Part`."""
        return placed(self.own_notes(), self.node.at)

    def own_notes(self) -> tuple[Diagnostic, ...]:
        """The notes with their places in the schema."""
        return _notes(self.node, self.schema, self.known_notes, self.limits)


def _notes(
    node: Schema, schema: SchemaWithLayout, known: tuple[Diagnostic, ...] | None, limits: Limits
) -> tuple[Diagnostic, ...]:
    """The notes on a schema, of which some may be known, and on what its form leaves out."""
    found = known
    if found is None:
        found = json_schema.schema_notes(node.schema, schema, options=node.options, span=None, limits=limits)
    is_by_name = node.form in OBJECT_FORMS and OBJECT_FORMS[node.form].ends_with_key
    return (*found, keys_without_names()) if is_by_name and schema.has_keys_without_names else found
