"""`LLExecutor`: many matchers in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cfgmask._core import fill_masks
from cfgmask.compat.llguidance._matcher import LLMatcher, rows_at
from cfgmask.compat.llguidance._tokenizer import check_id


class LLExecutor:
    """Makes the masks of many matchers at once.

    num_threads  how many threads share the work at most; None or 0: four fifths of the processors, at most 32
    """

    def __init__(self, num_threads: int | None = None) -> None:
        if num_threads is not None and num_threads < 0:
            raise OverflowError("can't convert negative int to unsigned")
        self._threads = num_threads or max(1, min(32, (os.cpu_count() or 1) * 4 // 5))

    def unsafe_compute_mask_ptr(
        self,
        interpreters: Sequence[tuple[LLMatcher, int]],
        trg_pointer: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        """Write the mask of each matcher into the row of its index; no other row is touched.

        Errors: ValueError for no matchers, an index beyond the rows, and memory that is none of masks; RuntimeError for
        a matcher that comes twice. What a matcher meets is its own error.
        """
        entries = sorted(((index, matcher) for matcher, index in _checked(interpreters, 2)), key=lambda entry: entry[0])
        _check_indices([index for index, _ in entries], [0] * len(entries), trg_batch_size)
        rows = rows_at(trg_pointer, one_mask_bytes, trg_batch_size, entries[0][1].n_words)
        start = 0
        while start < len(entries):
            end = start + 1
            while end < len(entries) and entries[end][0] == entries[end - 1][0] + 1:
                end += 1
            first = entries[start][0]
            run = [matcher for _, matcher in entries[start:end]]
            errors = fill_masks([matcher.matcher for matcher in run], rows[first : first + len(run)], self._threads)
            for i, (matcher, error) in enumerate(zip(run, errors, strict=True)):
                if error is not None:
                    matcher.met(error)
                if matcher.is_error():
                    matcher.fill(rows[first + i])
            start = end

    def unsafe_compute_mask_ptr_with_draft_token(
        self,
        interpreters: Sequence[tuple[LLMatcher, int, Sequence[int]]],
        trg_pointer: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        """Write the mask of each matcher into the row of its index, and the masks after its draft tokens into the rows
        that follow. It ends at the first draft token that does not fit, and after a stop.

        Errors: as above, and ValueError for no draft tokens.
        """
        entries = _checked(interpreters, 3)
        if not all(len(entry[2]) for entry in entries):
            raise ValueError("Draft tokens must not be empty")
        _check_indices([entry[1] for entry in entries], [len(entry[2]) for entry in entries], trg_batch_size)
        rows = rows_at(trg_pointer, one_mask_bytes, trg_batch_size, entries[0][0].n_words)
        for matcher, index, drafts in entries:
            matcher.fill_with_drafts(rows[index : index + len(drafts) + 1], drafts)

    def consume_token_par(self, matchers: Sequence[tuple[LLMatcher, int]]) -> list[bool]:
        """`LLMatcher.consume_token` of each."""
        if not matchers:
            raise ValueError("No matchers")
        entries = _checked(matchers, 2)
        for _, token in entries:
            check_id(token)
        return [matcher.consume_token(token) for matcher, token in entries]


def _checked(entries: object, n: int) -> Sequence[tuple]:  # type: ignore[type-arg]
    if not isinstance(entries, list):
        raise TypeError(f"{type(entries).__name__!r} object is not an instance of 'list'")
    if not entries:
        raise ValueError("No interpreters")
    for entry in entries:
        if not isinstance(entry, tuple) or len(entry) != n:
            raise TypeError(f"{type(entry).__name__!r} object is not a tuple of {n}")
        if not isinstance(entry[0], LLMatcher):
            raise TypeError(f"{type(entry[0]).__name__!r} object is not an instance of 'LLMatcher'")
    if len({id(entry[0]) for entry in entries}) < len(entries):
        raise RuntimeError("Already borrowed: a matcher comes twice")
    return entries


def _check_indices(indices: Sequence[int], behind: Sequence[int], n_rows: int) -> None:
    for index, n in zip(indices, behind, strict=True):
        if index < 0:
            raise OverflowError("can't convert negative int to unsigned")
        if index + n >= n_rows:
            raise ValueError("Target index out of bounds")
