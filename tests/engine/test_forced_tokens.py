"""Forced text in the tokenizer's own tokens: none that any continuation would change."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.tokenizers.ranked_bpe import RankedBpe
from tests.engine.harness import as_set, mask_of
from tests.tokenizers.real import gguf_path

# How tokenizers in use cut a text before they join bytes: not at all, as GPT-2's and as Llama 3's.
PATTERNS = (
    r"[\s\S]+",
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+"
    ),
)
ALPHABET = ["a", "b", " ", "é", "1", '"', "\n"]
texts = st.text(st.sampled_from(ALPHABET), min_size=1, max_size=9)


def bpe(pattern: str, words: list[str]) -> cfgmask.Vocabulary:
    """A vocabulary whose tokens are all bytes, and the ways to these words, joined from the left; and its encoder."""
    tokens = [bytes([byte]) for byte in range(256)]
    for word in words:
        data = word.encode()
        tokens += [data[:end] for end in range(2, len(data) + 1) if data[:end] not in tokens]
    encode = RankedBpe(pattern, {token: rank for rank, token in enumerate(tokens)}).encode
    return cfgmask.Vocabulary.from_bytes([*tokens, b"", b""], len(tokens), {"<|x|>": len(tokens) + 1}, encode)


def longest_match(words: list[str]) -> cfgmask.Vocabulary:
    """The same words under another kind of tokenizer: always the longest token."""
    tokens = [*(bytes([byte]) for byte in range(256)), *(w.encode() for w in words if len(w.encode()) > 1)]
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    longest = max(map(len, tokens))

    def encode(text: str) -> list[int]:
        data, found = text.encode(), []
        while data:
            size = next(n for n in range(min(longest, len(data)), 0, -1) if data[:n] in ids)
            found.append(ids[data[:size]])
            data = data[size:]
        return found

    return cfgmask.Vocabulary.from_bytes([*tokens, b""], len(tokens), encode=encode)


@st.composite
def vocabularies(draw: st.DrawFn) -> cfgmask.Vocabulary:
    words = draw(st.lists(st.text(st.sampled_from(ALPHABET), min_size=1, max_size=4), max_size=8, unique=True))
    pattern = draw(st.sampled_from([*PATTERNS, None]))
    return longest_match(words) if pattern is None else bpe(pattern, words)


@st.composite
def languages(draw: st.DrawFn) -> list[str]:
    """A few texts that begin alike, so that there is something to force."""
    starts = draw(st.lists(texts, min_size=1, max_size=3))
    return draw(
        st.lists(st.builds("".join, st.lists(st.sampled_from(starts), min_size=1, max_size=3)), min_size=1, max_size=5)
    )


def encoding(vocabulary: cfgmask.Vocabulary, text: str) -> list[int]:
    assert vocabulary.encode is not None
    return list(vocabulary.encode(text))


def tokens_at(vocabulary: cfgmask.Vocabulary, ids: list[int], offset: int) -> list[int] | None:
    """The tokens of an encoding from a byte on; None where a token lies across it."""
    for index in range(len(ids) + 1):
        if sum(len(vocabulary.tokens[token_id]) for token_id in ids[:index]) == offset:
            return ids[index:]
    return None


def written(vocabulary: cfgmask.Vocabulary, ids: list[int]) -> bytes:
    return b"".join(vocabulary.tokens[token_id] for token_id in ids)


@given(vocabularies(), languages(), st.randoms(use_true_random=False))
def test_every_text_has_the_forced_tokens(
    vocabulary: cfgmask.Vocabulary, language: list[str], rng: random.Random
) -> None:
    """All texts of a finite language, encoded one by one, against what is forced on random ways to them."""
    matcher = cfgmask.compile(cfgmask.Grammar.from_choices(language), vocabulary).matcher()
    text = b""
    while not matcher.is_finished:
        forced = matcher.forced_tokens()
        assert len(written(vocabulary, forced)) <= len(matcher.forced_bytes())
        assert matcher.try_advance(forced, consume=False) == len(forced)
        if forced:
            for whole in language:
                if whole.encode().startswith(text):
                    rest = tokens_at(vocabulary, encoding(vocabulary, whole), len(text))
                    assert rest is not None, (whole, text, forced)
                    assert rest[: len(forced)] == forced
        n_back, jump = matcher.jump()
        if jump:
            after = matcher.fork()
            after.rollback(n_back)
            assert after.try_advance(jump) == len(jump)
            assert after.fork().advance_bytes(b"") == 0
        allowed = sorted(mask_of(matcher, vocabulary.n_vocab))
        token = rng.choice(forced[:1] or allowed) if rng.random() < 0.5 else rng.choice(allowed)
        matcher.advance(token)
        text += vocabulary.tokens[token]


WORDS = bpe(PATTERNS[2], ["name", "named", " name", ":", '":', '{"', ": ", "wor", " world", "12", "123"])


def ids_of(*tokens: str) -> list[int]:
    return [WORDS.tokens.index(token.encode()) for token in tokens]


def after(language: list[str], *tokens: str, vocabulary: cfgmask.Vocabulary = WORDS) -> cfgmask.Matcher:
    """A matcher of these texts that has taken these tokens."""
    matcher = cfgmask.compile(cfgmask.Grammar.from_choices(language), vocabulary).matcher()
    for token_id in ids_of(*tokens):
        matcher.advance(token_id)
    return matcher


@pytest.mark.parametrize(
    ("language", "taken", "forced"),
    [
        (["name x", "name y"], [], ["name"]),
        (["name is", "name it"], [], ["name", " ", "i"]),
        (['{"name": 1', '{"name": 2'], [], ['{"', "name", '":']),
        (["named", "name."], [], []),
        (["a", "b"], [], []),
        (["name", "name y"], [], ["name"]),
        (["a world x", "a world y"], ["a"], [" world"]),
        (["name:x", "name:y"], ["name"], [":"]),
        (["name:x", "name:y"], ["n", "a", "m", "e"], [":"]),
        (["name:x", "name:y"], ["n", "a"], []),
        (["1234x", "1235x"], [], ["123"]),
        (["12x", "13x"], [], []),
        (["é1", "ê1"], [], []),
        (["aéb", "aêb"], [], ["a"]),
        (["\n\n\nx", "\n\n\n\n"], [], []),
        (["a:  x", "a:  1"], ["a"], [":"]),
    ],
    ids=repr,
)
def test_what_is_forced(language: list[str], taken: list[str], forced: list[str]) -> None:
    assert after(language, *taken).forced_tokens() == ids_of(*forced)


@pytest.mark.parametrize(
    ("language", "taken", "n_back", "tokens"),
    [
        (["name:x", "name:y"], ["name"], 0, [":"]),
        (["name:x", "name:y"], ["n", "a", "m", "e"], 4, ["name", ":"]),
        (["name:x", "name:y"], ["n", "a"], 2, ["name", ":"]),
        (["a name:x", "a name:y"], ["a", " ", "n"], 2, [" name", ":"]),
        (["named", "name."], ["n"], 0, []),
        (["name", "name y"], ["n"], 1, ["name"]),
    ],
    ids=repr,
)
def test_what_is_written_anew(language: list[str], taken: list[str], n_back: int, tokens: list[str]) -> None:
    matcher = after(language, *taken)
    assert matcher.jump() == (n_back, ids_of(*tokens))
    assert matcher.n_steps == len(taken)


def test_steps_without_tokens_are_written_anew() -> None:
    matcher = after(["name:x", "name:y"])
    matcher.advance_bytes(b"nam")
    assert matcher.forced_tokens() == []
    assert matcher.jump() == (1, ids_of("name", ":"))


def test_a_token_without_text_begins_a_text() -> None:
    grammar = cfgmask.Grammar.from_lark('start: "n" <|x|> "name" ("x" | "y")')
    matcher = cfgmask.compile(grammar, WORDS).matcher()
    assert matcher.forced_tokens() == ids_of("n")
    matcher.advance(ids_of("n")[0])
    assert matcher.forced_tokens() == []
    matcher.advance(WORDS.special_tokens["<|x|>"])
    assert matcher.forced_tokens() == ids_of("name")


def test_long_texts_are_cut_between_words() -> None:
    language = ["1 name" * 500 + end for end in (":x", ":y")]
    seen: list[int] = []

    def encode(text: str) -> list[int]:
        seen.append(len(text))
        return encoding(WORDS, text)

    vocabulary = cfgmask.Vocabulary.from_bytes(WORDS.tokens, WORDS.eos_token_ids, encode=encode)
    matcher = after(language, *["1", " name"] * 500, vocabulary=vocabulary)
    seen.clear()
    assert matcher.forced_tokens() == ids_of(":")
    assert 256 <= max(seen) < 300
    assert matcher.jump() == (0, ids_of(":"))


def test_without_an_encoder_nothing_is_forced() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(WORDS.tokens, WORDS.eos_token_ids)
    matcher = after(["name x", "name y"], vocabulary=vocabulary)
    assert (matcher.forced_bytes(), matcher.forced_tokens(), matcher.jump()) == (b"name ", [], (0, []))


def encodes_otherwise(text: str) -> list[int]:
    return encoding(WORDS, text.replace("name", "Name"))


def refuses(text: str) -> list[int]:
    if "name" in text and "{" not in text:
        raise cfgmask.VocabularyError("cannot write this")
    return encoding(WORDS, text)


@pytest.mark.parametrize("encode", [encodes_otherwise, refuses])
def test_an_encoder_that_does_not_write_the_text_forces_nothing(encode: Callable[[str], list[int]]) -> None:
    vocabulary = cfgmask.Vocabulary(
        cfgmask.tokenizers.parts.VocabularyParts(WORDS.tokens, WORDS.eos_token_ids, {}, encode)
    )
    assert after(["name x", "name y"], vocabulary=vocabulary).forced_tokens() == []


def test_a_budget_holds_what_is_forced() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark('start: "1" ("2" "3" "x" | "2" "3" "y")'), WORDS)
    for budget in range(2, 5):
        matcher = compiled.matcher(max_tokens=budget)
        tokens = matcher.forced_tokens()
        assert tokens == ids_of("123")
        assert matcher.try_advance(tokens) == 1


@given(
    vocabularies(),
    st.lists(texts, min_size=1, max_size=2),
    st.none() | st.integers(0, 12),
    st.none() | st.integers(1, 8),
    st.randoms(use_true_random=False),
)
def test_budgets_and_guards_go_with_what_is_forced(
    vocabulary: cfgmask.Vocabulary, pieces: list[str], more: int | None, stall_after: int | None, rng: random.Random
) -> None:
    """What is forced fits, and leaves a matcher as its tokens do one by one; with a budget the text is complete."""
    choices = " | ".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(f'start: ({choices})* "!"'), vocabulary)
    budget = None if more is None else len(compiled.matcher().completion() or []) + more
    jumping = compiled.matcher(max_tokens=budget, stall_after=stall_after)
    stepping = compiled.matcher(max_tokens=budget, stall_after=stall_after)
    while jumping.n_steps < 40 and jumping.tokens_left != 0 and not jumping.is_finished:
        # A budget may end within what is forced; what is given fits.
        forced = jumping.forced_tokens()
        if not forced:
            forced = [rng.choice(sorted(mask_of(jumping, len(vocabulary.tokens))))]
        assert jumping.try_advance(forced) == len(forced)
        for token_id in forced:
            stepping.advance(token_id)
        assert (jumping.is_stalled, jumping.n_stalled) == (stepping.is_stalled, stepping.n_stalled)
        assert mask_of(jumping, len(vocabulary.tokens)) == mask_of(stepping, len(vocabulary.tokens))
    if jumping.tokens_left == 0:
        assert jumping.is_accepting


# Real tokenizers.

SENTENCES = cfgmask.Grammar.from_lark(
    r"""
    start: "{\n    \"user_name\": \"" /[a-z é]{0,9}/ "\",\n    \"number_of_items\":\t\t" NUMBER ",\n  " tail
    tail: "INTERNATIONAL" ("isation" | "\n\n\n" start) | "日本" ("語のテキスト" | "人です")
        | "  \t" NUMBER "   x" | "don't" "s"?
    NUMBER: /[0-9]{1,7}/
    """
)


@pytest.mark.parametrize(
    "name",
    ["gpt-2", "llama-spm", *(pytest.param(name, marks=pytest.mark.slow) for name in ("phi-3", "llama-bpe", "qwen2"))],
)
def test_whole_texts_have_the_forced_tokens(name: str) -> None:
    """Random texts in random tokens, their ends found by `completion`, encoded as a whole."""
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    llm = llama_cpp.Llama(str(gguf_path(name)), vocab_only=True, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(llm)
    compiled, rng = cfgmask.compile(SENTENCES, vocabulary), random.Random(1)
    found = 0
    for _ in range(6):
        matcher, text, promises = compiled.matcher(), b"", []
        for _ in range(50):
            forced = matcher.forced_tokens()
            promises.append((len(text), forced))
            allowed = sorted(mask_of(matcher, vocabulary.n_vocab))
            token = forced[0] if forced and rng.random() < 0.7 else rng.choice(allowed)
            matcher.advance(token)
            if matcher.is_finished:
                break
            text += vocabulary.tokens[token]
        text += written(vocabulary, matcher.completion() or [])
        ids = encoding(vocabulary, text.decode())
        for offset, forced in promises:
            if forced:
                found += 1
                rest = tokens_at(vocabulary, ids, offset)
                assert rest is not None
                assert rest[: len(forced)] == forced
    assert found > 20
    llm.close()


# Masks that are narrowed.


def test_plain_masks_are_exact() -> None:
    matcher = after(["name x", "name y"])
    assert mask_of(matcher, WORDS.n_vocab) == set(ids_of("n", "na", "nam", "name"))


@given(vocabularies(), languages(), st.randoms(use_true_random=False))
def test_narrowed_masks_hold_the_forced_token_alone(
    vocabulary: cfgmask.Vocabulary, language: list[str], rng: random.Random
) -> None:
    """Masks of every kind on a random way with forks and rollbacks, against a matcher of plain masks beside it."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_choices(language), vocabulary)
    narrowed, plain, taken = compiled.matcher(canonical=True), compiled.matcher(), 0
    n = vocabulary.n_vocab
    while not narrowed.is_finished:
        forced = plain.forced_tokens()
        expected = set(forced[:1]) or mask_of(plain, n)
        assert mask_of(narrowed, n) == expected
        logits = np.zeros(n, dtype=np.float32)
        narrowed.apply(logits)
        assert set(np.flatnonzero(logits == 0).tolist()) == expected
        bits = np.zeros((2, -(-n // 32)), dtype=np.uint32)
        assert cfgmask.fill_masks([narrowed, plain], bits) == [None, None]
        assert [as_set(row) for row in bits] == [expected, mask_of(plain, n)]
        # What is refused by a narrowed mask is still taken.
        token = rng.choice(sorted(rng.choice([expected, mask_of(plain, n)])))
        if rng.random() < 0.3:
            narrowed = narrowed.fork()
        for matcher in (narrowed, plain):
            assert matcher.try_advance([token]) == 1 if rng.random() < 0.3 else matcher.advance(token) is None
        taken += 1
        if rng.random() < 0.2:
            back = rng.randrange(taken + 1)
            narrowed.rollback(back)
            plain.rollback(back)
            taken -= back


def test_a_narrowed_text_is_the_tokenizers_own() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_choices(['{"name": 12', '{"name": 13']), WORDS)
    matcher, taken = compiled.matcher(canonical=True), []
    while not matcher.is_finished:
        taken.append(max(mask_of(matcher, WORDS.n_vocab)))
        matcher.advance(taken[-1])
    assert taken[:3] == ids_of('{"', "name", '":')


def test_narrowing_without_an_encoder_is_an_error() -> None:
    vocabulary = cfgmask.Vocabulary.from_bytes(WORDS.tokens, WORDS.eos_token_ids)
    compiled = cfgmask.compile(cfgmask.Grammar.from_choices(["name x", "name y"]), vocabulary)
    with pytest.raises(cfgmask.VocabularyError, match=r"has none; pass encode= to Vocabulary\.from_bytes"):
        compiled.matcher(canonical=True)
    for options in ({}, {"max_tokens": 9, "stall_after": 5}):
        assert compiled.matcher(**options, canonical=False).forced_tokens() == []


def test_errors_of_the_encoder_are_raised() -> None:
    def encode(text: str) -> list[int]:
        if text.startswith("name"):
            raise RuntimeError("broken")
        return encoding(WORDS, text)

    vocabulary = cfgmask.Vocabulary.from_bytes(WORDS.tokens, WORDS.eos_token_ids, encode=encode)
    compiled = cfgmask.compile(cfgmask.Grammar.from_choices(["name x", "name y"]), vocabulary)
    for call in (compiled.matcher().forced_tokens, compiled.matcher().jump):
        with pytest.raises(RuntimeError, match="broken"):
            call()
    bits = np.zeros((1, -(-WORDS.n_vocab // 32)), dtype=np.uint32)
    with pytest.raises(RuntimeError, match="broken"):
        compiled.matcher(canonical=True).fill_mask(bits[0])
    [error] = cfgmask.fill_masks([compiled.matcher(canonical=True)], bits)
    assert isinstance(error, RuntimeError)
