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

    Where keys have to be told apart, a search for a shortest text over single bytes may end at its limit. Completions
    are compared where both are found; a walk with a budget, whose masks need them, ends there.

    room  with a budget of so many tokens less one beyond the shortest text at most; None: without one
    """
    assert grammar.plain is not None
    both = [cfgmask.compile(each, VOCABULARY) for each in (grammar, grammar.ir)]
    budget = None
    if room is not None:
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
        lengths = {_length(one), _length(other)} - {None}
        assert len(lengths) < 2, text
        assert one.forced_bytes() == other.forced_bytes(), text
        yield one, other
        token = int(rng.choice(np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))))
        one.advance(token)
        other.advance(token)
        if one.is_finished:
            return
        text += TOKENS[token]


def _length(matcher: cfgmask.Matcher) -> int | None:
    try:
        return len(matcher.completion())
    except cfgmask.LimitExceeded:
        return None
