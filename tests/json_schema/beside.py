"""Walks of a plain grammar beside the general way, which makes everything at once."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

import cfgmask
from tests.json_schema.test_plain import TOKENS, VOCABULARY, WORDS


def beside(
    grammar: cfgmask.Grammar, rng: random.Random, n_steps: int, room: int | None
) -> Iterator[tuple[cfgmask.Matcher, cfgmask.Matcher]]:
    """The matchers of both ways at each step of a random text, where masks, completions and forced bytes are equal.

    Completions complete the other's text, too. Where keys have to be told apart, they are short ones, not the shortest:
    neither their lengths are compared then nor masks with a budget, which need them.

    room  with a budget of so many tokens less one beyond the shortest text at most; None: without one
    """
    assert grammar.plain is not None
    both = [cfgmask.compile(each, VOCABULARY) for each in (grammar, grammar.ir)]
    tells_apart = any(rule.opens_set is not None and not rule.opens_set.endless for rule in grammar.ir.rules)
    budget = None
    if room is not None and not tells_apart:
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
        assert tells_apart or len({*map(len, ways)}) < 2, text
        assert all(_completes(matcher, way) for way in ways for matcher in (one, other)), text
        assert one.forced_bytes() == other.forced_bytes(), text
        yield one, other
        token = int(rng.choice(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))))
        one.advance(token)
        other.advance(token)
        if one.is_finished:
            return
        text += TOKENS[token]


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
