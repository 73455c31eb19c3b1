"""Byte-pair encoding by ranks, as tiktoken has it: a pattern cuts the text, then pairs join, lowest rank first."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

import regex

from cfgmask.errors import VocabularyError

# What one text may take to cut: patterns come with files of strangers. And what a short one may take.
_PATTERN_SECONDS = 10.0
SHORT_TEXT_SECONDS = 1.0


class RankedBpe:
    """Encodes text to ranks. Immutable; for any thread.

    pattern  what the pieces of a text match, in the syntax of `regex`; the text between them is dropped
    ranks    rank of each token's bytes, all 256 single bytes among them
    Raises VocabularyError for a pattern that cannot be read.
    """

    def __init__(self, pattern: str, ranks: Mapping[bytes, int]) -> None:
        try:
            self._pattern = regex.compile(pattern)
        except (regex.error, RecursionError, OverflowError) as error:
            raise VocabularyError(f"the pattern of the tokenizer cannot be read: {error}") from error
        self._ranks = ranks

    def encode(self, text: str, seconds: float = _PATTERN_SECONDS) -> list[int]:
        """The ranks. O(n log n) in the longest piece. Raises VocabularyError where the pattern takes longer."""
        ids: list[int] = []
        try:
            for match in self._pattern.finditer(text, timeout=seconds):
                ids += self._piece(match[0].encode())
        except TimeoutError:
            raise VocabularyError(f"the tokenizer's pattern takes more than {seconds:g} s for a text") from None
        return ids

    def _piece(self, data: bytes) -> list[int]:
        whole = self._ranks.get(data)
        if whole is not None:
            return [whole]
        ends = list(range(1, len(data) + 1))  # where the part that begins here ends; 0 for those that were joined
        starts = list(range(-1, len(data)))  # where the part before the one that begins here begins
        pairs: list[tuple[int, int, int]] = []

        def offer(start: int) -> None:
            """Queue the pair that begins here."""
            middle = ends[start]
            if middle < len(data):
                rank = self._ranks.get(data[start : ends[middle]])
                if rank is not None:
                    heapq.heappush(pairs, (rank, start, ends[middle]))

        for start in range(len(data)):
            offer(start)
        while pairs:
            _, start, end = heapq.heappop(pairs)
            middle = ends[start]
            # A pair whose parts have been joined with others since is gone.
            if not middle or middle == len(data) or ends[middle] != end:
                continue
            ends[start], ends[middle] = end, 0
            starts[end] = start
            offer(start)
            if starts[start] >= 0:
                offer(starts[start])
        return [self._ranks[data[start:end]] for start, end in enumerate(ends) if end]
