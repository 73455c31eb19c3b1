"""Patterns of the plainest kind, read by the compiled core: characters, classes, groups, quantifiers, outer anchors.

What `parse_regex` makes of them is what the tests hold this against; here it takes a hundredth of the time.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from cfgmask import _core
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.parser import NODES_PER_PART
from cfgmask.regex.properties import ecma_property

Syntax: TypeAlias = Literal["ecma", "python", "python-dot-all"]

LAZY = re.compile(r"[*+?}]\?")
"""What may be a lazy quantifier; inside a class it is none."""


def simple_search(pattern: str, limits: Limits) -> RegexTree | None:
    """The texts in which a pattern of ECMA-262 is found; None where `parse_regex` has to read it."""
    return _read(pattern, "ecma", limits)


def simple_text(pattern: str, flags: str, limits: Limits) -> RegexTree | None:
    """The texts that match a pattern of Python's; None where `parse_regex` has to read it."""
    # Unicode is what a pattern is about in any case.
    if not set(flags) <= {"s", "u"}:
        return None
    return _read(pattern, "python-dot-all" if "s" in flags else "python", limits)


def simple_lexeme(pattern: str, flags: str, limits: Limits) -> RegexTree | None:
    """What a pattern of Python's matches somewhere in a larger text; None where `parse_lexeme` has to read it."""
    return None if LAZY.search(pattern) else simple_text(pattern, flags, limits)


def _read(pattern: str, syntax: Syntax, limits: Limits) -> RegexTree | None:

    # In UTF-8 each character may take four bytes, and each may be a part, which only the other reader counts.
    if 4 * len(pattern) > limits.max_source_bytes or NODES_PER_PART * len(pattern) > limits.max_regex_nodes:
        return None
    try:
        pattern.encode()
    except UnicodeEncodeError:
        return None
    return _core.simple_pattern(pattern, syntax, limits.max_nesting, ecma_property)
