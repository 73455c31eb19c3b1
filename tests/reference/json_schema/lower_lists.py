"""Arrays without equal items that are themselves a part of an item.

How many ends such a list may have depends on how many values are written of it: each that came is one less for the
next place. So its places are rules of their own from where there are few enough ends to be counted (`steps`), and the
grammar's register of the list (`Holds::kList` of the core) has all that came in it. Where its values are of several
kinds, it depends on how many of each came, and there is a rule for each state.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from typing import NamedTuple

from cfgmask.grammar.ir import Choice, Expr, Repeat, RuleRef, Sequence, Step, Terminal
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.item_kinds import Kind
from tests.reference.json_schema.kind_states import KindStates, State, last_first
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules
from tests.reference.json_schema.value_counts import ENDLESS, product


class ListEnds(NamedTuple):
    """How many ends a list may have.

    n_values  how many different values may be in it
    minimum   how many there must be
    most      how many there can be; None: any number
    first     behind fewer than so many, ends are endless; None: behind any number
    counts    the ends behind so many and each more
    """

    n_values: int
    minimum: int
    most: int | None
    first: int | None
    counts: tuple[int, ...]

    @classmethod
    def of(cls, n_values: int, minimum: int, maximum: int | None) -> ListEnds:
        """The ends of lists with bounds on their length."""
        most = maximum if n_values == ENDLESS else min(n_values, n_values if maximum is None else maximum)
        if most is None:
            return cls(n_values, minimum, None, None, ())
        if most < minimum:
            return cls(n_values, minimum, most, 0, (0,))
        found, place = [1], most
        while place and found[-1] < ENDLESS:
            place -= 1
            found.append(min((place >= minimum) + product(_left(n_values, place), found[-1]), ENDLESS))
        return cls(n_values, minimum, most, place, tuple(reversed(found)))

    @property
    def of_all(self) -> int:
        """How many lists there are."""
        return self.behind(0)

    def behind(self, n_written: int) -> int:
        """The number of ends that can follow `n_written` values."""
        if self.first is None or n_written < self.first:
            return ENDLESS
        return self.counts[n_written - self.first]

    def behind_comma(self, n_written: int) -> int:
        """The number of ends that can follow `n_written` values and a comma."""
        return product(_left(self.n_values, n_written), self.behind(n_written + 1))


class ListLowering:
    """Lowers lists.

    step     a place of its own with so many ends behind it
    element  the expression of a value of the list, with so many ends behind it
    """

    def __init__(
        self, ends: ListEnds, rules: RuleSet, step: Callable[[int], Step], element: Callable[[int], Expr]
    ) -> None:
        self._ends = ends
        self._rules = rules
        self._step = step
        self._element = element
        self._closing = step(1)

    def lower(self) -> Expr:
        """The expression of the whole list. Adds a rule for each place from which on ends are counted."""
        whole = self._counted() if self._ends.first == 0 else self._rule(self._from_endless())
        return Sequence((replace(lexemes.OPEN_ARRAY, step=self._step(self._ends.behind(0))), whole))

    def _close(self, n_written: int) -> Terminal:
        return replace(lexemes.close_array(n_written), step=self._closing)

    def _rule(self, body: Expr) -> RuleRef:
        name = self._rules.name("list")
        self._rules.bodies[name] = body
        return RuleRef(name)

    def _counted(self) -> RuleRef:
        """What comes behind the values whose ends are endless."""
        assert self._ends.first is not None
        assert self._ends.most is not None
        rest = self._rule(self._close(self._ends.most))
        for place in range(self._ends.most - 1, self._ends.first - 1, -1):
            comma = [replace(lexemes.COMMA, step=self._step(self._ends.behind_comma(place)))] if place else []
            further = Sequence((*comma, self._element(self._ends.behind(place + 1)), rest))
            rest = self._rule(Choice((self._close(place), further)) if place >= self._ends.minimum else further)
        return rest

    def _from_endless(self) -> Expr:
        """The list from its first value on, where ends behind that are endless."""
        value, first, least = self._element(ENDLESS), self._ends.first, max(self._ends.minimum - 1, 0)
        again = Sequence((replace(lexemes.COMMA, step=self._step(ENDLESS)), value))
        ways: list[Expr] = []
        if first is None or least <= first - 2:
            ways.append(Sequence((value, Repeat(again, least, None if first is None else first - 2), self._close(1))))
        if first is not None:
            # As long as there are endlessly many ends it does not matter how many values are still to come.
            before = [Repeat(again, first - 1, first - 1)] if first > 1 else []
            ways.append(Sequence((value, *before, self._counted())))
        return Choice((*([] if self._ends.minimum else [self._close(0)]), *ways))


class KindListEnds:
    """How many ends a list of values of several kinds may have. Raises Uncounted where it has too many states."""

    def __init__(self, shape: ArrayShape, kinds: SequenceOf[Kind]) -> None:
        self.arrays = KindStates(shape, kinds, [kind for kind in kinds if kind.n_values < ENDLESS])
        self.ways = self.arrays.ways()
        self._with_more: dict[State, int] = {}
        for state in last_first(self.ways, self.arrays.start):
            self._with_more[state] = self._count(state)

    def _count(self, state: State) -> int:
        found = sum(
            product(self.arrays.n_left(state, kind), self.behind(after))
            for after, kinds in self.ways[state].items()
            for kind in kinds
            if after != state
        )
        is_endless = state in self.ways[state] and (found or self.arrays.may_end(state))
        return ENDLESS if is_endless else min(found, ENDLESS)

    @property
    def of_all(self) -> int:
        """How many lists there are."""
        return self.behind(self.arrays.start)

    def behind(self, state: State) -> int:
        """How many there are in a state."""
        return min(int(self.arrays.may_end(state)) + self.with_more(state), ENDLESS)

    def with_more(self, state: State) -> int:
        """How many of them have a further value."""
        return self._with_more[state]


class KindListLowering:
    """Lowers lists of values of several kinds. Arguments as those of `ListLowering`.

    element  the expression of a value of a kind, with so many ends behind it
    """

    def __init__(
        self,
        ends: KindListEnds,
        rules: RuleSet,
        step: Callable[[int], Step],
        element: Callable[[Conjunction, int], Expr],
    ) -> None:
        self._ends = ends
        self._states = StateRules[State](rules, lambda state: f"list.{state.position}")
        self._step = step
        self._element = element
        self._closing = step(1)

    def lower(self) -> Expr:
        """The expression of the whole list. Adds a rule for each state that leads somewhere."""
        start = self._ends.arrays.start
        whole = self._states.call(start)
        self._states.fill(self._body)
        return Sequence((replace(lexemes.OPEN_ARRAY, step=self._step(self._ends.behind(start))), whole))

    def _close(self, n_written: int) -> Terminal:
        return replace(lexemes.close_array(n_written), step=self._closing)

    def _body(self, state: State) -> Expr:
        items: list[Expr] = []
        for after, kinds in self._ends.ways[state].items():
            n_ends = self._ends.behind(after)
            if n_ends:
                values = [self._element(kind.items, n_ends) for kind in kinds]
                items.append(Sequence((Choice(tuple(values)), self._states.call(after))))
        choices: list[Expr] = [self._close(state.position)] if self._ends.arrays.may_end(state) else []
        if items:
            comma = [replace(lexemes.COMMA, step=self._step(self._ends.with_more(state)))] if state.position else []
            choices.append(Sequence((*comma, Choice(tuple(items)))))
        return Choice(tuple(choices))


def _left(n_values: int, n_written: int) -> int:
    return ENDLESS if n_values == ENDLESS else n_values - n_written
