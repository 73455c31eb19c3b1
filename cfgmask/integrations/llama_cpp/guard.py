"""What a hook does when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def allow_only(end_tokens: Sequence[int], scores: Any) -> None:
    """Leave nothing but the end tokens, in place, so that generation stops at once.

    The hook runs inside a callback from C, where an exception is printed and forgotten and sampling goes on with the
    logits as they are. Stopping is all that can be done there; the error is raised where someone can catch it.
    """
    scores[:] = -np.inf
    scores[[token_id for token_id in end_tokens if token_id < len(scores)]] = 0.0
