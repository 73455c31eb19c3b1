"""Arrays in which some items are equal.

Until an item is equal to one before it, items are written as if none were, so that the grammar's register has them, or
as one that came (`Holds::kAgain` of the core); from then on as in any array. A state of the array, see `kind_states`,
has the kinds of the items that came: of others there is none that could come again.

What is written of an array or an object may become either, a new one or one that came, as long as one of these begins
so. There may be no new one left. But of one that came keys may be written first behind which the rules have no others,
so where an item must be one that came arrays and objects are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from cfgmask.grammar.ir import Choice, Expr, Sequence, SetBounds
from cfgmask.grammar.productive import NOTHING
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.item_kinds import Kind
from tests.reference.json_schema.kind_states import KindStates, State, Ways, last_first, ways_from
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted


class _State(NamedTuple):
    """array  how far it is, equal items aside
    came   the kinds of the items that came; None once an item came again
    """

    array: State
    came: frozenset[Conjunction] | None


_Item: TypeAlias = tuple[Conjunction, Literal["new", "again", "any"]]


class RepeatingLowering:
    """Lowers one alternative of a set of arrays out of disjoint kinds of items.

    value_of       the expression of an item
    new_value_of   the same of one that is none of those in the register
    is_composite   whether there are arrays and objects in a kind
    """

    def __init__(
        self,
        shape: ArrayShape,
        rules: RuleSet,
        name: str,
        kinds: list[Conjunction],
        value_of: Callable[[Conjunction], Expr],
        new_value_of: Callable[[Conjunction], Expr],
        is_composite: Callable[[Conjunction], bool],
    ) -> None:
        self._arrays = KindStates(shape, [Kind(kind, ENDLESS) for kind in kinds], ())
        self._rules = rules
        self._value_of = value_of
        self._new_value_of = new_value_of
        self._is_composite = is_composite
        self._again: dict[Conjunction, Expr] = {}
        self._states = StateRules[_State](rules, lambda state: f"{name}.{state.array.position}")

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each state that leads somewhere.

        Raises Uncounted, before it adds any, where there are too many, and where an array or an object would have to be
        one that came.
        """
        start = _State(self._arrays.start, frozenset())
        ways = self._live(ways_from(start, self._steps), start)
        if any(map(self._asks_for_composite, ways.values())):
            raise Uncounted("the last item would have to be an array or an object that came before")
        if start not in ways:
            return NOTHING
        whole = Sequence((lexemes.OPEN_ARRAY, self._states.call(start)))
        self._states.fill(lambda state: self._body(state, ways[state]))
        return whole

    def _steps(self, state: _State) -> Iterator[tuple[_State, _Item]]:
        for after, kind in self._arrays.steps(state.array):
            if state.came is None:
                yield _State(after, None), (kind.items, "any")
                continue
            yield _State(after, state.came | {kind.items}), (kind.items, "new")
            if kind.items in state.came:
                yield _State(after, None), (kind.items, "again")

    def _live(self, ways: Ways[_State, _Item], start: _State) -> Ways[_State, _Item]:
        """Those that lead somewhere."""
        live: Ways[_State, _Item] = {}
        for state in last_first(ways, start):
            found = {after: items for after, items in ways[state].items() if after in live}
            if found or self._may_end(state):
                live[state] = {after: items for after, items in ways[state].items() if after in live or after == state}
        return live

    def _asks_for_composite(self, ways: dict[_State, list[_Item]]) -> bool:
        """Whether in a state some array or object may come again and no new one may."""
        items = {item for found in ways.values() for item in found}
        return any(how == "again" and (kind, "new") not in items and self._is_composite(kind) for kind, how in items)

    def _may_end(self, state: _State) -> bool:
        return state.came is None and self._arrays.may_end(state.array)

    def _body(self, state: _State, ways: dict[_State, list[_Item]]) -> Expr:
        choices: list[Expr] = [lexemes.close_array(state.array.position)] if self._may_end(state) else []
        comma = (lexemes.COMMA,) if state.array.position else ()
        for after, items in ways.items():
            values = tuple(self._item(*item) for item in items)
            choices.append(Sequence((*comma, Choice(values), self._states.call(after))))
        return Choice(tuple(choices))

    def _item(self, kind: Conjunction, how: str) -> Expr:
        if how == "any":
            return self._value_of(kind)
        if how == "new":
            return self._new_value_of(kind)
        if kind not in self._again:
            self._again[kind] = self._rules.opened("again", self._new_value_of(kind), SetBounds(holds="again"))
        return self._again[kind]
