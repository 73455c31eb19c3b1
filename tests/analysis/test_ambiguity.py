"""Ambiguity: what is found has two trees by counting derivations, and short ambiguous texts are found."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings

import cfgmask
from cfgmask.analysis.ambiguity import find_ambiguity
from cfgmask.analysis.findings import LIMITS, QUICK
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.grammar.ir import GrammarIR
from cfgmask.regex.algebra import RegexAlgebra
from tests.strategies import letter_grammars


def flat_of(ir: GrammarIR) -> Flat:
    return Flat(ir, RegexAlgebra(LIMITS))


def ambiguous_text(flat: Flat, max_steps: int = QUICK.n_derivations) -> tuple[int, bytes] | None:
    """The rule and the text; the letters of these grammars are their own lexemes."""
    found = find_ambiguity(flat, Sets(flat), Shortest(flat), max_steps)
    if found is None:
        return None
    return found.rule, b"".join(piece for piece in found.pieces if isinstance(piece, bytes))


def trees(flat: Flat, n: int, text: bytes, most: int = 2) -> int:
    """How many derivations of at most 30 levels a nonterminal has, counted up to `most`."""

    @cache
    def of_symbol(symbol: int, start: int, end: int, depth: int) -> int:
        if symbol >= 0:
            return int(flat.leaves[symbol].symbol.regex.data == text[start:end])  # type: ignore[union-attr]
        if not depth:
            return 0
        return min(most, sum(of_list(a, start, end, depth - 1) for a in flat[symbol].alternatives))

    @cache
    def of_list(symbols: tuple[int, ...], start: int, end: int, depth: int) -> int:
        if not symbols:
            return int(start == end)
        total = 0
        for middle in range(start, end + 1):
            first = of_symbol(symbols[0], start, middle, depth)
            if first:
                total += first * of_list(symbols[1:], middle, end, depth)
        return min(most, total)

    return of_symbol(~n, 0, len(text), 30)


@given(letter_grammars())
@settings(max_examples=30)
def test_what_is_found_has_two_trees(ir: GrammarIR) -> None:
    flat = flat_of(replace(ir, lexer="complete"))
    found = ambiguous_text(flat, 200)
    if found is not None:
        assert trees(flat, *found) == 2


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ('start: start "+" start | "1"', b"1+1+1"),
        ('start: "1" ("+" start)*', b"1+1+1"),
        ('start: one | two\none: "a" "b"\ntwo: "a" "b"', b"ab"),
        ('start: "i" start | "i" start "e" start | "x"', b"iixex"),
        ('start: "a"? "a"?', b"a"),
        ('start: ("a" | "b")~1..2 "b"?', b"ab"),
        ('start: "(" start ")" | "x"', None),
        ('start: ("a" ",")* "b"', None),
        ('start: start "+" term | term\nterm: "1" | "(" start ")"', None),
        ('start: "a" start "a" | "b"', None),
    ],
)
def test_texts(grammar: str, text: bytes | None) -> None:
    found = ambiguous_text(flat_of(cfgmask.Grammar.from_lark(grammar).ir))
    assert (found and found[1]) == text


def test_terminals_that_match_the_same_text() -> None:
    flat = flat_of(cfgmask.Grammar.from_lark('start: NAME | "if"\nNAME: /[a-z]+/').ir)
    found = find_ambiguity(flat, Sets(flat), Shortest(flat), QUICK.n_derivations)
    assert found is not None
    assert found.pieces == (b"if",)


def test_a_shortest_text_of_small_grammars() -> None:
    for grammar in ('start: start "+" start | "1"', 'start: "i" start | "i" start "e" start | "x"'):
        flat = flat_of(cfgmask.Grammar.from_lark(grammar).ir)
        found = ambiguous_text(flat)
        assert found is not None
        letters = sorted({leaf.symbol.regex.data for leaf in flat.leaves})  # type: ignore[union-attr]
        for size in range(len(found[1])):
            for text in itertools.product(letters, repeat=size):
                assert trees(flat, ~flat.start, b"".join(text)) < 2
