"""Terminals that a vocabulary cannot spell: the rendering, and brute force over sequences of tokens."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.analysis.findings import LIMITS
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.spelling import unspellable_terminals
from cfgmask.regex.algebra import RegexAlgebra


def unspellable(grammar: str, tokens: list[bytes]) -> list[str]:
    ir = cfgmask.Grammar.from_lark(grammar, name="g.lark").ir
    return [found.render() for found in unspellable_terminals(Flat(ir, RegexAlgebra(LIMITS)), tokens)]


def test_the_whole_rendering() -> None:
    assert unspellable('start: "a" | EURO\nEURO: "€"', [b"a", b"\xe2\x82"]) == [
        """\
warning[grammar-unspellable-terminal]: no sequence of tokens of the vocabulary can spell `EURO`, "€" for one
  --> g.lark:2:1
2 | EURO: "€"
  | ^^^^
  help: what needs it can never be written with this vocabulary"""
    ]


@pytest.mark.parametrize(
    "tokens",
    [
        [b"\xe2\x82\xac"],
        [b"\xe2\x82", b"\xac"],
        [b"x\xe2\x82", b"\xacy"],
        [b"x\xe2", b"\x82", b"\xacy"],
        [b"<\xe2\x82\xac>"],
    ],
)
def test_pieces_that_spell_it(tokens: list[bytes]) -> None:
    assert unspellable('start: "€"', tokens) == []


LITERALS = st.text("ab", min_size=1, max_size=5)
TOKENS = st.lists(st.text("abc", min_size=2, max_size=3).map(str.encode), max_size=4)


@given(LITERALS, TOKENS)
def test_brute_force(literal: str, tokens: list[bytes]) -> None:
    sequences = (b"".join(s) for n in range(5) for s in itertools.product(tokens, repeat=n))
    spelled = any(literal.encode() in sequence for sequence in sequences)
    assert bool(unspellable(f'start: "{literal}"', tokens)) == (not spelled)
