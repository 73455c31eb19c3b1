"""The regex algebra of the core against the oracle's derivatives."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask._core import RegexBuilder
from cfgmask.errors import LimitExceeded
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.regex.lowering import RegexLowering
from tests.build import cls, rep
from tests.oracle_regex import Regexes
from tests.strategies import BYTES, discards_undecided, regexes


def follow(node: RegexTree, oracle: Regexes, alphabet: Sequence[int], rng: random.Random) -> None:
    """Compare along random byte strings, most of them prefixes of a match."""
    builder = RegexBuilder()
    core = RegexLowering(builder).node(node)
    for _ in range(4):
        text, rest = b"", oracle.lower(node)
        while len(text) < 20 and not oracle.is_empty(rest):
            assert builder.is_prefix(core, text)
            assert builder.matches(core, text) == oracle.nullable(rest)
            viable = [byte for byte in alphabet if not oracle.is_empty(oracle.derivative(rest, byte))]
            byte = rng.choice(viable if viable and rng.random() < 0.9 else alphabet)
            text, rest = text + bytes([byte]), oracle.derivative(rest, byte)
        assert builder.is_prefix(core, text) == (not oracle.is_empty(rest))
        assert builder.matches(core, text) == oracle.nullable(rest)


@given(regexes, st.integers(0, 2**16))
@discards_undecided
def test_matches_and_prefixes(node: RegexTree, seed: int) -> None:
    follow(node, Regexes(), BYTES, random.Random(seed))


@given(regexes)
@discards_undecided
def test_a_shortest_match_is_the_smallest_of_its_length(node: RegexTree) -> None:
    oracle, builder = Regexes(), RegexBuilder()
    core = RegexLowering(builder).node(node)
    assert builder.is_empty(core) == oracle.is_empty(oracle.lower(node))
    try:
        shortest = builder.shortest(core)
    except LimitExceeded:
        return  # the search is bounded
    assert builder.is_empty(core) == (shortest is None)
    if shortest is None or len(shortest) > 6:
        return
    layer = {b"": oracle.lower(node)}
    for _ in shortest:
        assert not any(map(oracle.nullable, layer.values()))
        smaller = {rest: text for text, rest in sorted(layer.items(), reverse=True)}  # one text for each residual
        layer = {text + bytes([b]): oracle.derivative(rest, b) for rest, text in smaller.items() for b in range(256)}
        layer = {text: rest for text, rest in layer.items() if rest is not oracle.nothing}
        if len(layer) > 5_000:
            return
    assert shortest == min(text for text, rest in layer.items() if oracle.nullable(rest))


# Counts, intersections and complements over two letters: rewritings of repetitions and questions of emptiness.
_AB = cls("ab")
_letters = st.sampled_from([*map(tree.text, ["a", "b", "ab", "ba", "aa", "aab"]), _AB])
_counts = st.sampled_from(
    [(0, None), (1, None), (7, None), (0, 1), (2, 2), (13, 13), (3, 7), (0, 12), (10, 30), (20, 21)]
)


def _counted(parts: st.SearchStrategy[RegexTree]) -> st.SearchStrategy[RegexTree]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    repeated = st.builds(lambda part, count: tree.Repetition(part, *count), parts, _counts)
    others = parts.map(lambda part: tree.Intersection((rep(_AB), tree.Complement(part))))
    combined = several.map(tree.Concatenation), several.map(tree.Alternation), several.map(tree.Intersection)
    return st.one_of(repeated, repeated, *combined, others)


@given(st.recursive(_letters, _counted, max_leaves=6), st.integers(0, 2**16))
@discards_undecided
def test_counts(node: RegexTree, seed: int) -> None:
    follow(node, Regexes(alphabet=b"ab", search_limit=3_000), b"ab", random.Random(seed))


# Bounds on how many characters texts of a pattern have: whether one is left is counted, not searched for.
_CHARACTERS = "aé€"
_ANY = tree.char_class([(ord(c), ord(c)) for c in _CHARACTERS])
_words = st.sampled_from([*map(tree.text, ["a", "é", "aé", "a€a", "éééé"]), _ANY, cls("a"), rep(_ANY)])
_bounds = st.sampled_from([(0, 1), (0, 5), (1, 3), (2, 2), (4, 6), (5, 5), (7, 20), (12, 13), (3, None)])


def _patterns(parts: st.SearchStrategy[RegexTree]) -> st.SearchStrategy[RegexTree]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    repeated = st.builds(lambda part, count: tree.Repetition(part, *count), parts, _counts)
    return st.one_of(repeated, several.map(tree.Concatenation), several.map(tree.Alternation))


@given(st.recursive(_words, _patterns, max_leaves=6), _bounds, st.integers(0, 2**16))
@discards_undecided
def test_patterns_within_bounds(pattern: RegexTree, bounds: tuple[int, int | None], seed: int) -> None:
    node = tree.Intersection((tree.Repetition(_ANY, *bounds), pattern))
    alphabet = sorted(set(_CHARACTERS.encode()))
    follow(node, Regexes(alphabet=alphabet, search_limit=3_000), alphabet, random.Random(seed))


@pytest.mark.parametrize(
    "one", [cls("a", "é"), tree.ByteClass(((0, 255),)), tree.text("aé")], ids=["character", "byte", "two"]
)
@given(st.recursive(st.sampled_from([tree.text("a"), tree.text("aaa"), tree.text("é")]), _patterns, max_leaves=8))
@discards_undecided
def test_every_bound_on_a_pattern(one: RegexTree, pattern: RegexTree) -> None:
    """A pattern has texts of some lengths: exactly these are found, in whatever is counted."""
    oracle = Regexes(alphabet=sorted("aé".encode()), search_limit=3_000)
    builder = RegexBuilder()
    lowering = RegexLowering(builder)
    for least in range(0, 24, 3):
        for most in (least, least + 1, least + 3, least + 11):
            node = tree.Intersection((tree.Repetition(one, least, most), pattern))
            expected = oracle.is_empty(oracle.lower(node))
            assert builder.is_empty(lowering.node(node)) == expected, (least, most)


def test_runs_that_become_the_same_are_one() -> None:
    """`[ab]+ T | T | [ab]*` has `[ab]*` twice once the first two are joined."""
    source = """
        start: A
        A: /[ab]+/ T | T | /[ab]*/
        T: /(?:ab|ba)*/ & /(?:ab|b)*a?/
    """
    vocabulary = cfgmask.Vocabulary.from_bytes([bytes([b]) for b in range(256)] + [b""], eos_token_id=256)
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(source), vocabulary).matcher()
    assert matcher.advance_bytes(b"aabbabc") == 6
