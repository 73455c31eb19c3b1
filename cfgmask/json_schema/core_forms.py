"""Forms of arguments as the core has them: the rules of a tool are made when a text first reaches it.

The core writes what most tools have: objects whose keys have names, in all forms. `in_form` writes everything else, at
once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from cfgmask import _core
from cfgmask.json_schema import session
from cfgmask.json_schema.forms import FORMS, Form
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex

PlainSchema: TypeAlias = _core.PlainSchema

_Piece: TypeAlias = tuple[str, str, str, int]

# In the order of `PlainSchema::Kind` in the core.
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
def core_form(name: str, markers: frozenset[str]) -> CoreForm | None:
    """The form of a name, with these markers written by id; None if the core does not write it."""
    form = FORMS[name]
    values = _values(name, form)
    if values is None:
        return None
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


def _values(name: str, form: Form) -> str | None:
    """The values that the core does not write as text; None for forms that it does not write."""
    if name == "python":
        return "python object"
    if form.strings == "delimited":
        return "delimited object"
    if form.item[0]:
        return "tags"
    if form.open or form.close or form.quotes or "$key" in form.end:
        return None
    if form.strings == "python":
        return "python" if form.nested == "python" and form.words == "either" and not form.end else None
    if form.strings != "raw" or form.separator or form.words == "python":
        return None
    return {"json": "json", "python": "python inside"}.get(form.nested)


def may_be_empty_in(schemas: Sequence[PlainSchema], form: CoreForm) -> list[bool | None]:
    """Whether the arguments may be the empty text; None for schemas that the core cannot write in the form.

    Raises LimitExceeded.
    """
    found = [schema.in_form(form.core, _regexes) for schema in schemas]

    def fits(names: list[str]) -> bool:
        return not names or form.keys.fullmatch("\n".join((*names, ""))) is not None

    return [one[1] if one is not None and fits(one[0]) else None for one in found]


def _regexes() -> _core.RegexBuilder:
    return session.current().algebra.builder


def _key(form: Form, kind: str, by_id: tuple[str, ...]) -> list[_Piece]:
    """The pieces up to a value."""
    written = form.key.replace("$type", form.type_name(kind))
    return _pieces(written.replace("$string", "true" if kind == "string" else "false"), by_id)


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
