"""Collects what is wrong with a pattern."""

from __future__ import annotations

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError

_MAX_PROBLEMS = 100  # A file that is no pattern at all would otherwise give one for every character.


class Problems:
    """The diagnostics of one pattern, whose character i stands at `place.start + i`."""

    def __init__(self, place: Span) -> None:
        self._place = place
        self._found: list[Diagnostic] = []

    def report(self, code: str, start: int, end: int, message: str, help: str | None = None) -> None:
        """Note a problem with characters `start` to `end` of the pattern.

        Raises GrammarError when there are so many that going on is of no use.
        """
        length = self._place.end - self._place.start
        span = self._place.within(min(start, length), min(end, length))
        self._found.append(Diagnostic(f"regex-{code}", message, span, help=help))
        if len(self._found) >= _MAX_PROBLEMS:
            self.raise_if_any()

    def raise_if_any(self) -> None:
        """Raises GrammarError with everything reported so far, in the order of the pattern."""
        if self._found:
            raise GrammarError(sorted(self._found, key=lambda d: (d.span.start, d.span.end) if d.span else (0, 0)))
