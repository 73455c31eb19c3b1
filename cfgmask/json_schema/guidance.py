"""`x-guidance`: options that a schema brings along, as llguidance reads them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.options import JsonSchemaOptions
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
            help = f"known are {', '.join(_KNOWN)}"
            if name == _UNSUPPORTED:
                message, help = f"{name} is not supported", 'the option escapes="canonical" has one spelling for each'
            problems.append(_problem(name, message, help))
            continue
        found = read(value)
        if found is None:
            problems.append(_problem(name, f"{name} must be {'a string' if name in _TEXTS else 'true or false'}"))
            continue
        try:
            replace(options, syntax="json", indent=None, **found)
        except ValueError as error:
            problems.append(_problem(name, str(error)))
            continue
        # A pattern for white space counts more than whether there is any, wherever it stands.
        chosen = {**found, **chosen} if name == "whitespace_flexible" else {**chosen, **found}
    defaults = {field.name: field.default for field in fields(options)}
    free = {name: value for name, value in chosen.items() if getattr(options, name) == defaults[name]}
    if options.indent is not None or options.syntax == "yaml":
        free = {name: value for name, value in free.items() if name not in _SPACING}
    return replace(options, **free), problems


_Reader = Callable[[JsonValue], "dict[str, Any] | None"]


def _text(option: str) -> _Reader:
    return lambda value: {option: value} if isinstance(value, str) else None


def _flag(true: dict[str, Any], false: dict[str, Any]) -> _Reader:
    return lambda value: (true if value else false) if isinstance(value, bool) else None


_KNOWN: dict[str, _Reader] = {
    "item_separator": _text("item_separator"),
    "key_separator": _text("key_separator"),
    "whitespace_flexible": _flag({}, {"whitespace": "compact"}),
    "whitespace_pattern": _text("whitespace"),
    "numbers": _text("numbers"),
    # `oneOf` is exact here in any case.
    "coerce_one_of": _flag({}, {}),
    "lenient": _flag({"on_unsupported": "relax"}, {}),
    # Strings are written in every spelling in any case.
    "json_allow_general_unicode_escapes": _flag({}, {}),
}
_UNSUPPORTED = "json_allowed_escapes"
# Those that may be null, which says nothing.
_NULLABLE = {*_KNOWN, _UNSUPPORTED} - {"numbers"}
_SPACING = ("whitespace", "item_separator", "key_separator")
_TEXTS = ("item_separator", "key_separator", "whitespace_pattern", "numbers")


def _problem(name: str, message: str, help: str | None = None) -> Diagnostic:
    pointer = f"{POINTER}/{escape(name)}" if name else POINTER
    return Diagnostic("schema-guidance", message, pointer=pointer, help=help)
