"""What the tests of the compiled core share: compiling, masks as sets, and cases as vocabularies of single bytes."""

from __future__ import annotations

import numpy as np

import cfgmask
from cfgmask.grammar.ir import GrammarIR
from tests.strategies import VocabularySpec

ALL_BYTES = VocabularySpec([*(bytes([b]) for b in range(256)), b""], [256], {})


def compile_ir(ir: GrammarIR, spec: VocabularySpec = ALL_BYTES, **limits: int) -> cfgmask.CompiledGrammar:
    """Compiled over a vocabulary of its own, so that nothing is there that other grammars have made."""
    vocabulary = cfgmask.Vocabulary.from_bytes(spec.tokens, spec.end_tokens, spec.special)
    return cfgmask.compile(cfgmask.Grammar(ir), vocabulary, cfgmask.Limits(**limits))


def empty_bits(n_vocab: int) -> np.ndarray:
    """A buffer for a mask, full of what a mask must overwrite."""
    return np.full((n_vocab + 31) // 32, 0xDEADBEEF, dtype=np.uint32)


def as_set(bits: np.ndarray) -> set[int]:
    """The tokens of a mask, bits beyond the vocabulary included."""
    return set(np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist())


def mask_of(matcher: cfgmask.Matcher, n_vocab: int) -> set[int]:
    bits = empty_bits(n_vocab)
    matcher.fill_mask(bits)
    return as_set(bits)
