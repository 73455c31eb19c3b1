"""Parametric rules: instances are made where a text meets them, and too many are a named limit."""

from __future__ import annotations

import pytest

import cfgmask
from tests.engine.harness import ALL_BYTES, mask_of

VOCABULARY = cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, ALL_BYTES.end_tokens)


def compiled(grammar: str, **limits: int) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar.from_lark(grammar), VOCABULARY, cfgmask.Limits(**limits))


def permutation(n: int) -> str:
    letters = [chr(ord("a") + i) for i in range(n)]
    return f'start: all::0\nall::_: "" %if is_ones([0:{n}])\n' + "".join(
        f'  | "{letter}" all::set_bit({i}) %if bit_clear({i})\n' for i, letter in enumerate(letters)
    )


def test_a_permutation_of_twenty_meets_few_of_a_million_values() -> None:
    grammar = compiled(permutation(20), max_rules=20_000)
    for text in (b"abcdefghijklmnopqrst", b"tsrqponmlkjihgfedcba", b"kbgqdatmscoerjpnhlif"):
        matcher = grammar.matcher()
        for i in range(20):
            assert mask_of(matcher, 257) == set(range(ord("a"), ord("a") + 20)) - set(text[:i])
            matcher.advance(text[i])
        assert mask_of(matcher, 257) == {256}


def test_what_closes_too_many_values_is_a_named_limit() -> None:
    limited = permutation(12).replace("all::_", "all[max_tokens=12]::_", 1)
    grammar = compiled(limited)
    assert mask_of(grammar.matcher(), 257) == set(b"abcdefghijkl")
    with pytest.raises(cfgmask.GrammarError):
        compiled(limited.replace("=12", "=11"))
    with pytest.raises(cfgmask.LimitExceeded) as caught:
        compiled(limited, max_search_steps=1_000)
    assert caught.value.limit == "max_search_steps"


ENDLESS_RECURSION = 'start: r::0\nr::_: r::incr(_) "a" | "b"'
ENDLESS_SEARCH = 'start: r::0\nr::_: "a" r::incr(_) | "b" %if eq(_, 1000000000)'
EMPTY_FOR_LONG = 'start: r::0 "x"\nr::_: r::incr(_) r::incr(_) | "" %if eq(_, 1000000000) | "b"'


@pytest.mark.parametrize(
    ("grammar", "limit"),
    [
        (ENDLESS_RECURSION, "max_items"),
        (ENDLESS_SEARCH, "max_search_steps"),
        (EMPTY_FOR_LONG, "max_search_steps"),
    ],
)
def test_endless_growth_is_a_named_limit(grammar: str, limit: str) -> None:
    with pytest.raises(cfgmask.LimitExceeded) as caught:
        compiled(grammar).matcher()
    assert caught.value.limit == limit


def test_instances_count_as_rules() -> None:
    matcher = compiled('start: r::0\nr::_: "a" r::incr(_) | "b"', max_rules=100).matcher()
    with pytest.raises(cfgmask.LimitExceeded) as caught:
        matcher.advance_bytes(b"a" * 200)
    assert caught.value.limit == "max_rules"


def test_values_that_lead_nowhere_are_pruned() -> None:
    grammar = compiled('start: r::0\nr::_: "a" r::incr(_) %if lt(_, 5) | "b" %if eq(_, 7) | "c" %if eq(_, 3)')
    matcher = grammar.matcher()
    assert matcher.advance_bytes(b"aaa") == 3
    assert mask_of(matcher, 257) == {ord("c")}


def test_a_start_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        compiled('start: r::0\nr::_: "a" r::incr(_) %if lt(_, 5) | "b" %if eq(_, 7)')
    assert caught.value.diagnostics[0].code == "grammar-empty"


def test_long_lists_stay_in_few_states() -> None:
    grammar = compiled('start: r::0\nr::_: "a" r::incr([0:2]) | "b" %if is_ones([0:2])')
    matcher = grammar.matcher()
    assert matcher.advance_bytes(b"a" * 100_000 + b"b") == 100_001
    assert matcher.is_accepting
    assert grammar.stats()["states"] < 20
