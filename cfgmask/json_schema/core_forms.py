"""Forms of arguments as the core has them: the rules of a tool are made when a text first reaches it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from cfgmask import _core
from cfgmask.diagnostics import Diagnostic, shortened
from cfgmask.errors import GrammarError
from cfgmask.json_schema import session
from cfgmask.json_schema.forms import FORMS, Form
from cfgmask.json_schema.problems import first_errors
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex

SchemaWithLayout: TypeAlias = _core.SchemaWithLayout

_Piece: TypeAlias = tuple[str, str, str, int]

# In the order of `SchemaIR::Kind` in the core.
_KINDS = ("null", "boolean", "number", "string", "array", "object")


@dataclass(frozen=True)
class CoreForm:
    """A form of arguments in the core.

    markers  that it writes by id, in the order in which the core is given their tokens
    keys     matches keys that it can write, each with a line break behind it
    """

    core: _core.SchemaForm
    markers: tuple[str, ...]
    keys: re.Pattern[str]


@lru_cache(maxsize=256)
def core_form(name: str, markers: frozenset[str]) -> CoreForm:
    """The form of a name, with these markers written by id."""
    form = FORMS[name]
    values = _values(name, form)
    by_id = tuple(sorted(markers.intersection(form.markers), key=len, reverse=True))
    end = _pieces(form.end, by_id)
    first = end.pop(0)[1] if end and end[0][0] == "text" and values != "tags" else ""
    keys = [_key(form, kind, by_id) for kind in (_KINDS if form.has_kinds else _KINDS[:1])]
    stop = form.stop(form.delimiter or form.end)
    core = _core.SchemaForm(
        keys,
        first,
        end,
        stop,
        form.pad,
        form.has_gaps,
        form.words == "either",
        values,
        form.separator,
        _pieces(form.delimiter, by_id),
        (_pieces(form.item[0], by_id), _pieces(form.item[1], by_id)),
        _core.portable_regex(parse_regex(form.key_chars), Limits().max_nesting),
    )
    # No character of a key is a line break.
    return CoreForm(core, by_id, re.compile(f"(?:(?:{form.key_chars})+\n)*"))


def _values(name: str, form: Form) -> str:
    """The values that the core does not write as text."""
    if name == "python":
        return "python object"
    if form.strings == "delimited":
        return "delimited object"
    if form.item[0]:
        return "tags"
    if form.strings == "python":
        return "python"
    return {"json": "json", "python": "python inside"}[form.nested]


@dataclass(frozen=True)
class InForm:
    """What a form writes of a schema.

    problems      why it cannot write it, without a place
    has_texts     whether some text that is not empty is left
    may_be_empty  whether the empty text is one
    """

    problems: tuple[Diagnostic, ...]
    has_texts: bool
    may_be_empty: bool

    def checked(self) -> InForm:
        """The same. Raises GrammarError if the form cannot write the schema."""
        if self.problems:
            raise GrammarError(first_errors(self.problems))
        return self


def in_form(schema: SchemaWithLayout, form: CoreForm, limits: Limits) -> InForm:
    """How the form writes a schema. Raises LimitExceeded, and ValueError for a schema that is read as lines."""
    found = schema.in_form(form.core, limits.max_rules, _regexes)
    if found is None:
        raise ValueError("a form has no lines: leave syntax and indent out")
    names, keys, others, has_texts, may_be_empty = found
    if names and form.keys.fullmatch("\n".join((*names, ""))) is None:
        keys = [*(name for name in names if form.keys.fullmatch(f"{name}\n") is None), *keys]
    problems = [*map(_key_problem, dict.fromkeys(keys)), *(_PROBLEMS[other] for other in others)]
    if not problems and not has_texts and not may_be_empty:
        problems = [_NO_OBJECT]
    return InForm(tuple(problems), has_texts, may_be_empty)


def _key_problem(name: str) -> Diagnostic:
    message = f"the key {shortened(json.dumps(name, ensure_ascii=False))} cannot be written in this form"
    help = "use another name, or a style that writes arguments as JSON"
    return Diagnostic("schema-form-key", message, pointer="", help=help)


_PROBLEMS = {
    "any order": Diagnostic(
        "schema-form-order",
        'property_order="any" needs a form that closes objects by a bracket',
        pointer="",
        help='use property_order="schema"',
    ),
    "equal numbers": Diagnostic(
        "schema-form-unique",
        "numbers that must differ, or must not, cannot be told apart in a form without quotes",
        pointer="",
        help="leave out `uniqueItems` and the like, or numbers",
    ),
    "equal composites": Diagnostic(
        "schema-form-unique",
        "arrays and objects that must differ cannot be told apart in this form",
        pointer="",
        help="leave out `uniqueItems`, or use a style that writes values as JSON",
    ),
    "counted keys": Diagnostic(
        "schema-form-order",
        "keys without names that must be there cannot be counted in any order in this form",
        pointer="",
        help='use property_order="schema"',
    ),
}
_NO_OBJECT = Diagnostic(
    "schema-form-object",
    "arguments are an object, and the schema allows none that this form can write",
    pointer="",
    help='use "type": "object"',
)


def _regexes() -> _core.RegexBuilder:
    return session.current().algebra.builder


def _key(form: Form, kind: str, by_id: tuple[str, ...]) -> list[_Piece]:
    """The pieces up to a value. A key is the same lexeme whatever kind it tells, so that keys can be told apart."""
    before, kind_of, after = form.key.partition("$type" if "$type" in form.key else "$string")
    if not kind_of:
        return _pieces(before, by_id)
    told = form.type_name(kind) if kind_of == "$type" else "true" if kind == "string" else "false"
    return [*_pieces(before, by_id), *_pieces(told + after, by_id)]


def _pieces(written: str, by_id: tuple[str, ...]) -> list[_Piece]:
    parts = re.split("(" + "|".join([*map(re.escape, by_id), r"\$gap"]) + ")", written)
    return [_piece(part, by_id) for part in parts if part]


def _piece(part: str, by_id: tuple[str, ...]) -> _Piece:
    if part == "$gap":
        return ("gap", "", "", 0)
    if part in by_id:
        return ("token", "", "", by_id.index(part))
    before, is_key, behind = part.partition("$key")
    return ("key", before, behind, 0) if is_key else ("text", part, "", 0)
