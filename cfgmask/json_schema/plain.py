"""The short way: the schemas that the core reads by itself.

Most schemas say simple things: types, properties, items, lists of values, alternatives, conditions on a member. The
core brings those to rules some forty times faster than `lower` does; everything else, and whatever is wrong, is left to
`lower`. Both make the same language of a plain schema, which the tests hold against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, TypeVar

from cfgmask import _core
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import NOTHING, JsonString, RegexTree
from cfgmask.json_schema import algebra, decide, lexemes, number_holes
from cfgmask.json_schema.drafts import Draft, draft_of_uri
from cfgmask.json_schema.formats import FORMATS
from cfgmask.json_schema.keys import KeyPattern, Keys, key_pattern
from cfgmask.json_schema.nodes import DECLARED, UNDECLARED, Dialect, Node
from cfgmask.json_schema.normal_form import NOTHING_AT_ALL, Normal
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.probe import Prober
from cfgmask.json_schema.scalar_keywords import allowed_types, constants, number_shapes, string_set
from cfgmask.json_schema.scalars import NumberStyle, refusals_of_scalars, scalars
from cfgmask.json_schema.session import current, session
from cfgmask.json_schema.spelling import marks
from cfgmask.json_schema.strings import ALL_STRINGS
from cfgmask.json_schema.survey import form_problem
from cfgmask.json_schema.unknown_keywords import has_unknown_keywords
from cfgmask.json_schema.values import JsonValue, read_text
from cfgmask.json_schema.wrapped import is_wrapped
from cfgmask.limits import Limits
from cfgmask.regex.properties import ecma_property

T = TypeVar("T")


@dataclass(frozen=True)
class PlainTerminal:
    """Scalars with conditions."""

    name: str
    regex: _core.PortableRegex


def plain_schema(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    metaschemas: bool = False,
) -> _core.PlainSchema | None:
    """The schema if it is plain, the options too, and nothing is wrong with it; arguments as those of `lower_schema`.

    metaschemas  whether there may be other metaschemas than those of the drafts

    Linear, and without anything that lasts: a schema that is not plain costs a small part of lowering it.
    """
    # The hash of options is that of all their values.
    if options is not DEFAULTS and not _may_be_plain(options):
        return None

    if is_wrapped(schema):
        return None
    if options.unknown_keywords == "error" and has_unknown_keywords(schema, options, limits):
        return None
    if isinstance(schema, str) and len(schema) * (1 if schema.isascii() else 4) > limits.max_source_bytes:
        return None
    document = _core.json_document(schema, limits.max_nesting)
    if document is None:
        return None
    declared = document.schema_uri
    draft = None if declared is None else draft_of_uri(declared)
    if metaschemas and draft is None and declared is not None:
        return None
    answers = _Answers(_dialect(draft), options, limits, metaschemas)
    found = _reader(draft, options.formats, options.numbers).read(
        document, answers, limits.max_nesting, limits.max_rules
    )
    if found is None:
        return None
    regexes = [terminal.regex for terminal in answers.terminals]
    names = [terminal.name for terminal in answers.terminals]
    return _core.PlainSchema(found, regexes, names, _layout(options))


def plain_schemas(schemas: list[Any], *, options: JsonSchemaOptions, limits: Limits) -> list[_core.PlainSchema | None]:
    """What `plain_schema` makes of many schemas in half of the time; None also for some that it takes.

    So it has to be asked about those that are None, and it tells what is wrong with one.
    """
    left_out: list[_core.PlainSchema | None] = [None] * len(schemas)
    if not _may_be_plain(options) or options.unknown_keywords == "error":
        return left_out
    if any(isinstance(schema, str) or is_wrapped(schema) for schema in schemas):
        return left_out
    dialect = _dialect(None)
    reader = _reader(None, options.formats, options.numbers)
    try:
        return reader.read_all(
            schemas,
            lambda: _Answers(dialect, options, limits, metaschemas=False),
            _layout(options),
            limits.max_nesting,
            limits.max_rules,
        )
    except LimitExceeded:
        return left_out


# Options that a plain schema may have of any value.
_FREE: dict[str, Any] = {
    "numbers": DEFAULTS.numbers,
    "whitespace": DEFAULTS.whitespace,
    "item_separator": DEFAULTS.item_separator,
    "key_separator": DEFAULTS.key_separator,
    "formats": DEFAULTS.formats,
    "on_unsupported": DEFAULTS.on_unsupported,
    "max_digits": DEFAULTS.max_digits,
    # What it refuses is refused before.
    "unknown_keywords": DEFAULTS.unknown_keywords,
}


@lru_cache(maxsize=32)
def _may_be_plain(options: JsonSchemaOptions) -> bool:
    """Whether schemas with these options may be plain."""
    return options.indent is None and replace(options, **_FREE) == DEFAULTS


@lru_cache(maxsize=32)
def _layout(options: JsonSchemaOptions) -> _core.PlainLayout:
    changed = marks(options)
    written = [_regex(changed.get(mark, mark.regex)) for mark in _MARKS]
    scope = lexemes.scope("json", options)
    plain_numbers = options.numbers == "plain"
    if not scope.ignore:
        return _core.PlainLayout(options.max_digits, plain_numbers, written, None, "", scope.ignore_once)
    (terminal,) = scope.ignore
    ignored = _regex(terminal.regex)
    return _core.PlainLayout(options.max_digits, plain_numbers, written, ignored, terminal.name, scope.ignore_once)


# In the order of `JsonMarks` in the core.
_MARKS = (*lexemes.OPEN, *lexemes.CLOSE, lexemes.COMMA, lexemes.COLON)


def _regex(tree: RegexTree) -> _core.PortableRegex:
    return _core.portable_regex(tree, Limits().max_nesting)


def _dialect(draft: Draft | None) -> Dialect:
    return UNDECLARED if draft is None else DECLARED[draft]


@lru_cache(maxsize=32)
def _reader(draft: Draft | None, formats: str, numbers: str) -> _core.PlainReader:
    """The reader of schemas that declare this draft, or none."""
    dialect = _dialect(draft)

    asserted = dialect.assertions - ({"format"} if formats == "annotate" else set())
    return _core.PlainReader(
        sorted(asserted),
        sorted(FORMATS),
        dialect.draft.id_keyword,
        dialect.draft.reference_hides_siblings,
        "boolean" if dialect.draft is Draft.DRAFT_4 else "number" if dialect.declared else "either",
        numbers == "plain",
    )


# An answer takes as long as so many steps of a session, and so many characters of the question take one more.
_STEPS_PER_ANSWER = 64
_CHARACTERS_PER_STEP = 4


class _Answers:
    """What the core asks while it reads one schema. Raises LimitExceeded(max_rules) where it asks too much.

    dialect      that of the root
    metaschemas  as in `plain_schema`
    terminals    those of the answers, which refer to them by number
    """

    def __init__(self, dialect: Dialect, options: JsonSchemaOptions, limits: Limits, metaschemas: bool) -> None:
        self._dialect = dialect
        self._options = options
        self._limits = limits
        self._metaschemas = metaschemas
        self.terminals: list[PlainTerminal] = []

    def scalars(self, schema: str) -> int | None:
        """As `_core.PlainReader.read` says."""
        _spend_on(schema)
        return _or_none(lambda: self._number(_scalars_of(schema, self._dialect, self._options, self._limits)))

    def strings(self, schema: str) -> int | None:
        """As `_core.PlainReader.read` says."""
        _spend_on(schema)
        return _or_none(lambda: self._number(_strings_of(schema, self._dialect, self._options, self._limits)))

    def keys(
        self, met: tuple[str, ...], broken: tuple[str, ...], names: tuple[str, ...]
    ) -> tuple[bool, list[int]] | None:
        """As `_core.PlainReader.read` says."""
        _spend_on(*met, *broken)
        return _or_none(lambda: _keys(met, broken, names, self._dialect, self._options, self._limits))

    def properties(self, name: str) -> bytes | None:
        """As `_core.PlainReader.read` says."""
        _spend_on(name)
        return ecma_property(name)

    def drafts(self, uri: str, around: _core.PlainReader) -> _core.PlainReader | None:
        """As `_core.PlainReader.read` says."""
        draft = draft_of_uri(uri)
        if draft is not None:
            return _reader(draft, self._options.formats, self._options.numbers)
        return None if self._metaschemas else around

    def _number(self, terminal: PlainTerminal | None) -> int:
        if terminal is None:
            return -1
        self.terminals.append(terminal)
        return len(self.terminals) - 1


def _spend_on(*schemas: str) -> None:
    """Count the answer to a question, remembered or not. Raises LimitExceeded."""
    current().spend(_STEPS_PER_ANSWER + sum(map(len, schemas)) // _CHARACTERS_PER_STEP)


def _or_none(answer: Callable[[], T]) -> T | None:
    """The answer; None where the schema is not plain after all, or crosses a limit that the general way may keep.

    What was spent of `max_rules` is spent for that way, too.
    """
    try:
        return answer()
    except _NotPlain:
        return None
    except LimitExceeded as error:
        if error.limit == "max_rules":
            raise
        return None


class _NotPlain(Exception):
    """The schema is not plain after all, or there is something wrong."""


@lru_cache(maxsize=4096)
def _scalars_of(schema: str, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> PlainTerminal | None:
    """The terminal of the scalars of a schema; None if there are none. Raises _NotPlain, LimitExceeded."""
    alone = _FORMATS_ALONE.get(schema)
    if alone is not None and (terminal := _format(alone, limits)) is not None:
        return terminal
    with session(limits):
        found = _read(schema, dialect, options, limits)
        terminals = [terminal for terminal in scalars(found, NumberStyle.of(options)) if not _is_nothing(terminal)]
        return _portable(terminals[0], limits) if terminals else None


# The formats by what the core asks for the strings of one.
_FORMATS_ALONE = {f'{{"type":"string","format":"{name}"}}': name for name in FORMATS}


def _format(name: str, limits: Limits) -> PlainTerminal | None:
    """The strings of a format that plain patterns say: most are, and the core makes no trees of Python of them."""
    parts = [(part.pattern, part.most) for part in FORMATS[name].parts]
    regex = _core.plain_json_string(parts, limits.max_nesting) if parts else None
    return None if regex is None else PlainTerminal(lexemes.string(ALL_STRINGS).name, regex)


def _portable(terminal: Terminal, limits: Limits) -> PlainTerminal:
    """Raises _NotPlain, LimitExceeded."""
    try:
        return PlainTerminal(terminal.name, _core.portable_regex(terminal.regex, limits.max_nesting))
    except OverflowError:
        raise _NotPlain from None


def _read(schema: str, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> Normal:
    """The scalars of a schema. Raises _NotPlain."""
    document = read_text(schema, None, limits)
    if document.problems:
        raise _NotPlain
    found = _combined(document.value, dialect, options, limits)
    if refusals_of_scalars(found):
        raise _NotPlain
    return found


def _is_nothing(terminal: Terminal) -> bool:
    # Strings were searched before; numbers of several conditions may have no spelling.
    return terminal.regex == NOTHING or (not isinstance(terminal.regex, JsonString) and decide.is_empty(terminal.regex))


def _combined(schema: JsonValue, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> Normal:
    """The scalars of a schema, which may be a combination of others under `allOf` and `not`. Raises _NotPlain.

    Those under `anyOf` have numbers only.
    """
    assert isinstance(schema, dict)
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        shapes = [shape for choice in choices for shape in _combined(choice, dialect, options, limits).numbers]
        return replace(NOTHING_AT_ALL, numbers=number_holes.without_covered(tuple(dict.fromkeys(shapes))))
    parts = schema.get("allOf")
    if isinstance(parts, list):
        found = reduce(algebra.intersect, [_combined(part, dialect, options, limits) for part in parts])
        holes = [_combined(hole, dialect, options, limits) for hole in _holes(schema)]
        return algebra.difference(found, holes, Prober(lambda _: NOTHING_AT_ALL))
    node = Node(schema, "", "", _dialect_of(schema, dialect))
    if any(form_problem(node, keyword, options) is not None for keyword in node.keywords):
        raise _NotPlain
    return _scalars(node, options, limits)


def _dialect_of(schema: dict[str, JsonValue], root: Dialect) -> Dialect:
    """That of a question, which says its draft where that is another one than the root's."""
    uri = schema.get("$schema")
    draft = draft_of_uri(uri) if isinstance(uri, str) else None
    return root if draft is None else DECLARED[draft]


