"""Schemas as the core reads them.

The core takes nearly all schemas in which nothing is wrong. What is wrong with others, or cannot be enforced, is told
by `reading`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from cfgmask import _core
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.json_schema import lexemes, yaml_scalars
from cfgmask.json_schema.drafts import Draft
from cfgmask.json_schema.formats import FORMATS, format_regex
from cfgmask.json_schema.nodes import UNDECLARED, Dialect, Retriever, declared_dialect
from cfgmask.json_schema.options import JsonSchemaOptions, allowed_escapes
from cfgmask.json_schema.session import current
from cfgmask.json_schema.spelling import marks, strings_with
from cfgmask.json_schema.unknown_keywords import has_unknown_keywords
from cfgmask.json_schema.wrapped import is_wrapped
from cfgmask.json_schema.written import written
from cfgmask.limits import Limits
from cfgmask.regex.case_folding import Folding, alike
from cfgmask.regex.dialects import DialectName
from cfgmask.regex.parser import PatternData
from cfgmask.regex.properties import ecma_property

SchemaWithLayout: TypeAlias = _core.SchemaWithLayout
T = TypeVar("T")


def read_at_once(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    retrieve: Retriever | None = None,
    held: bytes | None = None,
) -> _core.SchemaWithLayout | None:
    """The schema if nothing is wrong with it and all of it can be enforced; arguments as those of `read_schema`.

    Linear, and without anything that lasts: a schema that is not taken costs little.
    """
    if is_wrapped(schema):
        return None
    if options.unknown_keywords == "error" and has_unknown_keywords(schema, options, limits):
        return None
    if isinstance(schema, str) and len(schema) * (1 if schema.isascii() else 4) > limits.max_source_bytes:
        return None
    document = _core.json_document(schema, limits.max_nesting)
    if document is None:
        return None
    answers = _Answers(options, limits, retrieve)
    found = answers.reader(document).read(document, answers, *_of_reading(limits), _writable(held, options))
    if found is None or not found.holds_with_digits(options.max_digits):
        return None
    return _core.SchemaWithLayout(found, _layout(options))


def read_leniently(
    schema: str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    retrieve: Retriever | None,
    held: bytes | None,
) -> tuple[_core.SchemaWithLayout | None, list[tuple[int, str]]]:
    """As `SchemaReader.read_leniently`, of a schema as JSON text in which nothing is malformed."""
    document = _core.json_document(schema, limits.max_nesting)
    if document is None:
        return None, [(UNREAD, "")]
    answers = _Answers(options, limits, retrieve)
    found, refusals = answers.reader(document).read_leniently(
        document, answers, *_of_reading(limits), _writable(held, options)
    )
    if found is None:
        return None, refusals
    if not found.holds_with_digits(options.max_digits):
        return None, [*refusals, (UNIQUE_ITEMS, "")]
    return _core.SchemaWithLayout(found, _layout(options)), refusals


def _writable(held: bytes | None, options: JsonSchemaOptions) -> _core.Writable | None:
    return None if held is None and allowed_escapes(options) is None else _known_writable(held, options)


@lru_cache(maxsize=64)
def _known_writable(held: bytes | None, options: JsonSchemaOptions) -> _core.Writable:
    return _core.Writable(*written(held, options))


UNREAD, UNIQUE_ITEMS = 0, 2
"""The numbers of refusals, of `refusals.REFUSALS`: that a schema could not be read, that items may run out."""


def read_all_at_once(
    schemas: list[Any], *, options: JsonSchemaOptions, limits: Limits
) -> list[_core.SchemaWithLayout | None]:
    """What `read_at_once` makes of many schemas in half of the time; None also for some that it takes.

    So it has to be asked about those that are None, and it tells what is wrong with one.
    """
    left_out: list[_core.SchemaWithLayout | None] = [None] * len(schemas)
    if options.unknown_keywords == "error" or options.syntax == "yaml":
        return left_out
    if any(isinstance(schema, str) or is_wrapped(schema) for schema in schemas):
        return left_out
    reader = _reader_with(UNDECLARED, options)
    try:
        return reader.read_all(
            schemas,
            lambda: _Answers(options, limits, retrieve=None),
            _layout(options),
            *_of_reading(limits),
        )
    except LimitExceeded:
        return left_out


def _of_reading(limits: Limits) -> tuple[int, int, int]:
    """The limits that `_core.SchemaReader.read` takes."""
    return limits.max_nesting, limits.max_rules, limits.max_search_steps


@lru_cache(maxsize=32)
def _layout(options: JsonSchemaOptions) -> _core.ValueLayout:
    changed = marks(options)
    written = [_regex(changed.get(mark, mark.regex)) for mark in _MARKS]
    scope = lexemes.scope("json", options)
    ignored: _core.PortableRegex | None = None
    name = ""
    if scope.ignore:
        (terminal,) = scope.ignore
        ignored, name = _regex(terminal.regex), terminal.name
    return _core.ValueLayout(
        options.max_digits,
        options.numbers == "plain",
        written,
        ignored,
        name,
        scope.ignore_once,
        options.indent if options.syntax == "json" else None,
        _yaml(options),
        options.escapes == "canonical",
        None if (allowed := allowed_escapes(options)) is None else _regex(strings_with(allowed)),
        options.property_order == "any",
    )


@lru_cache(maxsize=32)
def _yaml(options: JsonSchemaOptions) -> _core.YamlLayout | None:
    if options.syntax != "yaml":
        return None
    strings, keys, numbers = map(_regex, yaml_scalars.layout_patterns())
    indent = yaml_scalars.DEFAULT_INDENT if options.indent is None else options.indent
    lengths = yaml_scalars.MAX_KEY_LENGTH, yaml_scalars.MAX_WRITTEN_KEY
    return _core.YamlLayout(strings, keys, numbers, *lengths, indent)


# In the order of `JsonMarks` in the core.
_MARKS = (*lexemes.OPEN, *lexemes.CLOSE, lexemes.COMMA, lexemes.COLON)


def _regex(tree: RegexTree) -> _core.PortableRegex:
    return _core.portable_regex(tree, Limits().max_nesting)


@lru_cache(maxsize=64)
def _reader(
    dialect: Dialect,
    formats: str,
    patterns: DialectName,
    numbers: str,
    order: str,
    is_indented: bool,
    yaml: _core.YamlLayout | None,
) -> _core.SchemaReader:
    """The reader of schemas in a dialect."""
    asserted = dialect.assertions - ({"format"} if formats == "annotate" else set())
    return _core.SchemaReader(
        sorted(asserted),
        _known_strings(patterns),
        dialect.draft.id_keyword,
        dialect.draft.reference_hides_siblings,
        "boolean" if dialect.draft is Draft.DRAFT_4 else "number" if dialect.declared else "either",
        numbers == "plain",
        is_indented,
        yaml,
        order == "any",
    )


def _reader_with(dialect: Dialect, options: JsonSchemaOptions) -> _core.SchemaReader:
    return _reader(
        dialect,
        options.formats,
        options.pattern_dialect,
        options.numbers,
        options.property_order,
        options.indent is not None,
        _yaml(options),
    )


@lru_cache(maxsize=3)
def _known_strings(pattern_dialect: DialectName) -> _core.KnownStrings:
    formats = [
        (name, [(part.pattern, part.most) for part in format.parts], format.possible)
        for name, format in FORMATS.items()
    ]
    return _core.KnownStrings(formats, pattern_dialect, PatternData(), Limits().max_nesting)


# An answer takes as long as so many steps of a session, and so many characters of the question take one more.
_STEPS_PER_ANSWER = 64
_CHARACTERS_PER_STEP = 4


class _Answers:
    """What the core asks while it reads one schema. Raises LimitExceeded(max_rules) where it asks too much.

    retrieve  as in `read_at_once`
    """

    def __init__(self, options: JsonSchemaOptions, limits: Limits, retrieve: Retriever | None) -> None:
        self._options = options
        self._limits = limits
        self._retrieve = retrieve

    def reader(self, document: _core.JsonDocument) -> _core.SchemaReader:
        """The reader of a document, by the `$schema` of its root."""
        declared = document.schema_uri
        dialect = None if declared is None else declared_dialect(declared, self._retrieve)
        return _reader_with(dialect or UNDECLARED, self._options)

    def alike(self, folding: Folding, only_ascii: bool) -> list[list[int]]:
        """As `_core.SchemaReader.read` says."""
        return alike(folding, only_ascii)

    def format(self, name: str) -> _core.PortableRegex | None:
        """As `_core.SchemaReader.read` says."""
        tree = format_regex(name)
        return None if tree is None else _core.portable_regex(tree, Limits().max_nesting)

    def properties(self, name: str) -> bytes | None:
        """As `_core.SchemaReader.read` says."""
        _spend_on(name)
        return ecma_property(name)

    def drafts(self, uri: str, around: _core.SchemaReader) -> _core.SchemaReader:
        """As `_core.SchemaReader.read` says."""
        dialect = declared_dialect(uri, self._retrieve)
        return around if dialect is None else _reader_with(dialect, self._options)

    def document(self, uri: str) -> _core.JsonDocument | None:
        """As `_core.SchemaReader.read` says."""
        if self._retrieve is None:
            return None
        try:
            given = self._retrieve(uri)
        except Exception:  # whatever a caller's function raises: the survey asks again, and says so
            return None
        return None if isinstance(given, str) else _core.json_document(given, self._limits.max_nesting)


def _spend_on(question: str) -> None:
    """Count the answer to a question, remembered or not. Raises LimitExceeded."""
    current().spend(_STEPS_PER_ANSWER + len(question) // _CHARACTERS_PER_STEP)
