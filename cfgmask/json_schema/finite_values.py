"""The arrays and objects of a set, where there are only a few."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import product

from cfgmask.grammar.regex_tree import NOTHING
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Constant, Normal, ObjectShape
from cfgmask.json_schema.numbers import NumberShape, count, enumerated
from cfgmask.json_schema.values import JsonValue

# Arrays without equal items know which of the values came: each more doubles their states.
MAX_VALUES = 8
# Values inside of values.
_MAX_DEPTH = 8

NormalOf = Callable[[Conjunction], Normal]


class _TooMany(Exception):
    """There are infinitely many values, or more than are looked for."""


def few_composites(normal: Normal, normal_of: NormalOf) -> tuple[Constant, ...] | None:
    """The arrays and objects of a set, each once; None where they are not certain to be `MAX_VALUES` at most."""
    try:
        found = _bounded(_composites(normal, normal_of, 0))
    except _TooMany:
        return None
    by_value = tuple({Constant.of(value): None for value in found})
    # Two orders of the keys of one object would be two ways to write it.
    return by_value if len(by_value) == len({json.dumps(value, default=str) for value in found}) else None


def _bounded(values: Iterable[JsonValue]) -> list[JsonValue]:
    """The values without those that are written alike."""
    found: dict[str, JsonValue] = {}
    for value in values:
        found.setdefault(json.dumps(value, default=str), value)
        if len(found) > MAX_VALUES:
            raise _TooMany
    return list(found.values())


def _values(normal: Normal, normal_of: NormalOf, depth: int) -> list[JsonValue]:
    if depth > _MAX_DEPTH or normal.strings.pattern != NOTHING or normal.strings.refusals:
        raise _TooMany
    scalars: list[JsonValue] = [None] if normal.null else []
    scalars += [*normal.booleans, *normal.strings.values]
    for shape in normal.numbers:
        scalars += _numbers(shape)
    return _bounded([*scalars, *_composites(normal, normal_of, depth)])


def _numbers(shape: NumberShape) -> list[JsonValue]:
    if shape.without or shape.refusals or count(shape, MAX_VALUES) is None:
        raise _TooMany
    return [*enumerated(shape)]


def _composites(normal: Normal, normal_of: NormalOf, depth: int) -> Iterator[JsonValue]:
    for array in normal.arrays:
        yield from _arrays(array, normal_of, depth)
    for shape in normal.objects:
        yield from _objects(shape, normal_of, depth)


def _arrays(shape: ArrayShape, normal_of: NormalOf, depth: int) -> Iterator[JsonValue]:
    too_long = shape.maximum is None or shape.maximum > MAX_VALUES
    if too_long or shape.witnesses or shape.refusals or shape.unique_at is not None:
        raise _TooMany
    assert shape.maximum is not None
    items = [_values(normal_of(shape.item(i)), normal_of, depth + 1) for i in range(shape.maximum)]
    for length in range(shape.minimum, shape.maximum + 1):
        yield from map(list, product(*items[:length]))


def _objects(shape: ObjectShape, normal_of: NormalOf, depth: int) -> Iterator[JsonValue]:
    if shape.others or shape.witnesses or shape.refusals or len(shape.members) > MAX_VALUES:
        raise _TooMany
    choices: list[list[tuple[tuple[str, JsonValue], ...]]] = []
    for member in shape.members:
        held = _values(normal_of(member.value), normal_of, depth + 1)
        ways: list[tuple[tuple[str, JsonValue], ...]] = [((member.name, value),) for value in held]
        choices.append(ways if member.required else [(), *ways])
    for chosen in product(*choices):
        value = dict(pair for pairs in chosen for pair in pairs)
        if shape.minimum <= len(value) and (shape.maximum is None or len(value) <= shape.maximum):
            yield value
