"""JSON Schema to grammar. `lower_schema` is the whole interface; how it works is told in `lower`."""

from __future__ import annotations

from cfgmask.json_schema.lower import lower_schema
from cfgmask.json_schema.options import JsonSchemaOptions

__all__ = ["JsonSchemaOptions", "lower_schema"]
