"""Whatever is no longer used is freed, circles through Python included, and nothing is left when the process ends."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask

TOKENS = [*(bytes([byte]) for byte in range(256)), b""]


def encode_plainly() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes(TOKENS, 256, encode=lambda text: list(text.encode()))


def encode_by_the_vocabulary_itself() -> cfgmask.Vocabulary:
    def encode(text: str) -> list[int]:
        tokens = TOKENS if vocabulary is None else vocabulary.tokens
        return [tokens.index(bytes([byte])) for byte in text.encode()]

    vocabulary: cfgmask.Vocabulary | None = None
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, 256, encode=encode)
    return vocabulary


@pytest.mark.parametrize("make", [encode_plainly, encode_by_the_vocabulary_itself])
def test_all_is_freed(make: Callable[[], cfgmask.Vocabulary]) -> None:
    vocabulary = make()
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("(ab)*c"), vocabulary)
    matcher = compiled.matcher()
    matcher.fill_mask(np.zeros(9, dtype=np.uint32))
    matcher.advance(ord("a"))
    fork = matcher.fork()
    alive = [weakref.ref(thing) for thing in (vocabulary, vocabulary.core, compiled, matcher, fork)]

    del vocabulary, compiled, matcher
    gc.collect()
    # A matcher needs its grammar, and that the vocabulary, whose encoder says what is forced.
    assert [thing() is not None for thing in alive] == [True, True, True, False, True]
    assert fork.expected()

    del fork
    gc.collect()
    assert [thing() for thing in alive] == [None] * len(alive)


def test_forgotten_circles_through_an_object_are_freed() -> None:
    class Holder:
        pass

    holder: Any = Holder()
    holder.vocabulary = encode_by_the_vocabulary_itself()
    holder.matcher = cfgmask.compile(cfgmask.Grammar.from_regex("a"), holder.vocabulary).matcher()
    holder.itself = holder
    alive = [weakref.ref(thing) for thing in (holder, holder.vocabulary.core, holder.matcher)]
    del holder
    gc.collect()
    gc.collect()  # the circle of the vocabulary and its encoder, which the grammar held until then
    assert [thing() for thing in alive] == [None] * len(alive)


def test_what_the_collector_cannot_see_into_holds_nothing_of_its_users() -> None:
    vocabulary = encode_plainly()
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("a"), vocabulary)
    things: list[Any] = [vocabulary.core, compiled, compiled.matcher()]
    for thing in things:
        with pytest.raises(AttributeError):
            thing.anything = thing
        with pytest.raises(TypeError, match="prohibits subclassing"):
            type("Derived", (type(thing),), {})


def test_nothing_is_left_at_the_end_of_the_process() -> None:
    """Globals that live to the end are freed by it; nanobind reports on stderr what is not."""
    code = f"""
import cfgmask
vocabulary = cfgmask.Vocabulary.from_bytes({TOKENS!r}, 256, encode=lambda text: list(text.encode()))
compiled = cfgmask.compile(cfgmask.Grammar.from_regex("a"), vocabulary)
matcher = compiled.matcher()
circle = [vocabulary, compiled, matcher]
circle.append(circle)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
