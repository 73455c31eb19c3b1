"""Arrays and objects that must be told from others, as items of arrays in which no two are equal.

Their rules open sets that hold all that is written in them, see `SetBounds`. No item can be begun that could only
become equal to one before it where arrays may always have one item more, and objects one key: then whatever was begun
may end in infinitely many ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence, Terminal
from cfgmask.grammar.regex_tree import ANY_TEXT
from cfgmask.grammar.walk import fold
from cfgmask.json_schema import decide, lexemes
from cfgmask.json_schema.key_edges import key_edges
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Normal, ObjectShape

NormalOf: TypeAlias = Callable[[Conjunction], Normal]


def told_apart(body: Expr) -> Expr:
    """The body of a rule in which every scalar counts, and every key, and nothing is closed that would come twice."""
    return fold(body, _combine)


def _combine(expr: Expr, parts: list[Expr]) -> Expr:
    if isinstance(expr, Terminal):
        mark = lexemes.mark(expr)
        if mark is None:
            return replace(expr, distinct=True, endless=False)
        return replace(expr, closes_set=True) if mark in lexemes.CLOSE else expr
    if isinstance(expr, Repeat):
        return replace(expr, body=parts[0])
    return replace(expr, parts=tuple(parts)) if isinstance(expr, (Sequence, Choice)) else expr


def goes_on(normal: Normal, normal_of: NormalOf) -> bool:
    """Whether it is sure that every array and object of a set may end in infinitely many ways, however far it is."""
    return all(_array_goes_on(shape, normal_of) for shape in normal.arrays) and all(
        object_goes_on(shape, normal_of) for shape in normal.objects
    )


def _array_goes_on(shape: ArrayShape, normal_of: NormalOf) -> bool:
    rest = normal_of(shape.rest)
    if not all(_has_some(normal_of(item)) for item in shape.prefix):
        return False
    # Of items of which no two are equal there must always be more.
    enough = rest.strings.pattern == ANY_TEXT if shape.unique_at is not None else _has_some(rest)
    return shape.maximum is None and not shape.witnesses and not shape.refusals and enough


def object_goes_on(shape: ObjectShape, normal_of: NormalOf) -> bool:
    """The same of one alternative."""
    if shape.maximum is not None or shape.witnesses or shape.refusals:
        return False
    return any(_has_some(normal_of(edge.value)) and edge.is_infinite for edge in key_edges(shape))


def _has_some(normal: Normal) -> bool:
    """Whether it is plain that there is some value."""
    scalars = normal.null or normal.booleans or normal.strings.values
    return bool(
        scalars
        or any(not shape.without and not shape.refusals and not shape.is_plainly_empty for shape in normal.numbers)
        or decide.has_texts(normal.strings.pattern, 1)
        or any(not shape.minimum and not shape.witnesses for shape in normal.arrays)
        or any(not shape.minimum and not shape.witnesses and not _required(shape) for shape in normal.objects)
    )


def _required(shape: ObjectShape) -> bool:
    return any(member.required for member in shape.members)
