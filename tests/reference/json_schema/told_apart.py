"""Arrays and objects that must be told from others, as items of arrays in which no two are equal.

Their rules open sets that hold all that is written in them, see `SetBounds`. No item can be begun that could only
become equal to one before it where arrays may always have one item more, and objects one key: then whatever was begun
may end in infinitely many ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from cfgmask.grammar.embedding import with_operands
from cfgmask.grammar.ir import Expr, Terminal
from cfgmask.grammar.regex_tree import ANY_TEXT, RegexTree
from cfgmask.grammar.walk import fold
from tests.reference.json_schema import lexemes, unique_items
from tests.reference.json_schema.inhabited import Has
from tests.reference.json_schema.item_kinds import different_items
from tests.reference.json_schema.key_edges import KeyEdge, key_edges, of_keys
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Normal, ObjectShape
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted, n_texts


def told_apart(body: Expr) -> Expr:
    """The body of a rule in which every scalar counts, and every key, and nothing is closed that would come twice."""
    return fold(body, _combine)


def _combine(expr: Expr, parts: list[Expr]) -> Expr:
    if isinstance(expr, Terminal):
        mark = lexemes.mark(expr)
        if mark is None:
            return replace(expr, distinct=True, endless="")
        return replace(expr, closes_set=True) if mark in lexemes.CLOSE else expr
    return with_operands(expr, parts)


class GoesOn:
    """Whether it is sure that every value of a set may end in infinitely many ways, however far it is.

    possible_keys  what keys without names can be written
    """

    def __init__(self, normal_of: Callable[[Conjunction], Normal], possible_keys: RegexTree) -> None:
        self.has = Has(normal_of)
        self._normal_of = normal_of
        self._possible_keys = possible_keys

    def tells_apart(self, places: list[Conjunction], contained: list[Conjunction] | None = None) -> bool:
        """Whether every array and object of an array's places goes on, and equal ones come to equal values.

        contained  what some items must be, too

        A part of which steps are told apart comes to another value than an equal one that other rules write.
        """
        if not all(self.composites(self._normal_of(place)) for place in places):
            return False
        written = [*places, *(contained or ())]
        return not any(map(self._has_steps, written)) or (len(written) == 1 and self._is_in_one_way(written[0]))

    def _has_steps(self, conjunction: Conjunction) -> bool:
        """Whether there are arrays inside of whose items steps are told apart."""
        return any(
            unique_items.matters(shape)
            and any(not self.composites(self._normal_of(items)) for items in different_items(shape))
            for normal in self._all_inside(conjunction)
            for shape in normal.arrays
        )

    def _is_in_one_way(self, conjunction: Conjunction) -> bool:
        """True if no value of a set can be written by several rules; False if that is not clear."""
        return all(
            len(normal.arrays) < 2
            and len(normal.objects) < 2
            and not any(array.witnesses for array in normal.arrays)
            and not any(shape.witnesses for shape in normal.objects)
            for normal in self._all_inside(conjunction)
        )

    def _all_inside(self, conjunction: Conjunction) -> Iterator[Normal]:
        """The set, its items and members, and the items and members of these."""
        todo, known = [conjunction], {conjunction}
        while todo:
            normal = self._normal_of(todo.pop())
            yield normal
            inside = [items for shape in normal.arrays for items in different_items(shape)]
            inside += [witness.value for shape in normal.arrays for witness in shape.witnesses]
            inside += [member.value for shape in normal.objects for member in shape.members]
            inside += [other.value for shape in normal.objects for other in shape.others]
            todo += [part for part in dict.fromkeys(inside) if part not in known]
            known.update(inside)

    def composites(self, normal: Normal) -> bool:
        """Every array and object of a set."""
        return all(self._array(shape) for shape in normal.arrays) and all(map(self.object, normal.objects))

    def object(self, shape: ObjectShape) -> bool:
        """Every object of one alternative."""
        if shape.maximum is not None or shape.refusals:
            return False
        edges = key_edges(of_keys(shape, self._possible_keys))
        return any(self.has.some(edge.value) and self._is_endless(edge) for edge in edges)

    def _is_endless(self, edge: KeyEdge) -> bool:
        if self._possible_keys == ANY_TEXT:
            return edge.is_infinite
        try:
            return n_texts(lexemes.other_key_text(edge.keys, edge.names)) == ENDLESS
        except Uncounted:
            return False

    def _array(self, shape: ArrayShape) -> bool:
        if shape.maximum is not None or shape.repeats_at or not all(map(self.has.some, shape.prefix)):
            return False
        if shape.unique_at is not None and not all(
            self._has_values(item, i + 1) for i, item in enumerate(shape.prefix)
        ):
            return False
        if any(witness.most is not None for witness in shape.witnesses):
            return False
        # Of items of which no two are equal there must always be more.
        is_unique = shape.unique_at is not None
        return self._normal_of(shape.rest).strings.pattern == ANY_TEXT if is_unique else self.has.some(shape.rest)

    def _has_values(self, conjunction: Conjunction, least: int) -> bool:
        """True if there are certainly that many values."""
        if least == 1:
            return self.has.some(conjunction)
        normal = self._normal_of(conjunction)
        if unique_items.has_values(normal, least):
            return True
        # Of arrays and objects that may have more in them there are infinitely many.
        alike = [shape for shape in normal.arrays if not shape.prefix and not shape.witnesses]
        objects = [shape for shape in normal.objects if self.has.some_object(shape)]
        return any(map(self._array, alike)) or any(map(self.object, objects))
