"""Masks for draft tokens of speculative decoding, a chain or a tree of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cfgmask._core import Matcher

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
    parents = range(-1, len(tokens) - 1) if parents is None else parents
    if len(parents) != len(tokens):
        raise ValueError(f"there are {len(tokens)} drafts and {len(parents)} parents")
    if len(bits) <= len(tokens):
        raise ValueError(f"{len(tokens)} drafts take {len(tokens) + 1} rows, not {len(bits)}")
    for index, parent in enumerate(parents):
        if not -1 <= parent < index:
            raise ValueError(f"the parent of draft {index} is {parent}, which does not come before it")
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
