"""The attributes of a rule, as in `name[lazy, max_chars=20]`: which there are, what they take and which go together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import Any

from cfgmask.diagnostics import Fix, Span
from cfgmask.grammar.regex_tree import MAX_COUNT
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.lark.tokens import Token
from cfgmask.suggest import closest, question


@dataclass(frozen=True, eq=False)
class WrittenAttribute:
    """An attribute as it was written; `value` is what follows `=`, a token if that is a number."""

    name: str
    value: nodes.Expression | Token | None
    span: Span


@dataclass(frozen=True)
class _Kind:
    """What an attribute takes: `read` gives the value, or None for one that it does not take."""

    needs: str
    example: str
    read: Callable[[nodes.Expression | Token | None], object]


def read_attributes(rule: str, written: Iterable[WrittenAttribute], problems: Problems) -> nodes.Attributes:
    """The attributes of a rule. What is unknown, wrong or contradictory is reported and left out.

    rule  its name, which is that of its capture where none is given
    """
    values: dict[str, Any] = {}
    places: dict[str, Span] = {}
    for attribute in written:
        name, span = attribute.name, attribute.span
        kind = _KINDS.get(name)
        if kind is None:
            close = closest(name, _KINDS)
            help = "known are " + ", ".join(f"`{known}`" for known in _KINDS) if close is None else question(close)
            fix = None if close is None else Fix(span.within(0, len(name)), close)
            problems.error("lark-unknown-attribute", f"there is no rule attribute `{name}`", span, help=help, fix=fix)
        elif name in places:
            problems.error("lark-bad-attribute", f"`{name}` is given twice", span)
        else:
            places[name] = span
            value = kind.read(attribute.value)
            if value is not None:
                values[name] = value
            elif not isinstance(attribute.value, nodes.Invalid):
                message = f"`{name}` {kind.needs}"
                problems.error("lark-bad-attribute", message, span, help=f"write `{kind.example}`")
    _check_ends(places, problems)
    if values.get("capture") == "":
        values["capture"] = rule
    return nodes.Attributes(**values) if values else nodes.NO_ATTRIBUTES


def _check_ends(places: dict[str, Span], problems: Problems) -> None:
    # A rule that ends with the first match of its suffix is lazy anyway.
    ends = [name for name in places if name in ("suffix", "stop")]
    if len(ends) > 1:
        message = f"`{ends[0]}` and `{ends[1]}` cannot go together"
        problems.error("lark-attribute-clash", message, places[ends[1]])
    if "json" in places and "capture" not in places:
        help = "say that the rule is captured, too: `[capture, json]`"
        problems.error("lark-attribute-clash", "`json` needs a `capture`", places["json"], help=help)
    if "stop_capture" in places and not ends:
        message, help = "`stop_capture` needs a `stop` or a `suffix`", "say what ends the rule, or use `capture`"
        problems.error("lark-attribute-clash", message, places["stop_capture"], help=help)


def _flag(value: nodes.Expression | Token | None) -> object:
    return True if value is None else None


def _count(value: nodes.Expression | Token | None) -> object:
    if not isinstance(value, Token) or not value.isdecimal() or len(value) > len(str(MAX_COUNT)):
        return None
    return int(value) if int(value) <= MAX_COUNT else None


def _terminal(value: nodes.Expression | Token | None) -> object:
    return value if isinstance(value, (nodes.String, nodes.Pattern, nodes.Name)) else None


def _name(value: nodes.Expression | Token | None) -> object:
    return value.value if isinstance(value, nodes.String) and value.value and not value.ignore_case else None


def _name_or_nothing(value: nodes.Expression | Token | None) -> object:
    return "" if value is None else _name(value)


def _temperature(value: nodes.Expression | Token | None) -> object:
    if not isinstance(value, Token) or value.lower().startswith("0x"):
        return None
    return float(value) if 0 <= float(value) < inf else None


_END = "needs a string, a regex or a terminal"

_KINDS = {
    "lazy": _Kind("takes no value", "lazy", _flag),
    "suffix": _Kind(_END, 'suffix="</end>"', _terminal),
    "stop": _Kind(_END, 'stop="</end>"', _terminal),
    "max_chars": _Kind("needs a whole number", "max_chars=20", _count),
    "max_tokens": _Kind("needs a whole number", "max_tokens=20", _count),
    "capture": _Kind("takes a name in quotes, or nothing", 'capture="name"', _name_or_nothing),
    "stop_capture": _Kind("needs a name in quotes", 'stop_capture="name"', _name),
    "temperature": _Kind("needs a number that is not negative", "temperature=0.7", _temperature),
    "json": _Kind("takes no value", "json", _flag),
}
