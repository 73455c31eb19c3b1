"""Terminals as the text of one Python regex, which is how Lark reads them.

Only lazy quantifiers need it: where one ends depends on all that follows it in the terminal, whatever pieces the
terminal is written in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cfgmask.lark import nodes

MAX_LENGTH = 20_000
"""Longer texts are given up; terminals that use each other may double them at every step."""

_LEADING_FLAGS = re.compile(r"\(\?([aimsux]+)\)")


def of_string(node: nodes.String) -> str | None:
    """The text that matches a string."""
    text = re.escape(node.value)
    return _bounded(f"(?i:{text})" if node.ignore_case else text)


def of_pattern(node: nodes.Pattern, text: str) -> str | None:
    """A regex with its flags, as a group."""
    flags = set(node.flags) & set("imsx")
    while leading := _LEADING_FLAGS.match(text):
        flags |= set(leading[1])
        text = text[leading.end() :]
    # A comment goes on to the end of its line.
    end = "\n)" if "x" in flags else ")"
    return _bounded(f"(?{''.join(sorted(flags))}:{text}{end}")


def of_range(node: nodes.CharacterRange) -> str | None:
    """The class of a range of characters."""
    return f"[\\U{node.first:08x}-\\U{node.last:08x}]"


def of_parts(node: nodes.Expression, parts: Sequence[str | None]) -> str | None:
    """What is made of parts; None for operators that regexes have not."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    if isinstance(node, nodes.Sequence):
        return _bounded("".join(known))
    if isinstance(node, nodes.Choice):
        return _bounded(f"(?:{'|'.join(known)})")
    if isinstance(node, nodes.Repeat):
        maximum = "" if node.maximum is None else node.maximum
        return _bounded(f"(?:{known[0]}){{{node.minimum},{maximum}}}")
    return None


def _bounded(text: str) -> str | None:
    return text if len(text) <= MAX_LENGTH else None
