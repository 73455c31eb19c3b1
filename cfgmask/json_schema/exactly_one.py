"""`oneOf`: the values that are in exactly one of several sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from cfgmask.json_schema import algebra, array_algebra, numbers, object_algebra, strings
from cfgmask.json_schema.algebra import Shape
from cfgmask.json_schema.normal_form import ArrayShape, Normal, ObjectShape


class Prober(Protocol):
    """Can show that a set is empty, sometimes."""

    def is_provably_empty(self, normal: Normal) -> bool:
        """Whether no value is in the set; False where that cannot be seen."""


def exactly_one(parts: list[Normal], prober: Prober) -> Normal:
    """The values that are in exactly one of the parts.

    Where two alternatives provably share no value nothing is taken away from either, which keeps discriminated unions
    as small as they are written. Cost: quadratic in the number of alternatives.
    """
    return algebra.union([_only(part, parts[:i] + parts[i + 1 :], prober) for i, part in enumerate(parts)])


def _only(part: Normal, others: list[Normal], prober: Prober) -> Normal:
    """The values of `part` that are in none of the others."""
    texts = part.strings
    for other in others:
        if not strings.intersect(texts, other.strings.widest).is_plainly_empty:
            texts = strings.intersect(texts, strings.complement(other.strings))
    return Normal(
        null=part.null and not any(other.null for other in others),
        booleans=part.booleans.difference(*(other.booleans for other in others)),
        numbers=_without(
            part.numbers,
            [shape for other in others for shape in other.numbers],
            lambda shape: list(numbers.complement(shape)),
            algebra.intersect_numbers,
            lambda _shape: False,
        ),
        strings=texts,
        arrays=_without(
            part.arrays,
            [shape for other in others for shape in other.arrays],
            array_algebra.complement,
            array_algebra.intersect,
            lambda shape: _has_no_array(shape, prober),
        ),
        objects=_without(
            part.objects,
            [shape for other in others for shape in other.objects],
            object_algebra.complement,
            object_algebra.intersect,
            lambda shape: _has_no_object(shape, prober),
        ),
    )


def _has_no_array(shape: ArrayShape, prober: Prober) -> bool:
    return prober.is_provably_empty(Normal(arrays=(shape,)))


def _has_no_object(shape: ObjectShape, prober: Prober) -> bool:
    return prober.is_provably_empty(Normal(objects=(shape,)))


def _without(
    shapes: tuple[Shape, ...],
    holes: list[Shape],
    opposite: Callable[[Shape], list[Shape]],
    both: Callable[[Shape, Shape], Shape | None],
    is_empty: Callable[[Shape], bool],
) -> tuple[Shape, ...]:
    kept: list[Shape] = []
    for shape in shapes:
        pieces: tuple[Shape, ...] = (shape,)
        for hole in holes:
            shared = both(shape, hole)
            if shared is not None and not is_empty(shared):
                rest = algebra.without(pieces, (hole,), opposite, both)
                pieces = tuple(piece for piece in rest if not is_empty(piece))
        kept += pieces
    return tuple(kept)
