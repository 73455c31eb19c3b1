"""Threads that share a compiled grammar, and grammars that share a vocabulary, see what one thread sees."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cfgmask
from cfgmask.grammar import regex_tree as tree
from tests.build import DIGITS, WORD, alt, cat, choice, cls, grammar, many, rep, rule, scope, seq
from tests.engine.harness import compile_ir, mask_of
from tests.strategies import VocabularySpec

N_THREADS = 4
ALPHABET = b'{}[]:,"ab1 \xc3\xa9'


def make_vocabulary() -> cfgmask.Vocabulary:
    rng = random.Random(0)
    tokens = [bytes(rng.choices(ALPHABET, k=rng.randrange(1, 5))) for _ in range(800)]
    return cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in ALPHABET), *tokens, b""], 800 + len(ALPHABET))


STRING = tree.JsonString(rep(cls("a", "b", "1", " ", "é"), 0, 12))
VALUE = rule("value", choice("$object", "$array", STRING, DIGITS))
OBJECT = rule("object", seq("{", many(seq(STRING, ":", "$value", ","), 0, 5), "}"))
ARRAY = rule("array", choice(seq("[", "]"), seq("[", "$value", many(seq(",", "$value")), "]")))
GRAMMARS = [
    grammar(rule("start", "$value"), VALUE, OBJECT, ARRAY, scopes=(scope(rep(" ", 1)),)),
    grammar(rule("start", "$array"), VALUE, OBJECT, ARRAY, lexer="complete"),
    grammar(rule("start", many(choice(WORD, DIGITS, STRING))), scopes=(scope(" "),)),
]
Mask = frozenset[int]


def walk(compiled: cfgmask.CompiledGrammar, seed: int) -> list[Mask]:
    """The masks along a walk that the seed alone determines."""
    rng, matcher, masks = random.Random(seed), compiled.matcher(), []
    n_vocab = compiled.vocabulary.n_vocab
    for _ in range(30):
        mask = mask_of(matcher, n_vocab)
        masks.append(frozenset(mask))
        going_on = sorted(mask - {n_vocab - 1})
        if not going_on:
            break
        matcher.advance(rng.choice(going_on))
        if rng.random() < 0.2:
            matcher.rollback(1)
        if rng.random() < 0.2:
            matcher = matcher.fork()
    return masks


def in_threads(work: Callable[[int], list[Mask]]) -> list[list[Mask]]:
    """`work(seed)` for 24 seeds, all threads starting at once."""
    barrier = threading.Barrier(N_THREADS)

    def run(thread: int) -> list[list[Mask]]:
        barrier.wait()
        return [work(seed) for seed in range(thread, 24, N_THREADS)]

    with ThreadPoolExecutor(N_THREADS) as pool:
        parts = list(pool.map(run, range(N_THREADS)))
    return [parts[seed % N_THREADS][seed // N_THREADS] for seed in range(24)]


def test_threads_over_one_grammar() -> None:
    alone = cfgmask.compile(cfgmask.Grammar(GRAMMARS[0]), make_vocabulary())
    shared = cfgmask.compile(cfgmask.Grammar(GRAMMARS[0]), make_vocabulary())
    assert in_threads(lambda seed: walk(shared, seed)) == [walk(alone, seed) for seed in range(24)]


def test_threads_over_grammars_of_one_vocabulary() -> None:
    vocabulary, other = make_vocabulary(), make_vocabulary()
    alone = [cfgmask.compile(cfgmask.Grammar(ir), other) for ir in GRAMMARS]
    shared = [cfgmask.compile(cfgmask.Grammar(ir), vocabulary) for ir in GRAMMARS]
    expected = [walk(alone[seed % 3], seed) for seed in range(24)]
    assert in_threads(lambda seed: walk(shared[seed % 3], seed)) == expected


def test_threads_that_compile() -> None:
    vocabulary, other = make_vocabulary(), make_vocabulary()

    def compile_and_walk(seed: int) -> list[Mask]:
        return walk(cfgmask.compile(cfgmask.Grammar(GRAMMARS[seed % 3]), vocabulary), seed)

    expected = [walk(cfgmask.compile(cfgmask.Grammar(GRAMMARS[seed % 3]), other), seed) for seed in range(24)]
    assert in_threads(compile_and_walk) == expected


def test_masks_forgotten_by_another_thread() -> None:
    shared = cfgmask.compile(cfgmask.Grammar(GRAMMARS[0]), make_vocabulary())
    expected = [walk(shared, seed) for seed in range(24)]
    done = threading.Event()

    def forget() -> None:
        while not done.wait(0.001):
            shared.clear_masks()
            shared.stats()

    forgetter = threading.Thread(target=forget)
    forgetter.start()
    try:
        assert in_threads(lambda seed: walk(shared, seed)) == expected
    finally:
        done.set()
        forgetter.join()


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 2, 5, 1000])
def test_batches_on_threads(threads: int, shards: int) -> None:
    vocabulary, other = make_vocabulary(), make_vocabulary()
    compiled = [cfgmask.compile(cfgmask.Grammar(ir), vocabulary, shard=i % shards) for i, ir in enumerate(GRAMMARS * 2)]
    alone = [cfgmask.compile(cfgmask.Grammar(ir), other) for ir in GRAMMARS]
    rng = random.Random(2)
    rows = [(c.matcher(), a.matcher()) for c, a in zip(compiled * 3, alone * 6, strict=True)]
    n_vocab = vocabulary.n_vocab
    bits = np.zeros((len(rows), (n_vocab + 31) // 32), dtype=np.int32)
    for _ in range(12):
        assert cfgmask.fill_masks([m for m, _ in rows], bits, threads=threads) == [None] * len(rows)
        for row, (matcher, reference) in zip(bits, rows, strict=True):
            expected = np.zeros_like(row)
            reference.fill_mask(expected)
            assert np.array_equal(row, expected)
            allowed = sorted(mask_of(reference, n_vocab) - {n_vocab - 1})
            if allowed:
                token = rng.choice(allowed)
                matcher.advance(token)
                reference.advance(token)


def test_an_error_in_one_shard_leaves_the_others() -> None:
    """Each letter of these texts leads to another lexer state, and that grammar may not make so many."""
    vocabulary = make_vocabulary()
    letters = cat(*(alt(rep(cls("a", "b"), n, n), rep(" ", 1)) for n in range(1, 9)))
    source = grammar(rule("start", tree.JsonString(letters)))
    few = cfgmask.Limits(max_lexer_states=4)
    compiled = [
        cfgmask.compile(cfgmask.Grammar(source), vocabulary, few if i == 1 else None, shard=i) for i in range(3)
    ]
    matchers = [c.matcher() for c in compiled]
    bits = np.zeros((3, (vocabulary.n_vocab + 31) // 32), dtype=np.int32)
    errors = cfgmask.fill_masks(matchers, bits, threads=2)
    assert errors[0] is errors[2] is None
    assert isinstance(errors[1], cfgmask.LimitExceeded)
    assert np.array_equal(bits[0], bits[2])
    assert bits[0].any()
    assert not bits[1].any()


@pytest.mark.parametrize("shard", [-1, 256, 1.0, "1", None])
def test_shards_that_there_are_not(shard: object) -> None:
    with pytest.raises(ValueError, match="shard must be an integer from 0 to 255"):
        cfgmask.compile(cfgmask.Grammar(GRAMMARS[0]), make_vocabulary(), shard=shard)  # type: ignore[arg-type]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_fills_batches_with_threads_of_its_own() -> None:
    matchers = [cfgmask.compile(cfgmask.Grammar(GRAMMARS[0]), make_vocabulary()).matcher() for _ in range(4)]
    bits = np.zeros((4, (matchers[0].compiled.vocabulary.n_vocab + 31) // 32), dtype=np.int32)
    cfgmask.fill_masks(matchers, bits, threads=3)
    child = os.fork()
    if child == 0:
        # Not even an assertion may leave this block: the child would go on with the tests of its parent.
        code = 1
        try:
            again = np.zeros_like(bits)
            cfgmask.fill_masks(matchers, again, threads=3)
            code = 0 if np.array_equal(again, bits) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_matcher_of_each_thread_over_a_grammar_that_goes_away() -> None:
    """A matcher keeps its grammar and vocabulary alive."""
    spec = VocabularySpec([b"a", b"b", b""], [2], {})
    matchers = [compile_ir(grammar(rule("start", many("ab"))), spec).matcher() for _ in range(N_THREADS)]
    with ThreadPoolExecutor(N_THREADS) as pool:
        assert list(pool.map(lambda m: m.try_advance([0, 1, 0, 1, 1]), matchers)) == [4] * N_THREADS
