"""Members of objects that are a part of an item and come in any order.

The grammar's register of these (`Holds::kMembers` of the core) knows which keys were written and how many more there
are of each kind, so it counts the ways to go on by itself. For it, keys without names are a class of so many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence, SetBounds, Step, Terminal
from cfgmask.grammar.productive import NOTHING, Several
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.key_edges import KeyEdge
from tests.reference.json_schema.normal_form import Conjunction, Member
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted, n_texts, product

_MAX_NEEDED = 1_000


class Members(NamedTuple):
    """Which keys there may be, and how many.

    named    keys with names
    classes  keys without, and how many there are of each kind
    is_first  whether nothing of the object stands before them
    """

    named: tuple[Member, ...]
    classes: tuple[tuple[KeyEdge, int], ...]
    minimum: int
    maximum: int | None
    is_first: bool

    @classmethod
    def of(
        cls, named: tuple[Member, ...], edges: list[KeyEdge], minimum: int, maximum: int | None, is_first: bool
    ) -> Members:
        """Raises Uncounted."""
        if minimum > _MAX_NEEDED:
            raise Uncounted(f"in it must be more than {_MAX_NEEDED:,} keys")
        classes = [(edge, n_texts(lexemes.other_key_text(edge.keys, edge.names))) for edge in edges]
        return cls(named, tuple(classes), minimum, maximum, is_first)

    @property
    def values(self) -> list[Conjunction]:
        """What the values of the keys may be."""
        return [*(member.value for member in self.named), *(edge.value for edge, _ in self.classes)]

    def needs(self, value_of: Callable[[Conjunction], Expr]) -> Expr:
        """What there must be for any such members."""
        required = [value_of(member.value) for member in self.named if member.required]
        others = [value_of(member.value) for member in self.named if not member.required]
        if self.maximum is not None and self.maximum < max(self.minimum, len(required)):
            return NOTHING
        needed = max(self.minimum - len(required), 0)
        for edge, n_keys in self.classes:
            others += [value_of(edge.value)] * min(needed, n_keys)
        return Sequence((*required, Several(tuple(others), needed)))

    def count(self, n_values: Callable[[Conjunction], int]) -> int:
        """How many objects have such members."""
        # All are asked for, since all must be known where the rules are made.
        n_of = {value: n_values(value) for value in self.values}
        ways = [1]  # by how many keys there are
        for member in self.named:
            ways = self._with_key(ways, n_of[member.value], member.required)
        for edge, n_keys in self.classes:
            n = n_of[edge.value]
            fewest = next((i for i, found in enumerate(ways) if found), None)
            if n_keys == ENDLESS and n and fewest is not None and (self.maximum is None or fewest < self.maximum):
                return ENDLESS
            for _ in range(n_keys if n and n_keys < ENDLESS else 0):
                current().spend(1)
                if self._sum(ways) == ENDLESS:
                    return ENDLESS
                ways = self._with_key(ways, n, is_required=False)
        return self._sum(ways)

    def _with_key(self, ways: list[int], n_values: int, is_required: bool) -> list[int]:
        """The ways with one key more, cut to the most keys there may be."""
        with_it = [0, *(product(found, n_values) for found in ways)]
        without = [0] * len(with_it) if is_required else [*ways, 0]
        found = [min(a + b, ENDLESS) for a, b in zip(with_it, without, strict=True)]
        return found if self.maximum is None else found[: self.maximum + 1]

    def _sum(self, ways: list[int]) -> int:
        return min(sum(ways[self.minimum :]), ENDLESS)

    def lower(
        self, n_values: Callable[[Conjunction], int], value_of: Callable[[Conjunction], Expr], step: Step
    ) -> tuple[Expr, SetBounds]:
        """The members with the brace behind them, and the bounds of their set.

        n_values  how many values of a kind there are
        value_of  the rule of a value, an item by itself
        """
        ways: list[tuple[str | None, int | None, int | None]] = []
        choices: list[Expr] = []
        keys = [(lexemes.key(member.name), member.name, member.value, 1) for member in self.named]
        for key, name, value, n_keys in (*keys, *self._other_keys()):
            n = n_values(value)
            if n:
                ways.append((name, _counted(n), _counted(n_keys)))
                written = replace(key, distinct=True, step=Step(len(ways)))
                choices.append(Sequence((written, lexemes.COLON, value_of(value))))
        required = tuple(member.name for member in self.named if member.required)
        bounds = SetBounds(required, self.minimum, self.maximum, holds="members", step=step, members=tuple(ways))
        return self._listed(Choice(tuple(choices))), bounds

    def _other_keys(self) -> list[tuple[Terminal, None, Conjunction, int]]:
        return [(lexemes.other_key(edge.keys, edge.names), None, edge.value, n) for edge, n in self.classes]

    def _listed(self, member: Expr) -> Expr:
        again, least, most = Sequence((lexemes.COMMA, member)), self.minimum, self.maximum
        if not self.is_first:
            return Sequence((Repeat(again, least, most), lexemes.CLOSE_SET))
        if most == 0:
            return lexemes.CLOSE_EMPTY_SET
        more = Repeat(again, max(least - 1, 0), None if most is None else most - 1)
        some = Sequence((member, more, lexemes.CLOSE_SET))
        return some if least else Choice((lexemes.CLOSE_EMPTY_SET, some))


def _counted(n: int) -> int | None:
    return None if n == ENDLESS else n
