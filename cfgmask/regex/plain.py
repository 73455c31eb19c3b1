"""Patterns of the plainest kind, read by the compiled core: characters, classes, groups, quantifiers, outer anchors.

What `parse_regex` makes of them is what the tests hold this against; here it takes a hundredth of the time.
"""

from __future__ import annotations

from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits


def plain_search(pattern: str, limits: Limits) -> RegexTree | None:
    """The texts in which a pattern of ECMA-262 is found; None where `parse_regex` has to read it."""
    return _read(pattern, False, limits)


def plain_text(pattern: str, limits: Limits) -> RegexTree | None:
    """The texts that match a pattern of Python's with the flag `s`; None where `parse_regex` has to read it."""
    return _read(pattern, True, limits)


def _read(pattern: str, python: bool, limits: Limits) -> RegexTree | None:
    from cfgmask import _core

    # In UTF-8 each character may take four bytes.
    if 4 * len(pattern) > limits.max_source_bytes:
        return None
    try:
        pattern.encode()
    except UnicodeEncodeError:
        return None
    return _core.plain_pattern(pattern, python, limits.max_nesting)
