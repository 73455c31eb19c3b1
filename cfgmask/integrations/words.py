"""Words of masks that hold given tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def words_of(token_ids: Iterable[int], n_words: int) -> NDArray[np.uint32]:
    """A mask of these tokens, laid out as `Matcher.fill_mask` writes it."""
    words = np.zeros(n_words, dtype=np.uint32)
    for token_id in token_ids:
        words[token_id // 32] |= np.uint32(1 << token_id % 32)
    return words
