"""Plain grammars by both ways: what the core makes of them, and what the stages do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import cfgmask
from cfgmask import Limits


def compiled_both_ways(
    grammar: cfgmask.Grammar, tokens: Sequence[bytes], limits: Limits
) -> list[cfgmask.CompiledGrammar]:
    """Of a plain grammar, first what the core makes of it, each with a vocabulary of its own; the last token ends."""
    assert grammar.plain is not None
    found = []
    for one in (grammar, cfgmask.Grammar(grammar.ir)):
        vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)
        found.append(cfgmask.compile(one, vocabulary, limits))
    return found


def allowed(matcher: cfgmask.Matcher, tokens: Sequence[bytes]) -> list[int]:
    """The ids in the mask."""
    bits = np.zeros((len(tokens) + 31) // 32, np.int32)
    matcher.fill_mask(bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


def allowed_by_all(matchers: Sequence[cfgmask.Matcher], tokens: Sequence[bytes], text: str) -> list[int]:
    """The ids in their masks, which are the same; `text` is shown where they are not."""
    first, *others = (allowed(matcher, tokens) for matcher in matchers)
    for other in others:
        assert first == other, text
    return first
