"""Quick proofs that a set is empty, for dropping alternatives before they multiply.

A probe looks at scalars in full, at required members two levels down, and at nothing else: what tells the alternatives
of a schema apart is mostly the constant value of a required member. It never builds what only a grammar would need.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import reduce

from cfgmask.grammar.regex_tree import NOTHING
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import number_key
from tests.reference.json_schema import algebra
from tests.reference.json_schema.normal_form import (
    EVERYTHING,
    NEVER,
    ArrayShape,
    Conjunction,
    Negation,
    Normal,
    ObjectShape,
    Term,
    conjoin,
)

_MAX_DEPTH = 2
_MAX_PAIRS = 64
_MAX_ITEMS = 16
# What a look at a conjunction takes, in steps of a session.
_STEPS_PER_DECISION = 32
# And at two alternatives of objects.
_STEPS_PER_PAIR = 2
_ALL_SCALARS = replace(EVERYTHING, arrays=(), objects=())


class InProgress(Exception):
    """A question about a schema that is being normalised right now."""


class Prober:
    """Answers questions of emptiness: True is a proof, False means nothing.

    normal_of  the normal form of a term that is no negation; may raise InProgress
    """

    def __init__(self, normal_of: Callable[[Term], Normal]) -> None:
        self._normal_of = normal_of
        self._outlines: dict[Conjunction, Normal] = {}
        self._tags: dict[int, tuple[ObjectShape, dict[str, frozenset[Hashable]]]] = {}
        self._answers: dict[tuple[Conjunction, int], bool] = {}

    def is_never(self, conjunction: Conjunction, depth: int = 0) -> bool:
        """Whether no value meets the conjunction."""
        if not conjunction or conjunction == NEVER:
            return bool(conjunction)
        key = conjunction, depth
        if key not in self._answers:
            current().spend(_STEPS_PER_DECISION + len(conjunction))
            try:
                self._answers[key] = self._decide(conjunction, depth)
            except (InProgress, algebra.TooManyAlternatives):
                return False
        return self._answers[key]

    def has_no_object(self, shape: ObjectShape) -> bool:
        """Whether no object is of the shape."""
        return any(member.required and self.is_never(member.value) for member in shape.members)

    def has_no_array(self, shape: ArrayShape) -> bool:
        """Whether no array is of the shape."""
        return any(self.is_never(shape.item(index)) for index in range(min(shape.minimum, _MAX_ITEMS)))

    def share_no_object(self, a: ObjectShape, b: ObjectShape, depth: int = 0) -> bool:
        """Whether no object is of both shapes. Looks at required members only."""
        current().spend(_STEPS_PER_PAIR)
        tags_of_a, tags_of_b = self._tags_of(a), self._tags_of(b)
        for name, values in tags_of_a.items():
            if name in tags_of_b and values.isdisjoint(tags_of_b[name]):
                return True
        for name in dict.fromkeys(member.name for member in (*a.members, *b.members) if member.required):
            if name in tags_of_a and name in tags_of_b:
                continue
            if self.is_never(conjoin(a.value_of(name), b.value_of(name)), depth):
                return True
        return False

    def _tags_of(self, shape: ObjectShape) -> dict[str, frozenset[Hashable]]:
        """The required members that can only have a few values, and those values.

        Comparing these tells most alternatives apart, at a cost that lets hundreds of them be compared in pairs.
        """
        known = self._tags.get(id(shape))
        if known is None:
            found = {m.name: self._few_values(m.value) for m in shape.members if m.required}
            tags = {name: values for name, values in found.items() if values is not None}
            # The shape is kept, so that its id stays its own.
            known = self._tags[id(shape)] = shape, tags
        return known[1]

    def _few_values(self, conjunction: Conjunction) -> frozenset[Hashable] | None:
        """The values that meet the conjunction, if they are scalars and listed."""
        if not conjunction:
            return None
        try:
            found = self._scalars(conjunction)
            parts = [self._normal_of(term) for term in conjunction if not isinstance(term, Negation)]
        except (InProgress, algebra.TooManyAlternatives):
            return None
        if found.strings.widest.pattern != NOTHING or any(shape.values is None for shape in found.numbers):
            return None
        if all(part.arrays for part in parts) or all(part.objects for part in parts):
            return None
        numbers = (value for shape in found.numbers for value in shape.values or ())
        listed = {*found.strings.values, *(("number", number_key(value)) for value in numbers)}
        # Booleans are put apart from the numbers that Python takes them for.
        return frozenset([*listed, *(("boolean", value) for value in found.booleans), *([None] if found.null else [])])

    def _decide(self, conjunction: Conjunction, depth: int) -> bool:
        scalars = self._scalars(conjunction)
        if scalars.null or scalars.booleans or scalars.numbers or not scalars.strings.widest.is_plainly_empty:
            return False
        parts = [self._normal_of(term) for term in conjunction if not isinstance(term, Negation)]
        if all(part.arrays for part in parts):
            return False
        return not all(part.objects for part in parts) or self._have_disjoint_objects(parts, depth)

    def _have_disjoint_objects(self, parts: list[Normal], depth: int) -> bool:
        """Whether two of the parts have objects, of which no two alternatives share one."""
        if depth == _MAX_DEPTH:
            return False
        for position, a in enumerate(parts):
            for b in parts[:position]:
                if len(a.objects) * len(b.objects) <= _MAX_PAIRS and all(
                    self.share_no_object(x, y, depth + 1) for x in a.objects for y in b.objects
                ):
                    return True
        return False

    def _scalars(self, conjunction: Conjunction) -> Normal:
        """What the conjunction allows of scalars."""
        found = self._outlines.get(conjunction)
        if found is None:
            # Conjunctions grow term by term where many schemas meet, so the one before is mostly known.
            known = self._outlines.get(conjunction[:-1])
            terms = conjunction if known is None else conjunction[-1:]
            found = reduce(self._with_term, terms, _ALL_SCALARS if known is None else known)
            self._outlines[conjunction] = found
        return found

    def _with_term(self, found: Normal, term: Term) -> Normal:
        if isinstance(term, Negation):
            return algebra.difference(found, [self._scalars(term.body)], self)
        return algebra.intersect(found, replace(self._normal_of(term), arrays=(), objects=()))
