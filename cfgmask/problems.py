"""Collects the diagnostics of one grammar, so that all of them can be raised together."""

from __future__ import annotations

from collections.abc import Iterable

from cfgmask.diagnostics import Diagnostic, Fix, Related, Span
from cfgmask.errors import GrammarError

MAX_PROBLEMS = 100
"""How many problems are collected before reading stops: enough for people, and a bound on what junk costs."""


class Problems:
    """The diagnostics found so far: errors and, apart from them, warnings.

    too_many  the code of the diagnostic that says that there are more
    """

    def __init__(self, too_many: str) -> None:
        self._too_many = too_many
        self._errors: list[Diagnostic] = []
        self._warnings: list[Diagnostic] = []

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        related: tuple[Related, ...] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Record an error. Raises GrammarError with all there are when they are `MAX_PROBLEMS`."""
        self.add(Diagnostic(code, message, span, related=related, help=help, fix=fix))

    def warning(
        self, code: str, message: str, span: Span | None, *, related: tuple[Related, ...] = (), help: str | None = None
    ) -> None:
        """Record what does not stop the grammar from being used."""
        self.add(Diagnostic(code, message, span, severity="warning", related=related, help=help))

    def extend(self, found: Iterable[Diagnostic]) -> None:
        """Record what another part of the package found."""
        for diagnostic in found:
            self.add(diagnostic)

    def add(self, found: Diagnostic) -> None:
        """Record a diagnostic by its severity; warnings past the bound are left out."""
        if found.severity != "error":
            if len(self._warnings) < MAX_PROBLEMS:
                self._warnings.append(found)
            return
        self._errors.append(found)
        if len(self._errors) >= MAX_PROBLEMS:
            message = f"there are {MAX_PROBLEMS} errors or more; the rest is not shown"
            last = Diagnostic(self._too_many, message)
            raise GrammarError([*_in_order(self._errors + self._warnings), last])

    @property
    def has_errors(self) -> bool:
        """Whether an error was recorded."""
        return bool(self._errors)

    def raise_errors(self) -> None:
        """Raise GrammarError if there is an error; warnings go along with it, all in the order of the text."""
        if self._errors:
            raise GrammarError(_in_order(self._errors + self._warnings))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, in the order of the text."""
        return tuple(_in_order(self._warnings))


def _in_order(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Text by text, and in each by the place; what has no place comes first."""
    sources: dict[int, int] = {}

    def place(diagnostic: Diagnostic) -> tuple[int, int]:
        span = diagnostic.span
        return (-1, -1) if span is None else (sources.setdefault(id(span.source), len(sources)), span.start)

    return sorted(found, key=place)
