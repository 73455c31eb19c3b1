"""Sets of arrays to rules.

Items that are alike are a counted repetition, never unrolled. Items that differ by position are a chain of rules whose
calls stand in tail position. Where some item must have a certain value, the chain also knows whether it came.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence
from cfgmask.grammar.productive import NOTHING
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.lower_objects import ValueOf
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, conjoin, negate
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules

# An array with witnesses needs a rule for each position up to its bounds.
MAX_COUNTED_ITEMS = 1_000
# What a way to write an item costs of max_rules: with four witnesses a state has sixteen, and takes a millisecond.
_STEPS_PER_WAY = 10


class _State(NamedTuple):
    """position  how many items are written, at most `_ArrayLowering.counted_to`
    met       how many items met each of the witnesses, counted as far as their bounds need it
    """

    position: int
    met: tuple[int, ...]


class ArrayLowering:
    """Lowers one alternative of a set of arrays. Arguments as those of `ObjectLowering`.

    in_one_way  whether each array must have one derivation
    """

    def __init__(
        self,
        shape: ArrayShape,
        rules: RuleSet,
        name: str,
        value_of: ValueOf,
        pointer: str,
        *,
        in_one_way: bool = False,
    ) -> None:
        self._in_one_way = in_one_way
        self._rules = rules
        self._value_of = value_of
        self._refusals = list(_inexact(shape, pointer))
        # What is refused must not be taken for something that nothing satisfies.
        self._shape = shape = shape if is_countable(shape) else replace(shape, witnesses=())
        self._states = StateRules[_State](rules, lambda state: f"{name}.{state.position}")
        positions = [1, shape.minimum, shape.maximum or 0, *(witness.start for witness in shape.witnesses)]
        self._counted_to = max(len(shape.prefix), max(positions) if shape.witnesses else 0)

    def lower(self) -> Expr:
        """The expression of the whole array. Adds a rule for each position that differs from the others."""
        start = self._states.call(_State(0, (0,) * len(self._shape.witnesses)))
        self._rules.refuse(start.name, self._refusals)
        self._states.fill(self._body)
        return Sequence((lexemes.OPEN_ARRAY, start))

    def _body(self, state: _State) -> Expr:
        enough = all(met >= witness.least for met, witness in zip(state.met, self._shape.witnesses, strict=True))
        if enough and state.position >= len(self._shape.prefix) and not self._has_limits:
            return self._alike(state.position)
        choices: list[Expr] = []
        if enough and state.position >= self._shape.minimum:
            choices.append(lexemes.close_array(state.position))
        if self._shape.maximum is None or state.position < self._shape.maximum:
            comma = (lexemes.COMMA,) if state.position else ()
            for value, met in self._values(state):
                after = _State(min(state.position + 1, self._counted_to), met)
                choices.append(Sequence((*comma, self._value_of(value), self._states.call(after))))
        return Choice(tuple(choices))

    @property
    def _has_limits(self) -> bool:
        """Whether there may be too many items of some value."""
        return any(witness.most is not None for witness in self._shape.witnesses)

    def _values(self, state: _State) -> list[tuple[Conjunction, tuple[int, ...]]]:
        """What the next item may be, with the counts after it."""
        asking = [
            (number, witness)
            for number, witness in enumerate(self._shape.witnesses)
            if state.position >= witness.start and (witness.most is not None or state.met[number] < witness.least)
        ]
        # Each that may be met doubles the ways, which are paid for before there are any.
        n_doubled = sum(witness.most is None or state.met[number] < witness.most for number, witness in asking)
        current().spend(_STEPS_PER_WAY * 2**n_doubled * len(self._shape.witnesses))
        found = [(self._shape.item(state.position), state.met)]
        for number, witness in asking:
            met = [(conjoin(value, witness.value), _counted(counts, number)) for value, counts in found]
            if witness.most is not None or self._in_one_way:
                # Otherwise an item that meets the witness may go uncounted; that does no harm.
                found = [(conjoin(value, negate(witness.value)), counts) for value, counts in found]
            if witness.most is None or state.met[number] < witness.most:
                found += met
        return found

    def _alike(self, index: int) -> Expr:
        """The items after those that have a position of their own, and the closing bracket."""
        least = max(self._shape.minimum - index, 0)
        most = None if self._shape.maximum is None else self._shape.maximum - index
        if most is not None and most <= 0:
            return lexemes.close_array(index) if least == 0 else NOTHING
        item = self._value_of(self._shape.rest)
        if index:
            return Sequence((Repeat(Sequence((lexemes.COMMA, item)), least, most), lexemes.CLOSE_ARRAY))
        more = Repeat(Sequence((lexemes.COMMA, item)), max(least - 1, 0), None if most is None else most - 1)
        some = Sequence((item, more, lexemes.CLOSE_ARRAY))
        return some if least else Choice((lexemes.CLOSE_EMPTY_ARRAY, some))


def _inexact(shape: ArrayShape, pointer: str) -> Iterator[Diagnostic]:
    """Conditions that the rules do not express."""
    if not is_countable(shape):
        yield Diagnostic(
            "schema-contains-size",
            f"contains can be enforced where the bounds beside it are at most {MAX_COUNTED_ITEMS}",
            pointer=pointer,
            help="make the bounds smaller",
        )


def is_countable(shape: ArrayShape) -> bool:
    """Whether rules can count as far as the witnesses need it."""
    return _greatest_bound(shape) <= MAX_COUNTED_ITEMS


def _greatest_bound(shape: ArrayShape) -> int:
    """The greatest number that has to be counted for the witnesses; 0 where there are none."""
    bounds = [bound for w in shape.witnesses for bound in (w.start, w.least, w.most or 0)]
    return max([shape.minimum, shape.maximum or 0, *bounds]) if bounds else 0


def _counted(counts: tuple[int, ...], number: int) -> tuple[int, ...]:
    return (*counts[:number], counts[number] + 1, *counts[number + 1 :])
