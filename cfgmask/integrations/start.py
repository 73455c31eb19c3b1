"""Where the texts of a processor start."""

from __future__ import annotations

from cfgmask import CompiledGrammar, Matcher


def starting_matcher(compiled: CompiledGrammar | Matcher) -> Matcher:
    """A matcher of one's own: at the start of the grammar, or where a given matcher stands.

    Raises TypeError for anything else, a grammar that is not compiled above all.
    """
    if isinstance(compiled, Matcher):
        return compiled.fork()
    if isinstance(compiled, CompiledGrammar):
        return compiled.matcher()
    raise TypeError(f"a LogitsProcessor takes what cfgmask.compile gives, or a Matcher, not {type(compiled).__name__}")
