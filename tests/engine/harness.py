"""What the tests of the compiled core share: compiling, masks as sets, and walks beside the oracle."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import reject

import cfgmask
from cfgmask.grammar.ir import GrammarIR
from tests.oracle import Oracle, State
from tests.oracle_regex import Undecided
from tests.strategies import Problem, VocabularySpec, random_token

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


def with_all_bytes(problem: Problem) -> Problem:
    """The same over a vocabulary that has each byte as a token, too."""
    spec = problem.vocabulary
    whole = VocabularySpec([*spec.tokens, *(bytes([byte]) for byte in range(256))], spec.end_tokens, spec.special)
    return replace(problem, vocabulary=whole, oracle=oracle_of(problem.ir, whole))


def oracle_of(ir: GrammarIR, spec: VocabularySpec) -> Oracle:
    """The oracle of a grammar; the example is dropped if it matches nothing, once both engines have said so.

    It is dropped, too, if its regexes are too hard for the oracle.
    """
    try:
        return Oracle(ir, spec.tokens, spec.end_tokens, spec.special)
    except Undecided:
        reject()
    except ValueError:
        with pytest.raises(cfgmask.GrammarError):
            compile_ir(ir, spec)
        reject()


def oracles_mask(matcher: cfgmask.Matcher, oracle: Oracle, state: State) -> set[int]:
    """The mask of a state, which the matcher's must be, as must be what both say of its end."""
    mask = oracle.mask(state)
    assert mask_of(matcher, len(oracle.tokens)) == mask
    assert (matcher.is_accepting, matcher.is_finished) == (oracle.is_accepting(state), state.finished)
    return mask


def walk_there_and_back(problem: Problem, steps: int, *, fresh: bool) -> None:
    """Compare masks along a random walk, on forks, after a way back and after a replay.

    fresh: forget remembered masks before each one, so that all are computed
    """
    oracle, state = problem.oracle, problem.oracle.initial
    compiled = compile_ir(problem.ir, problem.vocabulary)
    matcher = compiled.matcher()
    taken: list[int] = []
    masks: list[set[int]] = []
    for _ in range(steps):
        if fresh:
            compiled.clear_masks()
        mask = oracles_mask(matcher, oracle, state)
        masks.append(mask)
        token = random_token(oracle, mask, problem.random)
        if token is None:
            break
        fork = matcher.fork()
        matcher.advance(token)
        matcher.captures()
        assert mask_of(fork, len(oracle.tokens)) == mask
        state = oracle.step_token(state, token)
        taken.append(token)
    for mask in reversed(masks[: len(taken)]):
        matcher.rollback(1)
        assert mask_of(matcher, len(oracle.tokens)) == mask
    replayed = compile_ir(problem.ir, problem.vocabulary).matcher()
    assert replayed.try_advance(taken) == len(taken)
