"""A cursor over a pattern, shared by the readers of groups, escapes and classes."""

from __future__ import annotations

import re

from cfgmask.errors import LimitExceeded
from cfgmask.limits import Limits
from cfgmask.regex.dialects import Dialect
from cfgmask.regex.problems import Problems
from cfgmask.regex.syntax import Flags

NODES_PER_PART = 4
"""A part takes as long to read and to translate as so many nodes take that the core makes."""


class Scanner:
    """The pattern, how far it is read, and what goes with every read: dialect, flags in force, problems, limits."""

    def __init__(self, pattern: str, dialect: Dialect, flags: Flags, problems: Problems, limits: Limits) -> None:
        self.pattern = pattern
        self.position = 0
        self.dialect = dialect
        self.flags = flags
        self.problems = problems
        self._limits = limits
        self._parts = 0

    @property
    def at_end(self) -> bool:
        """Whether the whole pattern is read."""
        return self.position >= len(self.pattern)

    def peek(self, ahead: int = 0) -> str:
        """The character `ahead` places on, "" beyond the end."""
        place = self.position + ahead
        return self.pattern[place] if place < len(self.pattern) else ""

    def looking_at(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.pattern.startswith(text, self.position)

    def accept(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.looking_at(text):
            self.position += len(text)
            return True
        return False

    def match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what `expression` matches here, if it does."""
        found = expression.match(self.pattern, self.position)
        if found:
            self.position = found.end()
        return found

    def skip_verbose(self) -> None:
        """Step over the spaces and comments that the flag x allows. Call it only where that flag holds."""
        while not self.at_end:
            character = self.pattern[self.position]
            if character in self.dialect.verbose_space:
                self.position += 1
            elif character == "#":
                line_end = self.pattern.find("\n", self.position)
                self.position = len(self.pattern) if line_end < 0 else line_end + 1
            else:
                return

    def report(self, code: str, start: int, message: str, help: str | None = None, end: int | None = None) -> None:
        """Report a problem with what was read since `start`, or up to `end`."""
        self.problems.report(code, start, self.position if end is None else end, message, help)

    def check_nesting(self, depth: int) -> None:
        """Raises LimitExceeded where groups, classes and stacked repetitions are nested too deep."""
        if depth > self._limits.max_nesting:
            raise LimitExceeded("max_nesting", self._limits.max_nesting, f"at character {self.position + 1} of a regex")

    def count(self, parts: int) -> None:
        """Note that so many parts were read. Raises LimitExceeded where the pattern has too many to be held."""
        self._parts += parts
        if NODES_PER_PART * self._parts > self._limits.max_regex_nodes:
            raise LimitExceeded("max_regex_nodes", self._limits.max_regex_nodes, "in the parts of a regex")
