"""What becomes of a schema that the core does not take as it is: all that is wrong with it, or what is left of it.

The survey finds what is malformed; the core then reads the schema without that, and says what cannot be enforced.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from typing import Any

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema.core_reader import SchemaWithLayout, read_at_once, read_leniently
from cfgmask.json_schema.guidance import POINTER as GUIDANCE
from cfgmask.json_schema.guidance import guided
from cfgmask.json_schema.loops import Loop, loops
from cfgmask.json_schema.nodes import Retriever
from cfgmask.json_schema.notes import shown
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.pattern_problems import pattern_problems
from cfgmask.json_schema.problems import first_errors, ordered, too_deep
from cfgmask.json_schema.refusals import Refusals
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.session import session
from cfgmask.json_schema.survey import Survey, surveyed
from cfgmask.json_schema.values import Document, JsonValue, around, escape, plain_decimal, read_object, read_text
from cfgmask.json_schema.wrapped import wrapped
from cfgmask.limits import Limits


@dataclass(frozen=True)
class Attempt:
    """What became of a schema.

    options      with what the schema asks for
    read         may be used only if there are no errors; None where it could not be made
    errors       all of them, without the places of the text
    relaxations  warnings of what is allowed that the schema does not allow
    is_complete  whether the errors and relaxations are all that there are: False where too many errors or a crossed
                 limit ended the search, and where errors hid what would have been relaxed
    """

    document: Document
    options: JsonSchemaOptions
    schemas: Schemas
    survey: Survey
    read: SchemaWithLayout | None
    errors: list[Diagnostic]
    relaxations: tuple[Diagnostic, ...]
    is_complete: bool

    def result(self) -> tuple[SchemaWithLayout, tuple[Diagnostic, ...]]:
        """The schema and its notes. Raises GrammarError with every error, placed in the text."""
        if self.read is None or self.errors:
            raise GrammarError(self.document.placed(first_errors(self.errors)))
        notes = shown([*self.survey.notes, *self.relaxations])
        if self.read.nests_too_deep:
            notes.append(too_deep())
        return self.read, tuple(self.document.placed(ordered(notes)))


_CONSEQUENCES = frozenset(["schema-unread", "schema-unsatisfiable"])


def read_schema(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    span: Span | None = None,
    retrieve: Retriever | None = None,
    held: bytes | None = None,
) -> tuple[SchemaWithLayout, tuple[Diagnostic, ...] | None]:
    """The schema as the core has it, and its notes, None where they are not known yet.

    held  the bytes that texts may consist of, ascending; None: any. Values that cannot be written in them are left out

    The draft is what `$schema` names, otherwise 2020-12, with the keywords of earlier drafts that it dropped.
    Raises GrammarError with every place that is malformed or cannot be enforced, or where no value satisfies the schema
    (codes `schema-...`, and `regex-...` for patterns), and LimitExceeded (max_source_bytes, max_nesting, max_rules and
    what patterns cross). Cost: linear in the schema but for combinations of alternatives, whose number is bounded.
    """
    with session(limits):
        crossed = None
        try:
            read = read_at_once(schema, options=options, limits=limits, retrieve=retrieve, held=held)
        except LimitExceeded as error:
            crossed = error
        else:
            if read is not None:
                return read, None
        try:
            tried = attempt(
                schema, options=options, limits=limits, span=span, retrieve=retrieve, held=held, crossed=crossed
            )
        except LimitExceeded as error:
            raise crossed or error from None
        return tried.result()


def attempt(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    span: Span | None = None,
    retrieve: Retriever | None = None,
    held: bytes | None = None,
    crossed: LimitExceeded | None = None,
) -> Attempt:
    """Read a schema, and tell of errors instead of raising them.

    crossed  what the core is known to raise: only what the survey finds is told then

    Raises GrammarError for a text that is not JSON, and LimitExceeded where there are no errors besides.
    """
    document = read_text(schema, span, limits) if isinstance(schema, str) else read_object(schema, limits)
    options, misguided = guided(document.value, options)
    schemas = Schemas(document.value, limits, retrieve)
    no_schema = wrapped(document.value)
    if no_schema is not None:
        errors = [*document.problems, no_schema]
        return Attempt(document, options, schemas, Survey(complete=False), None, errors, (), is_complete=False)
    found = surveyed(schemas, document, options)
    errors = [*document.problems, *misguided, *found.errors]
    if not found.complete:
        return Attempt(document, options, schemas, found, None, errors, (), is_complete=False)
    circles = list(loops(found.reached, schemas))
    errors += [loop.problem for loop in circles]
    relaxes = options.on_unsupported == "relax"
    try:
        if crossed is not None:
            raise crossed
        with session(limits):
            refused = pattern_problems(found.reached, options, limits)
            text = json_text(document.value, _absent(found, circles, document))
            read, told = read_leniently(text, options=options, limits=limits, retrieve=retrieve, held=held)
    except LimitExceeded:
        if not errors:
            raise
        return Attempt(document, options, schemas, found, None, errors, (), is_complete=False)
    cannot = list(Refusals(schemas, found.reached).told(told))
    if read is None or not relaxes:
        # Either of them may be a consequence of what was left out, or of an error in another document.
        errors += [d for d in (*refused, *cannot) if not errors or d.code not in _CONSEQUENCES]
        return Attempt(document, options, schemas, found, read, errors, (), is_complete=read is not None or not relaxes)
    relaxations = tuple(replace(refusal, severity="warning") for refusal in (*refused, *cannot))
    return Attempt(document, options, schemas, found, read, errors, relaxations, is_complete=True)


def _absent(found: Survey, circles: list[Loop], document: Document) -> frozenset[str]:
    """The places of what counts as absent where the core reads the schema."""
    wrong = [error.pointer for error in found.errors if error.pointer is not None]
    schemas = {node.pointer for node in found.reached}
    unread = [_keyword_around(pointer, schemas) for pointer in document.unread]
    return frozenset((GUIDANCE, *unread, *wrong, *(loop.reference for loop in circles)))


def _keyword_around(pointer: str, schemas: Container[str]) -> str:
    """The keyword that something is in, if it is in one of the schemas."""
    return next((outer for outer in around(pointer) if outer and outer.rpartition("/")[0] in schemas), pointer)


def json_text(value: JsonValue, absent: Container[str] = ()) -> str:
    """A value as JSON text, without the members at some places and with `true` for items there. Linear.

    Of what is absent as a whole nothing is left but `true`.
    """
    written: list[str] = []
    todo: list[tuple[str | None, str, JsonValue]] = [(None, "", value)]
    while todo:
        text, pointer, item = todo.pop()
        if text is not None:
            written.append(text)
        elif pointer in absent:
            written.append("true")
        elif isinstance(item, dict):
            todo += reversed(list(_members(item, pointer, absent)))
        elif isinstance(item, list):
            todo += reversed(list(_items(item, pointer)))
        elif isinstance(item, (str, bool, type(None))):
            written.append(json.dumps(item))
        else:
            written.append(plain_decimal(item))
    return "".join(written)


_Part = tuple["str | None", str, JsonValue]


def _members(value: dict[str, JsonValue], pointer: str, absent: Container[str]) -> Iterator[_Part]:
    comma = "{"
    for name, held in value.items():
        at = f"{pointer}/{escape(name)}"
        if at in absent:
            continue
        yield f"{comma}{json.dumps(name)}:", "", None
        yield None, at, held
        comma = ","
    yield ("{}" if comma == "{" else "}"), "", None


def _items(value: list[JsonValue], pointer: str) -> Iterator[_Part]:
    for index, item in enumerate(value):
        yield ("," if index else "["), "", None
        yield None, f"{pointer}/{index}", item
    yield ("]" if value else "[]"), "", None
