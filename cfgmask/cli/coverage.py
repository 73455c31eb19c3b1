"""What becomes of each keyword of a schema's file, as a list and in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cfgmask.cli.output import print_rows
from cfgmask.diagnostics import visible

if TYPE_CHECKING:
    from cfgmask.json_schema.covered import Covered, Status

# In the order in which they are counted.
_STYLES: dict[Status, str] = {
    "enforced": "green",
    "annotation": "",
    "idle": "",
    "relaxed": "yellow",
    "refused": "red",
    "unknown": "red",
}
_WIDTH = max(map(len, _STYLES))


def print_coverage(covered: Iterable[Covered]) -> None:
    """A line each: the status, the place, and the code of what is reported there."""
    print_rows((entry.status.ljust(_WIDTH), _STYLES[entry.status], _place(entry)) for entry in covered)


def summary_of(covered: Iterable[Covered]) -> str:
    """How many keywords there are of each status that occurs."""
    counts = Counter(entry.status for entry in covered)
    parts = [f"{counts[status]} {_plural(status, counts[status])}" for status in _STYLES if counts[status]]
    return ", ".join(parts) or "no keywords"


def _place(entry: Covered) -> str:
    place = visible(entry.pointer) or "the root of the schema"
    return place if entry.code is None else f"{place}  ({entry.code})"


def _plural(status: str, number: int) -> str:
    return "annotations" if status == "annotation" and number > 1 else status
