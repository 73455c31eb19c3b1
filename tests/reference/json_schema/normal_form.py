"""What a schema says, sorted by the types of the values it allows.

A `Normal` is a union of typed parts: at most one part for null, booleans and strings, alternatives for numbers, arrays
and objects. Alternatives may overlap. Parts of different types are disjoint by nature, so intersection, union and
complement work type by type (`algebra`).

Values inside arrays and objects are not normalised but named: a `Conjunction` of terms, which is normalised when
something looks at it. That keeps recursive schemas finite: there are only so many conjunctions of the places of one
schema.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import TypeAlias

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import JsonValue, identity
from tests.reference.json_schema.annotations import NO_KEYS, EvaluatedKeys
from tests.reference.json_schema.keys import ALL_KEYS, Keys
from tests.reference.json_schema.numbers import ALL_NUMBERS, NumberShape
from tests.reference.json_schema.strings import ALL_STRINGS, NO_STRINGS, StringSet


@dataclass(frozen=True)
class Constant:
    """Exactly one value. Equal where the values are equal in the sense of JSON Schema."""

    key: Hashable
    value: JsonValue = field(compare=False)

    @classmethod
    def of(cls, value: JsonValue) -> Constant:
        """The constant of a value."""
        return cls(identity(value), value)


@dataclass(frozen=True)
class Negation:
    """Every value that the terms do not all allow."""

    body: Conjunction
    # By value, each part once: negations of negations share what is inside of them.
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((Negation, self.body)))

    def __hash__(self) -> int:
        return self._hash


Term: TypeAlias = Node | Constant | Negation

# The values that all terms allow. The order is that in which the schema gives the terms, since the order of properties
# follows it; no term occurs twice.
Conjunction: TypeAlias = tuple[Term, ...]

ANYTHING: Conjunction = ()
NEVER: Conjunction = (Negation(ANYTHING),)

# To conjoin so many terms takes a step of a session.
_TERMS_PER_STEP = 16


def pointer_of(conjunction: Conjunction) -> str:
    """The place of the first schema in it; "" without one."""
    return next((term.pointer for term in conjunction if isinstance(term, Node)), "")


def conjoin(a: Conjunction, b: Conjunction) -> Conjunction:
    """The values that both allow; NEVER where one of them asks for what the other one plainly forbids."""
    if not b or a == b:
        return a
    if not a:
        return b
    current().spend((len(a) + len(b)) // _TERMS_PER_STEP)
    terms = dict.fromkeys(a + b)
    if any(isinstance(term, Negation) and all(part in terms for part in term.body) for term in terms):
        return NEVER
    return tuple(terms)


def negate(body: Conjunction) -> Conjunction:
    """The values that the conjunction does not allow."""
    if len(body) == 1 and isinstance(body[0], Negation):
        return body[0].body
    return (Negation(body),)


def either(alternatives: Iterable[Conjunction]) -> Conjunction:
    """The values that any of the conjunctions allows."""
    return negate(reduce(conjoin, map(negate, alternatives), ANYTHING))


@dataclass(frozen=True)
class Member:
    """A key that is named, and what its value must be.

    listed  whether `properties` names it; its place in the order of the keys depends on that
    """

    name: str
    value: Conjunction
    required: bool = False
    listed: bool = True


@dataclass(frozen=True)
class KeyClass:
    """Keys without a name of their own, and what their values must be."""

    keys: Keys
    value: Conjunction


@dataclass(frozen=True)
class Witness:
    """At least one key out of `keys` other than `besides` is there, with such a value."""

    keys: Keys
    besides: frozenset[str]
    value: Conjunction

    def admits(self, key: str) -> bool:
        """Whether such a key could be the one that must be there."""
        return key not in self.besides and self.keys.admits(key)


@dataclass(frozen=True)
class ObjectShape:
    """The objects that meet all of these conditions.

    members    keys with names, in the order in which they are written; each name once
    others     what other keys there may be: disjoint classes, from all of which the names of members are excluded;
               a key in none of them is not allowed
    minimum    how many keys there must be at least
    maximum    and at most
    witnesses  keys that must be there though they have no name
    refusals   conditions that could not be read; the set may be smaller than the rest says
    evaluated  the keys that the schema looked at. No condition: an annotation of these alternatives, which is kept
               only while a schema is evaluated that has `unevaluatedProperties` somewhere. Its names are members
    """

    members: tuple[Member, ...] = ()
    others: tuple[KeyClass, ...] = (KeyClass(ALL_KEYS, ANYTHING),)
    minimum: int = 0
    maximum: int | None = None
    witnesses: tuple[Witness, ...] = ()
    refusals: frozenset[Diagnostic] = frozenset()
    evaluated: EvaluatedKeys = NO_KEYS

    @cached_property
    def by_name(self) -> dict[str, Member]:
        """The members by their names."""
        return {member.name: member for member in self.members}

    def value_of(self, name: str) -> Conjunction:
        """What the value of a key must be; NEVER if there must be no such key."""
        member = self.by_name.get(name)
        if member is not None:
            return member.value
        for other in self.others:
            if other.keys.admits(name):
                return other.value
        return NEVER


@dataclass(frozen=True)
class ItemWitness:
    """Of the items at index `start` and later, at least and at most so many have such a value."""

    start: int
    value: Conjunction
    least: int = 1
    most: int | None = None


@dataclass(frozen=True)
class EvaluatedItems:
    """The first so many items, None for all, and those that meet one of the conjunctions in `containing`."""

    first: int | None = 0
    containing: frozenset[Conjunction] = frozenset()

    def __or__(self, other: EvaluatedItems) -> EvaluatedItems:
        if other <= self:
            return self
        if self.first is None or other.first is None:
            return EVERY_ITEM
        return EvaluatedItems(max(self.first, other.first), self.containing | other.containing)

    def __le__(self, other: EvaluatedItems) -> bool:
        """Whether it is plain that all of these items are among the others."""
        if self.first is None or other.first is None:
            return other.first is None
        return self.first <= other.first and self.containing <= other.containing


NO_ITEMS = EvaluatedItems()
EVERY_ITEM = EvaluatedItems(None)


@dataclass(frozen=True)
class ArrayShape:
    """The arrays that meet all of these conditions.

    prefix     what the first items must be
    rest       what every further item must be
    minimum    how many items there must be at least
    maximum    and at most
    witnesses  items that must be there somewhere, or not too often
    unique_at  the JSON Pointer of a `uniqueItems` that forbids equal items; None where equal items are allowed
    repeats_at  those of such whose negation asks for equal items, which is refused where it cannot be left out
    evaluated  the items that the schema looked at: an annotation as that of `ObjectShape`
    """

    prefix: tuple[Conjunction, ...] = ()
    rest: Conjunction = ANYTHING
    minimum: int = 0
    maximum: int | None = None
    witnesses: tuple[ItemWitness, ...] = ()
    unique_at: str | None = None
    repeats_at: frozenset[str] = frozenset()
    evaluated: EvaluatedItems = NO_ITEMS

    def item(self, index: int) -> Conjunction:
        """What the item at an index must be, bounds on the length aside."""
        return self.prefix[index] if index < len(self.prefix) else self.rest


ALL_OBJECTS = ObjectShape()
ALL_ARRAYS = ArrayShape()


@dataclass(frozen=True)
class Normal:
    """A set of JSON values: the union of its parts."""

    null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: tuple[NumberShape, ...] = ()
    strings: StringSet = NO_STRINGS
    arrays: tuple[ArrayShape, ...] = ()
    objects: tuple[ObjectShape, ...] = ()

    @property
    def is_plainly_empty(self) -> bool:
        """Whether there are no parts at all."""
        others = self.null or self.booleans or self.numbers or self.arrays or self.objects
        return not others and self.strings.is_plainly_empty


NOTHING_AT_ALL = Normal()
EVERYTHING = Normal(
    null=True,
    booleans=frozenset([False, True]),
    numbers=(ALL_NUMBERS,),
    strings=ALL_STRINGS,
    arrays=(ALL_ARRAYS,),
    objects=(ALL_OBJECTS,),
)
