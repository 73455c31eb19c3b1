"""The core against the oracle, bit for bit, along random walks over random grammars and vocabularies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import GrammarIR
from tests.engine.harness import compile_ir, mask_of, oracles_mask
from tests.oracle import Oracle, State
from tests.oracle_parameters import expanded
from tests.strategies import (
    LETTERS,
    GrammarShape,
    Problem,
    again_problems,
    ambiguous_grammars,
    composite_problems,
    discards_undecided,
    families,
    letter_grammars,
    list_problems,
    object_problems,
    parametric_grammars,
    problems,
    random_token,
)

STEPS = 8


def walk(problem: Problem, *, fresh: bool, steps: int = STEPS) -> None:
    """Compare everything that both engines say at each step of a walk.

    fresh: forget remembered masks before each one, so that all are computed
    """
    oracle, state = problem.oracle, problem.oracle.initial
    compiled = compile_ir(problem.ir, problem.vocabulary)
    matcher = compiled.matcher()
    for _ in range(steps):
        if fresh:
            compiled.clear_masks()
        mask = oracles_mask(matcher, oracle, state)
        check_refusals(problem, state, matcher)
        token = random_token(oracle, mask, problem.random)
        if token is None:
            return
        matcher.advance(token)
        state = oracle.step_token(state, token)


def check_refusals(problem: Problem, state: State, matcher: cfgmask.Matcher) -> None:
    """A token outside the mask is refused, and the matcher is as it was."""
    tokens = problem.oracle.tokens
    token = problem.random.randrange(-1, len(tokens) + 1)
    if not problem.oracle.step_token(state, token):
        with pytest.raises(cfgmask.TokenRejected):
            matcher.advance(token)


@given(problems())
@discards_undecided
def test_masks_are_the_oracles(problem: Problem) -> None:
    walk(problem, fresh=False)


@given(problems())
@discards_undecided
def test_fresh_masks_are_the_oracles(problem: Problem) -> None:
    walk(problem, fresh=True)


@given(problems(GrammarShape(conditions=True)), st.booleans())
@discards_undecided
def test_conditions_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk(problem, fresh=fresh)


@given(list_problems(), st.booleans())
@discards_undecided
def test_distinct_values_are_the_oracles(problem: Problem, fresh: bool) -> None:
    try:
        walk(problem, fresh=fresh)
    except RuntimeError:  # a rule that opens a set calls itself at its left edge
        reject()


@given(composite_problems(), st.booleans())
@discards_undecided
def test_distinct_arrays_and_objects_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk(problem, fresh=fresh, steps=24)


@given(again_problems(), st.booleans())
@discards_undecided
def test_values_that_came_before_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk(problem, fresh=fresh, steps=24)


@given(object_problems(), st.booleans())
@discards_undecided
def test_keys_are_the_oracles(problem: Problem, fresh: bool) -> None:
    try:
        walk(problem, fresh=fresh)
    except RuntimeError:  # a rule that opens a set calls itself at its left edge
        reject()


def letter_engines(ir: GrammarIR) -> tuple[Oracle, cfgmask.Matcher]:
    """Both engines of a grammar over letters; the example is dropped if it matches nothing, once both have said so."""
    try:
        oracle = Oracle(expanded(ir), LETTERS.tokens, LETTERS.end_tokens)
    except ValueError:
        with pytest.raises(cfgmask.GrammarError):
            compile_ir(ir, LETTERS)
        reject()
    return oracle, compile_ir(ir, LETTERS).matcher()


@given(st.one_of(letter_grammars(), parametric_grammars()))
def test_all_short_texts(ir: GrammarIR) -> None:
    """Every text of a few tokens, not only random ones: the parser's whole beginning."""
    oracle, root = letter_engines(ir)
    waiting, seen = [(root, oracle.initial)], {oracle.initial}
    for matcher, state in waiting:
        mask = oracle.mask(state)
        assert mask_of(matcher, len(LETTERS.tokens)) == mask
        assert matcher.is_accepting == oracle.is_accepting(state)
        for token in mask - oracle.end_tokens if len(waiting) < 60 else ():
            after = oracle.step_token(state, token)
            if after not in seen:
                seen.add(after)
                fork = matcher.fork()
                fork.advance(token)
                waiting.append((fork, after))


@given(st.one_of(letter_grammars(), parametric_grammars()), st.randoms(use_true_random=False))
def test_long_texts(ir: GrammarIR, rng: random.Random) -> None:
    """Far from the start, where item sets come round again."""
    walk_far(ir, rng, 40)


