"""A mask on the candidates that llama.cpp samples from, of which something must be left."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import Matcher, _core
from cfgmask.compiler.named_ends import early_stops, named_ends
from cfgmask.integrations.errors import IntegrationError


def apply_mask(
    matcher: Matcher, scores: NDArray[np.single], among: NDArray[np.uint32] | None = None, candidates: Any = None
) -> None:
    """Leave the tokens of the matcher's mask, in place: others get a score of -inf, or are dropped.

    among       words of the tokens that may be written at all; None: all
    candidates  what the scores are of, if the others may be dropped from it

    Raises IntegrationError if no token is left: llama.cpp would sample one all the same.
    """
    n_left = _core.mask_candidates(matcher, scores, among, candidates is not None)
    if n_left == 0:
        raise IntegrationError(_why_nothing_is_left(matcher, among))
    if candidates is not None:
        candidates.size = n_left


def _why_nothing_is_left(matcher: Matcher, among: NDArray[np.uint32] | None) -> str:
    if among is not None:
        bits = np.zeros_like(among)
        matcher.fill_mask(bits)
        if early_stops(matcher, named_ends(matcher.compiled)):
            return (
                "the grammar names an end token that can follow here, and its text goes on after it; "
                "llama-cpp-python's create_completion would stop there; use cfgmask.integrations.llama_cpp.generate"
            )
        if bits.any() and not (bits & among).any():
            return (
                "only tokens of more than 32 bytes can follow here, and llama-cpp-python's create_completion loses "
                "their text; use cfgmask.integrations.llama_cpp.generate"
            )
    return (
        "no token is left to sample: those that the grammar allows here have a logit of -inf (from a logit_bias or "
        "another processor), or the vocabulary has none that writes what must follow"
    )
