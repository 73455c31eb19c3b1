"""JSON Schema to grammar. What is named here is the whole interface; how it works is told in `lower`."""

from __future__ import annotations

from cfgmask.json_schema.coverage import Covered, coverage, coverage_of
from cfgmask.json_schema.lower import attempt, lower_schema
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.plain import Plain, plain_schema

__all__ = [
    "Covered",
    "JsonSchemaOptions",
    "Plain",
    "attempt",
    "coverage",
    "coverage_of",
    "lower_schema",
    "plain_schema",
]