@given(ambiguous_grammars(), st.randoms(use_true_random=False))
def test_long_ambiguous_texts(ir: GrammarIR, rng: random.Random) -> None:
    """Where items have come about in so many ways that only some of them are followed."""
    walk_far(ir, rng, 60)


def walk_far(ir: GrammarIR, rng: random.Random, steps: int) -> None:
    oracle, matcher = letter_engines(ir)
    state = oracle.initial
    for _ in range(steps):
        mask = oracle.mask(state)
        assert mask_of(matcher, len(LETTERS.tokens)) == mask
        assert matcher.is_accepting == oracle.is_accepting(state)
        going_on = sorted(mask - oracle.end_tokens)
        if not going_on:
            return
        token = rng.choice(going_on)
        matcher.advance(token)
        state = oracle.step_token(state, token)


LIMITS = st.one_of(
    st.builds(dict, mask_cache_bytes=st.integers(0, 500)),
    st.builds(dict, shared_cache_bytes=st.integers(0, 5_000)),
    st.builds(dict, max_items=st.integers(1, 12)),
    st.builds(dict, max_item_sets=st.integers(1, 12)),
    st.builds(dict, max_lexer_states=st.integers(1, 30)),
    st.builds(dict, max_regex_nodes=st.integers(1, 60)),
)


@contextmanager
def may_exceed(limit: str) -> Iterator[None]:
    """Only this limit may be crossed."""
    try:
        yield
    except cfgmask.LimitExceeded as error:
        if error.limit != limit:
            raise


@given(problems(), LIMITS)
@discards_undecided
def test_limits_never_make_a_mask_wrong(problem: Problem, limits: dict[str, int]) -> None:
    """Under a limit each answer is the oracle's or an error that names it."""
    (limit,) = limits
    oracle, state = problem.oracle, problem.oracle.initial
    with may_exceed(limit):
        matcher = compile_ir(problem.ir, problem.vocabulary, **limits).matcher()
        for _ in range(2 * STEPS):
            mask = oracle.mask(state)
            with may_exceed(limit):
                assert mask_of(matcher, len(oracle.tokens)) == mask
            token = random_token(oracle, mask, problem.random)
            if token is None:
                return
            matcher.advance(token)
            state = oracle.step_token(state, token)


@given(families())
@discards_undecided
def test_grammars_that_share_a_vocabulary(family: list[Problem]) -> None:
    """What one grammar has learnt must not reach another that differs in a detail. Each is walked twice, in turns."""
    spec = family[0].vocabulary
    vocabulary = cfgmask.Vocabulary.from_bytes(spec.tokens, spec.end_tokens, spec.special)
    compiled = [cfgmask.compile(cfgmask.Grammar(problem.ir), vocabulary) for problem in family]
    for _ in range(2):
        walkers = [(p, c.matcher(), p.oracle.initial) for p, c in zip(family, compiled, strict=True)]
        for _ in range(STEPS):
            walkers = [(p, m, step(p, m, state)) for p, m, state in walkers if state]


def step(problem: Problem, matcher: cfgmask.Matcher, state: State) -> State:
    """Compare masks and go on with a random token; a refused state where there is none."""
    mask = problem.oracle.mask(state)
    assert mask_of(matcher, len(problem.oracle.tokens)) == mask
    token = random_token(problem.oracle, mask, problem.random)
    if token is None:
        return State()
    matcher.advance(token)
    return problem.oracle.step_token(state, token)


@given(problems(GrammarShape(token_sets=False)))
@discards_undecided
def test_bytes_are_the_oracles(problem: Problem) -> None:
    """`advance_bytes` takes as many bytes as the oracle, and moves only if it takes all."""
    compiled = compile_ir(problem.ir, problem.vocabulary)
    oracle, rng = problem.oracle, problem.random
    for _ in range(6):
        text = b"".join(oracle.tokens[rng.randrange(len(oracle.tokens))] for _ in range(rng.randrange(4)))
        fits = max(n for n in range(len(text) + 1) if oracle.is_prefix(text[:n]))
        matcher = compiled.matcher()
        assert matcher.advance_bytes(text) == fits
        if fits == len(text):
            assert matcher.is_accepting == oracle.accepts(text)
            assert mask_of(matcher, len(oracle.tokens)) == oracle.mask(oracle.step_bytes(oracle.initial, text))
        else:
            assert mask_of(matcher, len(oracle.tokens)) == oracle.mask(oracle.initial)
