"""What is wrong with the patterns of a schema."""

from __future__ import annotations

from collections.abc import Iterable

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.scalar_keywords import allowed_types, read_pattern
from cfgmask.json_schema.values import escape
from cfgmask.limits import Limits


def pattern_problems(reached: Iterable[Node], options: JsonSchemaOptions, limits: Limits) -> list[Diagnostic]:
    """The errors of all patterns that restrict something, at their places.

    Raises LimitExceeded: what reading a pattern raises, and max_rules where too many are not read by the core.
    """
    found: list[Diagnostic] = []
    for node in reached:
        types = allowed_types(node)
        pattern = node.get("pattern")
        if isinstance(pattern, str) and "string" in types:
            found += read_pattern(pattern, node.at("pattern"), limits, options.pattern_dialect).refusals
        patterns = node.get("patternProperties")
        for name in patterns if isinstance(patterns, dict) and "object" in types else ():
            pointer = f"{node.at('patternProperties')}/{escape(name)}"
            found += read_pattern(name, pointer, limits, options.pattern_dialect).refusals
    return found
