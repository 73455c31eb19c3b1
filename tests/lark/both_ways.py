"""Plain grammars by both ways: what the core makes of them, and what the stages do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import cfgmask
from cfgmask import Limits
from cfgmask.lark import PlainGrammar


def compiled_both_ways(
    grammar: cfgmask.Grammar, tokens: Sequence[bytes], limits: Limits
) -> list[cfgmask.CompiledGrammar]:
    """Of a plain grammar, first what the core makes of it, each with a vocabulary of its own; the last token ends.

    Behind that are tokens without text, one for each name of a special token.
    """
    assert isinstance(grammar.plain, PlainGrammar)
    names = sorted({name for tokens in grammar.plain.token_sets() for name in tokens.names})
    special = {name: len(tokens) + number for number, name in enumerate(names)}
    found = []
    for one in (grammar, cfgmask.Grammar(grammar.ir)):
        vocabulary = cfgmask.Vocabulary.from_bytes(
            [*tokens, *(b"" for _ in names)], eos_token_id=len(tokens) - 1, special_tokens=special
        )
        found.append(cfgmask.compile(one, vocabulary, limits))
    return found


def allowed(matcher: cfgmask.Matcher) -> list[int]:
    """The ids in the mask."""
    bits = np.zeros((matcher.compiled.vocabulary.n_vocab + 31) // 32, np.int32)
    matcher.fill_mask(bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


def allowed_by_all(matchers: Sequence[cfgmask.Matcher], text: str) -> list[int]:
    """The ids in their masks, which are the same; `text` is shown where they are not."""
    first, *others = (allowed(matcher) for matcher in matchers)
    for other in others:
        assert first == other, text
    return first
