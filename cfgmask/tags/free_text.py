"""Regexes of free text: up to the first place where something ends it, or without any.

Every text has one way to be read. Free text before an end goes up to the first place where an end is complete; of ends
that are complete at one place, the longest counts. An end that begins with another one may go on there.
"""

from __future__ import annotations

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY_TEXT,
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
    negated,
    text,
)
from cfgmask.tags.nodes import FreeText
from cfgmask.tags.spelling import Spelled, characters_class


def body(free: FreeText) -> RegexTree:
    """Texts of a node by itself."""
    parts = [_without([text(excluded) for excluded in free.excludes])] if free.excludes else []
    if free.matching is not None:
        parts.append(free.matching)
    if free.max_tokens == 0:
        parts.append(EMPTY_TEXT)
    if free.max_chars is not None:
        parts.append(Repetition(ANY_CHAR, 0, free.max_chars))
    return _all(parts)


def until(own: RegexTree, end: Spelled, stops: list[Spelled], after: str) -> RegexTree:
    """Texts of `own` and then the text that `end` begins with, at the first place where one of `stops` ends.

    stops  everything that ends the text, `end` among it
    after  characters that the text does not begin with, since they belong to what is before it
    """
    ended: RegexTree = Concatenation((own, end.run.regex))
    if after and not end.run.begins_with(after):
        ended = _all([ended, _not_after(after)])
    if end.is_by_token:
        # The token tells where the text ends.
        return _all([ended, _without(_texts(stops))])
    begun = [(before, stop) for stop in stops if (before := _beginning(stop, end))]
    if begun:
        # The text of the shortest is the first that is complete, and then it goes on.
        before, shortest = min(begun, key=lambda found: len(found[0]))
        rest = Literal(_data(end)[len(before) :])
        ended = _all([ended, Concatenation((until(own, shortest, stops, after), rest))])
        stops = [stop for stop in stops if all(stop is not other for _, other in begun)]
    first = _without(_texts(stops), inside=True)
    longer = [stop.run.core for stop in stops if not stop.is_by_token and _is_longer(stop, end)]
    return _all([ended, first, *(Complement(Concatenation((ANY_TEXT, core))) for core in longer)])


def without(own: RegexTree, stops: list[Spelled], after: str) -> RegexTree:
    """Texts of `own` in which none of `stops` ends, and which do not begin with one of the characters `after`."""
    texts = _texts(stops)
    return _all([own, *([_without(texts)] if texts else []), *([_not_after(after)] if after else [])])


def _texts(stops: list[Spelled]) -> list[RegexTree]:
    """The texts that end free text; of a stop that has a token, the token's text."""
    texts = [text(stop.forbidden) if stop.is_by_token else stop.run.core for stop in stops]
    return [found for found in dict.fromkeys(texts) if found != EMPTY_TEXT]


def _without(texts: list[RegexTree], *, inside: bool = False) -> RegexTree:
    """Texts in which none of these occurs; with `inside`, one may occur at the very end."""
    if not texts:
        return ANY_TEXT
    found = texts[0] if len(texts) == 1 else Alternation(tuple(texts))
    rest = Concatenation((ANY_CHAR, ANY_TEXT)) if inside else ANY_TEXT
    return Complement(Concatenation((ANY_TEXT, found, rest)))


def _not_after(after: str) -> RegexTree:
    return Alternation((EMPTY_TEXT, Concatenation((negated(characters_class(after)), ANY_TEXT))))


def _is_longer(stop: Spelled, end: Spelled) -> bool:
    """Whether `stop` ends in the text of `end`, so that both end at one place."""
    one, other = stop.run.core, end.run.core
    if one == other:
        return False
    if isinstance(one, Literal) and isinstance(other, Literal):
        return one.data.endswith(other.data)
    return len(stop.run.written) > len(end.run.written)


def _beginning(stop: Spelled, end: Spelled) -> bytes:
    """The text of `stop` if that of `end` begins with it, and goes on; empty otherwise."""
    one, other = _data(stop), _data(end)
    same = stop.run.before == end.run.before and not stop.is_by_token
    return one if same and len(other) > len(one) and other.startswith(one) else b""


def _data(spelled: Spelled) -> bytes:
    """The text of a spelling that has just one."""
    core = spelled.run.core
    return core.data if isinstance(core, Literal) else b""


def _all(parts: list[RegexTree]) -> RegexTree:
    kept = [part for part in parts if part is not ANY_TEXT]
    return kept[0] if len(kept) == 1 else Intersection(tuple(kept)) if kept else ANY_TEXT
