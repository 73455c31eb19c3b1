"""Arrays in which no item is equal to another, where what is asked of them could use up some kind of items.

The grammar's register of seen values tells items apart and does not look ahead. So a state is how many items of each
kind came, as far as there may be too few of it; whichever they were, no other number is left. Nothing is begun that
would leave too few items for the places and witnesses that are still to come.
"""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from typing import NamedTuple

from cfgmask.grammar.ir import Choice, Expr, Sequence
from cfgmask.json_schema import lexemes
from cfgmask.json_schema.item_kinds import Kind
from cfgmask.json_schema.normal_form import ArrayShape
from cfgmask.json_schema.rules import RuleSet
from cfgmask.json_schema.session import current
from cfgmask.json_schema.state_rules import StateRules
from cfgmask.json_schema.value_counts import Uncounted

_MAX_STATES = 10_000


class _State(NamedTuple):
    """position  how many items are written, as far as that matters
    met       how many of them met each of the witnesses, as far as that matters
    used      how many of them are of each scarce kind; none once nothing more is asked for
    """

    position: int
    met: tuple[int, ...]
    used: tuple[int, ...]


class UniqueLowering:
    """Lowers one alternative of a set of arrays out of disjoint kinds of items."""

    def __init__(self, shape: ArrayShape, rules: RuleSet, name: str, kinds: SequenceOf[Kind]) -> None:
        self._shape = shape
        self._kinds = kinds
        self._scarce = [kind for kind in kinds if kind.n_values < horizon(shape)]
        starts = [witness.start for witness in shape.witnesses]
        self._counted_to = max(1, len(shape.prefix), shape.minimum, shape.maximum or 0, *starts)
        self._states = StateRules[_State](rules, lambda state: f"{name}.{state.position}")

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each state, of which some may lead nowhere.

        Raises Uncounted, before it adds any, where there are too many.
        """
        start = _State(0, (0,) * len(self._shape.witnesses), (0,) * len(self._scarce))
        ways = self._ways_from(start)
        whole = Sequence((lexemes.OPEN_ARRAY, self._states.call(start)))
        self._states.fill(lambda state: self._body(state, ways[state]))
        return whole

    def _ways_from(self, start: _State) -> dict[_State, dict[_State, list[Kind]]]:
        """For each state what items lead from it where."""
        ways: dict[_State, dict[_State, list[Kind]]] = {}
        todo = [start]
        while todo:
            state = todo.pop()
            if state in ways:
                continue
            if len(ways) == _MAX_STATES:
                raise Uncounted("there are too many ways to use up kinds of items of which there are few")
            current().spend(len(self._kinds))
            ways[state] = self._ways(state)
            todo += ways[state]
        return ways

    def _ways(self, state: _State) -> dict[_State, list[Kind]]:
        found: dict[_State, list[Kind]] = {}
        if self._shape.maximum is None or state.position < self._shape.maximum:
            place = self._shape.item(state.position)
            for kind in self._kinds:
                after = self._after(state, kind) if kind.is_in(place) else None
                if after is not None:
                    found.setdefault(after, []).append(kind)
        return found

    def _after(self, state: _State, kind: Kind) -> _State | None:
        """The state after an item of a kind; None if that must not come."""
        met = list(state.met)
        for number, witness in enumerate(self._shape.witnesses):
            if state.position < witness.start or not kind.is_in(witness.value):
                continue
            if met[number] == witness.most:
                return None
            met[number] = min(met[number] + 1, witness.least if witness.most is None else witness.most)
        used = tuple(n + (other is kind) for n, other in zip(state.used, self._scarce, strict=True))
        if any(n > other.n_values for n, other in zip(used, self._scarce, strict=True)):
            return None
        after = _State(min(state.position + 1, self._counted_to), tuple(met), used)
        return after._replace(used=(0,) * len(used)) if self._may_end(after) else after

    def _may_end(self, state: _State) -> bool:
        met = zip(state.met, self._shape.witnesses, strict=True)
        return state.position >= self._shape.minimum and all(n >= witness.least for n, witness in met)

    def _body(self, state: _State, ways: dict[_State, list[Kind]]) -> Expr:
        choices: list[Expr] = [lexemes.CLOSE_ARRAY] if self._may_end(state) else []
        comma = (lexemes.COMMA,) if state.position else ()
        for after, kinds in ways.items():
            items = [kind.expr for kind in kinds]
            item = items[0] if len(items) == 1 else Choice(tuple(items))
            choices.append(Sequence((*comma, item, self._states.call(after))))
        return Choice(tuple(choices))


def horizon(shape: ArrayShape) -> int:
    """Of how many items something may be asked. A kind that has so many values does not run out before.

    In a place that must be filled fewer came, and of those that a witness asks for, at most `start` went uncounted.
    """
    return max([shape.minimum, *(witness.start + witness.least for witness in shape.witnesses)])
