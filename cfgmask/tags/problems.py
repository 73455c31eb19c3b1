"""What is wrong with structural tags, collected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError

MAX_PROBLEMS = 100
"""More are not reported: they are of one kind then."""


class TagProblems:
    """Diagnostics, each at a JSON Pointer of the whole structural tag."""

    def __init__(self) -> None:
        self.notes: list[Diagnostic] = []
        self._errors: list[Diagnostic] = []

    def error(self, code: str, message: str, at: str | None, help: str | None = None) -> None:
        """Report an error."""
        self._errors.append(Diagnostic(code, message, pointer=at, help=help))

    def take(self, found: Iterable[Diagnostic], at: str | None) -> None:
        """Report what was found in content that is a document of its own, at its place in the whole."""
        for diagnostic in placed(found, at):
            if diagnostic not in self._errors and diagnostic not in self.notes:
                (self._errors if diagnostic.severity == "error" else self.notes).append(diagnostic)

    @property
    def has_errors(self) -> bool:
        """Whether an error was reported."""
        return bool(self._errors)

    def raise_if_any(self) -> None:
        """Raises GrammarError with all errors."""
        if self._errors:
            raise GrammarError(self._errors[:MAX_PROBLEMS])


def placed(found: Iterable[Diagnostic], at: str | None) -> tuple[Diagnostic, ...]:
    """The diagnostics of content that is a document of its own, at its place in the whole; None: it is the whole."""
    return tuple(found) if at is None else tuple(replace(one, pointer=at + (one.pointer or "")) for one in found)
