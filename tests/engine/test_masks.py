"""Masks as bits and on logits: every layout that callers hand over, and every way to ask agreeing with the others."""

from __future__ import annotations

import random
from array import array
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from tests.build import DIGITS, WORD, choice, cls, grammar, many, rule, scope, seq, tokens
from tests.engine.harness import as_set, compile_ir, mask_of
from tests.strategies import Problem, VocabularySpec, problems

# 70 tokens: the mask has three words, the last of them with six bits.
PIECES = [b"1", b"2", b"1,", b",", b"a", b"ab", b"[", b"]", b"[1", b"],", b" ", b"1 ,", b"\xff", b""]
TOKENS = [*(PIECES * 5)[:69], b""]
END = 69
COMPILED = compile_ir(
    grammar(rule("start", seq("[", many(seq(choice(DIGITS, WORD), ",")), "]")), scopes=(scope(" "),)),
    VocabularySpec(TOKENS, [END], {}),
)


def matcher_after(text: bytes) -> cfgmask.Matcher:
    matcher = COMPILED.matcher()
    assert matcher.advance_bytes(text) == len(text)
    return matcher


@pytest.mark.parametrize("text", [b"", b"[", b"[1", b"[1,", b"[1,ab", b"[1,]"])
def test_a_mask_is_brute_force(text: bytes) -> None:
    matcher = matcher_after(text)
    taken = {token for token in range(len(TOKENS)) if matcher.try_advance([token], consume=False) == 1}
    assert mask_of(matcher, len(TOKENS)) == taken != set()


@pytest.mark.parametrize("dtype", [np.uint32, np.int32])
def test_both_types_of_words(dtype: type) -> None:
    matcher = matcher_after(b"[1")
    bits = np.full(3, -1, dtype=np.int32).view(dtype)
    matcher.fill_mask(bits)
    assert as_set(bits) == mask_of(matcher, len(TOKENS))


def test_words_beyond_the_mask_are_zero() -> None:
    matcher = matcher_after(b"[1")
    bits = np.full(7, 0xFFFFFFFF, dtype=np.uint32)
    matcher.fill_mask(bits)
    assert as_set(bits) == mask_of(matcher, len(TOKENS))


@pytest.mark.parametrize(
    "bits",
    [
        np.zeros(2, dtype=np.uint32),
        np.zeros(0, dtype=np.uint32),
        np.zeros(3, dtype=np.uint64),
        np.zeros(3, dtype=np.float32),
        np.zeros(12, dtype=np.uint8),
        np.zeros((1, 3), dtype=np.uint32),
        np.zeros(6, dtype=np.uint32)[::2],
        np.zeros(6, dtype=np.uint32)[::-1],
        np.zeros(3, dtype=">u4"),
        np.zeros(3, dtype=[("word", "u4")]),
        np.zeros(3, dtype="M8[s]"),
        np.array(0, dtype=np.uint32),
        [0, 0, 0],
        None,
    ],
    ids=[
        "too short",
        "empty",
        "wide words",
        "floats",
        "bytes",
        "two dimensions",
        "strided",
        "backwards",
        "big endian",
        "records",
        "times",
        "a scalar",
        "a list",
        "None",
    ],
)
def test_buffers_that_are_no_masks_are_refused(bits: object) -> None:
    """Also by a matcher that has just filled an array of the same type."""
    matcher = COMPILED.matcher()
    matcher.fill_mask(np.zeros(3, dtype=np.uint32))
    with pytest.raises((TypeError, ValueError)):
        matcher.fill_mask(bits)  # type: ignore[arg-type]


class Subclass(np.ndarray):
    pass


