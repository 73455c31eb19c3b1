"""One text in a serving engine, which proposes tokens, takes some of them back, and goes on after the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cfgmask import LimitExceeded, Matcher
from cfgmask.integrations.words import words_of


class EngineText:
    """A matcher, and the tokens after the end of its text, which engines count as steps.

    matcher  where the text stands
    error    the limit that it met; then masks allow end tokens alone, so that the request ends, and its text may be
             incomplete
    """

    def __init__(self, matcher: Matcher, stop_token_ids: Sequence[int] = ()) -> None:
        self.matcher = matcher
        self.error: LimitExceeded | None = None
        self._ends = (*matcher.compiled.vocabulary.end_tokens, *stop_token_ids)
        self._n_behind = 0

    @property
    def is_over(self) -> bool:
        """Whether an end token was taken, or a limit met."""
        return self.error is not None or self.matcher.is_finished

    def accept(self, token: int) -> bool:
        """Take a token; False for one that does not fit. After the end any token is taken, and changes nothing."""
        if self.is_over:
            self._n_behind += 1
            return True
        try:
            return self.matcher.try_advance([token]) == 1
        except LimitExceeded as error:
            self.error = error
            self._n_behind += 1
            return True

    def n_valid(self, tokens: Sequence[int]) -> int:
        """How many of the tokens fit, up to an end token. Nothing is taken."""
        if self.is_over:
            return 0
        upto = next((i + 1 for i, token in enumerate(tokens) if token in self._ends), len(tokens))
        try:
            return self.matcher.try_advance(list(tokens[:upto]), consume=False)
        except LimitExceeded:
            return 0

    def rollback(self, n: int) -> None:
        """Take the last n tokens back. Errors: ValueError for more than there are."""
        behind = min(n, self._n_behind)
        self._n_behind -= behind
        if self._n_behind == 0 and behind:
            self.error = None
        self.matcher.rollback(n - behind)

    def reset(self) -> None:
        """Back to the start."""
        self.error = None
        self._n_behind = 0
        self.matcher.reset()

    def fork(self) -> EngineText:
        """A second text in the same state."""
        made = EngineText(self.matcher.fork())
        made.error, made._n_behind, made._ends = self.error, self._n_behind, self._ends
        return made

    def fill(self, row: NDArray[np.int32]) -> None:
        """Write the mask of the next token into the words of a row; after a limit, end tokens alone."""
        if self.error is None:
            try:
                self.matcher.fill_mask(row)
                return
            except LimitExceeded as error:
                self.error = error
        row[:] = words_of(self._ends, len(row)).view(row.dtype)
