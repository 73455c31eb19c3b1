"""Arrays in which no item is equal to another: what can be told apart, and whether there are items enough.

The grammar's register of seen values takes out of each item what came before it. Arrays and objects it compares when
they are closed, if they are able to go on instead (`told_apart`). Of others it knows how many ends may follow what is
written of them (`steps`). And it does not look ahead: where all values of an item may have been used up before a
required item is reached, rules count what came of each kind of items (`item_kinds`, `lower_unique`). What cannot be
counted is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import JsonString
from cfgmask.json_schema import decide
from tests.reference.json_schema.item_kinds import different_items, has_composites
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Normal
from tests.reference.json_schema.numbers import NumberShape, count


def matters(shape: ArrayShape) -> bool:
    """Whether equal items are forbidden and possible."""
    return shape.unique_at is not None and shape.maximum not in (0, 1)


def refusal(shape: ArrayShape, reason: str) -> Diagnostic:
    """That uniqueItems cannot be enforced."""
    return Diagnostic(
        "schema-unique-items",
        f"uniqueItems cannot be enforced here: {reason}",
        pointer=shape.unique_at,
        help="take it out and check the finished value",
    )


def refusals_of_equal(shape: ArrayShape, reason: str) -> list[Diagnostic]:
    """That the opposites of uniqueItems cannot be enforced."""
    return [
        Diagnostic(
            "schema-unique-items",
            f"that an array has two equal items cannot be enforced here: {reason}",
            pointer=unique_at,
            help="take it out and check the finished value",
        )
        for unique_at in sorted(shape.repeats_at)
    ]


def never_run_out(shape: ArrayShape, has_values: Callable[[Conjunction, int], bool]) -> bool:
    """Whether nothing that is asked for can be used up.

    has_values  whether it is sure that a conjunction has so many values
    """
    needed = {item: i + 1 for i, item in enumerate(different_items(shape)[: must_be_filled(shape)])}
    if shape.minimum > len(shape.prefix):
        needed[shape.rest] = shape.minimum
    # Of item i at most i values are used up when it is reached.
    is_enough = all(least == 1 or has_values(item, least) for item, least in needed.items())
    return is_enough and asks_for_one(shape)


def must_be_filled(shape: ArrayShape) -> int:
    """How many places may have to be filled: those that differ from the further ones, too, on the way to a witness."""
    asks = any(witness.least for witness in shape.witnesses)
    return max(shape.minimum, len(shape.prefix)) if asks else shape.minimum


def asks_for_one(shape: ArrayShape) -> bool:
    """Whether witnesses ask for one item each at most: until that came, it cannot have been used up.

    Not of those that look at no first items, which may use it up.
    """
    return all(
        witness.most is None and (witness.least == 0 or (witness.least == 1 and witness.start == 0))
        for witness in shape.witnesses
    )


def has_scalars(normal: Normal) -> bool:
    """Whether there are scalars in a set."""
    return bool(normal.null or normal.booleans or normal.numbers or not normal.strings.is_plainly_empty)


def has_others(normal: Normal) -> bool:
    """Whether there is anything but strings in a set."""
    return bool(normal.null or normal.booleans or normal.numbers or normal.arrays or normal.objects)


def distinct(terminal: Terminal, are_strings_endless: bool) -> Terminal:
    """The terminal of an item that must not come twice.

    are_strings_endless  as `has_endless_strings` has it, of the array
    """
    is_endless = are_strings_endless and isinstance(terminal.regex, JsonString)
    return replace(terminal, distinct=True, endless="items" if is_endless else "")


def has_endless_strings(shape: ArrayShape, normal_of: Callable[[Conjunction], Normal]) -> bool:
    """Whether the items have strings, of which none may run out, and the array needs no two of them.

    No item is an array or an object: beside those, strings are told apart by the register.
    """
    if shape.minimum > 1 or shape.witnesses:
        return False
    items = [normal_of(items) for items in different_items(shape)]
    if any(map(has_composites, items)):
        return False
    some = [normal.strings for normal in items if not normal.strings.is_plainly_empty]
    return bool(some) and all(not each.values and decide.is_endless(each.pattern) for each in some)


def has_values(normal: Normal, least: int) -> bool:
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
