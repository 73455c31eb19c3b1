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


JSON_TOKENS = [*(c.encode() for c in '{}[]",:ab12 '), b'{"', b'":', b'",', b'"a', b"ab", b'b"', b"12,", b", ", b"", b""]


def over_json(grammar: cfgmask.Grammar) -> cfgmask.CompiledGrammar:
    ends = [len(JSON_TOKENS) - 2, len(JSON_TOKENS) - 1]
    return cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(JSON_TOKENS, ends, {"<end>": ends[1]}))


ANYTHING = '"[" (x ("," x)*)? "]"\nx: /[ab]+/ | /[12]{1,3}/ | start'
LANGUAGES: dict[str, tuple[cfgmask.CompiledGrammar, dict[str, int]]] = {
    "lexemes longest": (NESTED, {}),
    "every segmentation": (
        over_json(cfgmask.Grammar.from_lark(f'%cfgmask {{"lexer": "complete"}}\nstart: {ANYTHING}')),
        {},
    ),
    "keys that come once": (
        over_json(cfgmask.Grammar.from_json_schema({"additionalProperties": {"type": "integer"}, "type": "object"})),
        {},
    ),
    "items that come once": (
        over_json(cfgmask.Grammar.from_json_schema({"items": {"enum": [1, 2, 12, "a"]}, "uniqueItems": True})),
        {},
    ),
    "a limit on a rule": (over_json(cfgmask.Grammar.from_lark('start: (x ",")* \nx[max_tokens=2]: /[ab]+/')), {}),
    "an end token that is named": (over_json(cfgmask.Grammar.from_lark('start: ("a" <end>?)+ "b"')), {}),
    "a budget": (over_json(cfgmask.Grammar.from_json_schema({"type": ["object", "array"]})), {"max_tokens": 14}),
    "a guard": (over_json(cfgmask.Grammar.from_lark(f"start: {ANYTHING}")), {"stall_after": 3}),
}


class Language:
    """Texts of a grammar, each walked from the start."""

    def __init__(self, name: str) -> None:
        self.compiled, self.options = LANGUAGES[name]
        self.n_vocab = len(TOKENS if name == "lexemes longest" else JSON_TOKENS)

    def replay(self, tokens: list[int]) -> cfgmask.Matcher | None:
        """A matcher that took these tokens from the start of the text; None if they do not fit."""
        matcher = self.compiled.matcher(**self.options)
        for token in tokens:
            if matcher.try_advance([token]) == 0:
                return None
        return matcher

    def mask(self, matcher: cfgmask.Matcher) -> set[int]:
        return mask_of(matcher, self.n_vocab)

    def random_text(self, rng: random.Random) -> list[int]:
        matcher, text = self.compiled.matcher(**self.options), []
        for _ in range(rng.randrange(12)):
            text.append(rng.choice(sorted(self.mask(matcher))))
            matcher.advance(text[-1])
        return text


def check(language: Language, rng: random.Random) -> int:
    """One random tree of drafts after a random text. Returns how many drafts it had."""
    replay, mask, n_vocab = language.replay, language.mask, language.n_vocab
    text = language.random_text(rng)
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
        allowed = sorted(mask(here)) if here else []
        drafts.append(rng.choice(allowed) if allowed and rng.random() < 0.9 else rng.randrange(-1, n_vocab + 1))
        paths.append([*before, drafts[-1]])
    bits = np.full((n + 2, 1), 0xDEADBEEF, dtype=np.uint32)
    fits = cfgmask.fill_draft_masks(matcher, drafts, bits, None if is_chain else parents)
    assert matcher.n_steps == len(text)
    assert as_set(bits[0]) == mask(matcher)
    assert bits[n + 1, 0] == 0xDEADBEEF
    for index, path in enumerate(paths):
        here = replay(text + path)
        assert fits[index] == (here is not None)
        assert as_set(bits[index + 1]) == (mask(here) if here else set())
    check_taken_back(language, text, matcher, rng.choice(paths))
    return n


def check_taken_back(language: Language, text: list[int], matcher: cfgmask.Matcher, drafts: list[int]) -> None:
    """Drafts that are consumed and taken back, twice and from within: nothing is left of them, of end tokens either."""
    for _ in range(2):
        kept = matcher.try_advance(drafts, consume=False)
        for token in drafts[:kept]:
            matcher.advance(token)
        if kept < len(drafts):
            with pytest.raises(cfgmask.TokenRejected):
                matcher.advance(drafts[kept])
        here = language.replay(text + drafts[:kept])
        assert here is not None
        assert (matcher.is_finished, matcher.is_accepting) == (here.is_finished, here.is_accepting)
        assert language.mask(matcher) == language.mask(here)
        matcher.rollback(kept)
        here = language.replay(text)
        assert here is not None
        assert (matcher.n_steps, matcher.is_finished, matcher.is_accepting, matcher.tokens_left, matcher.n_stalled) == (
            here.n_steps,
            here.is_finished,
            here.is_accepting,
            here.tokens_left,
            here.n_stalled,
        )
        assert language.mask(matcher) == language.mask(here)


def check_many(name: str, drafts: int, seed: int) -> None:
    rng, done, language = random.Random(seed), 0, Language(name)
    while done < drafts:
        done += check(language, rng)


@pytest.mark.parametrize("name", LANGUAGES)
def test_masks_are_those_of_a_replay(name: str) -> None:
    check_many(name, 300, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_masks_of_very_many_drafts(name: str) -> None:
    check_many(name, 100_000, seed=2)


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


def test_what_is_no_matcher_is_named() -> None:
    with pytest.raises(TypeError, match="fill_draft_masks takes a Matcher, not str"):
        cfgmask.fill_draft_masks("abc", [], np.zeros((1, 9), dtype=np.uint32))  # type: ignore[arg-type]