@pytest.mark.parametrize(
    "bits",
    [
        np.zeros(3, dtype=np.int32),
        np.zeros(9, dtype=np.uint32)[2:6],
        np.zeros((3, 4), dtype=np.uint32)[1],
        np.zeros(4, dtype=np.uint32).view(Subclass),
        memoryview(np.zeros(3, dtype=np.uint32)),
        array("I", [0, 0, 0]),
    ],
    ids=["signed", "a slice", "a row", "a subclass", "a memoryview", "an array.array"],
)
def test_any_buffer_of_words_holds_the_mask(bits: Any) -> None:
    matcher = matcher_after(b"[1")
    matcher.fill_mask(bits)
    words = np.asarray(bits).view(np.uint32)
    assert {32 * i + b for i in range(len(words)) for b in range(32) if words[i] >> b & 1} == mask_of(
        matcher, len(TOKENS)
    )


def test_arguments_by_name_and_wrong_ones() -> None:
    matcher, bits = COMPILED.matcher(), np.zeros(3, dtype=np.uint32)
    matcher.fill_mask(bits=bits)
    assert bits.any()
    matcher.advance(token_id=next(iter(mask_of(matcher, len(TOKENS)))))
    for wrong in ((), (bits, bits)):
        with pytest.raises(TypeError, match="bits"):
            matcher.fill_mask(*wrong)
        with pytest.raises(TypeError, match="token_id"):
            matcher.advance(*wrong)
    with pytest.raises(TypeError):
        matcher.fill_mask(words=bits)  # type: ignore[call-arg]
    for no_token in ("1", None, 1.5, 2**80):
        with pytest.raises(TypeError):
            matcher.advance(no_token)  # type: ignore[arg-type]
    for no_token_of_ours in (-1, 2**40, len(TOKENS)):
        with pytest.raises(cfgmask.TokenRejected):
            matcher.advance(no_token_of_ours)


def test_token_ids_of_numpy_are_taken() -> None:
    matcher = COMPILED.matcher()
    matcher.advance(np.int64(min(mask_of(matcher, len(TOKENS)))))  # type: ignore[arg-type]
    assert matcher.n_steps == 1


def test_a_read_only_buffer_is_refused() -> None:
    bits = np.zeros(3, dtype=np.uint32)
    bits.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        COMPILED.matcher().fill_mask(bits)
    assert not bits.any()


# Logits.


def layouts(dtype: type, n: int) -> dict[str, np.ndarray]:
    """Buffers of n logits that lie in memory in different ways."""
    records = np.zeros(n, dtype=[("id", "<i4"), ("logit", dtype), ("p", "<f4")])  # as in llama.cpp, 12 bytes of float32
    return {
        "dense": np.zeros(n, dtype),
        "every third": np.zeros(3 * n, dtype)[::3],
        "records": records["logit"],
        "backwards": np.zeros(n, dtype)[::-1],
        "a column": np.zeros((n, 5), dtype)[:, 2],
        "in the middle": np.zeros(n + 20, dtype)[7 : 7 + n],
    }


@pytest.mark.parametrize("layout", layouts(np.float32, 1))
@pytest.mark.parametrize("more", [0, 1, 58])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_apply_writes_what_the_mask_says_and_nothing_else(dtype: type, more: int, layout: str) -> None:
    n = len(TOKENS) + more
    logits = layouts(dtype, n)[layout]
    whole = logits.base if logits.base is not None else logits
    whole_before = whole.copy()
    before = np.random.default_rng(0).normal(size=n).astype(dtype)
    before[[0, 3, 5, 20]] = [np.inf, np.nan, -np.inf, 0]
    logits[:] = before
    matcher = matcher_after(b"[1")
    assert matcher.apply(logits)
    allowed = np.isin(np.arange(n), list(mask_of(matcher, len(TOKENS))))
    np.testing.assert_array_equal(logits[allowed], before[allowed])
    assert np.all(np.isneginf(logits[~allowed]))
    logits[:] = 0
    np.testing.assert_array_equal(whole, whole_before, err_msg="memory beside the logits was written")


