"""Sets of scalars to terminals."""

from __future__ import annotations

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import NOTHING, Alternation, RegexTree
from cfgmask.json_schema import lexemes
from cfgmask.json_schema.normal_form import Normal
from cfgmask.json_schema.number_regex import ANY_NUMBER, NoRegex, number_regex
from cfgmask.json_schema.numbers import NumberShape
from cfgmask.json_schema.values import Number, plain_decimal

# The longest number that a message repeats.
_MAX_SHOWN = 40


def scalars(normal: Normal, exponents: bool = True) -> list[Terminal]:
    """What a scalar may be, one terminal a type.

    exponents  whether numbers may have one
    """
    choices: list[Terminal] = []
    if normal.null:
        choices.append(lexemes.NULL)
    choices += [lexemes.TRUE if value else lexemes.FALSE for value in sorted(normal.booleans, reverse=True)]
    if normal.numbers:
        choices.append(_number(normal.numbers, exponents))
    if not normal.strings.is_plainly_empty:
        choices.append(lexemes.string(normal.strings))
    return choices


def _number(shapes: tuple[NumberShape, ...], exponents: bool) -> Terminal:
    parts = tuple(regex for shape in shapes if (regex := _regex_of(shape, exponents)) != NOTHING)
    integers = all(shape.step is not None and shape.step.denominator == 1 for shape in shapes)
    return lexemes.number(parts[0] if len(parts) == 1 else Alternation(parts), integers)


def _regex_of(shape: NumberShape, exponents: bool) -> RegexTree:
    try:
        return number_regex(shape, exponents)
    except NoRegex:
        return ANY_NUMBER


def refusals_of_scalars(normal: Normal) -> frozenset[Diagnostic]:
    """What cannot be enforced in the scalars."""
    found = normal.strings.refusals if not normal.strings.is_plainly_empty else frozenset()
    for shape in normal.numbers:
        found |= shape.refusals
        try:
            number_regex(shape)
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
