"""`fill_draft_masks`: the masks along drafts are those of replaying each draft from the start of the text."""

from __future__ import annotations

import random

import numpy as np
import pytest

import cfgmask
from tests.build import DIGITS, WORD, choice, grammar, many, rule, scope, seq
from tests.engine.harness import as_set, compile_ir, mask_of
from tests.strategies import VocabularySpec

TOKENS = [b"[", b"]", b",", b"1", b"22", b"a", b"bc", b" ", b"[1", b"],", b'"', b"", b""]
ENDS = [11, 12]
N = len(TOKENS)
NESTED = compile_ir(
    grammar(
        rule("start", "$list"),
        rule("list", seq("[", many(choice(DIGITS, WORD, "$list", ",")), "]")),
        scopes=(scope(" "),),
    ),
    VocabularySpec(TOKENS, ENDS, {}),
)


def replay(tokens: list[int], **options: int) -> cfgmask.Matcher | None:
    """A matcher that took these tokens from the start of the text; None if they do not fit."""
    matcher = NESTED.matcher(**options)
    return matcher if matcher.try_advance(tokens) == len(tokens) else None


def random_text(rng: random.Random) -> list[int]:
    matcher, text = NESTED.matcher(), []
    for _ in range(rng.randrange(12)):
        text.append(rng.choice(sorted(mask_of(matcher, N))))
        matcher.advance(text[-1])
    return text


def check(rng: random.Random) -> int:
    """One random tree of drafts after a random text. Returns how many drafts it had."""
    text = random_text(rng)
    matcher = replay(text)
    assert matcher is not None
    n = rng.randrange(1, 16)
    is_chain = rng.random() < 0.5
    parents = [index - 1 if is_chain else rng.randrange(-1, index) for index in range(n)]
    drafts: list[int] = []
    paths: list[list[int]] = []
    for parent in parents:
        before = [] if parent == -1 else paths[parent]
        here = replay(text + before)
        allowed = sorted(mask_of(here, N)) if here else []
        drafts.append(rng.choice(allowed) if allowed and rng.random() < 0.9 else rng.randrange(-1, N + 1))
        paths.append([*before, drafts[-1]])
    bits = np.full((n + 2, 1), 0xDEADBEEF, dtype=np.uint32)
    fits = cfgmask.fill_draft_masks(matcher, drafts, bits, None if is_chain else parents)
    assert matcher.n_steps == len(text)
    assert as_set(bits[0]) == mask_of(matcher, N)
    assert bits[n + 1, 0] == 0xDEADBEEF
    for index, path in enumerate(paths):
        here = replay(text + path)
        assert fits[index] == (here is not None)
        assert as_set(bits[index + 1]) == (mask_of(here, N) if here else set())
    accepted = rng.choice(paths)
    if replay(text + accepted):
        matcher.try_advance(accepted)
        matcher.rollback(len(accepted))
        assert mask_of(matcher, N) == as_set(bits[0])
    return n


def check_many(drafts: int, seed: int) -> None:
    rng, done = random.Random(seed), 0
    while done < drafts:
        done += check(rng)


def test_masks_are_those_of_a_replay() -> None:
    check_many(1_000, seed=1)


@pytest.mark.slow
def test_masks_of_very_many_drafts() -> None:
    check_many(100_000, seed=2)


def test_after_an_end_token_only_end_tokens_fit() -> None:
    bits = np.zeros((5, 1), dtype=np.uint32)
    assert cfgmask.fill_draft_masks(NESTED.matcher(), [0, 1, 11, 12, 0][:4], bits) == [True] * 4
    assert [as_set(row) for row in bits[3:]] == [set(ENDS)] * 2
    assert cfgmask.fill_draft_masks(NESTED.matcher(), [0, 1, 11, 0], bits) == [True, True, True, False]
    assert as_set(bits[4]) == set()


def test_a_budget_holds_for_drafts() -> None:
    bits = np.zeros((3, 1), dtype=np.uint32)
    matcher = NESTED.matcher(max_tokens=3)
    assert cfgmask.fill_draft_masks(matcher, [0, 3], bits) == [True, True]
    assert as_set(bits[2]) == {1}


@pytest.mark.parametrize(
    ("tokens", "parents", "rows", "message"),
    [
        ([0, 1], [-1], 3, "2 drafts and 1 parents"),
        ([0, 1], None, 2, "take 3 rows, not 2"),
        ([0, 1], [-1, 1], 3, "the parent of draft 1 is 1"),
        ([0, 1], [-2, 0], 3, "the parent of draft 0 is -2"),
    ],
)
def test_what_is_no_tree(tokens: list[int], parents: list[int] | None, rows: int, message: str) -> None:
    bits = np.full((rows, 1), 7, dtype=np.uint32)
    with pytest.raises(ValueError, match=message):
        cfgmask.fill_draft_masks(NESTED.matcher(), tokens, bits, parents)
    assert (bits == 7).all()
