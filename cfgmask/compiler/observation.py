"""What `CompiledGrammar.observe` tells: an event for each mask."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class MaskEvent:
    """One mask, as told to the callback of `CompiledGrammar.observe`.

    is_new         true if the mask was computed, false if it was remembered
    seconds        time that it took, including waits for other threads; 0 for a copy of a remembered mask
    limit          name of the limit that was crossed; the mask then allows only end tokens, or nothing. None: no limit
    rejected_mass  probability that the mask took away, from 0 to 1. None: not measured
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
