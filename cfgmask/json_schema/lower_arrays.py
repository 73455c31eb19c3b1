"""Sets of arrays to rules.

Items that are alike are a counted repetition, never unrolled. Items that differ by position are a chain of rules whose
calls stand in tail position. Where some item must have a certain value, the chain also knows whether it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Choice, Expr, Repeat, RuleRef, Sequence
from cfgmask.json_schema import lexemes
from cfgmask.json_schema.lower_objects import ValueOf
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, conjoin
from cfgmask.json_schema.rules import RuleSet

# An array with witnesses needs a rule for each position up to its bounds.
MAX_COUNTED_ITEMS = 1_000


class _State(NamedTuple):
    """position  how many items are written, at most `_ArrayLowering.counted_to`
    missing   the numbers of the witnesses that are not met yet
    """

    position: int
    missing: frozenset[int]


class ArrayLowering:
    """Lowers one alternative of a set of arrays. Arguments as those of `ObjectLowering`."""

    def __init__(self, shape: ArrayShape, rules: RuleSet, name: str, value_of: ValueOf, pointer: str) -> None:
        self._shape = shape
        self._rules = rules
        self._name = name
        self._value_of = value_of
        self._pointer = pointer
        self._state_rules: dict[_State, str] = {}
        self._todo: list[_State] = []
        bounds = [len(shape.prefix)]
        if shape.witnesses:
            bounds += [1, shape.minimum, shape.maximum or 0, *(witness.start for witness in shape.witnesses)]
        self._counted_to = min(max(bounds), max(MAX_COUNTED_ITEMS, len(shape.prefix)))

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each position that differs from the others."""
        start = self._call(_State(0, frozenset(range(len(self._shape.witnesses)))))
        self._rules.refuse(start.name, [*self._shape.refusals, *self._inexact()])
        while self._todo:
            state = self._todo.pop()
            self._rules.bodies[self._state_rules[state]] = self._body(state)
        return Sequence((lexemes.OPEN_ARRAY, start))

    def _call(self, state: _State) -> RuleRef:
        rule = self._state_rules.get(state)
        if rule is None:
            rule = self._state_rules[state] = self._rules.name(f"{self._name}.{state.position}")
            self._todo.append(state)
        return RuleRef(rule)

    def _body(self, state: _State) -> Expr:
        if not state.missing and state.position >= len(self._shape.prefix):
            return self._alike(state.position)
        choices: list[Expr] = []
        if not state.missing and state.position >= self._shape.minimum:
            choices.append(lexemes.CLOSE_ARRAY)
        if self._shape.maximum is None or state.position < self._shape.maximum:
            comma = (lexemes.COMMA,) if state.position else ()
            for value, missing in self._values(state):
                after = _State(min(state.position + 1, self._counted_to), missing)
                choices.append(Sequence((*comma, self._value_of(value), self._call(after))))
        return Choice(tuple(choices))

    def _values(self, state: _State) -> list[tuple[Conjunction, frozenset[int]]]:
        """What the next item may be, with the witnesses that are still missing after it."""
        found = [(self._shape.item(state.position), state.missing)]
        for number in sorted(state.missing):
            witness = self._shape.witnesses[number]
            if state.position >= witness.start:
                found += [(conjoin(value, witness.value), rest - {number}) for value, rest in found]
        return found

    def _alike(self, index: int) -> Expr:
        """The items after those that have a position of their own, and the closing bracket."""
        least = max(self._shape.minimum - index, 0)
        most = None if self._shape.maximum is None else self._shape.maximum - index
        if most is not None and most <= 0:
            return lexemes.CLOSE_ARRAY if least == 0 else Choice(())
        item = self._value_of(self._shape.rest)
        if index:
            return Sequence((Repeat(Sequence((lexemes.COMMA, item)), least, most), lexemes.CLOSE_ARRAY))
        more = Repeat(Sequence((lexemes.COMMA, item)), max(least - 1, 0), None if most is None else most - 1)
        some = Sequence((item, more, lexemes.CLOSE_ARRAY))
        return some if least else Choice((lexemes.CLOSE_ARRAY, some))

    def _inexact(self) -> Iterator[Diagnostic]:
        """Conditions that these rules do not express."""
        if self._shape.unique_at is not None and self._shape.maximum not in (0, 1):
            yield Diagnostic(
                "schema-unique-items",
                "uniqueItems is not supported yet for arrays that may have more than one item",
                pointer=self._shape.unique_at,
                help="take it out and check the finished value",
            )
        bounds = [self._shape.minimum, self._shape.maximum or 0, *(w.start for w in self._shape.witnesses)]
        if self._shape.witnesses and max(bounds) > MAX_COUNTED_ITEMS:
            yield Diagnostic(
                "schema-contains-size",
                f"contains can be enforced where minItems and maxItems are at most {MAX_COUNTED_ITEMS}",
                pointer=self._pointer,
                help="make the bounds smaller",
            )
