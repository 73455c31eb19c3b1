"""How masks were answered and how dense they were: the share of positions and of time of each kind.

cfgmask alone tells how: from the counters of its caches, read beside the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from library import report
from library.measure import Note, Result
from library.peers import CfgmaskSession, Mask, Session

# By the dearest way that a table was made for the mask; a counter of `CompiledGrammar.stats()` and what it says.
_BY_TABLE = {
    "tables_walked": "a new table, by a walk with the lexer",
    "tables_patched": "a new table, a known one but for some first bytes",
    "tables_texts": "a new table, of a few texts",
    "tables_bounded": "a new table, a known one within bounds",
    "tables_clipped": "a new table, a known one that ends sooner",
    "tables_difference": "a new table, few texts away from a known one",
    "tables_counted": "a new table, a count of a known one",
    "tables_renamed": "a new table, a known one with other names",
}
REMEMBERED = "remembered for the state"
KNOWN_TABLES = "walked from known tables"
ANSWERS = (REMEMBERED, KNOWN_TABLES, *reversed(_BY_TABLE.values()))

# The densities: of all tokens, the part that a mask allows, up to and with each bound.
_DENSITIES = {"one token or none": 0.0, "below 0.1%": 0.001, "0.1% to 1%": 0.01, "1% to 10%": 0.1, "10% to 90%": 0.9}
_DENSEST = "above 90%"
DENSITIES = (*_DENSITIES, _DENSEST)


def notes(session: Session) -> Callable[[], Note] | None:
    """What tells about the masks of a session of cfgmask. Other matchers must not ask for masks in between."""
    if not isinstance(session, CfgmaskSession):
        return None
    stats, mask = session.compiled.stats, session.mask
    before = stats()

    def note() -> Note:
        nonlocal before
        last, before = before, stats()
        return Note(answered(last, before), density(mask))

    return note


def answered(before: dict[str, int], after: dict[str, int]) -> str:
    """How a mask was answered between two readings of `CompiledGrammar.stats()`."""
    if before["masks_computed"] == after["masks_computed"]:
        return REMEMBERED
    made = (title for counter, title in _BY_TABLE.items() if before[counter] != after[counter])
    return next(made, KNOWN_TABLES)


def density(mask: Mask) -> str:
    """The class of the part of all ids that a row of words allows."""
    allowed = int.from_bytes(mask.tobytes(), "little").bit_count()
    if allowed <= 1:
        return "one token or none"
    part = allowed / (32 * len(mask))
    return next((title for title, bound in _DENSITIES.items() if part <= bound), _DENSEST)


def markdown(results: Sequence[Result]) -> str:
    """Two tables over all positions of valid texts."""
    walks = [walk for result in results for walk in result.walks if walk.valid]
    times = np.array([t for walk in walks for t in walk.nanoseconds], dtype=np.float64) / 1e3
    kinds = [note for walk in walks for note in walk.notes]
    return "\n\n".join(
        (
            _table("The mask was", ANSWERS, [kind.answered for kind in kinds], times),
            _table("Tokens allowed", DENSITIES, [kind.density for kind in kinds], times),
        )
    )


def _table(title: str, names: Sequence[str], kinds: list[str], times: np.ndarray) -> str:
    rows = []
    for name in names:
        own = times[[kind == name for kind in kinds]]
        if len(own) == 0:
            continue
        shares = [f"{100 * len(own) / len(times):.1f}%", f"{100 * own.sum() / times.sum():.1f}%"]
        figures = (own.mean(), np.percentile(own, 50), np.percentile(own, 99), own.max())
        rows.append([name, *shares, *map(report.number, figures)])
    return report.numbers_table([title, "positions", "time", "avg (µs)", "p50", "p99", "max"], rows)
