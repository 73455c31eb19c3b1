"""Counts of masks and limits, and who is told of them: `CompiledGrammar.stats` and `observe`."""

from __future__ import annotations

import gc
import math
import pickle
import random
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask import CompiledGrammar, Grammar, Limits, MaskEvent

TOKENS = [*(bytes([b]) for b in range(256)), b"ab", b'": ', b""]
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=258)
N_WORDS = -(-len(TOKENS) // 32)
COUNTS = ("masks_made", "masks_copied", "mask_seconds", "limits_met", "rejected_mass", "rejected_masses")


def compiled(pattern: str = "(ab)*c") -> CompiledGrammar:
    return cfgmask.compile(Grammar.from_regex(pattern), VOCABULARY)


def limited() -> CompiledGrammar:
    """Nine letters meet its limit."""
    grammar = Grammar.from_lark('start: "a" start "b" | "c"')
    return cfgmask.compile(grammar, VOCABULARY, Limits(max_item_sets=12))


def counts(grammar: CompiledGrammar) -> dict[str, Any]:
    stats = grammar.stats()
    return {name: stats[name] for name in COUNTS}


def bits() -> np.ndarray[Any, Any]:
    return np.zeros(N_WORDS, np.uint32)


def test_masks_made_and_copied() -> None:
    grammar = compiled()
    assert counts(grammar) == dict.fromkeys(COUNTS, 0) | {"limits_met": {}}
    matcher, row = grammar.matcher(), bits()
    for made, copied in ((1, 0), (1, 1), (1, 2)):
        matcher.fill_mask(row)
        stats = grammar.stats()
        assert (stats["masks_made"], stats["masks_copied"]) == (made, copied)
    seconds = stats["mask_seconds"]
    assert 0 < seconds < 1
    assert cfgmask.fill_masks([matcher, grammar.matcher(), None], np.zeros((3, N_WORDS), np.uint32)) == [None] * 3
    matcher.apply(np.zeros(len(TOKENS), np.float32))
    assert counts(grammar)["masks_copied"] == 5
    assert counts(grammar)["mask_seconds"] == seconds  # copies are not timed
    matcher.advance(ord("a"))
    matcher.apply(np.zeros(len(TOKENS), np.float32))
    assert counts(grammar)["masks_made"] == 2
    assert counts(grammar)["mask_seconds"] > seconds
    matcher.advance_bytes(b"b")
    for end in (ord("c"), 258):
        matcher.advance(end)
        matcher.fill_mask(row)
    # Each was asked for once, whatever it was.
    stats = grammar.stats()
    assert stats["masks_made"] + stats["masks_copied"] == 9


@pytest.mark.parametrize("arguments", [{}, {"max_tokens": 30}, {"stall_after": 3}, {"stop_token_ids": [5]}])
def test_every_mask_is_counted_once(arguments: dict[str, Any]) -> None:
    """Random walks over objects whose keys must differ: all ways to a mask."""
    grammar = cfgmask.compile(Grammar.from_json_schema({"type": "object"}), VOCABULARY)
    rng = random.Random(4)
    events: list[MaskEvent] = []
    grammar.observe(events.append)
    n = 0
    for _ in range(10):
        matchers = [grammar.matcher(**arguments) for _ in range(3)]
        for _ in range(12):
            rows = np.zeros((3, N_WORDS), np.uint32)
            cfgmask.fill_masks(matchers, rows)
            alone = bits()
            matchers[0].fill_mask(alone)
            assert (alone == rows[0]).all()
            n += 4
            for matcher, row in zip(matchers, rows, strict=True):
                allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
                matcher.advance(int(rng.choice(allowed)))
    stats = grammar.stats()
    assert stats["masks_made"] + stats["masks_copied"] == len(events) == n
    assert sum(event.is_new for event in events) == stats["masks_made"] > 0
    assert math.isclose(sum(event.seconds for event in events), stats["mask_seconds"], rel_tol=1e-6)
    assert all(event.limit is event.rejected_mass is None for event in events)


def test_limits_that_were_met() -> None:
    grammar = limited()
    matcher = grammar.matcher()
    asks = [
        lambda: matcher.try_advance([ord("a")] * 1000),
        lambda: matcher.try_advance([ord("a")] * 1000, consume=False),
        lambda: matcher.advance_bytes(b"a" * 1000),
    ]
    for n, ask in enumerate(asks):
        with pytest.raises(cfgmask.LimitExceeded):
            ask()
        assert counts(grammar)["limits_met"] == {"max_item_sets": n + 1}


def test_a_mask_that_met_a_limit() -> None:
    """Alone, in a batch, and on logits: it is told, and counted as a limit."""
    tokens = [*(bytes([b]) for b in range(256)), b"a" * 60, b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=257)
    source = Grammar.from_lark('start: "a" start "b" | "c"')
    rows = np.zeros((1, 9), np.int32)
    for ask in (
        lambda m: m.fill_mask(rows[0]),
        lambda m: cfgmask.fill_masks([m], rows)[0],
        lambda m: m.apply(np.zeros(258, np.float32)),
    ):
        grammar = cfgmask.compile(source, vocabulary, Limits(max_item_sets=20))
        events: list[MaskEvent] = []
        grammar.observe(events.append)
        try:
            error = ask(grammar.matcher())
        except cfgmask.LimitExceeded as raised:
            error = raised
        assert isinstance(error, cfgmask.LimitExceeded)
        assert [(event.limit, event.is_new) for event in events] == [("max_item_sets", False)]
        assert grammar.stats()["limits_met"] == {"max_item_sets": 1}


def test_counts_go_on_when_the_caches_begin_anew() -> None:
    # Each text writes other values, of which states are made.
    different = Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})
    grammar = cfgmask.compile(different, VOCABULARY, Limits(max_item_sets=800))
    n = 0
    for i in range(100):
        matcher = grammar.matcher()
        for byte in b"[%d,%d]" % (7 * i, 7 * i + 3):
            matcher.fill_mask(bits())
            matcher.advance(byte)
            n += 1
        stats = grammar.stats()
        assert stats["masks_made"] + stats["masks_copied"] == n
    assert stats["masks_computed"] < stats["masks_made"], "the caches did not begin anew"


