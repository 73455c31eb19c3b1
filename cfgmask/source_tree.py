"""The error for a source tree whose compiled core was never built."""

from __future__ import annotations

from pathlib import Path


def explain_missing_core() -> ImportError:
    """An ImportError that says what to run. It is needed before anything else of the package can be imported."""
    folder = Path(__file__).resolve().parent.parent
    return ImportError(
        f"cfgmask was imported from its sources in {folder}, where the C++ core is not compiled. "
        "To use an installed cfgmask, run Python in another folder; "
        "to use these sources, run `make develop` or `pip install --editable .` there",
        name="cfgmask._core",
    )
