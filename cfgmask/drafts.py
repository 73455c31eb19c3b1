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
    """Write the mask of the next token into row 0, and the mask after draft i into row i + 1.

    matcher   position where the drafts begin; it does not move
    tokens    ids of the drafts
    bits      two-dimensional array of uint32 or int32, as for `fill_masks`, with at least one row more than drafts. The
              row of a draft that does not fit allows nothing
    parents   for each draft, the index of the draft before it, or -1 if it follows the matcher; a parent comes before
              its children. None: a chain
    returns   for each draft, whether it and all drafts before it fit
    Errors: ValueError for parents in another order, and for too few rows; TypeError for another array or matcher;
    LimitExceeded.
    Cost: one `advance` and one `fill_mask` for each draft.

    Draft and target model may share the rows, since masks depend on the tokens alone. After an end token only end
    tokens fit.

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

    matchers  position of each text, each matcher once; they do not move
    drafts    ids of the drafts of each matcher; may be empty
    bits      as for `fill_draft_masks`: the rows of the first matcher, then those of the second, and so on. A matcher
              has one row more than drafts
    parents   for each matcher, the parents of its drafts, or None for a chain. None: all are chains
    threads   number of threads that share the work, at least 1
    returns   for each matcher, which of its drafts fit, or an error. After an error its rows allow only end tokens, and
              only if the text is complete; the rows of the other matchers are right
    Errors: ValueError and TypeError for wrong arguments, as for `fill_draft_masks`.
    Cost: one `advance` for each draft, and one `fill_masks` for all rows.

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
    """Call `Matcher.advance` for each matcher with its token.

    returns  for each matcher, None or an error: TokenRejected or LimitExceeded. A matcher with an error does not move;
             the others do
    Errors: ValueError for lists of different lengths; TypeError for anything but matchers and token ids.
    """
    if len(matchers) != len(tokens):
        raise ValueError(f"there are {len(matchers)} matchers and {len(tokens)} tokens")
    return [_error_of(matcher.advance, token) for matcher, token in zip(matchers, tokens, strict=True)]


def rollback_many(matchers: Sequence[Matcher], counts: Sequence[int]) -> list[Exception | None]:
    """Call `Matcher.rollback` for each matcher with its number of steps.

    returns  for each matcher, None, or ValueError if it has fewer steps; then it does not move
    Errors: ValueError for lists of different lengths; TypeError for anything but matchers and numbers.
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
