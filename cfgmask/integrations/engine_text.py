"""One text in a serving engine, which proposes tokens, takes some of them back, and goes on after the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cfgmask import LimitExceeded, Matcher
from cfgmask.integrations.words import words_of


class EngineText:
    """A matcher, and the tokens that engines count as steps although it does not follow them.

    These are tokens after the end of the text, and after a limit.

    matcher  where the text stands
    error    the limit that the next mask or token met. Masks then allow end tokens alone, and no token is followed. It
             is gone once the text is taken back to where there was none
    """

    def __init__(self, matcher: Matcher, stop_token_ids: Sequence[int] = ()) -> None:
        self.matcher = matcher
        self.error: LimitExceeded | None = None
        self._ends = (*matcher.compiled.vocabulary.end_tokens, *stop_token_ids)
        self._n_skipped = 0

    @property
    def is_over(self) -> bool:
        """Whether an end token was taken, or a token skipped because of a limit."""
        return self.matcher.is_finished or self._n_skipped > 0

    def accept(self, token: int) -> bool:
        """Take a token; False for one that does not fit. After the end any token is taken, and changes nothing.

        Raises LimitExceeded where the text met a limit, and takes nothing.
        """
        if self.matcher.is_finished:
            self._n_skipped += 1
            return True
        if self.error is None:
            try:
                return self.matcher.try_advance([token]) == 1
            except LimitExceeded as error:
                self.error = error
        raise self.error

    def skip(self) -> None:
        """Count a token that cannot be followed because of a limit."""
        self._n_skipped += 1

    def n_valid(self, tokens: Sequence[int]) -> int:
        """How many of the tokens fit, up to an end token. Nothing is taken. 0 where that meets a limit."""
        if self.error is not None or self.is_over:
            return 0
        upto = next((i + 1 for i, token in enumerate(tokens) if token in self._ends), len(tokens))
        try:
            return self.matcher.try_advance(list(tokens[:upto]), consume=False)
        except LimitExceeded:
            return 0

    def rollback(self, n: int) -> None:
        """Take the last n tokens back, skipped ones first. Errors: ValueError for more than there are."""
        skipped = min(n, self._n_skipped)
        self.matcher.rollback(n - skipped)
        self._n_skipped -= skipped
        if n > 0 and self._n_skipped == 0:
            self.error = None  # the mask of this place meets it anew, if it was the one that did

    def reset(self) -> None:
        """Back to the start."""
        self.error = None
        self._n_skipped = 0
        self.matcher.reset()

    def fork(self) -> EngineText:
        """A second text in the same state."""
        made = EngineText(self.matcher.fork())
        made.error, made._n_skipped, made._ends = self.error, self._n_skipped, self._ends
        return made

    def fill(self, row: NDArray[np.int32]) -> LimitExceeded | None:
        """Write the mask of the next token into the words of a row; after a limit, end tokens alone.

        Returns the limit if this mask is the first that met it.
        """
        if self.error is not None:
            self._leave_ends(row)
            return None
        try:
            self.matcher.fill_mask(row)
        except LimitExceeded as error:
            self.fail(error, row)
            return error
        return None

    def fail(self, error: LimitExceeded, row: NDArray[np.int32]) -> None:
        """Note that the mask of a row met a limit, and leave the row end tokens."""
        self.error = error
        self._leave_ends(row)

    def _leave_ends(self, row: NDArray[np.int32]) -> None:
        row[:] = words_of(self._ends, len(row)).view(row.dtype)
