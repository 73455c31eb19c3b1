"""The tables of tests/cases through every path of the core: fresh and remembered masks, forks, rollbacks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import cfgmask
from tests.cases import TEXT_CASES, TOKEN_CASES
from tests.cases.case import TextCase, TokenCase, as_bytes
from tests.engine.harness import compile_ir, mask_of
from tests.strategies import VocabularySpec

END = 256


def _at_once(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher | None:
    matcher = compiled.matcher()
    return matcher if matcher.advance_bytes(text) == len(text) else None


def _by_masks(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher | None:
    matcher = compiled.matcher()
    for byte in text:
        if byte not in mask_of(matcher, END + 1):
            return None
        matcher.advance(byte)
    return matcher


def _by_fresh_masks(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher | None:
    matcher = compiled.matcher()
    for byte in text:
        compiled.clear_masks()
        if byte not in mask_of(matcher, END + 1):
            return None
        matcher.advance(byte)
    return matcher


def _by_forks(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher | None:
    matcher = compiled.matcher()
    for byte in text:
        fork = matcher.fork()
        if fork.try_advance([byte]) == 0:
            return None
        matcher = fork
    return matcher


def _by_rollbacks(compiled: cfgmask.CompiledGrammar, text: bytes) -> cfgmask.Matcher | None:
    """Each step is taken, taken back and taken again."""
    matcher = compiled.matcher()
    for byte in text:
        if matcher.try_advance([byte]) == 0:
            return None
        matcher.rollback(1)
        matcher.advance(byte)
    return matcher


PATHS = [_at_once, _by_masks, _by_fresh_masks, _by_forks, _by_rollbacks]
Path = Callable[[cfgmask.CompiledGrammar, bytes], "cfgmask.Matcher | None"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__.lstrip("_"))
@pytest.mark.parametrize("case", TEXT_CASES, ids=lambda case: case.name)
def test_texts(case: TextCase, path: Path) -> None:
    compiled = compile_ir(case.grammar)
    for text in map(as_bytes, case.accepts + case.prefixes):
        matcher = path(compiled, text)
        assert matcher is not None, text
        assert matcher.is_accepting == (text in map(as_bytes, case.accepts)), text
        assert (END in mask_of(matcher, END + 1)) == matcher.is_accepting
    for text in map(as_bytes, case.refuses):
        assert path(compiled, text[:-1]) is not None, text
        assert path(compiled, text) is None, text


@pytest.mark.parametrize("case", TOKEN_CASES, ids=lambda case: case.name)
def test_tokens(case: TokenCase) -> None:
    compiled = compile_ir(case.grammar, VocabularySpec(list(case.tokens), list(case.end_tokens), dict(case.special)))
    for _ in range(2):
        for sequence, mask in case.masks.items():
            matcher = compiled.matcher()
            for token in sequence:
                matcher.advance(token)
            assert mask_of(matcher, len(case.tokens)) == mask, sequence
