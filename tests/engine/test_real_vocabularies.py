"""Masks over real vocabularies: brute force of the core against itself, remembered masks against fresh ones."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

import cfgmask
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.ir import GrammarIR
from tests.build import DIGITS, WORD, alt, cat, choice, cls, grammar, many, opt, rep, rule, scope, seq, t, tokens
from tests.engine.harness import as_set, empty_bits
from tests.tokenizers.real import gguf_path

SPACE = rep(cls(" ", "\n", "\t"), 1)
STRING = tree.JsonString(tree.ANY_TEXT)
NUMBER = cat(opt("-"), DIGITS, opt(cat(".", DIGITS)))
DATE = cat(rep(cls("09"), 4, 4), "-", alt(cat("0", cls("19")), "10", "11", "12"), "-", rep(cls("09"), 2, 2))
JSON = [
    rule("start", "$value"),
    rule("value", choice("$object", "$array", STRING, NUMBER, "true", "false", "null")),
    rule("object", choice(seq("{", "}"), seq("{", "$member", many(seq(",", "$member")), "}"))),
    rule("member", seq(STRING, ":", "$value")),
    rule("array", choice(seq("[", "]"), seq("[", "$value", many(seq(",", "$value")), "]"))),
]
RECORD = seq(
    "{",
    tree.JsonString(tree.text("name"), "literal"),
    ":",
    tree.JsonString(rep(cls("az", "AZ", " ", "é"), 2, 20)),
    ",",
    '"when"',
    ":",
    cat('"', DATE, '"'),
    many(seq(",", tree.JsonString(tree.KeySet((b"a", b"ab", b"abc", "é".encode()))), ":", NUMBER), 0, 3),
    "}",
)
NOT_AB = tree.Complement(cat(tree.ANY_TEXT, "ab", tree.ANY_TEXT))

GRAMMARS: dict[str, GrammarIR] = {
    "json": grammar(*JSON, scopes=(scope(rep(cls(" ", "\n"), 1, 8), once=True),)),
    "json, any space": grammar(*JSON, scopes=(scope(SPACE),)),
    "json, complete": grammar(*JSON, scopes=(scope(SPACE),), lexer="complete"),
    "record": grammar(rule("start", RECORD), scopes=(scope(rep(" ", 1, 2), once=True),)),
    "bounded class": grammar(
        rule("start", seq(rep(cls("az", "09", "-"), 1, 63), many(seq(".", rep(cls("az"), 2, 6)))))
    ),
    "free text": grammar(rule("start", tree.ANY_TEXT)),
    "text without": grammar(rule("start", tree.Intersection((rep(tree.ANY_CHAR, 3, 40), NOT_AB)))),
    "words": grammar(
        rule("start", many(choice(WORD, DIGITS, ".", ",", t("the", priority=1)), 1)), scopes=(scope(" "),)
    ),
    "words, complete": grammar(
        rule("start", many(choice(WORD, DIGITS, ".", ","), 1)), scopes=(scope(" "),), lexer="complete"
    ),
    "any tokens": grammar(rule("start", seq("a", many(choice(tokens(negated=True), seq("[", WORD, "]"))), "end"))),
    "expression": grammar(
        rule("start", choice(seq("$start", cls("+", "-", "*"), "$start"), seq("(", "$start", ")"), NUMBER, WORD)),
        scopes=(scope(SPACE),),
    ),
}


@cache
def vocabulary(name: str) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_gguf(gguf_path(name))


def brute_force(matcher: cfgmask.Matcher, n_vocab: int) -> set[int]:
    fits = matcher.try_advance
    return {token for token in range(n_vocab) if fits([token], consume=False)}


def next_token(matcher: cfgmask.Matcher, allowed: set[int], tokens: tuple[bytes, ...], rng: random.Random) -> int:
    """A token of the mask; as often short as long, so that walks get out of free text."""
    candidates = sorted(allowed)
    if rng.random() < 0.5:
        short = [token for token in candidates if len(tokens[token]) <= 2]
        candidates = short or candidates
    return rng.choice(candidates)


def check(name: str, grammar_name: str, *, points: int, steps: int, seed: int) -> None:
    """Walk, comparing brute force at some points; then every mask again with nothing remembered."""
    vocab = vocabulary(name)
    compiled = cfgmask.compile(cfgmask.Grammar(GRAMMARS[grammar_name]), vocab)
    rng = random.Random(seed)
    matcher = compiled.matcher()
    compared = set(rng.sample(range(steps), min(points, steps)))
    seen: list[tuple[cfgmask.Matcher, np.ndarray]] = []
    for n in range(steps):
        bits = empty_bits(vocab.n_vocab)
        matcher.fill_mask(bits)
        allowed = as_set(bits)
        if n in compared:
            assert allowed == brute_force(matcher, vocab.n_vocab)
        seen.append((matcher.fork(), bits))
        going_on = allowed - set(vocab.eos_token_ids)
        if not going_on:
            break
        matcher.advance(next_token(matcher, going_on, vocab.tokens, rng))
    compiled.clear_masks()
    for earlier, bits in reversed(seen):
        again = empty_bits(vocab.n_vocab)
        earlier.fill_mask(again)
        assert np.array_equal(again, bits)


@pytest.mark.parametrize("name", ["llama-bpe", "llama-spm"])
@pytest.mark.parametrize("grammar_name", GRAMMARS)
def test_masks_are_brute_force(name: str, grammar_name: str) -> None:
    check(name, grammar_name, points=2, steps=25, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["gemma-4", "gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2"])
@pytest.mark.parametrize("grammar_name", GRAMMARS)
def test_many_masks_are_brute_force(name: str, grammar_name: str, seed: int) -> None:
    check(name, grammar_name, points=12, steps=60, seed=seed)
