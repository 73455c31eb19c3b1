"""Sets of scalars to terminals."""

from __future__ import annotations

from functools import lru_cache

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import NOTHING, Alternation, RegexTree
from cfgmask.json_schema import lexemes
from cfgmask.json_schema.digits import with_ends
from cfgmask.json_schema.normal_form import Normal
from cfgmask.json_schema.number_regex import ANY_NUMBER, NoRegex, number_regex
from cfgmask.json_schema.numbers import NumberShape
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import Number, plain_decimal

# To spell the multiples of a number takes as long as so many steps of a session, and any numbers as long as so many.
_STEPS_PER_STEP = 128
_STEPS_PER_NUMBER = 64
# The longest number that a message repeats.
_MAX_SHOWN = 40


def scalars(normal: Normal, max_digits: int | None, exponents: bool = True) -> list[Terminal]:
    """What a scalar may be, one terminal a type.

    max_digits  how many digits a run may have that nothing else bounds; None: any number
    exponents   whether numbers may have one
    """
    choices: list[Terminal] = []
    if normal.null:
        choices.append(lexemes.NULL)
    choices += [lexemes.TRUE if value else lexemes.FALSE for value in sorted(normal.booleans, reverse=True)]
    if normal.numbers:
        choices.append(_number(normal.numbers, max_digits, exponents))
    if not normal.strings.is_plainly_empty:
        choices.append(lexemes.string(normal.strings))
    return choices


def _number(shapes: tuple[NumberShape, ...], max_digits: int | None, exponents: bool) -> Terminal:
    n_multiples = sum(shape.step not in (None, 1) for shape in shapes)
    current().spend(_STEPS_PER_STEP * n_multiples + _STEPS_PER_NUMBER * len(shapes))
    parts = tuple(regex for shape in shapes if (regex := _regex_of(shape, max_digits, exponents)) != NOTHING)
    integers = all(shape.step is not None and shape.step.denominator == 1 for shape in shapes)
    return lexemes.number(parts[0] if len(parts) == 1 else Alternation(parts), integers)


@lru_cache(maxsize=1024)
def _regex_of(shape: NumberShape, max_digits: int | None, exponents: bool) -> RegexTree:
    try:
        regex = number_regex(shape, exponents)
    except NoRegex:
        regex = ANY_NUMBER
    return regex if max_digits is None else with_ends(regex, max_digits)


def refusals_of_scalars(normal: Normal) -> frozenset[Diagnostic]:
    """What cannot be enforced in the scalars."""
    found = normal.strings.refusals if not normal.strings.is_plainly_empty else frozenset()
    for shape in normal.numbers:
        found |= shape.refusals
        try:
            number_regex(shape, True)
        except NoRegex as error:
            found |= {_no_regex(shape, error)}
    return found


def _no_regex(shape: NumberShape, error: NoRegex) -> Diagnostic:
    return Diagnostic(
        "schema-multiple-of",
        f"multipleOf {_shown(shape.step or 1)} cannot be enforced here: {error.reason}",
        pointer=shape.step_at,
        help="bound the number with minimum and maximum, so that its values can be listed",
    )


def _shown(number: Number) -> str:
    text = plain_decimal(number)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
