"""`x-guidance`: options that a schema brings along, as llguidance reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.options import GuidedOptions, JsonSchemaOptions, is_written_as_usual
from cfgmask.json_schema.values import JsonValue, escape

KEYWORD = "x-guidance"
POINTER = f"/{KEYWORD}"


def guided(schema: JsonValue, options: JsonSchemaOptions) -> tuple[JsonSchemaOptions, list[Diagnostic]]:
    """The options with what the root of a schema asks for, and what is wrong with that.

    What the caller chose goes before what the schema says: only options that have their defaults are replaced.
    """
    if not isinstance(schema, dict) or KEYWORD not in schema:
        return options, []
    asked = schema[KEYWORD]
    if not isinstance(asked, dict):
        return options, [_problem("", f"{KEYWORD} must be an object")]
    chosen: dict[str, Any] = {}
    problems = []
    for name, value in asked.items():
        if value is None and name in _NULLABLE:
            continue
        read = _KNOWN.get(name)
        if read is None:
            message = f'{KEYWORD} has no option "{name}" that is known here'
            problems.append(_problem(name, message, f"known are {', '.join(_KNOWN)}"))
            continue
        found = read(value)
        if found is None:
            problems.append(_problem(name, f"{name} must be {_FORMS.get(name, 'true or false')}"))
            continue
        try:
            if name not in (_ESCAPES, _GENERAL):
                replace(options, syntax="json", indent=None, **found)
        except ValueError as error:
            problems.append(_problem(name, str(error)))
            continue
        # A pattern for white space counts more than whether there is any, wherever it stands.
        chosen = {**found, **chosen} if name == "whitespace_flexible" else {**chosen, **found}
    allowed = _allowed(chosen.pop(_ESCAPES, None), chosen.pop(_GENERAL, None))
    defaults = {field.name: field.default for field in fields(options)}
    free = {name: value for name, value in chosen.items() if getattr(options, name) == defaults[name]}
    if options.indent is not None or options.syntax == "yaml":
        free = {name: value for name, value in free.items() if name not in _SPACING}
    options = replace(options, **free)
    if allowed is not None and options.syntax == "json" and options.escapes == "any":
        options = GuidedOptions(**vars(options), allowed_escapes=allowed)
    return options, problems


def writes_as_usual(schema: Any, options: JsonSchemaOptions) -> bool:
    """Whether printable characters of ASCII are all that it takes to write the values of a schema, a value or a text.

    Never raises: what is wrong with the schema is told of elsewhere.
    """
    if not is_written_as_usual(options):
        return False
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except (ValueError, RecursionError):
            return True
    return is_written_as_usual(guided(schema, options)[0])


_Reader = Callable[[JsonValue], "dict[str, Any] | None"]


def _text(option: str) -> _Reader:
    return lambda value: {option: value} if isinstance(value, str) else None


def _flag(true: dict[str, Any], false: dict[str, Any]) -> _Reader:
    return lambda value: (true if value else false) if isinstance(value, bool) else None


_ESCAPES = "json_allowed_escapes"
_GENERAL = "json_allow_general_unicode_escapes"
# What may follow a backslash.
_LETTERS = 'nrbtf\\"u'


def _allowed(letters: str | None, general: bool | None) -> str | None:
    """What the two options of escapes say together; None: all that JSON has may be there."""
    if letters is None and general is not False:
        return None
    allowed = _LETTERS if letters is None else "".join(letter for letter in _LETTERS if letter in letters)
    return allowed.replace("u", "U") if general else allowed


_KNOWN: dict[str, _Reader] = {
    "item_separator": _text("item_separator"),
    "key_separator": _text("key_separator"),
    "whitespace_flexible": _flag({}, {"whitespace": "compact"}),
    "whitespace_pattern": _text("whitespace"),
    "numbers": _text("numbers"),
    # `oneOf` is exact here in any case.
    "coerce_one_of": _flag({}, {}),
    "lenient": _flag({"on_unsupported": "relax"}, {}),
    _ESCAPES: lambda value: {_ESCAPES: value} if isinstance(value, str) and set(value) <= set(_LETTERS) else None,
    _GENERAL: _flag({_GENERAL: True}, {_GENERAL: False}),
}
# Those that may be null, which says nothing.
_NULLABLE = set(_KNOWN) - {"numbers"}
_SPACING = ("whitespace", "item_separator", "key_separator")
_FORMS = {
    **dict.fromkeys(("item_separator", "key_separator", "whitespace_pattern", "numbers"), "a string"),
    _ESCAPES: f"a string of letters of {_LETTERS}",
}


def _problem(name: str, message: str, help: str | None = None) -> Diagnostic:
    pointer = f"{POINTER}/{escape(name)}" if name else POINTER
    return Diagnostic("schema-guidance", message, pointer=pointer, help=help)
