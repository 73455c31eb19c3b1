"""`%cfgmask {...}`: choices that belong to a grammar."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from cfgmask.diagnostics import Related, Span
from cfgmask.lark import nodes
from cfgmask.lark.problems import Problems
from cfgmask.suggest import did_you_mean

Lexer = Literal["longest", "complete"]

_CHOICES: dict[str, tuple[str, ...]] = {"lexer": ("longest", "complete")}


@dataclass(frozen=True)
class GrammarOptions:
    """lexer  "longest" or "complete", see `GrammarIR`"""

    lexer: Lexer = "longest"


def read_options(blocks: tuple[nodes.Options, ...], problems: Problems) -> GrammarOptions:
    """What all option blocks of a grammar say together. Reports what is unknown and what is said twice."""
    values: dict[str, str] = {}
    places: dict[str, Span] = {}
    for block in blocks:
        for key, value in _members(block.value, problems):
            if not _is_known(key, value, block.span, problems):
                continue
            if key in places:
                related = (Related(places[key], "it is first set here"),)
                problems.error("lark-duplicate-option", f"the option `{key}` is set twice", block.span, related=related)
                continue
            values[key], places[key] = value, block.span
    return GrammarOptions(lexer="complete" if values.get("lexer") == "complete" else "longest")


def _members(span: Span, problems: Problems) -> list[tuple[str, Any]]:
    """The members of a JSON object, repeated keys included; none, and a report, where it is not JSON."""
    text = span.source.text[span.start : span.end]
    try:
        # Every object becomes a list of pairs, which is how repeated keys are seen. Depth was bounded by the reader.
        members: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
        return members
    except json.JSONDecodeError as error:
        message = "the options are not JSON: " + error.msg[:1].lower() + error.msg[1:]
        problems.error("lark-bad-options", message, span.within(error.pos, error.pos + 1))
    except ValueError:
        # int() refuses digit strings of thousands of digits.
        problems.error("lark-bad-options", "a number in the options is too long", span)
    return []


def _is_known(key: str, value: object, span: Span, problems: Problems) -> bool:
    choices = _CHOICES.get(key)
    if choices is None:
        key = key if len(key) <= 60 else key[:57] + "..."
        help = did_you_mean(key, _CHOICES) or "known are " + ", ".join(f"`{name}`" for name in _CHOICES)
        problems.error("lark-unknown-option", f"there is no option `{key}`", span, help=help)
        return False
    if value not in choices:
        help = "it may be " + " or ".join(f'"{choice}"' for choice in choices)
        problems.error("lark-bad-option", f"the option `{key}` has no such value", span, help=help)
        return False
    return True
