"""All that is done with a grammar: reading, notes, IR, compiling, masks, explanations, pickling, destruction."""

from __future__ import annotations

import contextlib
import functools
import pickle
import random
from collections.abc import Callable

import numpy as np

import cfgmask
from cfgmask import Grammar

Read = Callable[[], Grammar]
END = 300
_WORDS = [
    b"true",
    b"null",
    b'"a"',
    b"aa",
    b"  ",
    b'{"',
    b'":',
    b"\xc3\xa9",
    b"\n",
    b"10",
    b'","',
    b"}}",
    b"]]",
    b"ab",
    b"start",
]


class DeadEndError(Exception):
    """A mask that allows nothing."""


@functools.cache
def vocabulary() -> cfgmask.Vocabulary:
    """All bytes, a few words, ids without text up to `END`, which ends a text."""
    tokens = [*(bytes([byte]) for byte in range(256)), *_WORDS]
    tokens += [b""] * (END + 1 - len(tokens))
    return cfgmask.Vocabulary.from_bytes(tokens, END, {"<|tool|>": END - 1}, encode=lambda text: list(text.encode()))


def own_vocabulary() -> cfgmask.Vocabulary:
    """The same, in which no other grammar has learnt anything."""
    shared = vocabulary()
    return cfgmask.Vocabulary(
        cfgmask.tokenizers.parts.VocabularyParts(
            shared.tokens, shared.eos_token_ids, shared.special_tokens, shared.encode
        )
    )


def use(read: Read, *, dead_ends: bool = False, seed: int = 0, masks_alone: bool = False) -> None:
    """Raises what reading, compiling or a mask raises; the other stages may cross a limit.

    dead_ends    whether a mask may allow nothing
    masks_alone  whether notes, rules and pickles are left out, each of which may take as long as reading
    """
    grammar = read()
    if not masks_alone:
        _may_cross_a_limit(lambda: grammar.notes)
        _may_cross_a_limit(lambda: grammar.ir)
        # A pickle holds the IR, which may be too deep for Python's pickle: an error that names its cause, no crash.
        with contextlib.suppress(cfgmask.LimitExceeded, RecursionError):
            pickle.loads(pickle.dumps(grammar))
    compiled = cfgmask.compile(grammar, own_vocabulary())
    walk(compiled, random.Random(seed), dead_ends=dead_ends)
    repr(grammar)


def walk(compiled: cfgmask.CompiledGrammar, choose: random.Random, *, dead_ends: bool, steps: int = 24) -> None:
    """Masks and random tokens that they allow, then each other thing that a matcher can be asked."""
    matcher = compiled.matcher()
    bits = np.zeros(END // 32 + 1, np.uint32)
    for _ in range(steps):
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
        if not allowed:
            if dead_ends:
                break
            raise DeadEndError
        token = choose.choice([token for token in allowed if token != END] or allowed)
        matcher.advance(token)
        if token == END:
            break
    fork = matcher.fork()
    for ask in (
        matcher.expected,
        lambda: matcher.explain(ord("}")),
        matcher.captures,
        matcher.forced_bytes,
        matcher.forced_tokens,
        matcher.jump,
        lambda: matcher.state,
        lambda: matcher.temperature,
        lambda: matcher.advance_bytes(b"\xff\xfe" * 10),
        lambda: fork.rollback(min(3, fork.n_steps)),
        fork.reset,
    ):
        _may_cross_a_limit(ask)


def _may_cross_a_limit(stage: Callable[[], object]) -> None:
    with contextlib.suppress(cfgmask.LimitExceeded):
        stage()
