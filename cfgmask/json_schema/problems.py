"""How the diagnostics of one schema are put together."""

from __future__ import annotations

from collections.abc import Iterable

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import LimitExceeded

# Of brackets in each other, where lines are indented; as in the core.
MAX_DEPTH = 32
MAX_PROBLEMS = 100
"""How many errors are reported: enough for people, and a bound on what a file full of them costs."""


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each once, by place, errors before what is only worth knowing."""
    return sorted(set(diagnostics), key=_place)


def first_errors(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The errors to report, in order: `MAX_PROBLEMS` of them, and a last word where there are more."""
    found = ordered(errors)
    if len(found) > MAX_PROBLEMS:
        message = f"there are more than {MAX_PROBLEMS} errors; the rest is not shown"
        found = [*found[:MAX_PROBLEMS], Diagnostic("schema-too-many-errors", message)]
    return found


def placed(error: LimitExceeded, pointer: str) -> LimitExceeded:
    """The same with the place where it was met, unless it says one."""
    if error.detail:
        return error
    return LimitExceeded(error.limit, error.value, f"at {pointer or 'the root of the schema'}")


_SEVERITIES = ("error", "warning", "note")


def _place(diagnostic: Diagnostic) -> tuple[int, str, str, int, str]:
    start = -1 if diagnostic.span is None else diagnostic.span.start
    return _SEVERITIES.index(diagnostic.severity), diagnostic.pointer or "", diagnostic.code, start, diagnostic.message


TOO_DEEP = f"values are nested at most {MAX_DEPTH} deep where lines are indented"


def too_deep() -> Diagnostic:
    """The note that not all values can be written in indented lines."""
    return Diagnostic("schema-indent-depth", TOO_DEEP, pointer="", severity="note")


def reference_loop(pointer: str) -> Diagnostic:
    """The error of a schema that leads back to itself at the same value."""
    return Diagnostic(
        "schema-reference-loop",
        "this schema refers to itself without going into a member or an item, so it says nothing",
        pointer=pointer,
        help="take the reference out, or put it inside properties or items",
    )
