"""Sets of scalars to terminals."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Terminal
from cfgmask.grammar.regex_tree import NOTHING, Alternation, RegexTree
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.session import current
from cfgmask.json_schema.values import Number, plain_decimal
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.digits import with_ends
from tests.reference.json_schema.normal_form import Normal
from tests.reference.json_schema.number_regex import (
    ANY_NUMBER,
    MAX_RUN,
    NoRegex,
    alike,
    number_regex,
    plain_number_regex,
    union_regex,
)
from tests.reference.json_schema.numbers import NumberShape

# To spell the multiples of a number takes as long as so many steps of a session, and any numbers as long as so many.
_STEPS_PER_STEP = 128
_STEPS_PER_NUMBER = 64
# The longest number that a message repeats.
_MAX_SHOWN = 40


class NumberStyle(NamedTuple):
    """How numbers are written.

    max_digits  how many digits a run may have that nothing else bounds; None: any number
    is_plain    whether as most programs do, see `JsonSchemaOptions.numbers`
    """

    max_digits: int | None
    is_plain: bool

    @classmethod
    def of(cls, options: JsonSchemaOptions) -> NumberStyle:
        """As the options say."""
        return cls(options.max_digits, options.numbers == "plain")


def scalars(normal: Normal, style: NumberStyle, exponents: bool = True) -> list[Terminal]:
    """What a scalar may be, one terminal a type.

    exponents   whether numbers may have one
    """
    choices: list[Terminal] = []
    if normal.null:
        choices.append(lexemes.NULL)
    choices += [lexemes.TRUE if value else lexemes.FALSE for value in sorted(normal.booleans, reverse=True)]
    if normal.numbers:
        choices.append(_number(normal.numbers, style, exponents))
    if not normal.strings.is_plainly_empty:
        choices.append(lexemes.string(normal.strings))
    return choices


def _number(shapes: tuple[NumberShape, ...], style: NumberStyle, exponents: bool) -> Terminal:
    n_multiples = sum(shape.step not in (None, 1) for shape in shapes)
    current().spend(_STEPS_PER_STEP * n_multiples + _STEPS_PER_NUMBER * len(shapes))
    parts = tuple(regex for regex in _regexes_of(shapes, style, exponents) if regex != NOTHING)
    integers = all(shape.step is not None and shape.step.denominator == 1 for shape in shapes)
    return lexemes.number(parts[0] if len(parts) == 1 else Alternation(parts), integers)


def _regexes_of(shapes: tuple[NumberShape, ...], style: NumberStyle, exponents: bool) -> list[RegexTree]:
    """Regexes for all of the shapes together: those that differ in steps alone have one."""
    groups: dict[object, list[NumberShape]] = {}
    for shape in shapes:
        groups.setdefault(alike(shape) or shape, []).append(shape)
    found = []
    for group in groups.values():
        together = _union_of(tuple(group), style) if len(group) > 1 else None
        found += [_regex_of(shape, style, exponents) for shape in group] if together is None else [together]
    return found


@lru_cache(maxsize=1024)
def _union_of(shapes: tuple[NumberShape, ...], style: NumberStyle) -> RegexTree | None:
    is_plain = style.is_plain and not any(hole.is_spelling_bound for shape in shapes for hole in shape.without)
    most = _most_digits(shapes, style, is_plain)
    regex = union_regex(shapes, is_plain)
    return regex if regex is None or most is None else with_ends(regex, most)


def _most_digits(shapes: tuple[NumberShape, ...], style: NumberStyle, is_plain: bool) -> int | None:
    """How many digits a run may have that nothing else bounds."""
    if is_plain and any(shape.step is None or shape.step.denominator != 1 for shape in shapes):
        return MAX_RUN if style.max_digits is None else min(style.max_digits, MAX_RUN)
    return style.max_digits


@lru_cache(maxsize=1024)
def _regex_of(shape: NumberShape, style: NumberStyle, exponents: bool) -> RegexTree:
    # Integers without those that draft 4 calls so have a point.
    is_plain = style.is_plain and not any(hole.is_spelling_bound for hole in shape.without)
    most = _most_digits((shape,), style, is_plain)
    try:
        if is_plain:
            regex = plain_number_regex(shape, MAX_RUN if most is None else most, exponents)
        # Where doubles have no number between the bounds, numbers are written that they would round.
        if not is_plain or regex == NOTHING:
            regex = number_regex(shape, exponents)
    except NoRegex:
        regex = ANY_NUMBER
    return regex if most is None else with_ends(regex, most)


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
