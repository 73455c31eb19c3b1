"""Whether the masks that are asked for, whoever asks, are those of a plain walk: of a small vocabulary all of a mask.

A token alone is read byte by byte, so it needs none of what makes masks fast: tables, what they share, caches.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import cfgmask

_SMALL = 2_000
_SAMPLE = 150

_fill_mask = cfgmask.Matcher.fill_mask


def check_from_now_on() -> None:
    cfgmask.Matcher.fill_mask = _checked  # type: ignore[method-assign]


def _checked(matcher: cfgmask.Matcher, *args: Any, **kwargs: Any) -> None:
    _fill_mask(matcher, *args, **kwargs)
    (bits,) = args or kwargs.values()
    n_vocab = matcher.compiled.vocabulary.n_vocab
    mask = np.unpackbits(np.asarray(bits).view(np.uint8), bitorder="little")[:n_vocab]
    try:
        fits = {token: matcher.try_advance([token], consume=False) for token in _tokens(mask)}
    except cfgmask.LimitExceeded:
        return
    # Under a budget, the mask may refuse tokens that `advance` takes.
    has_budget = matcher.tokens_left is not None
    wrong = [token for token, fit in fits.items() if fit != mask[token] and not (fit and has_budget)]
    if wrong and not _is_narrowed(matcher, mask):
        raise AssertionError(f"the mask after {matcher.n_steps} steps is wrong about the tokens {wrong[:10]}")


def _is_narrowed(matcher: cfgmask.Matcher, mask: np.ndarray) -> bool:
    """Whether `canonical=True` has left the one token that is forced; `advance` goes by the grammar then, too."""
    return matcher.forced_tokens()[:1] == np.flatnonzero(mask).tolist()


def _tokens(mask: np.ndarray) -> list[int]:
    """All of few; else some that the mask allows, and some that it refuses."""
    if mask.size <= _SMALL:
        return list(range(mask.size))
    choose = random.Random(int(mask.sum()))
    found = [np.flatnonzero(mask == allowed).tolist() for allowed in (1, 0)]
    return [token for ids in found for token in choose.sample(ids, min(len(ids), _SAMPLE))]
