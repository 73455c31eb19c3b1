"""JSON Schema to grammar. `lower_schema` and `coverage` are the whole interface; how it works is told in `lower`."""

from __future__ import annotations

from cfgmask.json_schema.coverage import Covered, coverage
from cfgmask.json_schema.lower import lower_schema
from cfgmask.json_schema.options import JsonSchemaOptions

__all__ = ["Covered", "JsonSchemaOptions", "coverage", "lower_schema"]
