"""The closest known name, for the help of a diagnostic."""

from __future__ import annotations

from collections.abc import Collection

MAX_CANDIDATES = 5_000
"""Above this many names no search is made: it takes some 5 microseconds a name, for each diagnostic."""


def closest(name: str, known: Collection[str]) -> str | None:
    """The known name that is closest to `name`; None if none is close."""
    if len(known) > MAX_CANDIDATES or len(name) > 200:
        return None
    from difflib import get_close_matches

    # `number` is nearer to NUMBER than any count of common letters says.
    close = [name.swapcase()] if name.swapcase() in known else get_close_matches(name, sorted(known), n=1)
    return close[0] if close else None


def did_you_mean(name: str, known: Collection[str]) -> str | None:
    """`did you mean ...?` with the known name that is closest to `name`, if one is close."""
    close = closest(name, known)
    return None if close is None else question(close)


def question(close: str) -> str:
    """`did you mean ...?` with what `closest` gave."""
    return f"did you mean `{close}`?"
