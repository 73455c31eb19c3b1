"""The sequences of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cfgmask import Matcher, TokenRejected
from cfgmask.compiler.named_ends import early_stops, named_ends
from cfgmask.integrations.tracking import TrackedText
from cfgmask.integrations.words import words_of


class Row:
    """A sequence of a batch.

    is_over  it has stopped, and what it shows is padding; or it left its grammar, which only a beam without hope does,
             and a draft that is not accepted
    error    what it raised, which ended it
    """

    def __init__(self, text: TrackedText) -> None:
        self.text = text
        self.is_over = False
        self.error: Exception | None = None
        self._named_ends = named_ends(text.matcher.compiled)

    @property
    def matcher(self) -> Matcher | None:
        """What masks it; None where it is over."""
        return None if self.is_over else self.text.matcher

    def advance_to(self, ids: NDArray[np.int64], may_leave: Callable[[], bool]) -> None:
        """Consume the next id.

        may_leave  whether it may be one that the mask did not allow, since the row has stopped or is a beam; asked only
                   for such
        Raises TokenRejected where it may not.
        """
        if not self.is_over:
            try:
                self.text.advance_to(ids)
                return
            except TokenRejected:
                if not may_leave():
                    raise
        self.is_over = True
        self.text.remember(ids)

    def follow(self, ids: NDArray[np.int64], n_accepted: int) -> None:
        """Come to ids that may end in drafts, of which none need be right, and lack those of the last step.

        n_accepted  how many of them stand
        Raises TokenRejected for one of these that the mask did not allow.
        """
        if self.error is not None:
            return
        self.is_over = False
        try:
            self.text.move_to(ids)
        except TokenRejected:
            if len(self.text) < n_accepted:
                raise
            self.is_over = True

    def fork(self) -> Row:
        """A second row that goes on from here by itself."""
        row = Row(self.text.fork())
        row.is_over, row.error = self.is_over, self.error
        return row

    def end_with(self, error: Exception) -> None:
        """Leave the row its end tokens."""
        self.is_over, self.error = True, error

    def narrow(self, bits: NDArray[Any]) -> None:
        """Make the matcher's mask that of the row, in place: `generate` stops at every end token."""
        if self.is_over:
            bits[:] = words_of(self.text.matcher.compiled.vocabulary.end_tokens, len(bits)).view(bits.dtype)
        elif self._named_ends:
            bits &= ~words_of(early_stops(self.text.matcher, self._named_ends), len(bits)).view(bits.dtype)
