"""A mask on logits, of which something must be left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cfgmask import Matcher
from cfgmask.integrations.errors import IntegrationError


def apply_mask(matcher: Matcher, scores: NDArray[np.single]) -> None:
    """Set logits outside the matcher's mask to -inf, in place.

    Raises IntegrationError if no token is left: llama.cpp would sample one all the same.
    """
    if not matcher.apply(scores):
        raise IntegrationError(
            "no token is left to sample: those that the grammar allows here have a logit of -inf (from a logit_bias or "
            "another processor), or the vocabulary has none that writes what must follow"
        )
