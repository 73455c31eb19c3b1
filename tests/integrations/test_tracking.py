"""Following the ids of a text."""

from __future__ import annotations

import numpy as np
import pytest

import cfgmask
from cfgmask import TokenRejected
from cfgmask.integrations.tracking import TrackedText

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([byte]) for byte in range(256)), b""], eos_token_id=256)


def text(prompt: list[int]) -> TrackedText:
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("(ab)*c"), VOCABULARY)
    return TrackedText(compiled.matcher(), np.array(prompt, dtype=np.intc))


def ids(*parts: list[int] | bytes) -> np.ndarray:
    return np.array([token_id for part in parts for token_id in part], dtype=np.intc)


def test_prompt_is_not_consumed() -> None:
    tracked = text([7, 8])
    assert len(tracked) == 2
    tracked.advance_to(ids([7, 8]))
    assert tracked.matcher.n_steps == 0


def test_output_is_consumed_once() -> None:
    tracked = text([7])
    tracked.advance_to(ids([7], b"a"))
    tracked.advance_to(ids([7], b"ab"))
    tracked.advance_to(ids([7], b"ab"))
    tracked.advance_to(ids([7], b"ababc"))
    assert tracked.matcher.is_accepting
    assert tracked.matcher.n_steps == 5


def test_long_texts_grow() -> None:
    tracked = text([])
    shown = ids(b"ab" * 500)
    for length in range(len(shown) + 1):
        assert tracked.is_start_of(shown[:length])
        tracked.advance_to(shown[:length])
    assert tracked.is_start_of(shown)
    assert tracked.matcher.n_steps == 1000


def test_only_ids_that_begin_with_it_go_on() -> None:
    tracked = text([7])
    tracked.advance_to(ids([7], b"a"))
    assert tracked.is_start_of(ids([7], b"ab"))
    assert not tracked.is_start_of(ids([7]))
    assert not tracked.is_start_of(ids([6], b"ab"))
    assert not tracked.is_start_of(ids([7], b"bb"))


def test_the_hosts_array_may_change_afterwards() -> None:
    shown = ids([7, 8])
    tracked = TrackedText(text([]).matcher, shown)
    shown[0] = 9
    assert tracked.is_start_of(ids([7, 8]))


def test_a_token_outside_the_grammar_is_refused() -> None:
    with pytest.raises(TokenRejected):
        text([]).advance_to(ids(b"b"))
