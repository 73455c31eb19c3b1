"""Draft tokens of speculative decoding, a chain or a tree of them in one call, and a batch that moves together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cfgmask._core import Matcher, fill_masks
from cfgmask.errors import LimitExceeded, TokenRejected

if TYPE_CHECKING:
    from numpy.typing import NDArray


def fill_draft_masks(
    matcher: Matcher, tokens: Sequence[int], bits: NDArray[Any], parents: Sequence[int] | None = None
) -> list[bool]:
    """Fill a row with the mask of the next token, and one with that after each draft token.

    matcher   where the drafts begin; it is not moved
    tokens    the ids of the drafts
    bits      two-dimensional array as of `fill_masks` with at least one row more than drafts: row 0 is the matcher's
              own mask, row i + 1 that after drafts up to i. The row of a draft that does not fit allows nothing.
    parents   for each draft the index of the one before it, which is smaller, or -1 for the matcher itself; None: a
              chain
    returns   for each draft whether it and all before it fit
    Errors: ValueError for parents that are no tree in this order, and too few rows; TypeError for another array or what
    is no matcher; whatever a mask raises, LimitExceeded above all.
    Cost: that of `advance` and `fill_mask` for each draft.

    Draft and target model may share the rows: masks depend on the tokens alone. After an end token only end tokens fit.

    Example: fits = fill_draft_masks(matcher, drafts, bits); n_accepted = matcher.try_advance(drafts[:k])
    """
    if not isinstance(matcher, Matcher):
        raise TypeError(f"fill_draft_masks takes a Matcher, not {type(matcher).__name__}")
    parents = _parents(tokens, parents)
    if len(bits) <= len(tokens):
        raise ValueError(f"{len(tokens)} drafts take {len(tokens) + 1} rows, not {len(bits)}")
    matcher.fill_mask(bits[0])
    after: list[Matcher | None] = []
    for index, (token, parent) in enumerate(zip(tokens, parents, strict=True)):
        before = matcher if parent == -1 else after[parent]
        here = None if before is None else before.fork()
        if here is None or here.try_advance([token]) == 0:
            after.append(None)
            bits[index + 1] = 0
        else:
            after.append(here)
            here.fill_mask(bits[index + 1])
    return [here is not None for here in after]


def fill_draft_masks_many(
    matchers: Sequence[Matcher],
    drafts: Sequence[Sequence[int]],
    bits: NDArray[Any],
    parents: Sequence[Sequence[int] | None] | None = None,
    threads: int = 1,
) -> list[list[bool] | Exception]:
    """`fill_draft_masks` for a batch, in one call.

    matchers  where the drafts of each begin; none stands twice, and none is moved
    drafts    the drafts of each, which may be none
    bits      as there, the rows of each matcher behind those of the one before: one more than it has drafts
    parents   the parents of each, None for a chain; None: all are chains
    threads   as of `fill_masks`
    returns   for each matcher which of its drafts fit; or an error, its own: the other rows are as they should be, and
              its rows allow nothing but end tokens, where the text is complete
    Errors: as there, of arguments alone.
    Cost: that of `advance` for each draft, and one `fill_masks` for all rows.

    Example: fill_draft_masks_many(matchers, [[5, 6], []], np.zeros((4, n_words), np.int32))
    """
    parents = [None] * len(matchers) if parents is None else parents
    if not len(matchers) == len(drafts) == len(parents):
        raise ValueError(
            f"there are {len(matchers)} matchers, {len(drafts)} lists of drafts and {len(parents)} of parents"
        )
    n_rows = sum(len(tokens) + 1 for tokens in drafts)
    if len(bits) < n_rows:
        raise ValueError(f"the drafts take {n_rows} rows, not {len(bits)}")
    rows: list[Matcher | None] = []
    found: list[list[bool] | Exception] = []
    for matcher, tokens, its_parents in zip(matchers, drafts, parents, strict=True):
        if not isinstance(matcher, Matcher):
            raise TypeError(f"fill_draft_masks_many takes matchers, not {type(matcher).__name__}")
        after: list[Matcher | None] = []
        error: Exception | None = None
        try:
            after = _after_drafts(matcher, tokens, _parents(tokens, its_parents))
        except LimitExceeded as limit:
            error = limit
            after = [None] * len(tokens)
        rows += [matcher, *after]
        found.append([here is not None for here in after] if error is None else error)
    errors = fill_masks(rows, bits[:n_rows], threads)
    row = 0
    for index, tokens in enumerate(drafts):
        for offset in range(len(tokens) + 1):
            if rows[row + offset] is None:
                bits[row + offset] = 0
            error = errors[row + offset]
            if error is not None and not isinstance(found[index], Exception):
                found[index] = error
        row += len(tokens) + 1
    return found


def advance_many(matchers: Sequence[Matcher], tokens: Sequence[int]) -> list[Exception | None]:
    """`Matcher.advance` of each matcher with its token.

    returns  an error or None for each: TokenRejected for a token that does not fit, LimitExceeded; that matcher is as
             it was, and the others have moved
    Errors: ValueError for lists of different length, TypeError for what is no matcher or token.
    """
    if len(matchers) != len(tokens):
        raise ValueError(f"there are {len(matchers)} matchers and {len(tokens)} tokens")
    return [_error_of(matcher.advance, token) for matcher, token in zip(matchers, tokens, strict=True)]


def rollback_many(matchers: Sequence[Matcher], counts: Sequence[int]) -> list[Exception | None]:
    """`Matcher.rollback` of each matcher with its number of steps.

    returns  an error or None for each: ValueError where there are fewer steps; that matcher is as it was
    Errors: as of `advance_many`.
    """
    if len(matchers) != len(counts):
        raise ValueError(f"there are {len(matchers)} matchers and {len(counts)} numbers of steps")
    return [_error_of(matcher.rollback, n) for matcher, n in zip(matchers, counts, strict=True)]


def _error_of(call: Callable[[int], None], argument: int) -> Exception | None:
    try:
        call(argument)
    except (TokenRejected, LimitExceeded, ValueError) as error:
        return error
    return None


def _parents(tokens: Sequence[int], parents: Sequence[int] | None) -> Sequence[int]:
    """The parents, checked."""
    parents = range(-1, len(tokens) - 1) if parents is None else parents
    if len(parents) != len(tokens):
        raise ValueError(f"there are {len(tokens)} drafts and {len(parents)} parents")
    for index, parent in enumerate(parents):
        if not -1 <= parent < index:
            raise ValueError(f"the parent of draft {index} is {parent}, which does not come before it")
    return parents


def _after_drafts(matcher: Matcher, tokens: Sequence[int], parents: Sequence[int]) -> list[Matcher | None]:
    """For each draft a matcher after it; None where it does not fit."""
    after: list[Matcher | None] = []
    for token, parent in zip(tokens, parents, strict=True):
        before = matcher if parent == -1 else after[parent]
        here = None if before is None else before.fork()
        after.append(None if here is None or here.try_advance([token]) == 0 else here)
    return after
