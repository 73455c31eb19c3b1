"""Arrays in which no item is equal to another: what can be told apart, and whether there are items enough.

The grammar's register of seen values takes out of each item what came before it. Arrays and objects it compares when
they are closed, if they are able to go on instead (`told_apart`). Of others it knows how many ends may follow what is
written of them (`steps`); where rules cannot be counted so, or values are those of YAML, there must be few enough for
rules to know which came (`lower_unique`). And it does not look ahead: where all values of an item may have been used up
before a required item is reached, a text could be begun that no text ends. What is beyond that is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.json_schema import decide
from cfgmask.json_schema.finite_values import few_composites
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Normal
from cfgmask.json_schema.numbers import NumberShape, count
from cfgmask.json_schema.told_apart import GoesOn

# Arrays that may hold arrays and objects have states of their own up to this length.
_MAX_COUNTED_ITEMS = 64


def matters(shape: ArrayShape) -> bool:
    """Whether equal items are forbidden and possible."""
    return shape.unique_at is not None and shape.maximum not in (0, 1)


def refusal(
    shape: ArrayShape, normal_of: Callable[[Conjunction], Normal], goes_on: GoesOn, uncounted: str
) -> Diagnostic | None:
    """Why uniqueItems cannot be enforced without steps; None if it can.

    uncounted  why it cannot be enforced with steps, if that was tried
    """
    reason = _reason(shape, normal_of, goes_on, uncounted)
    if reason is None:
        return None
    return Diagnostic(
        "schema-unique-items",
        f"uniqueItems cannot be enforced here: {reason}",
        pointer=shape.unique_at,
        help="take it out and check the finished value",
    )


def composites(shape: ArrayShape, normal_of: Callable[[Conjunction], Normal]) -> bool:
    """Whether items may be arrays or objects."""
    items = [*shape.prefix, shape.rest]
    return any(normal_of(item).arrays or normal_of(item).objects for item in items)


def has_many_composites(shape: ArrayShape, normal_of: Callable[[Conjunction], Normal]) -> bool:
    """Whether there are too many arrays and objects among the items for rules to know which came."""
    return any(few_composites(normal_of(item), normal_of) is None for item in items(shape))


def may_go_on(shape: ArrayShape, normal_of: Callable[[Conjunction], Normal], goes_on: GoesOn) -> bool:
    """Whether it is sure that something may always be added to items that are arrays and objects."""
    return not shape.witnesses and all(goes_on.composites(normal_of(item)) for item in items(shape))


def needed(shape: ArrayShape) -> dict[Conjunction, int]:
    """How many values the items must have that are required: of item i at most i are used up when it is reached."""
    least = {item: i + 1 for i, item in enumerate(items(shape)[: shape.minimum])}
    if shape.minimum > len(shape.prefix):
        least[shape.rest] = shape.minimum
    return least


def has_scalars(normal: Normal) -> bool:
    """Whether there are scalars in a set."""
    return bool(normal.null or normal.booleans or normal.numbers or not normal.strings.is_plainly_empty)


def distinct(terminal: Terminal) -> Terminal:
    """The terminal of an item that must not come twice."""
    return replace(terminal, distinct=True)


def items(shape: ArrayShape) -> list[Conjunction]:
    """What the items are that differ by position, and all others."""
    length = len(shape.prefix) if shape.maximum is None else min(len(shape.prefix), shape.maximum)
    items = [shape.item(i) for i in range(length)]
    if shape.maximum is None or shape.maximum > length:
        items.append(shape.rest)
    return items


def _reason(
    shape: ArrayShape, normal_of: Callable[[Conjunction], Normal], goes_on: GoesOn, uncounted: str
) -> str | None:
    found = items(shape)
    composites = {item: few_composites(normal_of(item), normal_of) for item in found}
    many = None in composites.values()
    if many:
        if not all(goes_on.composites(normal_of(item)) for item in found):
            return f"an item may be an array or an object to which nothing can be added, and {uncounted}"
        if shape.witnesses:
            return "contains beside it looks at arrays and objects"
    elif any(composites.values()):
        if shape.witnesses:
            return "contains beside it looks at arrays and objects"
        if max(len(shape.prefix), shape.minimum, shape.maximum or 0) > _MAX_COUNTED_ITEMS:
            return f"arrays and objects among the items are told apart in arrays of at most {_MAX_COUNTED_ITEMS}"
        if not any(has_scalars(normal_of(item)) for item in found):
            return None  # the rules know what is left
    if any(witness.least > 1 for witness in shape.witnesses):
        return "minContains beside it asks for several items of a kind"
    for item, least in needed(shape).items():
        if many and (normal_of(item).arrays or normal_of(item).objects):
            continue  # there are always more of these
        if least > 1 and not _has_values(normal_of(item), least - len(composites[item] or ())):
            return f"an item that is required may have fewer than {least} values, all of them used up by others"
    return None


def _has_values(normal: Normal, least: int) -> bool:
    """Whether it is sure that there are so many different scalars."""
    n = int(normal.null) + len(normal.booleans)
    # Parts of one kind may overlap, so only the largest counts.
    n += max((_count_numbers(shape, least) for shape in normal.numbers), default=0)
    if n >= least:
        return True
    strings = normal.strings
    return n + len(strings.values) >= least or decide.has_texts(strings.pattern, least - n)


def _count_numbers(shape: NumberShape, least: int) -> int:
    """How many numbers a shape has, `least` for that many and more, 0 where that is unclear."""
    if any(count(hole, least) is None for hole in shape.without):
        return 0
    holes = sum(count(hole, least) or 0 for hole in shape.without)
    known = count(shape, least + holes)
    return least if known is None else max(known - holes, 0)
