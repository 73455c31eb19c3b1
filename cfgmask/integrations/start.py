"""Where the texts of a processor start."""

from __future__ import annotations

from cfgmask import CompiledGrammar, Matcher

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
