"""End tokens that a grammar names. They are symbols of its texts, and hosts stop at them all the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from cfgmask._core import CompiledGrammar, Matcher

_named: WeakKeyDictionary[CompiledGrammar, tuple[int, ...]] = WeakKeyDictionary()
_last: WeakKeyDictionary[CompiledGrammar, frozenset[int]] = WeakKeyDictionary()


def remember_named_ends(compiled: CompiledGrammar, token_ids: Iterable[int]) -> None:
    """Keep the ids for as long as the grammar lives, if there are any."""
    ids = tuple(sorted(token_ids))
    if ids:
        _named[compiled] = ids


def remember_last_tokens(compiled: CompiledGrammar, token_ids: Iterable[int]) -> None:
    """Keep the tokens that end a text of the grammar, whether they are end tokens of the vocabulary or not."""
    _last[compiled] = frozenset(token_ids)


def last_tokens(compiled: CompiledGrammar) -> frozenset[int]:
    """The tokens that end a text as the style of its grammar says: after a call, after an answer."""
    return _last.get(compiled, frozenset())


def named_ends(compiled: CompiledGrammar) -> tuple[int, ...]:
    """The end tokens that the grammar names."""
    return _named.get(compiled, ())


def early_stops(matcher: Matcher, named: Iterable[int]) -> list[int]:
    """Of the end tokens that its grammar names, those that are allowed here and leave the text incomplete.

    A host that stops at every end token must not be given them. Cost: a step for each.
    """
    return [] if matcher.is_accepting else [token_id for token_id in named if _is_early(matcher.fork(), token_id)]


def _is_early(fork: Matcher, token_id: int) -> bool:
    return fork.try_advance([token_id]) == 1 and not fork.is_accepting
