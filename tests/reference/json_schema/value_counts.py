"""How many values there are of a scalar, and of a key."""

from __future__ import annotations

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import ANY_TEXT, NOTHING, Alternation, JsonString, KeySet, Literal, RegexTree
from cfgmask.json_schema import session
from cfgmask.json_schema.values import number_key
from tests.reference.json_schema.normal_form import Normal
from tests.reference.json_schema.number_holes import is_surely_infinite
from tests.reference.json_schema.numbers import NumberShape, count, enumerated
from tests.reference.json_schema.scalars import refusals_of_scalars
from tests.reference.json_schema.strings import StringSet

ENDLESS = 2**16
"""So many values, or more."""


class Uncounted(Exception):
    """It is not clear how many values there are. Its text says why."""


def product(a: int, b: int) -> int:
    """How many pairs there are."""
    return min(a * b, ENDLESS)


def n_keys(key: Terminal) -> int:
    """How many keys a terminal matches; 1 for any that is no string."""
    return n_texts(key.regex.body) if isinstance(key.regex, JsonString) else 1


def n_scalars(normal: Normal, max_digits: int | None) -> int:
    """How many scalars there are in a set. Raises Uncounted."""
    if refusals_of_scalars(normal):
        raise Uncounted("in it are scalars that cannot be enforced")
    found = int(normal.null) + len(normal.booleans)
    if normal.numbers:
        found += n_numbers(normal.numbers, max_digits)
    return min(found if normal.strings.is_plainly_empty else found + n_strings(normal.strings), ENDLESS)


def n_strings(texts: StringSet) -> int:
    """How many strings there are. Raises Uncounted."""
    if texts.refusals:
        raise Uncounted("in it are strings that cannot be enforced")
    if texts.pattern == NOTHING:
        return min(len(texts.values), ENDLESS)
    return n_texts(Alternation((KeySet(tuple(value.encode() for value in texts.values)), texts.pattern)))


def n_texts(tree: RegexTree) -> int:
    """How many texts match. Raises Uncounted."""
    if isinstance(tree, Literal):
        return 1
    if tree == ANY_TEXT:
        return ENDLESS
    counts = session.current().counts
    if tree not in counts:
        counts[tree] = _count(tree)
    found = counts[tree]
    if found is None:
        raise Uncounted("how many strings are in it takes too long to tell")
    return found


def _count(tree: RegexTree) -> int | None:
    """How many texts match, at most ENDLESS; None where that takes too long to tell."""
    try:
        found = session.current().algebra.count(tree, ENDLESS)
    except LimitExceeded:
        return None
    return ENDLESS if found is None else found


def n_numbers(shapes: tuple[NumberShape, ...], max_digits: int | None) -> int:
    """How many numbers there are in any of the shapes. Raises Uncounted."""
    found: set[str] = set()
    for shape in shapes:
        if shape.refusals or any(hole.is_spelling_bound for hole in shape.without):
            raise Uncounted("in it are numbers that depend on how they are written")
        if shape.is_plainly_empty:
            continue
        if count(shape, ENDLESS) is not None:
            found.update(number_key(value) for value in enumerated(shape) if shape.admits(value))
        elif any(count(hole, ENDLESS) is None for hole in shape.without) and not is_surely_infinite(shape):
            raise Uncounted("how many numbers are in it is not clear")
        elif max_digits is not None and 10**max_digits < ENDLESS:
            raise Uncounted("max_digits leaves few numbers in it")
        else:
            return ENDLESS
    return min(len(found), ENDLESS)
