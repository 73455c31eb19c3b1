"""Vocabularies of odd shapes: sizes around a word of the mask, long tokens, equal tokens, all ids ends."""

from __future__ import annotations

import numpy as np
import pytest

import cfgmask
from cfgmask.errors import GrammarError
from cfgmask.grammar import regex_tree as tree
from tests.build import DIGITS, WORD, choice, grammar, many, rep, rule, scope, seq, tokens
from tests.engine.harness import compile_ir, mask_of
from tests.strategies import VocabularySpec

WORDS = grammar(rule("start", many(choice(WORD, DIGITS))), scopes=(scope(" "),))


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129])
def test_sizes_around_a_word(size: int) -> None:
    spec = VocabularySpec([b"a"] * (size - 1) + [b""], [size - 1], {})
    matcher = compile_ir(WORDS, spec).matcher()
    assert mask_of(matcher, size) == set(range(size))
    logits = np.zeros(size + 1, dtype=np.float32)
    matcher.apply(logits)
    assert np.isfinite(logits[:size]).all()
    assert np.isneginf(logits[size])


@pytest.mark.parametrize("length", [255, 256, 65_535, 65_536, 200_000])
def test_long_tokens(length: int) -> None:
    spec = VocabularySpec([b"a" * length, b"a", b"a" * (length - 1) + b"!", b"a" * (length - 1) + b"1", b""], [4], {})
    compiled = compile_ir(WORDS, spec)
    matcher = compiled.matcher()
    assert mask_of(matcher, 5) == {0, 1, 3, 4}
    matcher.advance(0)
    assert mask_of(matcher, 5) == {0, 1, 3, 4}
    bounded = compile_ir(grammar(rule("start", rep("a", 0, length))), spec).matcher()
    assert mask_of(bounded, 5) == {0, 1, 4}
    bounded.advance(1)
    assert mask_of(bounded, 5) == {1, 4}


def test_equal_tokens_have_equal_bits() -> None:
    spec = VocabularySpec([b"a", b"b", b"a", b"ab", b"b", b"ab", b""], [6], {})
    matcher = compile_ir(grammar(rule("start", seq("a", "b"))), spec).matcher()
    assert mask_of(matcher, 7) == {0, 2, 3, 5}
    matcher.advance(2)
    assert mask_of(matcher, 7) == {1, 4}


def test_every_id_an_end() -> None:
    spec = VocabularySpec([b"a", b"b"], [0, 1], {})
    matcher = compile_ir(grammar(rule("start", many("a"))), spec).matcher()
    assert mask_of(matcher, 2) == {0, 1}
    with pytest.raises(GrammarError, match=r"'a' needs 'a' \(0x61\), which no token contains"):
        compile_ir(grammar(rule("start", "a")), spec)
    named = compile_ir(grammar(rule("start", tokens(0))), spec).matcher()
    assert mask_of(named, 2) == {0}
    named.advance(0)
    assert not named.is_finished
    assert mask_of(named, 2) == {0, 1}


def test_a_grammar_that_no_token_can_spell_allows_nothing() -> None:
    """All bytes are there, in tokens that do not fit."""
    matcher = compile_ir(grammar(rule("start", "xyz")), VocabularySpec([b"zy", b"xz", b""], [2], {})).matcher()
    assert mask_of(matcher, 3) == set()
    assert not matcher.is_accepting
    assert matcher.forced_bytes() == b"xyz"


def test_forced_bytes_are_bounded() -> None:
    matcher = compile_ir(grammar(rule("start", rep("ab", 100_000, 100_000)))).matcher()
    assert matcher.forced_bytes() == b"ab" * 32_768


def test_all_two_byte_tokens() -> None:
    """Every pair of bytes as a token: exactly the valid encodings and their parts are allowed."""
    pairs = [bytes([a, b]) for a in range(256) for b in range(256)]
    spec = VocabularySpec([*pairs, b""], [len(pairs)], {})
    matcher = compile_ir(grammar(rule("start", many(WORD))), spec).matcher()
    allowed = mask_of(matcher, len(spec.tokens)) - {len(pairs)}
    assert {pairs[i] for i in allowed} == {bytes([a, b]) for a in b"abcdefghijklmnopqrstuvwxyz" for b in range(97, 123)}
    matcher = compile_ir(grammar(rule("start", tree.ANY_TEXT)), spec).matcher()
    allowed = mask_of(matcher, len(spec.tokens)) - {len(pairs)}
    assert {pairs[i] for i in allowed} == {pair for pair in pairs if _starts_a_text(pair)}


def _starts_a_text(data: bytes) -> bool:
    """Whether some continuation bytes make it valid UTF-8."""
    fillers = [b"", b"\x80", b"\x90", b"\x80\x80", b"\x90\x80", b"\xa0\x80", b"\x80\x80\x80", b"\x90\x80\x80"]
    return any(_is_utf8(data + filler) for filler in fillers)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("ends", [[5], [-1], [2**40]])
def test_ends_beyond_the_vocabulary_are_refused(ends: list[int]) -> None:
    with pytest.raises((cfgmask.VocabularyError, ValueError, OverflowError, TypeError)):
        compile_ir(WORDS, VocabularySpec([b"a", b""], ends, {}))
