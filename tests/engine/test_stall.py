"""`matcher(stall_after=k)`: where a text only repeats and comes no nearer to its end, the mask leads there."""

from __future__ import annotations

import codecs
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.engine.harness import as_set, compile_ir, mask_of
from tests.engine.test_completion import discards_large
from tests.strategies import Problem, list_problems, problems

STEPS = 14
LONGEST_PIECE = 128
BYTES = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b"", b"", b"ab" * 20], eos_token_id=256)
N_VOCAB = BYTES.n_vocab


def compiled(text: str) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_lark(text), BYTES)


def number(matcher: cfgmask.Matcher) -> int | None:
    way = matcher.completion()
    return None if way is None else len(way)


# The rule, slowly: from the whole text, anew at each place.


def repeats(texts: list[bytes], taken: list[int], k: int) -> bool:
    """Whether the last k tokens have written one piece over and over."""
    symbols: list[int] = []
    for token in taken[-k:]:
        symbols += texts[token] or [256 + token]
    n = len(symbols)
    pieces = range(1, min(LONGEST_PIECE, n // 2) + 1)
    return len(taken) >= k and any(all(symbols[i] == symbols[i - p] for i in range(p, n)) for p in pieces)


def replay(grammar: cfgmask.CompiledGrammar, taken: list[int]) -> cfgmask.Matcher:
    matcher = grammar.matcher()
    assert matcher.try_advance(taken) == len(taken)
    return matcher


def is_free(grammar: cfgmask.CompiledGrammar, texts: list[bytes], taken: list[int]) -> bool:
    """Whether the text might end, or go on with any characters, where the character that is begun was not yet."""
    unfinished = 0
    for n in range(1, min(3, len(taken)) + 1):
        if is_beginning(b"".join(texts[token] for token in taken[-n:])) and all(texts[token] for token in taken[-n:]):
            unfinished = n
    matcher = replay(grammar, taken[: len(taken) - unfinished])
    mask = mask_of(matcher, len(texts))
    return matcher.is_accepting and all(token in mask or not is_text(text) for token, text in enumerate(texts))


def is_beginning(text: bytes) -> bool:
    """Whether it is a part of one character, from its first byte on."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return not decoder.decode(text) and bool(decoder.getstate()[0])
    except UnicodeDecodeError:
        return False


def is_text(text: bytes) -> bool:
    try:
        return bool(text.decode())
    except UnicodeDecodeError:
        return False


def expected_mask(
    grammar: cfgmask.CompiledGrammar, texts: list[bytes], taken: list[int], k: int, left: int | None
) -> tuple[set[int], bool]:
    """The mask after these tokens, and whether the text has stalled."""
    plain = replay(grammar, taken)
    stalled = False
    if repeats(texts, taken, k) and not is_free(grammar, texts, taken):
        before, now = number(replay(grammar, taken[:-k])), number(plain)
        if before is not None and now is not None and now >= before:
            stalled, left = True, now if left is None else min(now, left)
    allowed = set()
    for token in mask_of(plain, len(texts)):
        after = plain.fork()
        after.advance(token)
        way = number(after)
        # An end token ends a complete text, though the grammar may name it and go on.
        ends = after.is_finished or (plain.is_accepting and token in grammar.vocabulary.end_tokens)
        if left is None or ends or (way is not None and way < left):
            allowed.add(token)
    return allowed, stalled


@given(st.one_of(problems(), list_problems()), st.integers(1, 6), st.integers(0, 12))
@discards_large
def test_masks_are_those_of_the_rule(problem: Problem, k: int, more: int) -> None:
    grammar = compile_ir(problem.ir, problem.vocabulary, max_search_steps=5_000)
    texts, rng = problem.vocabulary.tokens, problem.random
    start = number(grammar.matcher())
    if start is None:
        return
    left = start + more if more % 2 else None
    matcher = grammar.matcher(max_tokens=left, stall_after=k)
    taken: list[int] = []
    seen: list[tuple[set[int], int]] = []
    n_stalled = 0
    while len(taken) < STEPS and not matcher.is_finished:
        mask = mask_of(matcher, len(texts))
        expected, stalled = expected_mask(grammar, texts, taken, k, left)
        assert (mask, matcher.is_stalled, matcher.n_stalled) == (expected, stalled, n_stalled)
        assert {token for token in range(len(texts)) if matcher.try_advance([token], consume=False)} == mask
        if not mask:
            break
        again = [token for token in taken[-3:] if token in mask]
        token = rng.choice(again if again and rng.random() < 0.8 else sorted(mask))
        seen.append((mask, n_stalled))
        n_stalled += stalled
        matcher.advance(token)
        taken.append(token)
        left = None if left is None else left - 1
    fork = matcher.fork()
    for mask, count in reversed(seen):
        matcher.rollback(1)
        assert (mask_of(matcher, len(texts)), matcher.n_stalled) == (mask, count)
    assert matcher.try_advance(taken) == len(taken)
    assert mask_of(matcher, len(texts)) == mask_of(fork, len(texts))


def spun(text: str, begin: bytes, again: bytes, k: int = 32) -> cfgmask.Matcher:
    """A matcher that has stalled on `again`, over and over after `begin`."""
    matcher = compiled(text).matcher(stall_after=k)
    assert matcher.advance_bytes(begin) == len(begin)
    for _ in range(4 * k):
        for byte in again:
            if matcher.is_stalled:
                return matcher
            matcher.advance(byte)
    raise AssertionError("it has not stalled")


@pytest.mark.parametrize(
    ("text", "begin", "again", "left"),
    [
        (r'start: "a" /\s+/ "b"', b"a", b" ", b"b"),
        ("start: /[0-9]+/", b"7", b"0", b""),
        (r"start: /[0-9]+\.[0-9]+/", b"0.", b"142857", b""),
        ('start: "[" /[0-9]+/ ("," /[0-9]+/)* "]"', b"[7", b",0", b"]"),
        ('start: list\nlist: "[" (list ",")* "]"', b"", b"[", b"]"),
        (r'start: /"[^"]*"/', b'"', b"and so on ", b'"'),
        ('start: <[257]>* "b"', b"", b"", b"b"),
    ],
)
def test_what_repeats_is_led_to_its_end(text: str, begin: bytes, again: bytes, left: bytes) -> None:
    if not again:
        matcher = compiled(text).matcher(stall_after=32)
        for _ in range(32):
            assert not matcher.is_stalled
            matcher.advance(257)
    else:
        matcher = spun(text, begin, again)
    assert mask_of(matcher, N_VOCAB) - {256} == set(left)
    assert (256 in mask_of(matcher, N_VOCAB)) == (not left)
    assert number(matcher) is not None


def test_it_is_over_when_something_else_is_written() -> None:
    matcher = spun('start: "[" (list ",")* "]"\nlist: "[" ("0," )* "]"', b"[[", b"0,")
    assert mask_of(matcher, N_VOCAB) == {ord("]")}
    matcher.advance(ord("]"))
    assert not matcher.is_stalled
    matcher.advance(ord(","))
    assert mask_of(matcher, N_VOCAB) == {ord("["), ord("]")}
    assert matcher.n_stalled == 1


@pytest.mark.parametrize("more", ["", r' | "\xff"'])
@pytest.mark.parametrize("again", ["a", "é", "aé\n", "😀"])
def test_free_text_is_left_alone(more: str, again: str) -> None:
    matcher = compiled(rf"start: /(.|\n)*/{more}").matcher(stall_after=4)
    for byte in (again * 50).encode():
        assert not matcher.is_stalled
        matcher.advance(byte)
    assert matcher.n_stalled == 0


@pytest.mark.parametrize(
    "text",
    [
        r"start: /.*/",  # one line
        r"start: /(.|\n)*<call>/",
        r'start: (/"[^"]*"/ | /[^"]/)*',
    ],
)
def test_text_that_is_not_free(text: str) -> None:
    begin = b'"' if '"[' in text else b""
    assert spun(text, begin, b"a", k=8).is_stalled


def test_text_that_comes_nearer_to_its_end_goes_on() -> None:
    matcher = compiled("start: /a{500}/").matcher(stall_after=8)
    for _ in range(500):
        assert mask_of(matcher, N_VOCAB) == {ord("a")}
        matcher.advance(ord("a"))
    assert matcher.is_accepting


@pytest.mark.parametrize(("length", "stalls"), [(LONGEST_PIECE, True), (LONGEST_PIECE + 1, False)])
def test_pieces_have_so_many_bytes(length: int, stalls: bool) -> None:
    matcher = compiled(r"start: /[^!]*!/").matcher(stall_after=3 * length)
    piece = bytes(random.Random(0).choices(b"abcdefgh", k=length))
    for byte in piece * 3:
        assert not matcher.is_stalled
        matcher.advance(byte)
    assert matcher.is_stalled == stalls


def test_a_single_token_may_repeat_itself() -> None:
    matcher = compiled(r"start: /(ab)*/").matcher(stall_after=1)
    matcher.advance(258)
    assert mask_of(matcher, N_VOCAB) == {256}


def test_prose_is_never_cut() -> None:
    """Words of a small vocabulary in any order: nothing that people write repeats more."""
    rng, matcher = random.Random(1), compiled(r'start: /"[^"]*"/').matcher(stall_after=64)
    matcher.advance(ord('"'))
    words = b"the a of and to in is it very much so do".split()
    for _ in range(3_000):
        for byte in rng.choice(words) + b" ":
            assert not matcher.is_stalled
            matcher.advance(byte)


def test_bytes_of_one_step() -> None:
    grammar = compiled(r'start: /[ab]*/ "!"')
    matcher = grammar.matcher(stall_after=4)
    for _ in range(4):
        assert matcher.advance_bytes(b"ab" * 100) == 200
    assert matcher.is_stalled
    assert matcher.advance_bytes(b"ab") == 0
    assert matcher.advance_bytes(b"ab!") == 3


def test_drafts_are_masked_by_their_own_texts() -> None:
    matcher = compiled(r'start: /[ab]*/ "!"').matcher(stall_after=4)
    drafts = list(b"aaaaa")
    bits = np.zeros((len(drafts) + 1, -(-N_VOCAB // 32)), dtype=np.uint32)
    assert cfgmask.fill_draft_masks(matcher, drafts, bits) == [True] * 4 + [False]
    assert as_set(bits[3]) == {*b"ab!", 258}
    assert as_set(bits[4]) == {ord("!")}
    assert as_set(bits[5]) == set()
    assert cfgmask.fill_draft_masks(matcher, [*b"aaaab"], bits, [-1, 0, 1, 2, 2]) == [True] * 5
    assert as_set(bits[4]) == {ord("!")}
    assert as_set(bits[5]) == {*b"ab!", 258}
    assert matcher.try_advance([*b"abababab"], consume=False) == 4


def test_without_a_way_to_the_end_nothing_is_narrowed() -> None:
    matcher = compiled('start: /[a-z]+/ "end"').matcher(stall_after=4)
    for _ in range(10):
        matcher.advance(ord("a"))
    assert not matcher.is_stalled
    assert set(b"az") < mask_of(matcher, N_VOCAB)


@pytest.mark.parametrize("given", [0, -1])
def test_guards_of_no_tokens_are_refused(given: int) -> None:
    with pytest.raises(ValueError, match="stall_after must be at least 1, or None for no guard"):
        compiled('start: "a"').matcher(stall_after=given)
