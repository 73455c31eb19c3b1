"""The schemas of a list of tools, and that of an answer: read together, and made into nodes when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Part
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.limits import Limits
from cfgmask.tags.forms import ReadSchemas, read_schemas, schema_part, schema_rules
from cfgmask.tags.nodes import LaterSchema, Schema, type_of
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
        self._read: dict[int, tuple[ReadSchemas, int] | None] = {}

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

    def read_together(self, numbers: list[int], form: str) -> ReadSchemas | None:
        """Some schemas in a form as the core reads them; no schema is read twice.

        None where they take more than the limits allow: `parts` raises that with a place.
        """
        try:
            found = read_schemas([self._said[number] for number in numbers], form, self._options, self._limits)
        except LimitExceeded:
            found = None
        for i, number in enumerate(numbers):
            self._read[number] = None if found is None else (found, i)
            if self._later[number] is not None:
                # The rest is the caller's, who may change it.
                self._said[number] = {"type": type_of(self._said[number])}
        return found

    def types(self, numbers: Iterable[int]) -> list[Any]:
        """The values of `type` in schemas."""
        return [type_of(self._said[number]) for number in numbers]

    def parts(self, problems: list[Diagnostic], besides: Collection[int] = ()) -> dict[int, Part]:
        """The schemas that the core reads, by the identity of their nodes; adds what is wrong with the others.

        besides  the numbers of schemas that the core has read, of which no parts are made
        Raises LimitExceeded with the place of a schema.
        """
        for form in dict.fromkeys(self._forms):
            numbers = [number for number, one in enumerate(self._forms) if one == form and number not in self._read]
            self.read_together(numbers, form)
        found: dict[int, Part] = {}
        for number in range(len(self._said)):
            if number in besides:
                continue
            node, name, read = self.node(number), f"%tool#{number}:", self._read[number]
            part = None if read is None else read[0].part(read[1], node, name, self._limits, NO_TOKENS)
            try:
                part = part or schema_part(node, name, self._limits, NO_TOKENS)
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
        """The same error with its place: some limits are for one schema, others for all schemas together."""
        place = self._places[number]
        detail = f"the schema at {place}"
        if error.limit in ("max_rules", "max_search_steps") and number > 0:
            detail = f"{number + 1} of the {len(self._said)} schemas together, up to the one at {place}"
        return LimitExceeded(error.limit, error.value, detail)
