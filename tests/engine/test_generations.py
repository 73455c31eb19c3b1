"""A grammar that has learnt much from its texts begins anew: new texts find nothing of it, those before keep it."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

import cfgmask
from tests.engine.harness import ALL_BYTES, mask_of

END = 256
N_VOCAB = END + 1
VOCABULARY = cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, END)
# Each text writes other values, of which states are made.
DIFFERENT = cfgmask.Grammar.from_json_schema({"type": "array", "items": {"type": "integer"}, "uniqueItems": True})


def texts(n: int) -> Iterator[bytes]:
    for i in range(n):
        yield b"[%d,%d]" % (7 * i, 7 * i + 3)


def masks_of(matcher: cfgmask.Matcher, text: bytes) -> list[set[int]]:
    masks = []
    for byte in text:
        masks.append(mask_of(matcher, N_VOCAB))
        matcher.advance(byte)
    return [*masks, mask_of(matcher, N_VOCAB)]


@pytest.mark.parametrize(
    ("limits", "grown"),
    [
        ({"max_item_sets": 800}, "item_sets"),
        ({"max_lexer_states": 600}, "lexer_states"),
        ({"max_regex_nodes": 1_500}, "regex_nodes"),
        ({"mask_cache_bytes": 200_000}, "bytes"),
        ({"shared_cache_bytes": 400_000}, "regex_bytes"),
    ],
    ids=["max_item_sets", "max_lexer_states", "max_regex_nodes", "mask_cache_bytes", "shared_cache_bytes"],
)
def test_texts_without_end_are_served_within_each_limit(limits: dict[str, int], grown: str) -> None:
    """The masks are those of a grammar whose limits are far."""
    bounded, reference = (
        cfgmask.compile(DIFFERENT, cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, END), cfgmask.Limits(**given))
        for given in (limits, {})
    )
    most = 0
    for text in texts(200):
        assert masks_of(bounded.matcher(), text) == masks_of(reference.matcher(), text)
        most = max(most, bounded.stats()[grown])
    allowed = next(iter(limits.values()))
    assert reference.stats()[grown] > 2 * allowed, "the limit would not have been met"
    if grown not in ("lexer_states", "regex_nodes"):  # which stay in what is shared until that is full
        assert most <= 2 * allowed


def full() -> tuple[cfgmask.CompiledGrammar, cfgmask.Matcher]:
    """A grammar whose next text begins anew, and a matcher in what it has learnt."""
    compiled = cfgmask.compile(DIFFERENT, VOCABULARY, cfgmask.Limits(mask_cache_bytes=50_000))
    first = compiled.matcher()
    first.advance(ord("["))
    before = compiled.stats()["item_sets"]
    for text in texts(300):
        matcher = first.fork()
        masks_of(matcher, text[1:])
    assert compiled.stats()["item_sets"] > before + 500
    return compiled, first


def test_a_text_that_was_begun_goes_on_where_it_was() -> None:
    compiled, before = full()
    states = compiled.stats()["states"]
    anew = compiled.matcher()
    assert compiled.stats()["states"] < states / 10
    anew.advance(ord("["))
    before.advance(ord("5"))
    anew.advance(ord("5"))
    assert masks_of(before, b"2,5]") == masks_of(anew, b"2,5]")


def test_numbers_of_states_of_both_differ() -> None:
    compiled, before = full()
    before.rollback(1)
    anew = compiled.matcher()
    assert before.state != anew.state
    assert anew.state == compiled.matcher().state
    for matcher in (before, anew):
        assert matcher.try_advance([*b"[]", END]) == 3
        assert matcher.state == 0


@pytest.mark.parametrize("begin", ["reset", "fork"])
def test_a_matcher_that_begins_again_is_moved(begin: str) -> None:
    compiled, matcher = full()
    if begin == "reset":
        matcher.reset()
    else:
        matcher.rollback(1)
        matcher = matcher.fork()
    assert matcher.state == compiled.matcher().state
    assert masks_of(matcher, b"[5,6]") == masks_of(compiled.matcher(), b"[5,6]")


def test_a_budget_is_kept() -> None:
    compiled, _ = full()
    matcher = compiled.matcher(max_tokens=4)
    matcher.advance(ord("["))
    for text in texts(300):
        masks_of(compiled.matcher(), text)
    matcher.reset()
    assert matcher.tokens_left == 4
    assert masks_of(matcher, b"[10]")[-1] == {END}


@pytest.mark.parametrize(
    "grammar",
    [
        cfgmask.Grammar.from_json_schema({"type": "integer"}),
        cfgmask.Grammar.from_lark("start: /[a-z]+/"),
    ],
    ids=["plain", "rules"],
)
def test_what_is_compiled_anew_is_the_same(grammar: cfgmask.Grammar) -> None:
    """Without room for what is shared, each text begins anew."""
    compiled = cfgmask.compile(grammar, VOCABULARY, cfgmask.Limits(shared_cache_bytes=0))
    text = b"12" if ord("1") in mask_of(compiled.matcher(), N_VOCAB) else b"ab"
    first = masks_of(compiled.matcher(), text)
    state = compiled.matcher().state
    assert masks_of(compiled.matcher(), text) == first
    assert compiled.matcher().state != state


TOOL = {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}}
# Of each way in which a grammar is handed over.
HANDED_OVER = {
    "a schema": cfgmask.Grammar.from_json_schema({"properties": {"a": {"type": "string", "format": "date"}}}),
    "a schema of rules": cfgmask.Grammar.from_json_schema({"enum": [1, "a"]}, indent=2),
    "Lark that the core reads": cfgmask.Grammar.from_lark('start: "a" <[5]>? /[a-z]+/ | %json {"type": "integer"}'),
    "Lark of rules": cfgmask.Grammar.from_lark("start: /\\bif\\b/ /a(?=b)/ | b\nb[lazy]: /a*b/"),
    "a pattern": cfgmask.Grammar.from_regex("(?i)a+é"),
    "tools": cfgmask.Grammar.from_tools([TOOL], style="hermes"),
    "rules": cfgmask.Grammar(DIFFERENT.ir),
}


@pytest.mark.parametrize("name", HANDED_OVER)
def test_a_generation_is_made_without_python(name: str) -> None:
    compiled = cfgmask.compile(HANDED_OVER[name], VOCABULARY, cfgmask.Limits(shared_cache_bytes=0))
    before = compiled.matcher()
    allowed = mask_of(before, N_VOCAB)
    called: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        anew = compiled.matcher()
    finally:
        sys.setprofile(None)
    assert anew.state != before.state, "nothing was made anew"
    assert mask_of(anew, N_VOCAB) == allowed
    assert called == []


def test_a_circle_through_what_it_is_compiled_from_is_freed() -> None:
    vocabulary: Any = cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, END)
    vocabulary.compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: "a"'), vocabulary)
    alive = [weakref.ref(vocabulary), weakref.ref(vocabulary.compiled), weakref.ref(vocabulary.core)]
    del vocabulary
    gc.collect()
    assert [thing() for thing in alive] == [None] * len(alive)
