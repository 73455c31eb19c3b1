"""Arrays in which no item is equal to another, where what is asked of them could use up some kind of items.

The grammar's register of seen values tells items apart and does not look ahead. So a state is how many items of each
kind came, as far as there may be too few of it; whichever they were, no other number is left. Nothing is begun that
would leave too few items for the places and witnesses that are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Sequence as SequenceOf

from cfgmask.grammar.ir import Choice, Expr, Sequence
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.item_kinds import Kind
from tests.reference.json_schema.kind_states import KindStates, State, ways_from
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules
from tests.reference.json_schema.unique_items import must_be_filled


class UniqueLowering:
    """Lowers one alternative of a set of arrays out of disjoint kinds of items.

    value_of  the expression of an item of a kind
    """

    def __init__(
        self,
        shape: ArrayShape,
        rules: RuleSet,
        name: str,
        kinds: SequenceOf[Kind],
        value_of: Callable[[Conjunction], Expr],
    ) -> None:
        self._value_of = value_of
        scarce = [kind for kind in kinds if kind.n_values < horizon(shape)]
        self._arrays = KindStates(shape, kinds, scarce)
        self._states = StateRules[State](rules, lambda state: f"{name}.{state.position}")

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each state, of which some may lead nowhere.

        Raises Uncounted, before it adds any, where there are too many.
        """
        ways = ways_from(self._arrays.start, self._steps)
        whole = Sequence((lexemes.OPEN_ARRAY, self._states.call(self._arrays.start)))
        self._states.fill(lambda state: self._body(state, ways[state]))
        return whole

    def _steps(self, state: State) -> Iterator[tuple[State, Kind]]:
        """Counting stops when nothing more is required."""
        for after, kind in self._arrays.steps(state):
            yield after._replace(used=self._arrays.start.used) if self._arrays.may_end(after) else after, kind

    def _body(self, state: State, ways: dict[State, list[Kind]]) -> Expr:
        choices: list[Expr] = [lexemes.close_array(state.position)] if self._arrays.may_end(state) else []
        comma = (lexemes.COMMA,) if state.position else ()
        for after, kinds in ways.items():
            items = [self._value_of(kind.items) for kind in kinds]
            item = items[0] if len(items) == 1 else Choice(tuple(items))
            choices.append(Sequence((*comma, item, self._states.call(after))))
        return Choice(tuple(choices))


def horizon(shape: ArrayShape) -> int:
    """Of how many items something may be asked. A kind that has so many values does not run out before.

    In a place that must be filled fewer came, and of those that a witness asks for, at most `start` went uncounted.
    """
    return max([must_be_filled(shape), *(witness.start + witness.least for witness in shape.witnesses)])