@lru_cache(maxsize=4096)
def _strings_of(schema: str, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> PlainTerminal:
    """The terminal of the strings of a schema. Raises _NotPlain, LimitExceeded."""
    with session(limits):
        key = lexemes.other_key(Keys(include=(_key_pattern(schema, dialect, options, limits),)), ())
        return _portable(key, limits)


@lru_cache(maxsize=4096)
def _keys(
    met: tuple[str, ...],
    broken: tuple[str, ...],
    names: tuple[str, ...],
    dialect: Dialect,
    options: JsonSchemaOptions,
    limits: Limits,
) -> tuple[bool, list[int]]:
    """Whether there are keys that meet some schemas and not others beside the names, and which names are among them.

    Raises _NotPlain, LimitExceeded.
    """
    with session(limits):
        include, exclude = ([_key_pattern(part, dialect, options, limits) for part in parts] for parts in (met, broken))
        keys = Keys(tuple(dict.fromkeys(include)), tuple(dict.fromkeys(exclude)))
        has_more = not keys.is_empty and not decide.is_empty(lexemes.other_key_text(keys, names))
        return has_more, [i for i, name in enumerate(names) if keys.admits(name)]


def _key_pattern(schema: str, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> KeyPattern:
    known = current().key_conditions
    if (schema, dialect) not in known:
        known[schema, dialect] = _read(schema, dialect, options, limits).strings.as_regex()
    return key_pattern(known[schema, dialect])


def _holes(schema: dict[str, JsonValue]) -> list[JsonValue]:
    hole = schema.get("not")
    listed = hole.get("anyOf") if isinstance(hole, dict) else None
    return listed if isinstance(listed, list) else []


def _scalars(node: Node, options: JsonSchemaOptions, limits: Limits) -> Normal:
    types = allowed_types(node)
    strings = string_set(node, options, limits) if "string" in types else NOTHING_AT_ALL.strings
    found = replace(NOTHING_AT_ALL, numbers=number_shapes(node, types), strings=strings)
    listed = node.get("enum")
    return algebra.intersect(constants(listed), found) if isinstance(listed, list) else found
