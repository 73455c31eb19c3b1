"""Walks of a lazy grammar beside the reference, which makes everything at once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import cfgmask
from tests.json_schema.general import general_rules
from tests.json_schema.test_against_reference import TOKENS, VOCABULARY, WORDS


def beside(
    grammar: cfgmask.Grammar, rng: random.Random, n_steps: int, room: int | None, *, are_shortest: bool = True
) -> Iterator[tuple[cfgmask.Matcher, cfgmask.Matcher]]:
    """The matchers of both ways at each step of a random text, where masks, completions and forced bytes are equal.

    Completions complete the other's text, too.

    room          with a budget of so many tokens less one beyond the shortest text at most; None: without one
    are_shortest  whether completions are the shortest, as `needs_no_others` tells. Else neither their lengths are
                  compared nor masks with a budget, which need them
    """
    assert grammar.lazy is not None
    both = [cfgmask.compile(each, VOCABULARY) for each in (grammar, general_rules(grammar))]
    budget = None
    if room is not None and are_shortest:
        shortest = _length(both[1].matcher())
        if shortest is None:
            return
        budget = shortest + 1 + rng.randrange(room)
    one, other = (compiled.matcher(max_tokens=budget) for compiled in both)
    mask, expected = np.zeros(WORDS, np.uint32), np.zeros(WORDS, np.uint32)
    text = b""
    for _ in range(n_steps):
        try:
            one.fill_mask(mask)
            other.fill_mask(expected)
        except cfgmask.LimitExceeded:
            assert budget is not None, text
            return
        assert (mask == expected).all(), text
        ways = [way for way in map(_way, (one, other)) if way is not None]
        assert not are_shortest or len({*map(len, ways)}) < 2, text
        assert all(_completes(matcher, way) for way in ways for matcher in (one, other)), text
        assert one.forced_bytes() == other.forced_bytes(), text
        yield one, other
        token = int(rng.choice(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))))
        one.advance(token)
        other.advance(token)
        if one.is_finished:
            return
        text += TOKENS[token]


def needs_no_others(schema: Any) -> bool:
    """Whether no object of the schema needs several keys that may have no names.

    Where some does, the search for the shortest may end at its limit in one of the ways and not in the other.
    """
    objects = [each for each in schema.get("anyOf", [schema]) if isinstance(each, dict)]
    return all(each.get("minProperties", 0) < 2 or each["additionalProperties"] is False for each in objects)


def _way(matcher: cfgmask.Matcher) -> list[int] | None:
    try:
        return matcher.completion()
    except cfgmask.LimitExceeded:
        return None


def _length(matcher: cfgmask.Matcher) -> int | None:
    way = _way(matcher)
    return None if way is None else len(way)


def _completes(matcher: cfgmask.Matcher, way: list[int]) -> bool:
    ahead = matcher.fork()
    return ahead.try_advance(way) == len(way) and ahead.is_accepting
