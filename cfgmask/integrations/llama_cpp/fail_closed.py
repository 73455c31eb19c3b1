"""How a hook fails closed: what it does when it raises inside a callback from C."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

# The frames between a hook and the code that called the library.
_NOT_THE_CALLER = ("cfgmask.integrations.", "llama_cpp.")


def allow_only(end_tokens: Sequence[int], scores: Any) -> None:
    """Leave nothing but the end tokens, in place, so that generation stops at once.

    The hook runs inside a callback from C, where an exception is printed and forgotten and sampling goes on with the
    logits as they are. Stopping is all that can be done there; the error is raised where someone can catch it.
    """
    scores[:] = -np.inf
    scores[[token_id for token_id in end_tokens if token_id < len(scores)]] = 0.0


def warn_of(error: BaseException) -> None:
    """Tell of an error that cannot be raised now, by a RuntimeWarning at the line that called llama-cpp-python.

    Shown as often as it happens, not once a line. Never raises, so under `-W error` it is not seen.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_NOT_THE_CALLER):
        frame = frame.f_back
    message = (
        f"masking failed, so this text ends early, outside the grammar: {type(error).__name__}: {error}; "
        "the processor's raise_error() and its next use raise this"
    )
    with contextlib.suppress(RuntimeWarning):
        warnings.warn_explicit(message, RuntimeWarning, frame.f_code.co_filename, frame.f_lineno)
