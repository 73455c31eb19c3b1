"""Values of a JSON Schema as rules: one function, whatever the form in which they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from cfgmask.grammar.ir import GrammarIR
from cfgmask.json_schema import lower_schema
from cfgmask.limits import Limits
from cfgmask.tags.nodes import Schema

Form: TypeAlias = Callable[[Schema, str, Limits], GrammarIR]
"""(node, prefix of the names of all rules, limits) to rules. Raises GrammarError, with pointers into the schema."""


def _json(node: Schema, prefix: str, limits: Limits) -> GrammarIR:
    return lower_schema(node.schema, options=node.options, prefix=prefix, limits=limits)


FORMS: dict[str, Form] = {"json": _json}
"""By the names that xgrammar gives the `style` of a schema."""


def schema_rules(node: Schema, prefix: str, limits: Limits) -> GrammarIR:
    """The rules of the values, for a node whose form is one of `FORMS`."""
    return FORMS[node.form](node, prefix, limits)
