"""What is wrong with the patterns of a schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.session import STEPS_PER_QUESTION, current
from cfgmask.json_schema.survey import allowed_types
from cfgmask.json_schema.values import escape
from cfgmask.limits import Limits
from cfgmask.regex import DialectName, parse_regex

_LOOKING = re.compile(r"\(\?<?[=!]|\\[bB]")
"""A possible assertion other than an anchor; inside a class the same characters mean something else."""
# Of `Session.spend`, for a pattern without assertions.
_STEPS_PER_PATTERN = 8


def pattern_problems(reached: Iterable[Node], options: JsonSchemaOptions, limits: Limits) -> list[Diagnostic]:
    """The errors of all patterns that restrict something, at their places.

    Raises LimitExceeded: what reading a pattern raises, and max_rules where too many are not read by the core.
    """
    found: list[Diagnostic] = []
    for node in reached:
        types = allowed_types(node)
        pattern = node.get("pattern")
        if isinstance(pattern, str) and "string" in types:
            found += pattern_errors(pattern, node.at("pattern"), limits, options.pattern_dialect)
        patterns = node.get("patternProperties")
        for name in patterns if isinstance(patterns, dict) and "object" in types else ():
            pointer = f"{node.at('patternProperties')}/{escape(name)}"
            found += pattern_errors(name, pointer, limits, options.pattern_dialect)
    return found


def pattern_errors(pattern: str, pointer: str, limits: Limits, dialect: DialectName) -> Iterator[Diagnostic]:
    """The errors of one pattern, at a place. Raises as `pattern_problems`."""
    # Each character takes a microsecond or two, and a short pattern with assertions as long as a question.
    current().spend((STEPS_PER_QUESTION if _LOOKING.search(pattern) else _STEPS_PER_PATTERN) + len(pattern))
    try:
        parse_regex(pattern, dialect=dialect, context="search", limits=limits)
    except GrammarError as error:
        other = _other_dialect(pattern, limits) if dialect == "ecma" else None
        hint = "" if other is None else f'; or pass `pattern_dialect="{other}"`, which reads it as it is'
        for problem in error.diagnostics:
            if problem.severity == "error":
                help = f"{problem.help or 'write it as ECMA-262 does'}{hint}"
                yield replace(problem, pointer=pointer, help=help)


def _other_dialect(pattern: str, limits: Limits) -> DialectName | None:
    """The dialect that reads a pattern which ECMA-262 does not."""
    others: tuple[DialectName, ...] = ("python", "rust")
    for dialect in others:
        try:
            parse_regex(pattern, dialect=dialect, context="search", limits=limits)
        except (GrammarError, LimitExceeded):
            continue
        return dialect
    return None
