"""The matchers of texts that start."""

from __future__ import annotations

from cfgmask import BudgetTooSmall, CompiledGrammar, Matcher

# As `CompiledGrammar.matcher` has it: enough for a table of 16 by 16 equal numbers.
STALL_AFTER = 512


def starting_matcher(
    compiled: CompiledGrammar | Matcher, max_tokens: int | None = None, stall_after: int | None = None
) -> Matcher:
    """A matcher of one's own: at the start of the grammar, or where a given matcher stands.

    max_tokens, stall_after  its budget and guard; a given matcher has its own

    Raises TypeError for anything else, a grammar that is not compiled above all, and for a budget beside a Matcher;
    BudgetTooSmall.
    """
    if isinstance(compiled, CompiledGrammar):
        return compiled.matcher(max_tokens=max_tokens, stall_after=stall_after)
    if not isinstance(compiled, Matcher):
        raise TypeError(
            f"a LogitsProcessor takes what cfgmask.compile gives, or a Matcher, not {type(compiled).__name__}"
        )
    if max_tokens is not None:
        raise TypeError("a Matcher has its own budget: make it with matcher(max_tokens=…)")
    return compiled.fork()


def matcher_within(
    compiled: CompiledGrammar, max_tokens: int | None, room: int, stall_after: int | None, canonical: bool = False
) -> Matcher:
    """A matcher whose text is complete within `max_tokens`, and within the room in the context; None: without a budget.

    Raises BudgetTooSmall, which says which of the two it is.
    """
    if max_tokens is None:
        return compiled.matcher(stall_after=stall_after, canonical=canonical)
    try:
        return compiled.matcher(max_tokens=min(max_tokens, room), stall_after=stall_after, canonical=canonical)
    except BudgetTooSmall as error:
        if max_tokens <= room:
            raise
        raise BudgetTooSmall(room, error.needed, "the room that the prompt leaves in the context") from None
