"""What a `Job` of exllamav3 takes among its `filters`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from exllamav3.generator.filter import filter as base

from cfgmask import CompiledGrammar, Vocabulary
from cfgmask.integrations.words import words_of


def vocabulary_of(tokenizer: Any) -> Vocabulary:
    """The vocabulary of a tokenizer of exllamav3."""
    from transformers import PreTrainedTokenizerFast

    ends = getattr(tokenizer.config, "eos_token_id_list", None) or [tokenizer.eos_token_id]
    return Vocabulary.from_transformers(
        PreTrainedTokenizerFast(tokenizer_object=tokenizer.tokenizer), eos_token_id=list(ends)
    )


class Filter(base.Filter):  # type: ignore[misc]  # exllamav3 may be missing when checked
    """Masks the logits of one job: `Job(…, filters=[Filter(tokenizer, compiled)])`.

    tokenizer  that of the model
    compiled   a CompiledGrammar for `vocabulary_of(tokenizer)`
    The other arguments are those of exllamav3's own filters.
    It ends where the text is complete and nothing but an end token may follow. Steps are taken back by the matcher.
    Errors: TokenRejected for a token that the mask did not allow; LimitExceeded.
    """

    def __init__(
        self,
        tokenizer: Any,
        compiled: CompiledGrammar,
        trigger_token: int | None = None,
        prefix_str: str | None = None,
        eos_after_completed: bool = False,
    ) -> None:
        super().__init__(tokenizer, trigger_token, prefix_str, eos_after_completed)
        self.matcher = compiled.matcher()
        n_words = -(-compiled.vocabulary.n_vocab // 32)
        self._words = np.zeros((1, n_words), np.int32)
        self._others = ~words_of(compiled.vocabulary.end_tokens, n_words).view(np.int32)

    def reset(self) -> None:
        """Begin anew."""
        self.matcher.reset()

    def accept_token(self, token: int) -> None:
        """Follow the text by a token."""
        self.matcher.advance(token)

    def rollback_tokens(self, num_tokens: int) -> bool:
        """Take the last tokens back."""
        self.matcher.rollback(num_tokens)
        return True

    def get_next_logit_mask(self) -> torch.Tensor:
        """The mask as bits, of shape (1, words), int32. It is the same tensor each time."""
        self.matcher.fill_mask(self._words[0])
        return torch.from_numpy(self._words)

    def is_completed(self) -> bool:
        """Whether nothing but an end token may follow."""
        if self.matcher.is_finished or not self.matcher.is_accepting:
            return self.matcher.is_finished
        self.matcher.fill_mask(self._words[0])
        return not (self._words & self._others).any()
