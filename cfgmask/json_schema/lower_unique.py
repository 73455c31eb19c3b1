"""Arrays in which no item is equal to another, and items may be one of a few arrays or objects.

The grammar's register of seen values tells scalars apart; for the others a state is which of them came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cfgmask.grammar.ir import Choice, Expr, Sequence
from cfgmask.json_schema import lexemes
from cfgmask.json_schema.lower_objects import ValueOf
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Constant
from cfgmask.json_schema.rules import RuleSet
from cfgmask.json_schema.state_rules import StateRules


class _State(NamedTuple):
    """position  how many items are written, as far as that matters
    seen      the arrays and objects among them
    """

    position: int
    seen: frozenset[Constant]


class UniqueLowering:
    """Lowers one alternative of a set of arrays.

    scalar_of     the expression of the scalars of a conjunction, which the register tells apart; None: there are none
    composites    the arrays and objects of a conjunction
    value_of      the expression of a constant
    """

    def __init__(
        self,
        shape: ArrayShape,
        rules: RuleSet,
        name: str,
        scalar_of: Callable[[Conjunction], Expr | None],
        composites: Callable[[Conjunction], tuple[Constant, ...]],
        value_of: ValueOf,
    ) -> None:
        self._shape = shape
        self._scalar_of = scalar_of
        self._composites = composites
        self._value_of = value_of
        self._counted_to = max(1, len(shape.prefix), shape.minimum, shape.maximum or 0)
        self._states = StateRules[_State](rules, lambda state: f"{name}.{state.position}")

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each state, of which some may lead nowhere."""
        start = self._states.call(_State(0, frozenset()))
        self._states.fill(self._body)
        return Sequence((lexemes.OPEN_ARRAY, start))

    def _body(self, state: _State) -> Expr:
        choices: list[Expr] = [lexemes.CLOSE_ARRAY] if state.position >= self._shape.minimum else []
        if self._shape.maximum is None or state.position < self._shape.maximum:
            item = self._shape.item(state.position)
            comma = (lexemes.COMMA,) if state.position else ()
            position = min(state.position + 1, self._counted_to)
            scalar = self._scalar_of(item)
            if scalar is not None:
                choices.append(Sequence((*comma, scalar, self._states.call(_State(position, state.seen)))))
            for value in self._composites(item):
                if value not in state.seen:
                    after = self._states.call(_State(position, state.seen | {value}))
                    choices.append(Sequence((*comma, self._value_of((value,)), after)))
        return Choice(tuple(choices))
