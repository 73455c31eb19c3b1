"""Pattern text to syntax tree: the core reads, and what is wrong is put into words here."""

from __future__ import annotations

import unicodedata

from cfgmask import _core
from cfgmask.errors import LimitExceeded
from cfgmask.limits import Limits
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.messages import worded
from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Node

NODES_PER_PART = 4
"""A part takes as long to read and to translate as so many nodes take that the core makes."""

_READER = _core.PatternReader()


class TooManyLazy(Exception):
    """A pattern has more lazy repetitions than are wanted; the rest was not read."""


def parse(
    pattern: str,
    dialect: Dialect,
    flags: str,
    problems: Problems,
    limits: Limits,
    max_lazy: int | None = None,
) -> Node:
    """The syntax tree of `pattern`.

    What is wrong is reported to `problems`; the tree then stands for what could be read.
    Raises LimitExceeded (max_nesting, max_regex_nodes), TooManyLazy. Linear in the pattern.
    """
    root, found, stop = _READER.read(
        pattern,
        dialect.name,
        flags,
        _named,
        list(dialect.named_groups),
        limits.max_nesting,
        limits.max_regex_nodes // NODES_PER_PART,
        max_lazy,
    )
    if stop is not None and stop[0] == "max_nesting":
        raise LimitExceeded("max_nesting", limits.max_nesting, f"at character {stop[1] + 1} of a regex")
    if stop is not None and stop[0] == "max_regex_nodes":
        raise LimitExceeded("max_regex_nodes", limits.max_regex_nodes, "in the parts of a regex")
    if stop is not None and stop[0] == "lazy":
        raise TooManyLazy
    for code, start, end, arguments in found:
        code, message, help = worded(code, arguments)
        problems.report(code, start, end, message, help)
    # Too many problems were raised by now.
    assert root is not None
    return root


def _named(name: str) -> int | None:
    try:
        # Some names stand for a sequence of characters; `ord` raises TypeError for those, and `re` refuses them.
        return ord(unicodedata.lookup(name))
    except (KeyError, TypeError, UnicodeEncodeError):
        return None
