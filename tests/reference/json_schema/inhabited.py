"""Whether a set has a value, decided by a search of limited depth."""

from __future__ import annotations

from collections.abc import Callable

from cfgmask.json_schema import decide
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Normal, ObjectShape

# Items and required members of items and required members.
_MAX_DEPTH = 4
_MAX_ITEMS = 16


class Has:
    """Answers about sets. Each is sure; the opposite of it is not."""

    def __init__(self, normal_of: Callable[[Conjunction], Normal]) -> None:
        self._normal_of = normal_of

    def some(self, conjunction: Conjunction, depth: int = 0) -> bool:
        """Whether it is plain that there is some value."""
        normal = self._normal_of(conjunction)
        scalars = normal.null or normal.booleans or normal.strings.values
        return bool(
            scalars
            or any(not shape.without and not shape.refusals and not shape.is_plainly_empty for shape in normal.numbers)
            or decide.has_texts(normal.strings.pattern, 1)
            or any(self._is_some_array(shape, depth) for shape in normal.arrays)
            or any(self.some_object(shape, depth) for shape in normal.objects)
        )

    def _is_some_array(self, shape: ArrayShape, depth: int) -> bool:
        """Whether there plainly is one with the fewest items."""
        if shape.witnesses or shape.repeats_at or shape.minimum > (1 if shape.unique_at is not None else _MAX_ITEMS):
            return False
        items = [shape.item(i) for i in range(shape.minimum)]
        return not items or (depth < _MAX_DEPTH and all(self.some(item, depth + 1) for item in items))

    def some_object(self, shape: ObjectShape, depth: int = 0) -> bool:
        """Whether there plainly is one with the required keys alone."""
        required = [member for member in shape.members if member.required]
        if shape.witnesses or shape.minimum > len(required) or depth > _MAX_DEPTH:
            return False
        return all(self.some(member.value, depth + 1) for member in required)

    def none(self, conjunction: Conjunction, depth: int = 0) -> bool:
        """Whether it is plain that there is no value."""
        normal = self._normal_of(conjunction)
        return (
            Normal(arrays=normal.arrays, objects=normal.objects) == normal
            and all(self._are_none(_needed_items(shape), depth) for shape in normal.arrays)
            and all(self._are_none(_needed_members(shape), depth) for shape in normal.objects)
        )

    def _are_none(self, needed: list[Conjunction], depth: int) -> bool:
        return depth < _MAX_DEPTH and any(self.none(value, depth + 1) for value in needed)


def _needed_items(shape: ArrayShape) -> list[Conjunction]:
    return [shape.item(i) for i in range(min(shape.minimum, _MAX_ITEMS))]


def _needed_members(shape: ObjectShape) -> list[Conjunction]:
    return [member.value for member in shape.members if member.required]
