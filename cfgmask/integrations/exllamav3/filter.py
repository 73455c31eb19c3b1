"""A member of `filters` of exllamav3's `Job`."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import torch
from exllamav3.generator.filter import filter as base

from cfgmask import CompiledGrammar, LimitExceeded, Matcher, Vocabulary
from cfgmask.integrations.engine_text import EngineText
from cfgmask.integrations.words import words_of

logger = logging.getLogger(__name__)


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
    It ends when the text is complete and only an end token may follow.
    If a text crosses a limit of `cfgmask.Limits`, it may only end; the log says so, and `error` is the limit. An
    exception would end the generator, with all of its jobs.
    Errors: TokenRejected for a token that the mask did not allow.
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
        self._text = EngineText(compiled.matcher())
        n_words = -(-compiled.vocabulary.n_vocab // 32)
        self._words = np.zeros((1, n_words), np.int32)
        self._others = ~words_of(compiled.vocabulary.end_tokens, n_words).view(np.int32)

    @property
    def matcher(self) -> Matcher:
        """The position in the text."""
        return self._text.matcher

    @property
    def error(self) -> LimitExceeded | None:
        """The limit that the text met, if any."""
        return self._text.error

    def reset(self) -> None:
        """Begin anew."""
        self._text.reset()

    def accept_token(self, token: int) -> None:
        """Follow the text by a token."""
        try:
            fits = self._text.accept(token)
        except LimitExceeded as error:
            self._tell(error)
            self._text.skip()
            return
        if not fits:
            self.matcher.advance(token)  # raises TokenRejected

    def rollback_tokens(self, num_tokens: int) -> bool:
        """Take the last tokens back."""
        self._text.rollback(num_tokens)
        return True

    def get_next_logit_mask(self) -> torch.Tensor:
        """The mask as bits, of shape (1, words), int32. It is the same tensor each time."""
        self._fill()
        return torch.from_numpy(self._words)

    def is_completed(self) -> bool:
        """Whether only an end token may follow.

        After a limit, if completion ends the job; otherwise not, since the rest of its text would be free.
        """
        if self.error is None:
            if self._text.is_over or not self.matcher.is_accepting:
                return self._text.is_over
            self._fill()
        if self.error is not None:
            return bool(self.eos_after_completed)
        return not (self._words & self._others).any()

    def _fill(self) -> None:
        error = self._text.fill(self._words[0])
        if error is not None:
            self._tell(error)

    def _tell(self, error: LimitExceeded) -> None:
        logger.error("A text can only end here: %s", error)
