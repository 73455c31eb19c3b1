"""Which schemas allow some value, as far as that can be seen without their rules."""

from __future__ import annotations

from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Normal, ObjectShape

_MAX_ITEMS = 16
# Schemas that need each other in a longer chain are left to the search.
_MAX_ROUNDS = 20


def needs_of(normal: Normal) -> list[list[Conjunction]]:
    """For each alternative that is an array or an object, what its items and required members must be.

    Of long arrays the first items only.
    """
    arrays = [[shape.item(i) for i in range(min(shape.minimum, _MAX_ITEMS))] for shape in normal.arrays]
    objects = [[member.value for member in shape.members if member.required] for shape in normal.objects]
    return arrays + objects


def all_live(normals: dict[Conjunction, Normal]) -> bool:
    """Whether every rule made of these matches some text. False means that the rules have to be looked at.

    Conjunctions that are not among the keys allow scalars only, and some. Linear.
    """
    for normal in normals.values():
        if any(map(_has_states, normal.arrays)) or any(map(_counts, normal.objects)):
            return False
    waiting: dict[Conjunction, list[list[Conjunction]]] = {}
    live: set[Conjunction] = set()
    for conjunction, normal in normals.items():
        needs = [[need for need in needed if need in normals] for needed in needs_of(normal)]
        scalars = normal.null or normal.booleans or normal.numbers or not normal.strings.is_plainly_empty
        if scalars or [] in needs:
            live.add(conjunction)
        else:
            waiting[conjunction] = needs
    for _ in range(_MAX_ROUNDS):
        found = [c for c, needs in waiting.items() if any(all(n in live for n in needed) for needed in needs)]
        if not found:
            break
        live.update(found)
        for conjunction in found:
            del waiting[conjunction]
    return not waiting


def _has_states(shape: ArrayShape) -> bool:
    """Whether a shape is lowered to states of which some may lead nowhere."""
    return bool(shape.witnesses or shape.repeats_at) or shape.unique_at is not None


def _counts(shape: ObjectShape) -> bool:
    """Whether a shape is lowered to states that count keys or wait for some, of which some may lead nowhere."""
    required = sum(member.required for member in shape.members)
    return bool(shape.witnesses) or shape.minimum > required or shape.maximum is not None
