"""JSON Schema to grammar. What is named here is the whole interface; `reading` tells how a schema is read.

What is not asked for is not imported: Lark grammars with a `%regex` of numbers need two modules of seventy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfgmask.json_schema.core_reader import read_all_at_once, read_at_once
    from cfgmask.json_schema.core_rules import core_grammar
    from cfgmask.json_schema.covered import Covered, coverage, coverage_of
    from cfgmask.json_schema.forms import FORMS
    from cfgmask.json_schema.notes import schema_notes
    from cfgmask.json_schema.options import JsonSchemaOptions
    from cfgmask.json_schema.part import schema_part
    from cfgmask.json_schema.reading import attempt, read_schema

__all__ = [
    "FORMS",
    "Covered",
    "JsonSchemaOptions",
    "attempt",
    "core_grammar",
    "coverage",
    "coverage_of",
    "read_all_at_once",
    "read_at_once",
    "read_schema",
    "schema_notes",
    "schema_part",
]

_MODULES = {
    "Covered": "covered",
    "FORMS": "forms",
    "JsonSchemaOptions": "options",
    "attempt": "reading",
    "core_grammar": "core_rules",
    "coverage": "covered",
    "coverage_of": "covered",
    "read_at_once": "core_reader",
    "read_all_at_once": "core_reader",
    "read_schema": "reading",
    "schema_notes": "notes",
    "schema_part": "part",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Found without this function from now on.
    return globals().setdefault(name, getattr(import_module(f"{__name__}.{_MODULES[name]}"), name))
