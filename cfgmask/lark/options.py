"""`%cfgmask {...}` and `%llguidance {...}`: choices that belong to a grammar."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from cfgmask.diagnostics import Related, Span, shortened
from cfgmask.lark import indenter, nodes
from cfgmask.lark.indenter import IndenterOption
from cfgmask.lark.json_members import member_places
from cfgmask.lark.problems import Problems
from cfgmask.suggest import did_you_mean

Lexer = Literal["longest", "complete"]


@dataclass(frozen=True)
class GrammarOptions:
    """What the options of a grammar come to.

    lexer           "longest" or "complete", see `GrammarIR`
    ignore_initial  whether ignored text may stand before the first lexeme
    ignore_final    and after the last one
    ignore_once     whether at most one ignored lexeme stands in a gap
    indenter        how newlines are indentation, with the place of the option; None: not at all
    declared        special tokens by the name of the declared terminal, each with the place of the option
    """

    lexer: Lexer = "longest"
    ignore_initial: bool = True
    ignore_final: bool = True
    ignore_once: bool = False
    indenter: tuple[IndenterOption, Span] | None = None
    declared: Mapping[str, tuple[str, Span]] = field(default_factory=dict)


NO_OPTIONS = GrammarOptions()


# The members of a JSON object, with their places.
_Members: TypeAlias = "list[tuple[str, Any, Span]]"


def _is_object_of_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(text, str) for _, text in value)


@dataclass(frozen=True)
class _Option:
    """An option: which values it takes, in code and in words."""

    takes: Callable[[object], bool]
    values: str


_FLAG = _Option(lambda value: isinstance(value, bool), "it may be true or false")

_OURS: dict[str, _Option] = {
    "lexer": _Option(lambda value: value in ("longest", "complete"), 'it may be "longest" or "complete"'),
    "ignore_initial": _FLAG,
    "ignore_final": _FLAG,
    "ignore_once": _FLAG,
    "indenter": _Option(indenter.is_indenter, indenter.VALUES),
    "declared": _Option(_is_object_of_texts, 'it is an object, such as {"NAME": "<special>"}'),
}

# The options of llguidance, and which of ours says the same. What they do without one changes no text: `no_forcing`
# is about how tokens are proposed.
_LLGUIDANCE: dict[str, str | None] = {
    "allow_initial_skip": "ignore_initial",
    "ignore_once": "ignore_once",
    "skip_repetition": "ignore_once",
    "allow_invalid_utf8": None,
    "no_forcing": None,
}
_ONCE = _Option(lambda value: value == "once", 'it may be "once"')


def read_options(blocks: Collection[nodes.Options], problems: Problems) -> GrammarOptions:
    """What all option blocks of a grammar say together. Reports what is unknown and what is said twice."""
    if not blocks:
        return NO_OPTIONS
    reader = _Reader(problems)
    for block in blocks:
        members = _members(block.value, problems)
        if block.of_llguidance:
            reader.read_llguidance(members)
        else:
            reader.read(members)
    options = GrammarOptions(**reader.values)
    if options.indenter is not None and options.lexer == "complete":
        message, help = "an indenter needs the longest match", 'leave out `"lexer": "complete"`'
        problems.error("lark-bad-indenter", message, options.indenter[1], help=help)
    return options


class _Reader:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._places: dict[str, Span] = {}
        self.values: dict[str, Any] = {}

    def read(self, members: _Members) -> None:
        for key, value, span in members:
            if key not in _OURS:
                self._report_unknown(key, _OURS, span)
            elif self._is_fit(key, _OURS[key], value, span):
                self._set(key, value, span)

    def read_llguidance(self, members: _Members) -> None:
        for key, value, span in members:
            if key not in _LLGUIDANCE:
                self._report_unknown(key, _LLGUIDANCE, span)
                continue
            if not self._is_fit(key, _ONCE if key == "skip_repetition" else _FLAG, value, span):
                continue
            ours = _LLGUIDANCE[key]
            if ours is not None:
                self._set(ours, bool(value), span)
            elif key == "allow_invalid_utf8" and value:
                message = "texts that are not UTF-8 are not supported (`allow_invalid_utf8`)"
                self._problems.error("lark-unsupported-llguidance", message, span)

    def _set(self, key: str, value: Any, span: Span) -> None:
        if key == "declared":
            for name, token in value:
                if self._is_new(f"declared.{name}", span):
                    self.values.setdefault(key, {})[name] = token, span
        elif self._is_new(key, span):
            self.values[key] = (indenter.read_indenter(value), span) if key == "indenter" else value

    def _is_new(self, key: str, span: Span) -> bool:
        if key not in self._places:
            self._places[key] = span
            return True
        first = self._places[key]
        related = () if first is span else (Related(first, "it is first set here"),)
        message = f"the option `{shortened(key)}` is set twice"
        self._problems.error("lark-duplicate-option", message, span, related=related)
        return False

    def _is_fit(self, key: str, option: _Option, value: object, span: Span) -> bool:
        if option.takes(value):
            return True
        message = f"the option `{key}` has no such value"
        self._problems.error("lark-bad-option", message, span, help=option.values)
        return False

    def _report_unknown(self, key: str, known: Iterable[str], span: Span) -> None:
        key = shortened(key)
        help = did_you_mean(key, list(known)) or "known are " + ", ".join(f"`{name}`" for name in known)
        self._problems.error("lark-unknown-option", f"there is no option `{key}`", span, help=help)


def _members(span: Span, problems: Problems) -> _Members:
    """The members of a JSON object, repeated keys included; none, and a report, where it is not JSON."""
    text = span.source.text[span.start : span.end]
    try:
        # Every object becomes a tuple of pairs, which is how repeated keys are seen.
        members: tuple[tuple[str, Any], ...] = json.loads(text, object_pairs_hook=tuple)
        places = member_places(text)
        return [(key, value, span.within(*place)) for (key, value), (_, *place) in zip(members, places, strict=True)]
    except json.JSONDecodeError as error:
        message = "the options are not JSON: " + error.msg[:1].lower() + error.msg[1:]
        problems.error("lark-bad-options", message, span.within(error.pos, error.pos + 1))
    except RecursionError:
        problems.error("lark-bad-options", "the options are nested too deeply", span)
    except ValueError:
        # int() refuses digit strings of thousands of digits.
        problems.error("lark-bad-options", "a number in the options is too long", span)
    return []
