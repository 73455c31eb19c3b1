"""The regex algebra of the core against the oracle's derivatives."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from cfgmask._core import RegexBuilder
from cfgmask.errors import LimitExceeded
from cfgmask.grammar import regex_tree as tree
from cfgmask.grammar.regex_tree import RegexTree
from tests.oracle_regex import Regexes
from tests.strategies import BYTES, discards_undecided, regexes


def build(builder: RegexBuilder, node: RegexTree) -> int:
    match node:
        case tree.Literal(data):
            return builder.literal(data)
        case tree.CharClass(ranges):
            return builder.char_class(ranges)
        case tree.ByteClass(ranges):
            return builder.byte_class(ranges)
        case tree.Concatenation(parts):
            return builder.concatenation([build(builder, part) for part in parts])
        case tree.Alternation(parts):
            return builder.alternation([build(builder, part) for part in parts])
        case tree.Repetition(body, minimum, maximum):
            return builder.repetition(build(builder, body), minimum, maximum)
        case tree.Intersection(parts):
            return builder.intersection([build(builder, part) for part in parts])
        case tree.Complement(body):
            return builder.complement(build(builder, body))
        case tree.KeySet(keys):
            return builder.key_set(keys)
        case tree.JsonString(body, escapes):
            return builder.json_string(build(builder, body), escapes)
    raise TypeError(node)


@given(regexes, st.integers(0, 2**16))
@discards_undecided
def test_matches_and_prefixes(node: RegexTree, seed: int) -> None:
    """Along random byte strings, most of them prefixes of a match."""
    oracle, builder, rng = Regexes(), RegexBuilder(), random.Random(seed)
    core = build(builder, node)
    for _ in range(4):
        text, rest = b"", oracle.lower(node)
        while len(text) < 10 and not oracle.is_empty(rest):
            assert builder.is_prefix(core, text)
            assert builder.matches(core, text) == oracle.nullable(rest)
            viable = [byte for byte in BYTES if not oracle.is_empty(oracle.derivative(rest, byte))]
            byte = rng.choice(viable if viable and rng.random() < 0.9 else BYTES)
            text, rest = text + bytes([byte]), oracle.derivative(rest, byte)
        assert builder.is_prefix(core, text) == (not oracle.is_empty(rest))
        assert builder.matches(core, text) == oracle.nullable(rest)


@given(regexes)
@discards_undecided
def test_a_shortest_match_is_the_smallest_of_its_length(node: RegexTree) -> None:
    oracle, builder = Regexes(), RegexBuilder()
    core = build(builder, node)
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
