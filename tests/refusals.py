"""What front ends say about texts from strangers, for tables of hostile ones."""

from __future__ import annotations

from collections.abc import Callable

from cfgmask import GrammarError, LimitExceeded


def outcome(read: Callable[[], object]) -> set[str] | str:
    """The codes of the errors that reading reports, or the name of the limit that it crosses."""
    try:
        read()
    except GrammarError as error:
        return {problem.code for problem in error.diagnostics if problem.severity == "error"}
    except LimitExceeded as error:
        return error.limit
    return set()


def assert_refused(found: set[str] | str, expected: set[str] | str) -> None:
    """That these codes are among those that were found, or that this limit was crossed."""
    if isinstance(expected, set) and isinstance(found, set):
        assert expected <= found
    else:
        assert found == expected
