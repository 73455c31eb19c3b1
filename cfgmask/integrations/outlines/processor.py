"""The `processor` of `outlines.Generator`."""

from __future__ import annotations

from typing import Any

import numpy as np
from outlines.models import LlamaCpp, SteerableModel
from outlines.processors.base_logits_processor import OutlinesLogitsProcessor

from cfgmask import CompiledGrammar, Matcher, Vocabulary, fill_masks
from cfgmask.integrations.start import STALL_AFTER, starting_matcher


def vocabulary_of(model: SteerableModel) -> Vocabulary:
    """The vocabulary of a model of Outlines that runs in llama.cpp, transformers or mlx-lm. Raises TypeError."""
    if isinstance(model, LlamaCpp):
        return Vocabulary.from_llama(model.model)
    tokenizer = getattr(model, "hf_tokenizer", None)
    if tokenizer is None and hasattr(model, "mlx_tokenizer"):
        tokenizer = model.mlx_tokenizer._tokenizer
    if tokenizer is None:
        raise TypeError(
            f"a {type(model).__name__} of Outlines has no tokenizer here: hand over a vocabulary of your own"
        )
    return Vocabulary.from_transformers(tokenizer)


class LogitsProcessor(OutlinesLogitsProcessor):  # type: ignore[misc]  # outlines may be missing when checked
    """Masks the logits of each text: `outlines.Generator(model, processor=LogitsProcessor(model, compiled))`.

    model           the model of Outlines
    compiled        a CompiledGrammar, for `vocabulary_of(model)`
    max_new_tokens  a text is complete within this many tokens, end tokens not counted. None: it may be cut off
    stall_after     guard against repetition, as for `CompiledGrammar.matcher`. None: no guard
    Use it for one text after another, or for one batch; not for two at a time.
    Errors: TokenRejected for a token that the mask did not allow; LimitExceeded.
    """

    def __init__(
        self,
        model: SteerableModel,
        compiled: CompiledGrammar,
        max_new_tokens: int | None = None,
        stall_after: int | None = STALL_AFTER,
    ) -> None:
        super().__init__(model.tensor_library_name)
        self._library = model.tensor_library_name
        self._compiled, self._max_new_tokens, self._stall_after = compiled, max_new_tokens, stall_after
        self._n_words = -(-compiled.vocabulary.n_vocab // 32)
        self.matchers: list[Matcher] = []

    def reset(self) -> None:
        """Begin new texts. Outlines calls it before each generation."""
        self.matchers = []

    def process_logits(self, input_ids: Any, logits: Any) -> Any:
        """The logits with -inf outside the masks; in the first call `input_ids` are the prompts."""
        n_rows = self.tensor_adapter.shape(input_ids)[0]
        if not self.matchers:
            start = (self._compiled, self._max_new_tokens, self._stall_after)
            self.matchers = [starting_matcher(*start) for _ in range(n_rows)]
        else:
            for matcher, row in zip(self.matchers, input_ids, strict=True):
                if not matcher.is_finished:
                    matcher.advance(int(row[-1].item()))
        words = np.zeros((n_rows, self._n_words), np.int32)
        for error in fill_masks(self.matchers, words):
            if error is not None:
                raise error
        return self._masked(logits, words)

    def _masked(self, logits: Any, words: Any) -> Any:
        if self._library == "torch":
            import torch

            from cfgmask.integrations.torch import apply_token_bitmask_inplace

            apply_token_bitmask_inplace(logits, torch.from_numpy(words).to(logits.device))
        elif self._library == "mlx":
            from cfgmask.integrations.mlx_lm.masking import apply_masks

            return apply_masks(logits, words)
        else:
            from cfgmask.integrations.numpy import apply_token_bitmask_inplace as apply

            apply(logits, words)
        return logits
