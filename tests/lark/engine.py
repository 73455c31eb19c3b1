"""Membership of texts by the engine, for tests of what grammars mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import cfgmask

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)


def compiled(grammar: str) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_lark(grammar), VOCABULARY)


def accepts(compiled_grammar: cfgmask.CompiledGrammar, text: str) -> bool:
    data, matcher = text.encode(), compiled_grammar.matcher()
    return matcher.advance_bytes(data) == len(data) and matcher.is_accepting


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


def tried(matcher: cfgmask.Matcher) -> list[int]:
    """The ids of the tokens by which a text can go on, each tried by itself."""
    return [
        token for token in range(matcher.compiled.vocabulary.n_vocab) if matcher.try_advance([token], consume=False)
    ]