def test_threads_lose_no_count() -> None:
    grammar = compiled()
    matcher = grammar.matcher()
    matcher.fill_mask(bits())

    def work() -> None:
        own, row = grammar.matcher(), bits()
        for _ in range(2000):
            own.fill_mask(row)
            cfgmask.fill_masks([own], row[None])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(grammar)["masks_copied"] == 4 * 4000
    assert counts(grammar)["masks_made"] == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_rejected_mass(dtype: Any) -> None:
    grammar = compiled()
    matcher = grammar.matcher()
    assert not grammar.asks_for_rejected_mass
    events: list[MaskEvent] = []
    grammar.observe(events.append, rejected_mass=True)
    assert grammar.asks_for_rejected_mass
    rng = np.random.default_rng(1)
    expected = []
    for step in range(20):
        logits = rng.normal(size=2 * len(TOKENS)).astype(dtype)[:: 1 + step % 2][: len(TOKENS)]
        logits[rng.integers(len(TOKENS), size=5)] = -np.inf
        if step % 3 == 0:
            logits[[7, 258]] = np.nan  # counts for nothing
        row = bits()
        matcher.fill_mask(row)
        events.pop()
        allowed = np.unpackbits(row.view(np.uint8), bitorder="little", count=len(TOKENS)).astype(bool)
        weights = np.exp(np.nan_to_num(logits.astype(np.float64), nan=-np.inf))
        expected.append(weights[~allowed].sum() / weights.sum())
        matcher.apply(logits)
        mass = events.pop().rejected_mass
        assert mass == pytest.approx(expected[-1], rel=1e-6)
        matcher.advance(rng.choice([256, ord("a")]) if step % 2 == 0 and matcher.n_steps == 0 else 256)
        matcher.rollback(1)
    assert grammar.stats()["rejected_masses"] == 20
    assert grammar.stats()["rejected_mass"] == pytest.approx(sum(expected))
    for nothing in (np.full(len(TOKENS), -np.inf, dtype), np.full(len(TOKENS), np.nan, dtype)):
        matcher.apply(nothing)
        assert events.pop().rejected_mass is None
    certain = np.full(len(TOKENS), 0, dtype)
    certain[ord("x")] = 300
    matcher.apply(certain)
    assert events.pop().rejected_mass == 1
    grammar.observe()
    assert not grammar.asks_for_rejected_mass
    matcher.apply(np.zeros(len(TOKENS), dtype))
    assert not events
    assert grammar.stats()["rejected_masses"] == 21
    grammar.add_rejected_mass(0.25)
    assert grammar.stats()["rejected_masses"] == 22
    for wrong in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match="from 0 to 1"):
            grammar.add_rejected_mass(wrong)


def test_an_observer_cannot_spoil_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", shown.append)
    grammar = compiled()
    matcher, row, expected = grammar.matcher(), bits(), bits()
    compiled().matcher().fill_mask(expected)

    def fails(event: MaskEvent) -> None:
        raise KeyError(event)

    grammar.observe(fails)
    matcher.fill_mask(row)
    assert (row == expected).all()
    assert [type(one.exc_value) for one in shown] == [KeyError]
    # It may use the matcher, and end itself.
    grammar.observe(lambda event: (grammar.observe(), matcher.advance(ord("c"))))
    matcher.fill_mask(row)
    assert matcher.n_steps == 1
    matcher.fill_mask(row)
    assert len(shown) == 1

    def interrupts(_: MaskEvent) -> None:
        raise KeyboardInterrupt

    grammar.observe(interrupts)
    with pytest.raises(KeyboardInterrupt):
        matcher.fill_mask(row)
    with pytest.raises(TypeError, match="callable"):
        grammar.observe(5)  # type: ignore[arg-type]


def test_an_observer_is_freed() -> None:
    class Holder:
        def __init__(self, grammar: CompiledGrammar) -> None:
            self.grammar = grammar

        def __call__(self, event: MaskEvent) -> None:
            pass

    grammar = compiled()
    holder = Holder(grammar)
    grammar.observe(holder)  # a circle
    gone = weakref.ref(holder)
    assert pickle.loads(pickle.dumps(grammar)).stats()["masks_made"] == 0
    del grammar, holder
    gc.collect()
    assert gone() is None