@pytest.mark.parametrize("layout", layouts(np.float32, 1))
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize(
    ("logit", "left"),
    [(0.0, True), (-0.0, True), (-6e4, True), (6e-8, True), (np.inf, True), (-np.inf, False), (np.nan, False)],
)
def test_apply_tells_whether_a_token_is_left(dtype: type, layout: str, logit: float, left: bool) -> None:
    matcher = matcher_after(b"[1")
    allowed = sorted(mask_of(matcher, len(TOKENS)))
    logits = layouts(dtype, len(TOKENS) + 3)[layout]
    for token in (allowed[0], allowed[-1]):
        logits[:] = 1.0
        logits[allowed] = -np.inf
        logits[token] = logit
        assert matcher.apply(logits) == left


@pytest.mark.parametrize(
    "logits",
    [
        np.zeros(69, dtype=np.float32),
        np.zeros(70, dtype=np.complex64),
        np.zeros(70, dtype=np.int32),
        np.zeros((1, 70), dtype=np.float32),
        np.zeros((), dtype=np.float32),
        np.broadcast_to(np.float32(0), 70),
        [0.0] * 70,
        b"\0" * 280,
        None,
    ],
    ids=["too short", "complex", "integers", "two dimensions", "a scalar", "read only", "a list", "bytes", "None"],
)
def test_buffers_that_are_no_logits_are_refused(logits: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        COMPILED.matcher().apply(logits)


@pytest.mark.torch
@pytest.mark.parametrize("more", [0, 58])
def test_apply_to_bfloat16(more: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    whole = torch.full((len(TOKENS) + more, 2), 7, dtype=torch.bfloat16)
    matcher = matcher_after(b"[1")
    matcher.apply(whole[:, 1])
    assert set(torch.nonzero(whole[:, 1] == 7).flatten().tolist()) == mask_of(matcher, len(TOKENS))
    assert torch.isneginf(whole[:, 1]).sum() == len(whole) - len(mask_of(matcher, len(TOKENS)))
    assert (whole[:, 0] == 7).all()


@given(problems(), st.sampled_from([np.float32, np.float16]))
def test_all_ways_to_ask_agree(problem: Problem, dtype: type) -> None:
    n = len(problem.vocabulary.tokens)
    matcher = compile_ir(problem.ir, problem.vocabulary).matcher()
    for _ in range(5):
        mask = mask_of(matcher, n)
        logits = np.zeros((n + 3, 3), dtype)[:, 1]
        matcher.apply(logits)
        assert set(np.flatnonzero(np.isfinite(logits)).tolist()) == mask
        assert {token for token in range(n) if matcher.try_advance([token], consume=False)} == mask
        assert bool(mask & set(problem.vocabulary.end_tokens)) >= matcher.is_accepting
        if not mask:
            return
        matcher.advance(problem.random.choice(sorted(mask)))


# Batches.


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_fill_masks_is_fill_mask_for_each_row(threads: int) -> None:
    texts = [b"", b"[", b"[1", b"[1,", b"[a", b"[1,]"] * 4
    matchers: list[cfgmask.Matcher | None] = [matcher_after(text) for text in texts]
    matchers[3] = None
    bits = np.full((len(texts), 4), 0xDEADBEEF, dtype=np.uint32)
    assert cfgmask.fill_masks(matchers, bits, threads=threads) == [None] * len(texts)
    for row, matcher in zip(bits, matchers, strict=True):
        if matcher is None:
            assert as_set(row[:3]) >= set(range(len(TOKENS)))
        else:
            assert as_set(row) == mask_of(matcher, len(TOKENS))


def test_fill_masks_over_different_grammars() -> None:
    spec = VocabularySpec([b"a", b"b", b""], [2], {})
    matchers = [compile_ir(grammar(rule("start", text)), spec).matcher() for text in "abab"]
    bits = np.full((4, 1), 0xFFFFFFFF, dtype=np.uint32)
    cfgmask.fill_masks(matchers, bits, threads=2)
    assert bits[:, 0].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    "bits",
    [
        np.zeros((1, 3), dtype=np.uint32),
        np.zeros((2, 2), dtype=np.uint32),
        np.zeros(6, dtype=np.uint32),
        np.zeros((2, 3), dtype=np.float32),
    ],
    ids=["rows are missing", "rows are short", "one dimension", "floats"],
)
def test_fill_masks_refuses_buffers_that_do_not_fit(bits: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError)):
        cfgmask.fill_masks([COMPILED.matcher(), COMPILED.matcher()], bits)


