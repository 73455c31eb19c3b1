"""Parametric rules: what stands after `::` and `%if`, and whether rules and their uses agree on who has a parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from cfgmask.diagnostics import Span
from cfgmask.grammar.parameters import (
    LARGEST,
    N_BITS,
    All,
    Any,
    Argument,
    Bits,
    Compare,
    Condition,
    Counted,
    Masked,
    Not,
    Relation,
    uses_parameter,
)
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.suggest import did_you_mean

T = TypeVar("T")

SELF = "_"
"""The parameter itself, and all of its bits."""


@dataclass(frozen=True, eq=False)
class ParameterText:
    """`name`, `12`, `[0:3]` or `name(part, ...)` as it was written; `parts` is None where there are no parentheses."""

    text: str
    parts: tuple[ParameterText, ...] | None
    span: Span


class ParameterError(ValueError):
    """A `ParameterText` that means nothing."""

    def __init__(self, message: str, span: Span, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.help = help


def read_argument(written: ParameterText) -> Argument:
    """What is given to a rule: `_`, a number or a function of the parameter. Raises ParameterError."""
    if written.parts is None:
        return Masked() if written.text == SELF else Masked(0, _number(written, LARGEST))
    return _apply(written, _ARGUMENTS)


def read_condition(written: ParameterText) -> Condition:
    """What stands after `%if`. Raises ParameterError."""
    if written.parts is None:
        if written.text == "true":
            return All(())
        raise ParameterError(
            f"`{written.text}` is no condition", written.span, "write `true`, or a function as `lt(_, 3)`"
        )
    return _apply(written, _CONDITIONS)


def _apply(written: ParameterText, functions: Mapping[str, _Function[T]]) -> T:
    function = functions.get(written.text)
    if function is None:
        help = did_you_mean(written.text, functions) or "known are " + ", ".join(f"`{name}`" for name in functions)
        raise ParameterError(f"there is no `{_shown(written)}` here", written.span, help)
    parts = written.parts or ()
    if len(parts) not in function.counts:
        raise ParameterError(f"`{written.text}` is written `{function.usage}`", written.span)
    return function.make(*parts)


@dataclass(frozen=True)
class _Function(Generic[T]):
    """usage: how it is written; counts: how many arguments it may have."""

    usage: str
    counts: Iterable[int]
    make: Callable[..., T]


def _shown(written: ParameterText) -> str:
    return written.text if len(written.text) <= 60 else written.text[:57] + "..."


def _number(written: ParameterText, largest: int) -> int:
    text = written.text
    if written.parts is None and text.isascii() and (text.isdigit() or text[:2] in ("0x", "0X")) and len(text) <= 100:
        value = int(text, 16) if text[:2] in ("0x", "0X") else int(text)
        if value <= largest:
            return value
    raise ParameterError(f"`{_shown(written)}` is no whole number from 0 to {largest}", written.span)


def _bits(written: ParameterText) -> Bits:
    if written.text == SELF and written.parts is None:
        return Bits()
    low, colon, high = written.text.strip("[]").partition(":")
    if not written.text.startswith("[") or not colon:
        message = f"`{_shown(written)}` names no bits"
        raise ParameterError(message, written.span, "write `_` for all of them, or a range as `[0:3]`")
    bounds = [_number(ParameterText(bound.strip(), None, written.span), N_BITS) for bound in (low, high)]
    if bounds[0] >= bounds[1]:
        raise ParameterError("the range of bits is empty", written.span, "the bit after the colon is not included")
    return Bits(*bounds)


def _bit(written: ParameterText) -> int:
    return _number(written, N_BITS - 1)


def _mask(written: ParameterText) -> int:
    return _number(written, LARGEST)


_ARGUMENTS: dict[str, _Function[Argument]] = {
    "set_bit": _Function("set_bit(3)", [1], lambda bit: Masked(LARGEST, 1 << _bit(bit))),
    "clear_bit": _Function("clear_bit(3)", [1], lambda bit: Masked(LARGEST ^ 1 << _bit(bit), 0)),
    "bit_and": _Function("bit_and(0x0f)", [1], lambda mask: Masked(_mask(mask), 0)),
    "bit_or": _Function("bit_or(0x0f)", [1], lambda mask: Masked(LARGEST, _mask(mask))),
    "incr": _Function("incr(_)` or `incr([0:3])", [1], lambda bits: Counted(_bits(bits), up=True)),
    "decr": _Function("decr(_)` or `decr([0:3])", [1], lambda bits: Counted(_bits(bits), up=False)),
}


def _compare(relation: Relation, ones: bool, bits: ParameterText, value: ParameterText) -> Condition:
    return Compare(_bits(bits), relation, _mask(value), ones)


def _all_ones(written: ParameterText) -> Condition:
    bits = _bits(written)
    return Compare(bits, "eq", (1 << (bits.high - bits.low)) - 1)


def _one_bit(value: int, written: ParameterText) -> Condition:
    bit = _bit(written)
    return Compare(Bits(bit, bit + 1), "eq", value)


_RELATIONS: tuple[Relation, ...] = ("eq", "ne", "lt", "le", "gt", "ge")
_MANY = range(2, 1_000)

_CONDITIONS: dict[str, _Function[Condition]] = {
    "true": _Function("true", [0], lambda: All(())),
    "bit_set": _Function("bit_set(3)", [1], partial(_one_bit, 1)),
    "bit_clear": _Function("bit_clear(3)", [1], partial(_one_bit, 0)),
    "is_ones": _Function("is_ones(_)` or `is_ones([0:3])", [1], _all_ones),
    "is_zeros": _Function("is_zeros(_)` or `is_zeros([0:3])", [1], lambda bits: Compare(_bits(bits), "eq", 0)),
    **{name: _Function(f"{name}([0:3], 5)", [2], partial(_compare, name, False)) for name in _RELATIONS},
    **{
        f"bit_count_{name}": _Function(f"bit_count_{name}([0:8], 5)", [2], partial(_compare, name, True))
        for name in _RELATIONS
    },
    "and": _Function("and(x, y)", _MANY, lambda *parts: All(tuple(map(read_condition, parts)))),
    "or": _Function("or(x, y)", _MANY, lambda *parts: Any(tuple(map(read_condition, parts)))),
    "not": _Function("not(x)", [1], lambda body: Not(read_condition(body))),
}


def check_parameter(
    definition: nodes.Definition, rules: Mapping[str, nodes.Definition], known: Set[str], problems: Problems
) -> None:
    """Report where a definition and what it uses do not agree on who has a parameter. Linear.

    known  the names that mean something: of others that was reported
    """
    if definition.parametric:
        _check_definition(definition, problems)
    for node in definition.uses:
        if isinstance(node, nodes.Name):
            used = rules.get(node.text)
            if node.argument is None:
                if used is not None and used.parametric:
                    _check_use(node, definition, used, problems)
            elif node.text in known or any(parameter.text == node.text for parameter in definition.parameters):
                _check_use(node, definition, used, problems)
        elif isinstance(node, nodes.Conditional) and uses_parameter(node.condition) and not definition.parametric:
            _report_no_parameter("the condition asks for", definition, node.condition_span, problems)


def _check_definition(definition: nodes.Definition, problems: Problems) -> None:
    if definition.is_terminal:
        message, help = "a terminal has no parameter", "make it a rule by writing its name in lower case"
        problems.error("lark-bad-parameter", message, definition.span, help=help)
    elif definition.parameters:
        problems.error("lark-bad-parameter", "a template has no parameter of this kind", definition.span)


def _check_use(use: nodes.Name, user: nodes.Definition, used: nodes.Definition | None, problems: Problems) -> None:
    if used is None or (use.argument is not None and not used.parametric):
        message = f"`{use.text}` has no parameter"
        help = None if used is None else f"define it as `{use.text}::_: ...`, or take `::` away here"
        problems.error("lark-not-parametric", message, use.span, help=help)
    elif used.parametric and use.argument is None:
        message = f"the rule `{use.text}` needs a value for its parameter"
        problems.error("lark-parameter-missing", message, use.span, help=f"write `{use.text}::_` or `{use.text}::0`")
    elif use.argument is not None and uses_parameter(use.argument) and not user.parametric:
        _report_no_parameter("the value is made from", user, use.span, problems)


def _report_no_parameter(what: str, user: nodes.Definition, span: Span, problems: Problems) -> None:
    message = f"{what} a parameter, and `{user.name}` has none"
    help = "use it in a rule that is defined as `name::_: ...`"
    problems.error("lark-no-parameter", message, span, help=help)
