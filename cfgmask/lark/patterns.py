"""Checks of a pattern before it is read."""

from __future__ import annotations

import re

from cfgmask.errors import LimitExceeded
from cfgmask.limits import Limits

TOKEN_GROUP = re.compile(r"\(\?P?<(?:TEXT_TOKEN|PARAGRAPH_TOKEN|IMAGE)>")
"""A group that is tokens of the vocabulary: a pattern with one is no regex."""

ASSERTING = re.compile(r"\(\?<?[=!]|\\[bBAZ]|[\^$]|[*+?}]\?")
"""What may be an assertion or a lazy quantifier; inside a class it is none."""

# A pattern takes as long as so many rules, some 15 microseconds, and one that has, or may have, assertions or lazy
# quantifiers from 200 (`a*?b`) to 2,000. Each character takes as long as some more.
_RULES_PER_PATTERN = 10
_RULES_PER_ASSERTING_PATTERN = 500
_RULES_PER_CHARACTER = 2


class PatternAccount:
    """Counts the patterns that are read, in rules of `Limits.max_rules`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._n_rules = 0

    def charge(self, pattern: str) -> None:
        """Count a pattern. Raises LimitExceeded: max_rules."""
        one = _RULES_PER_ASSERTING_PATTERN if ASSERTING.search(pattern) else _RULES_PER_PATTERN
        self._n_rules += one + _RULES_PER_CHARACTER * len(pattern)
        if self._n_rules > self._limits.max_rules:
            raise LimitExceeded("max_rules", self._limits.max_rules, "patterns that take long to read")
