"""The short way for schemas that need little algebra: what the core reads by itself.

Most schemas say simple things: types, properties, items, lists of values, alternatives that differ. The core brings
those to rules some forty times faster than `lower` does; everything else, and whatever is wrong, is left to `lower`.
Both make the same language of a plain schema, which the tests hold against each other.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Scope, Terminal
from cfgmask.grammar.regex_tree import NOTHING
from cfgmask.json_schema import algebra, decide, lexemes
from cfgmask.json_schema.drafts import draft_of_uri
from cfgmask.json_schema.formats import FORMATS
from cfgmask.json_schema.keys import Keys, key_pattern
from cfgmask.json_schema.nodes import Dialect, Node
from cfgmask.json_schema.normal_form import NOTHING_AT_ALL, Normal
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.scalar_keywords import allowed_types, constants, number_shapes, read_pattern, string_set
from cfgmask.json_schema.scalars import refusals_of_scalars, scalars
from cfgmask.json_schema.session import session
from cfgmask.json_schema.survey import form_problem
from cfgmask.json_schema.values import read_object
from cfgmask.limits import Limits

if TYPE_CHECKING:
    from cfgmask import _core

# A decimal of no more characters, without an exponent, is what its float shows.
_MAX_FLOAT_TEXT = 15


@dataclass(frozen=True)
class Plain:
    """A plain schema.

    core       as the core read it
    terminals  what it asks for: scalars with conditions
    scope      what may stand between lexemes
    """

    core: _core.PlainSchema
    terminals: tuple[Terminal, ...]
    scope: Scope


def plain_schema(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    metaschemas: bool = False,
) -> Plain | None:
    """The schema if it is plain, the options too, and nothing is wrong with it; arguments as those of `lower_schema`.

    metaschemas  whether there may be other metaschemas than those of the drafts

    Linear, and without anything that lasts: a schema that is not plain costs a small part of lowering it.
    """
    if options.indent is not None or replace(options, **_FREE) != DEFAULTS:
        return None
    value = _read(schema, limits) if isinstance(schema, str) else schema
    if not isinstance(value, dict):
        return None
    declared = value.get("$schema")
    draft = draft_of_uri(declared) if isinstance(declared, str) else None
    if metaschemas and draft is None and declared is not None:
        return None
    dialect = Dialect() if draft is None else Dialect(draft, declared=True)
    answers = _Answers(dialect, options, limits)
    found = _reader(dialect, options.formats).read(value, answers, limits.max_nesting, limits.max_rules)
    return None if found is None else Plain(found, tuple(answers.terminals), lexemes.scope("json", options))


# Options that a plain schema may have of any value.
_FREE: dict[str, Any] = {
    "whitespace": DEFAULTS.whitespace,
    "formats": DEFAULTS.formats,
    "on_unsupported": DEFAULTS.on_unsupported,
}


def _read(text: str, limits: Limits) -> Any:
    """The value of a JSON text; None where it has to be read more carefully."""
    if len(text) * (1 if text.isascii() else 4) > limits.max_source_bytes:
        return None
    try:
        return json.loads(text, object_pairs_hook=_members, parse_float=_float)
    except (ValueError, RecursionError):
        return None


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice")
    return members


def _float(text: str) -> float:
    if len(text) > _MAX_FLOAT_TEXT or "e" in text or "E" in text:
        raise ValueError("a float may not hold it")
    return float(text)


@lru_cache(maxsize=32)
def _reader(dialect: Dialect, formats: str) -> _core.PlainReader:
    from cfgmask import _core

    asserted = dialect.assertions - ({"format"} if formats == "annotate" else set())
    return _core.PlainReader(asserted, FORMATS, dialect.draft.id_keyword, dialect.draft.reference_hides_siblings)


_Patterns: TypeAlias = tuple[str, ...]
_Names: TypeAlias = tuple[str, ...]
# For some keys: their terminal, None where there are none, and which of the names given are among them.
_KeyClass: TypeAlias = tuple[Terminal | None, list[int]]


@dataclass(frozen=True)
class _Request:
    """What the core asks for, known by its key; see `_core.PlainReader.read`."""

    key: str
    dialect: Dialect
    asked: dict[str, Any] | tuple[_Patterns, _Names] = field(compare=False)


class _Answers:
    """What the core asks while it reads one schema.

    terminals  those of the answers, which refer to them by number
    """

    def __init__(self, dialect: Dialect, options: JsonSchemaOptions, limits: Limits) -> None:
        self._dialect = dialect
        self._options = options
        self._limits = limits
        self.terminals: list[Terminal] = []

    def __call__(self, key: str, asked: dict[str, Any] | tuple[_Patterns, _Names]) -> Any:
        found = _answer(_Request(key, self._dialect, asked), self._options, self._limits)
        if found is None:
            return None
        numbered = [(self._number(terminal), names) for terminal, names in found]
        return numbered if isinstance(asked, tuple) else numbered[0][0]

    def _number(self, terminal: Terminal | None) -> int:
        if terminal is None:
            return -1
        self.terminals.append(terminal)
        return len(self.terminals) - 1


@lru_cache(maxsize=4096)
def _answer(request: _Request, options: JsonSchemaOptions, limits: Limits) -> list[_KeyClass] | None:
    """What is asked for; None where the schema is not plain after all, or there is something wrong."""
    try:
        with session(limits):
            if isinstance(request.asked, tuple):
                return _keys(*request.asked, limits)
            return _scalar(request.asked, request.dialect, options, limits)
    except LimitExceeded:
        return None


def _scalar(
    schema: dict[str, Any], dialect: Dialect, options: JsonSchemaOptions, limits: Limits
) -> list[_KeyClass] | None:
    node = Node(read_object(schema, limits).value, "", "", dialect)
    if any(form_problem(node, keyword) is not None for keyword in node.keywords):
        return None
    found = _scalars(node, options, limits)
    if refusals_of_scalars(found):
        return None
    terminals = [terminal for terminal in scalars(found) if terminal.regex != NOTHING]
    return [(terminals[0] if terminals else None, [])]


def _keys(patterns: _Patterns, names: _Names, limits: Limits) -> list[_KeyClass] | None:
    read = [read_pattern(pattern, "", limits) for pattern in patterns]
    if any(found.refusals for found in read):
        return None
    found = [key_pattern(pattern.pattern) for pattern in read]
    classes = [Keys(include=(pattern,)) for pattern in found]
    if any(not (a & b).is_empty for a, b in combinations(classes, 2)):
        return None
    classes.append(Keys(exclude=tuple(dict.fromkeys(found))))
    return [
        (
            None
            if keys.is_empty or decide.is_empty(lexemes.other_key_text(keys, names))
            else lexemes.other_key(keys, names),
            [i for i, name in enumerate(names) if keys.admits(name)],
        )
        for keys in classes
    ]


def _scalars(node: Node, options: JsonSchemaOptions, limits: Limits) -> Normal:
    types = allowed_types(node)
    strings = string_set(node, options, limits) if "string" in types else NOTHING_AT_ALL.strings
    found = replace(NOTHING_AT_ALL, numbers=number_shapes(node, types), strings=strings)
    listed = node.get("enum")
    return algebra.intersect(constants(listed), found) if isinstance(listed, list) else found
