"""The hook of mlx-lm's `generate` and `stream_generate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mlx.core as mx
import numpy as np

from cfgmask import CompiledGrammar
from cfgmask.integrations.mlx_lm.masking import apply_masks
from cfgmask.integrations.start import STALL_AFTER, starting_matcher

if TYPE_CHECKING:
    from cfgmask import Matcher


class LogitsProcessor:
    """Masks the logits of one text: `generate(…, logits_processors=[LogitsProcessor(compiled)])`, a new one for each.

    compiled        a CompiledGrammar, or a Matcher to start from
    max_new_tokens  a text is complete within this many tokens, end tokens not counted. None: it may be cut off
    stall_after     guard against repetition, as for `CompiledGrammar.matcher`. None: no guard
    Errors: TokenRejected for a token that the mask did not allow; LimitExceeded.
    """

    def __init__(
        self,
        compiled: CompiledGrammar | Matcher,
        max_new_tokens: int | None = None,
        stall_after: int | None = STALL_AFTER,
    ) -> None:
        self.matcher = starting_matcher(compiled, max_new_tokens, stall_after)
        self._n_seen: int | None = None
        self._words = np.zeros((1, -(-self.matcher.compiled.vocabulary.n_vocab // 32)), np.uint32)

    def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
        """The logits with -inf outside the mask.

        tokens  prompt and text so far; in the first call the prompt
        logits  of shape (1, at least the vocabulary)
        """
        if self._n_seen is not None:
            for token in tokens[self._n_seen :].tolist():
                self.matcher.advance(token)
        self._n_seen = len(tokens)
        self.matcher.fill_mask(self._words[0])
        return apply_masks(logits, self._words)
