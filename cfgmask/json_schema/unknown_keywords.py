"""Whether a schema has keywords that `unknown_keywords="error"` refuses, found without reading it whole."""

from __future__ import annotations

from typing import Any

from cfgmask.errors import CfgmaskError
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.survey import survey
from cfgmask.json_schema.values import read_object, read_text
from cfgmask.limits import Limits

_CODES = frozenset(["schema-misspelt-keyword", "schema-unknown-keyword"])


def has_unknown_keywords(schema: Any, options: JsonSchemaOptions, limits: Limits) -> bool:
    """Whether the schema has an unknown keyword, or anything else that prevents its survey. Linear."""
    try:
        document = read_text(schema, None, limits) if isinstance(schema, str) else read_object(schema, limits)
        found = survey(Schemas(document.value, limits), options)
    except CfgmaskError:
        return True
    return any(error.code in _CODES for error in found.errors)
