"""The schemas of a list of tools, and that of an answer: read together, and made into nodes when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Part
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.limits import Limits
from cfgmask.tags.forms import ReadSchemas, read_schemas, schema_part, schema_rules
from cfgmask.tags.nodes import LaterSchema, Schema
from cfgmask.tags.problems import placed
from cfgmask.tags.token_ids import NO_TOKENS


class Schemas:
    """Schemas by their numbers, which are their order."""

    def __init__(self, options: JsonSchemaOptions, limits: Limits) -> None:
        self._options = options
        self._limits = limits
        self._said: list[Any] = []
        self._later: list[Callable[[], Any] | None] = []
        self._forms: list[str] = []
        self._places: list[str] = []
        self._nodes: dict[int, Schema] = {}
        self._read: dict[str, tuple[list[int], ReadSchemas | None]] = {}

    def add(self, schema: Any, form: str, at: str, later: Callable[[], Any] | None = None) -> int:
        """The number of a schema in a form, found at a place of the list of tools.

        later  makes an equal schema, which is asked for when `schema` may have changed; None: it does not change
        """
        self._said.append(schema)
        self._later.append(later)
        self._forms.append(form)
        self._places.append(at)
        return len(self._said) - 1

    def node(self, number: int) -> Schema:
        """The node of a schema, the same whenever it is asked for."""
        known = self._nodes.get(number)
        if known is None:
            later, form, at = self._later[number], self._forms[number], self._places[number]
            if later is None:
                known = Schema(self._said[number], form, self._options, at=at)
            else:
                known = LaterSchema(later, form, self._options, at)
            self._nodes[number] = known
        return known

    def read(self, form: str) -> tuple[list[int], ReadSchemas | None]:
        """The numbers of the schemas in a form, and what the core reads of them, without looking at them again.

        None where they take more than the limits allow, which has to be told with a place.
        """
        if form not in self._read:
            numbers = [number for number, one in enumerate(self._forms) if one == form]
            try:
                found = read_schemas([self._said[number] for number in numbers], form, self._options, self._limits)
            except LimitExceeded:
                found = None
            self._read[form] = numbers, found
            for number in numbers:
                if self._later[number] is not None:
                    self._said[number] = None
        return self._read[form]

    def parts(self, problems: list[Diagnostic]) -> dict[int, Part]:
        """The schemas that the core reads, by the identity of their nodes; adds what is wrong with the others.

        Raises LimitExceeded with the place of a schema.
        """
        parts: dict[int, Part | None] = {}
        for form in dict.fromkeys(self._forms):
            numbers, read = self.read(form)
            if read is not None:
                for i, number in enumerate(numbers):
                    parts[number] = read.part(i, self.node(number), _name(number), self._limits, NO_TOKENS)
        found: dict[int, Part] = {}
        for number in range(len(self._said)):
            node = self.node(number)
            part = parts.get(number)
            try:
                part = part or schema_part(node, _name(number), self._limits, NO_TOKENS)
                if part is None:
                    schema_rules(node, "", self._limits, NO_TOKENS)
                else:
                    found[id(node)] = part
            except GrammarError as error:
                problems += placed(error.diagnostics, node.at)
            except LimitExceeded as error:
                raise self._placed_limit(error, number) from None
        return found

    def _placed_limit(self, error: LimitExceeded, number: int) -> LimitExceeded:
        """What was exceeded, and by which schemas: some limits are those of one schema, others of all together."""
        place = self._places[number]
        detail = f"the schema at {place}"
        if error.limit in ("max_rules", "max_search_steps") and number > 0:
            detail = f"{number + 1} of the {len(self._said)} schemas together, up to the one at {place}"
        return LimitExceeded(error.limit, error.value, detail)


def _name(number: int) -> str:
    return f"%tool#{number}:"
