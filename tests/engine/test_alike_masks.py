"""Masks that serve several states, those from which the same tokens lead on: still bit for bit what steps say."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import Expr, GrammarIR
from tests.build import choice, grammar, many, rule, scope, seq
from tests.engine.harness import compile_ir, mask_of
from tests.strategies import VocabularySpec

BRACKETS = ["(", ")", "[", "]", "a", "b"]
# Tokens of several lexemes, some of which close more than is open.
PIECES = [
    *BRACKETS,
    "((",
    "))",
    ")))",
    "))))",
    "[[",
    "]]",
    "]]]",
    "([",
    "])",
    ")]",
    "()",
    "[]",
    "(a",
    "a)",
    "a))",
    "b]",
]
PIECES += ["a]]", "ab", ")a", ")(", "][", "]a", "))b", ")))a", "a)))))", "((((", " ", ") )", "] a"]
SPEC = VocabularySpec([*(piece.encode() for piece in PIECES), b""], [len(PIECES)], {})
N_VOCAB = len(SPEC.tokens)


def maybe(part: str | Expr) -> Expr:
    return many(part, 0, 1)


def check_walk(compiled: cfgmask.CompiledGrammar, rng: random.Random, steps: int) -> None:
    """Every mask of a walk that mostly opens what it can first and closes it then is what steps say."""
    matcher = compiled.matcher()
    for n in range(steps):
        allowed = {token for token in range(N_VOCAB) if matcher.try_advance([token], consume=False) == 1}
        assert mask_of(matcher, N_VOCAB) == allowed
        liked = "([" if n < steps // 2 else ")]"
        fitting = [token for token in allowed if token < len(PIECES)]
        if not fitting:
            return
        wanted = [token for token in fitting if PIECES[token][0] in liked]
        matcher.advance(rng.choice(wanted if wanted and rng.random() < 0.8 else fitting))


@st.composite
def nested_grammars(draw: st.DrawFn) -> GrammarIR:
    """Rules that are in brackets of each other: what may follow a bracket is said by rules further out."""
    names = ["start", "one", "two", "three"][: draw(st.integers(1, 4))]
    letters = st.sampled_from("ab")
    references = st.sampled_from([f"${name}" for name in names])
    parts: st.SearchStrategy[str | Expr] = st.one_of(
        references,
        references,
        letters,
        references.map(maybe),
        letters.map(maybe),
        references.map(many),
        st.builds(lambda name, letter: many(seq(letter, name)), references, letters),
    )

    @st.composite
    def bracketed(draw: st.DrawFn) -> Expr:
        opening, closing = draw(st.sampled_from(["()", "[]"]))
        inside = draw(st.lists(parts, max_size=3))
        behind = draw(st.lists(parts, max_size=1))
        return seq(opening, *inside, closing, *behind)

    rules = []
    for name in names:
        alternatives: list[str | Expr] = [*draw(st.lists(bracketed(), min_size=1, max_size=3)), draw(letters)]
        if draw(st.booleans()):
            alternatives.append(draw(references))
        rules.append(rule(name, choice(*alternatives)))
    return grammar(*rules, scopes=(scope(" ") if draw(st.booleans()) else scope(),))


@given(ir=nested_grammars(), seed=st.integers(0, 2**32))
def test_masks_of_nested_rules_are_brute_force(ir: GrammarIR, seed: int) -> None:
    rng = random.Random(seed)
    try:
        compiled = compile_ir(ir, SPEC)
    except cfgmask.GrammarError:
        return
    for _ in range(3):
        check_walk(compiled, rng, 40)


# What may come after the brackets is told by the rule at their bottom, or by every second one.
BY_THE_BOTTOM = grammar(
    rule("start", choice(seq("(", "$nest", ")", "a"), seq("[", "$nest", "]", "b"))),
    rule("nest", choice(seq("(", "$nest", ")"), seq("[", maybe("$nest"), "]"), "a")),
)
BY_TURNS = grammar(
    rule("start", choice(seq("(", "$other", ")", "a"), "b")),
    rule("other", choice(seq("(", "$start", ")", "b"), "a")),
)
# Nothing may follow the outermost brackets, so nothing is walked behind them.
BY_NOTHING = grammar(
    rule("start", choice(seq("(", ")"), "a", "$other")),
    rule("other", choice(seq("(", "$start", "a", ")"), "$start")),
)


@pytest.mark.parametrize("ir", [BY_THE_BOTTOM, BY_TURNS, BY_NOTHING], ids=["by the bottom", "by turns", "by nothing"])
@pytest.mark.parametrize("seed", range(20))
def test_what_is_further_out_counts(ir: GrammarIR, seed: int) -> None:
    check_walk(compile_ir(ir, SPEC), random.Random(seed), 60)


def test_deep_brackets_need_few_masks() -> None:
    compiled = compile_ir(BY_THE_BOTTOM, SPEC)
    matcher = compiled.matcher()
    for token in [*[PIECES.index("(")] * 300, PIECES.index("a"), *[PIECES.index(")")] * 300]:
        mask_of(matcher, N_VOCAB)
        matcher.advance(token)
    stats = compiled.stats()
    assert stats["masks"] >= 600
    assert stats["masks_computed"] < 40


TEXTS = [
    "a",
    "b",
    "ab",
    "1",
    "-",
    "aaa",
    "\\",
    "\\n",
    "n",
    "é",
    "aéb",
    "b-a-b",
    '"',
    '":',
    '":"',
    '"a',
    '"b',
    '{"',
    '",',
    '","',
]
TEXTS += ['","b":"', '"}', '"}}', '":{"', '","a', '"]', '["', '","x', "{", "}", ",", ":", '"a":"', '","b":"ab"}']
# What differs from a table is listed where that takes less than a bit for each token, so there are a few hundred more.
TEXTS += [f"{n:03}" for n in range(500)]
# Without some bytes, strings would be what the others write.
REST = [bytes([byte]) for byte in range(256) if not any(text.encode() == bytes([byte]) for text in TEXTS)]
STRINGS = VocabularySpec([*(text.encode() for text in TEXTS), b"", *REST], [len(TEXTS)], {})


def strings() -> cfgmask.Vocabulary:
    """One of which nothing is known yet."""
    return cfgmask.Vocabulary.from_bytes(STRINGS.tokens, STRINGS.end_tokens, STRINGS.special)


def check_mask(matcher: cfgmask.Matcher) -> list[int]:
    """The tokens of a mask, which are those that steps say, but for the one that ends."""
    allowed = {token for token in range(len(STRINGS.tokens)) if matcher.try_advance([token], consume=False) == 1}
    assert mask_of(matcher, len(STRINGS.tokens)) == allowed
    return sorted(token for token in allowed if token < len(TEXTS))


LENGTHS = st.sampled_from(
    [{}, {"maxLength": 9}, {"maxLength": 70}, {"minLength": 3, "maxLength": 50}, {"minLength": 9}]
)
PATTERNS = st.sampled_from(
    ["^[ab]*$", "^[a-z0-9]{1,80}$", "^a[^n]{0,60}$", "^(a|ab-)*$", "^[ab]{2,65}(-[a-z]{1,55})*$", "b{0,60}$"]
)
BOUNDED = st.one_of(
    st.builds(lambda lengths: {"type": "string", **lengths}, LENGTHS),
    st.builds(lambda pattern, lengths: {"type": "string", "pattern": pattern, **lengths}, PATTERNS, LENGTHS),
)
KEYED = st.one_of(
    st.builds(lambda a, b: {"properties": {"a": a, "b": b}, "required": ["a"]}, BOUNDED, BOUNDED),
    st.builds(lambda a, more: {"properties": {"a": a}, "additionalProperties": more}, BOUNDED, BOUNDED),
    st.builds(lambda key, a: {"patternProperties": {key: a}, "additionalProperties": False}, PATTERNS, BOUNDED),
    st.builds(lambda key, a: {"patternProperties": {key: a}, "minProperties": 2}, PATTERNS, BOUNDED),
    st.builds(lambda name, a: {"propertyNames": name, "additionalProperties": a}, BOUNDED, BOUNDED),
)
WITH_STRINGS = st.one_of(
    BOUNDED,
    KEYED.map(lambda inside: {"type": "object", **inside}),
    KEYED.map(lambda inside: {"type": "object", "additionalProperties": {"type": "object", **inside}}),
    st.builds(lambda items, unique: {"type": "array", "items": items, "uniqueItems": unique}, BOUNDED, st.booleans()),
)


@given(schema=WITH_STRINGS, order=st.sampled_from(["schema", "any"]), seed=st.integers(0, 2**32))
def test_masks_of_strings_within_bounds_are_brute_force(schema: dict[str, Any], order: str, seed: int) -> None:
    """Far from their bounds a mask serves all lengths, near them none but its own.

    A token leads where its bytes do one by one, in a grammar that is asked for nothing else.
    """
    try:
        ir = cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact")
    except cfgmask.GrammarError:
        return
    by_tokens, by_bytes = (cfgmask.compile(ir, strings()) for _ in range(2))
    rng = random.Random(seed)
    for _ in range(2):
        matcher, slow = by_tokens.matcher(), by_bytes.matcher()
        for _ in range(45):
            allowed = check_mask(slow)
            assert mask_of(matcher, len(STRINGS.tokens)) == mask_of(slow, len(STRINGS.tokens))
            if not allowed:
                break
            letters = [token for token in allowed if '"' not in TEXTS[token] and len(TEXTS[token]) < 6]
            token = rng.choice(letters if letters and rng.random() < 0.93 else allowed)
            matcher.advance(token)
            for byte in TEXTS[token].encode():
                assert slow.advance_bytes(bytes([byte])) == 1


@pytest.mark.parametrize("bounds", [{"minLength": 300, "maxLength": 900}, {"pattern": "^[a-z]{1,300}x$"}], ids=str)
def test_lengths_far_from_a_bound_need_few_masks(bounds: dict[str, Any]) -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "string", **bounds}), strings())
    matcher = compiled.matcher()
    for token in map(TEXTS.index, ['"', *["ab"] * 100]):
        check_mask(matcher)
        matcher.advance(token)
    stats = compiled.stats()
    assert stats["masks"] >= 100
    assert stats["masks_computed"] < 20


def test_forgotten_masks_do_not_come_back() -> None:
    compiled = compile_ir(BY_THE_BOTTOM, SPEC)
    rng = random.Random(1)
    for _ in range(20):
        check_walk(compiled, rng, 30)
        compiled.clear_masks()
