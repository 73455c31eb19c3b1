"""What `CompiledGrammar.observe` tells: an event for each mask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class MaskEvent:
    """A mask that a matcher was asked for.

    is_new         whether it had to be computed; otherwise it was remembered
    seconds        what it took, waiting for other threads included; 0 for a copy of a remembered mask
    limit          the name of the limit that was met, after which the mask allows end tokens alone, or nothing; or None
    rejected_mass  the share of all probability that it takes away, if that is measured
    """

    is_new: bool
    seconds: float
    limit: str | None = None
    rejected_mass: float | None = None


def tell(
    callback: Callable[[MaskEvent], object],
    is_new: bool,
    seconds: float,
    limit: str | None,
    rejected_mass: float | None,
) -> None:
    """Call an observer; the core does so."""
    callback(MaskEvent(is_new, seconds, limit, rejected_mass))