def test_fill_masks_of_nothing() -> None:
    assert cfgmask.fill_masks([], np.zeros((0, 3), dtype=np.uint32)) == []


# What is forced.


@given(problems())
def test_every_continuation_starts_with_the_forced_bytes(problem: Problem) -> None:
    """Random walks by tokens never leave the text that is forced. (Tokens matched by id have no text.)"""
    tokens, ends = problem.vocabulary.tokens, problem.vocabulary.end_tokens
    matcher = compile_ir(problem.ir, problem.vocabulary).matcher()
    for _ in range(4):
        forced = matcher.forced_bytes()
        if forced:
            assert not matcher.is_accepting
            assert matcher.fork().advance_bytes(forced) == len(forced)
        walker, text = matcher.fork(), b""
        while len(text) < len(forced) and (allowed := sorted(mask_of(walker, len(tokens)))):
            token = problem.random.choice(allowed)
            assert token not in ends
            walker.advance(token)
            text += tokens[token]
            assert forced.startswith(text) or text.startswith(forced)
        allowed = sorted(mask_of(matcher, len(tokens)))
        if not allowed:
            return
        matcher.advance(problem.random.choice(allowed))


def test_forced_bytes() -> None:
    compiled = compile_ir(grammar(rule("start", seq("abc", choice("d", "e"), many("f", 2, 2)))))
    matcher = compiled.matcher()
    assert matcher.forced_bytes() == b"abc"
    matcher.advance_bytes(b"ab")
    assert matcher.forced_bytes() == b"c"
    matcher.advance_bytes(b"c")
    assert matcher.forced_bytes() == b""
    matcher.advance_bytes(b"d")
    assert matcher.forced_bytes() == b"ff"
    matcher.advance_bytes(b"ff")
    assert matcher.forced_bytes() == b""


def test_random_masks_of_a_large_vocabulary() -> None:
    """Bit by bit over a vocabulary of many words, remembered or not."""
    rng = random.Random(1)
    tokens = [bytes(rng.choices(b'[]1,ab "', k=rng.randrange(1, 6))) for _ in range(5_000)] + [b""]
    ir = grammar(rule("start", "$list"), rule("list", seq("[", many(choice(DIGITS, WORD, "$list", ",")), "]")))
    compiled = compile_ir(ir, VocabularySpec(tokens, [5_000], {}))
    matcher = compiled.matcher()
    for _ in range(10):
        first = mask_of(matcher, 5_001)
        assert first == {token for token in range(5_001) if matcher.try_advance([token], consume=False)}
        compiled.clear_masks()
        assert mask_of(matcher, 5_001) == first
        matcher.advance(rng.choice(sorted(first)))


def test_tokens_by_id_leave_no_trace() -> None:
    """Without limits on tokens, states that differ in how many came before are one."""
    compiled = compile_ir(grammar(rule("start", seq(many(tokens(256, negated=True)), "a"))))
    matcher = compiled.matcher()
    for _ in range(20):
        matcher.advance(ord("b"))
    assert compiled.stats()["states"] < 5


def test_readings_go_on_by_themselves_after_a_token_by_id() -> None:
    """`ax` is complete in one of the readings before `<[5]>`, whatever the other one begins there."""
    plain = seq("q", "z", tokens(5), cls("ac"), cls("xz"))
    compiled = compile_ir(grammar(rule("start", choice(plain, seq(tokens(ord("q")), "z", tokens(5), "axy")))))
    for text in (b"qz\x05ax", b"qz\x05axy"):
        matcher = compiled.matcher()
        assert matcher.try_advance(list(text)) == len(text)
        assert matcher.is_accepting
