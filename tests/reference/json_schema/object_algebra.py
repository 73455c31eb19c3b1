"""Intersection and complement of sets of objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cfgmask.json_schema.session import current
from tests.reference.json_schema.annotations import EVERY_KEY
from tests.reference.json_schema.keys import ALL_KEYS, COST_OF_A_PIECE
from tests.reference.json_schema.normal_form import (
    ALL_OBJECTS,
    ANYTHING,
    NEVER,
    Conjunction,
    KeyClass,
    Member,
    ObjectShape,
    Witness,
    conjoin,
    negate,
)


def intersect(a: ObjectShape, b: ObjectShape) -> ObjectShape | None:
    """The objects of both shapes; None where there are plainly none. Linear in the members, times the key classes."""
    if a == ALL_OBJECTS:
        return b
    if b == ALL_OBJECTS:
        return a
    n_pairs = len(a.others) * len(b.others)
    current().spend(2 * (len(a.members) + len(b.members)) + 1 + COST_OF_A_PIECE * n_pairs)
    others = [
        KeyClass(keys, conjoin(x.value, y.value))
        for x in a.others
        for y in b.others
        if not (keys := x.keys & y.keys).is_empty
    ]
    both = ObjectShape(
        _merged_members(a, b),
        tuple(other for other in others if other.value != NEVER),
        max(a.minimum, b.minimum),
        min((m for m in (a.maximum, b.maximum) if m is not None), default=None),
        tuple(dict.fromkeys(a.witnesses + b.witnesses)),
        a.refusals | b.refusals,
        a.evaluated | b.evaluated,
    )
    return None if is_plainly_empty(both) else both


def is_plainly_empty(shape: ObjectShape) -> bool:
    """Whether the conditions contradict each other without a look at what the values of the members must be."""
    required = [member for member in shape.members if member.required]
    if any(member.value == NEVER for member in required):
        return True
    if shape.maximum is not None and max(shape.minimum, len(required)) > shape.maximum:
        return True
    if any(not _may_be_met(witness, shape) for witness in shape.witnesses):
        return True
    possible = sum(member.value != NEVER for member in shape.members)
    return not shape.others and possible < shape.minimum


def closed(shape: ObjectShape, value: Conjunction) -> ObjectShape | None:
    """The objects of the shape whose values of keys that were not evaluated meet `value`; None where there are none.

    All keys count as evaluated then. Where something is refused, which keys were evaluated is unknown and nothing is
    asked of them.
    """
    if shape.refusals:
        return replace(shape, evaluated=EVERY_KEY)
    members = tuple(
        member if shape.evaluated.covers(member.name) else replace(member, value=conjoin(member.value, value))
        for member in shape.members
    )
    others = []
    for other in shape.others:
        inside, outside = shape.evaluated.split(other.keys)
        others += [KeyClass(keys, other.value) for keys in inside]
        others += [KeyClass(keys, conjoin(other.value, value)) for keys in outside]
    current().spend(len(members) + len(others))
    kept = tuple(other for other in others if other.value != NEVER)
    found = replace(shape, members=members, others=kept, evaluated=EVERY_KEY)
    return None if is_plainly_empty(found) else found


def complement(shape: ObjectShape) -> list[ObjectShape]:
    """The objects that are not of the shape (all of them, marked as refused, where the shape has refusals).

    The alternatives are disjoint: each breaks one condition and meets those before it. So alternatives that come from
    several complements seldom have a value in common, and their number does not multiply.
    """
    if shape.refusals:
        return [ObjectShape(refusals=shape.refusals)]
    outside: list[ObjectShape | None] = []
    held: ObjectShape | None = ALL_OBJECTS
    for met, broken in _conditions(shape):
        if held is None:
            break
        outside += [intersect(held, alternative) for alternative in broken]
        held = intersect(held, met)
    return [candidate for candidate in outside if candidate is not None and not is_plainly_empty(candidate)]


def by_first_to_meet(shape: ObjectShape) -> list[ObjectShape]:
    """Objects without other keys than the members, by which of these is the first to meet the first witness."""
    witness, *rest = shape.witnesses
    found: list[ObjectShape] = []
    members = list(shape.members)
    for i, member in enumerate(shape.members):
        if not witness.admits(member.name):
            continue
        members[i] = replace(member, value=conjoin(member.value, witness.value), required=True)
        found.append(replace(shape, members=tuple(members), witnesses=tuple(rest)))
        members[i] = replace(member, value=conjoin(member.value, negate(witness.value)))
    current().spend(len(found) * len(members))
    return [part for part in found if not is_plainly_empty(part)]


def _conditions(shape: ObjectShape) -> Iterator[tuple[ObjectShape, list[ObjectShape]]]:
    """The conditions of a shape one by one: the objects that meet it, and those that do not, as alternatives."""
    # What tells alternatives of a schema apart is mostly the value of a required member.
    for member in sorted(shape.members, key=lambda member: not member.required):
        name = member.name
        wrong = negate(member.value)
        if member.required:
            # Absent or wrong is one alternative: many branches that require a member of their own each stay few.
            yield _having(name, member.value), [ObjectShape((Member(name, wrong, listed=False),))]
        elif member.value != ANYTHING:
            yield ObjectShape((Member(name, member.value, listed=False),)), [_having(name, wrong)]
    if shape.minimum > 0:
        yield ObjectShape(minimum=shape.minimum), [ObjectShape(maximum=shape.minimum - 1)]
    if shape.maximum is not None:
        yield ObjectShape(maximum=shape.maximum), [ObjectShape(minimum=shape.maximum + 1)]
    for witness in _strange_keys(shape):
        yield _without(witness), [ObjectShape(_named(witness), witnesses=(witness,))]
    for witness in shape.witnesses:
        yield ObjectShape(_named(witness), witnesses=(witness,)), [_without(witness)]


def _having(name: str, value: Conjunction) -> ObjectShape:
    return ObjectShape((Member(name, value, required=True, listed=False),))


def _merged_members(a: ObjectShape, b: ObjectShape) -> tuple[Member, ...]:
    """The members of both, those that `properties` lists first, each kind from left to right."""
    names = dict.fromkeys([*a.by_name, *b.by_name])
    merged = [_merged(name, a, b) for name in names]
    if all(member.listed for member in (*a.members, *b.members)):
        return tuple(merged)
    order = dict.fromkeys(m.name for m in (*a.members, *b.members) if m.listed)
    rank = {name: position for position, name in enumerate(order)}
    return tuple(sorted(merged, key=lambda member: rank.get(member.name, len(rank))))


def _merged(name: str, a: ObjectShape, b: ObjectShape) -> Member:
    x, y = a.by_name.get(name), b.by_name.get(name)
    if x == y and x is not None:
        return x
    return Member(
        name,
        conjoin(a.value_of(name), b.value_of(name)),
        (x is not None and x.required) or (y is not None and y.required),
        (x is not None and x.listed) or (y is not None and y.listed),
    )


def _may_be_met(witness: Witness, shape: ObjectShape) -> bool:
    if any(member.value != NEVER and witness.admits(member.name) for member in shape.members):
        return True
    return any(not (witness.keys & other.keys).is_empty for other in shape.others)


def _strange_keys(shape: ObjectShape) -> list[Witness]:
    """An object has a key that is no member and in no class, or a wrong value there, if it meets one of these."""
    names = frozenset(member.name for member in shape.members)
    strange = [Witness(o.keys, names, negate(o.value)) for o in shape.others if o.value != ANYTHING]
    outside = [ALL_KEYS]
    for other in shape.others:
        outside = [piece for keys in outside for piece in keys.difference(other.keys)]
    return strange + [Witness(keys, names, ANYTHING) for keys in outside]


def _without(witness: Witness) -> ObjectShape:
    """The objects that have no such key with such a value."""
    rest = KeyClass(witness.keys, negate(witness.value))
    outside = [KeyClass(keys, ANYTHING) for keys in ALL_KEYS.difference(witness.keys)]
    others = tuple(other for other in (rest, *outside) if other.value != NEVER)
    return ObjectShape(_named(witness), _disjoint(others))


def _named(witness: Witness) -> tuple[Member, ...]:
    """Members that are no condition, so that the keys which do not meet the witness have names of their own."""
    return tuple(Member(name, ANYTHING, listed=False) for name in sorted(witness.besides))


def _disjoint(classes: tuple[KeyClass, ...]) -> tuple[KeyClass, ...]:
    """The classes made disjoint: a key stays in the first class that has it."""
    found: list[KeyClass] = []
    for other in classes:
        pieces = [other.keys]
        for earlier in found:
            pieces = [rest for piece in pieces for rest in piece.difference(earlier.keys)]
        found += [KeyClass(piece, other.value) for piece in pieces]
    return tuple(found)
