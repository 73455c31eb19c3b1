"""How far an array is that is written as items of kinds: what lies ahead of it and which items lead where.

Kinds share no value, so an item leads to one state wherever it stands, and of a state the rest of the array depends.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from cfgmask.json_schema.session import current
from tests.reference.json_schema.item_kinds import Kind
from tests.reference.json_schema.normal_form import ArrayShape
from tests.reference.json_schema.value_counts import Uncounted

_MAX_STATES = 10_000


class State(NamedTuple):
    """position  how many items are written, as far as that matters
    met       how many of them met each of the witnesses, as far as that matters
    used      how many of them are of each kind that is counted
    """

    position: int
    met: tuple[int, ...]
    used: tuple[int, ...]


AnyState = TypeVar("AnyState", bound=Hashable)
Step = TypeVar("Step")
Ways: TypeAlias = dict[AnyState, dict[AnyState, list[Step]]]
"""For each state what leads from it where. No state leads back to one before it, but it may to itself."""


class KindStates:
    """The states of the arrays of one shape.

    kinds    what its items may be
    counted  those of them that may be used up
    """

    def __init__(self, shape: ArrayShape, kinds: Sequence[Kind], counted: Sequence[Kind]) -> None:
        self._shape = shape
        self._kinds = kinds
        self._counted = counted
        starts = [witness.start for witness in shape.witnesses]
        self._counted_to = max(1, len(shape.prefix), shape.minimum, shape.maximum or 0, *starts)
        # Kinds are known by their identity: a hash looks at all their terms.
        self._meets = {id(kind): [kind.is_in(witness.value) for witness in shape.witnesses] for kind in kinds}
        self._fits: dict[tuple[int, int], bool] = {}
        self.start = State(0, (0,) * len(shape.witnesses), (0,) * len(counted))

    def after(self, state: State, kind: Kind) -> State | None:
        """The state after an item of a kind; None if that must not come."""
        is_full = self._shape.maximum is not None and state.position >= self._shape.maximum
        if is_full or not self._may_be_at(kind, state.position):
            return None
        met = list(state.met)
        for number, witness in enumerate(self._shape.witnesses):
            if state.position < witness.start or not self._meets[id(kind)][number]:
                continue
            if met[number] == witness.most:
                return None
            met[number] = min(met[number] + 1, witness.least if witness.most is None else witness.most)
        used = tuple(n + (other is kind) for n, other in zip(state.used, self._counted, strict=True))
        if any(n > other.n_values for n, other in zip(used, self._counted, strict=True)):
            return None
        return State(min(state.position + 1, self._counted_to), tuple(met), used)

    def _may_be_at(self, kind: Kind, position: int) -> bool:
        place = id(kind), min(position, len(self._shape.prefix))
        if place not in self._fits:
            self._fits[place] = kind.is_in(self._shape.item(place[1]))
        return self._fits[place]

    def may_end(self, state: State) -> bool:
        """Whether the array may be closed."""
        met = zip(state.met, self._shape.witnesses, strict=True)
        return state.position >= self._shape.minimum and all(n >= witness.least for n, witness in met)

    def n_left(self, state: State, kind: Kind) -> int:
        """How many values of a kind did not come."""
        used = zip(self._counted, state.used, strict=True)
        return kind.n_values - next((n for other, n in used if other is kind), 0)

    def steps(self, state: State) -> Iterator[tuple[State, Kind]]:
        """The states after one item more, each with the kind of that."""
        current().spend(len(self._kinds) * (1 + len(self._shape.witnesses)))
        for kind in self._kinds:
            after = self.after(state, kind)
            if after is not None:
                yield after, kind

    def ways(self) -> Ways[State, Kind]:
        """All states that there are, and the ways between them. Raises Uncounted where there are too many."""
        return ways_from(self.start, self.steps)


def ways_from(start: AnyState, steps: Callable[[AnyState], Iterable[tuple[AnyState, Step]]]) -> Ways[AnyState, Step]:
    """All states that some steps lead to. Raises Uncounted where there are too many."""
    found: Ways[AnyState, Step] = {}
    todo = [start]
    while todo:
        state = todo.pop()
        if state in found:
            continue
        if len(found) == _MAX_STATES:
            raise Uncounted("there are too many ways to use up kinds of items of which there are few")
        ways: dict[AnyState, list[Step]] = {}
        for after, step in steps(state):
            current().spend(1)
            ways.setdefault(after, []).append(step)
        found[state] = ways
        todo += ways
    return found


def last_first(ways: Ways[AnyState, Step], start: AnyState) -> list[AnyState]:
    """All states, each behind those that it leads to."""
    found: dict[AnyState, None] = {}
    todo = [(start, False)]
    while todo:
        state, is_left = todo.pop()
        if is_left:
            found[state] = None
        elif state not in found:
            todo.append((state, True))
            todo += [(after, False) for after in ways[state] if after != state and after not in found]
    return list(found)
