"""Parameters of rules: 64 bits that a use of a rule computes from those of the rule around it, and conditions on them.

Meaning: `Masked` gives `value & keep | set`. `Counted` adds or takes away one in some of the bits and leaves the value
as it is where they are all ones, or all zero. Bits [low, high) of a value are `value >> low` without what is above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

N_BITS = 64
LARGEST = 2**N_BITS - 1


@dataclass(frozen=True)
class Bits:
    """The bits from `low` to `high`, which is not included."""

    low: int = 0
    high: int = N_BITS


@dataclass(frozen=True)
class Masked:
    keep: int = LARGEST
    set: int = 0


@dataclass(frozen=True)
class Counted:
    bits: Bits
    up: bool


Argument: TypeAlias = Masked | Counted

Relation: TypeAlias = Literal["eq", "ne", "lt", "le", "gt", "ge"]


@dataclass(frozen=True)
class Compare:
    """What the bits spell, or how many of them are set (`ones`), compared with a value."""

    bits: Bits
    relation: Relation
    value: int
    ones: bool = False


@dataclass(frozen=True)
class Not:
    body: Condition


@dataclass(frozen=True)
class All:
    """No parts: true."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Any:
    """At least one part."""

    parts: tuple[Condition, ...]


Condition: TypeAlias = Compare | Not | All | Any


def uses_parameter(used: Argument | Condition) -> bool:
    """Whether the parameter of the rule around it matters."""
    if isinstance(used, Masked):
        return used.keep != 0
    if isinstance(used, Not):
        return uses_parameter(used.body)
    if isinstance(used, (All, Any)):
        return any(map(uses_parameter, used.parts))
    return True
