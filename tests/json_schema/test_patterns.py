"""Patterns of schemas: those of characters, groups and quantifiers alone become regexes piece by piece in the core, and
have to be found in the same texts as the regex that a pattern is translated to as a whole."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar import ir
from cfgmask.grammar.regex_tree import Alternation, Complement, Intersection, JsonString, RegexTree
from cfgmask.limits import Limits
from cfgmask.regex import parse_regex
from cfgmask.regex.algebra import RegexAlgebra
from tests.json_schema.walks import MASKBENCH
from tests.regex.random_patterns import PATTERNS


@given(PATTERNS)
def test_patterns_are_found_in_the_same_texts(pattern: str) -> None:
    tree = in_schema(pattern)
    event(f"read: {tree is not None}")
    if tree is None:
        assert not is_right(pattern)
    else:
        assert difference(tree, expected(pattern)) is None


_WAYS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "^"]),
        st.text("ab", min_size=1, max_size=3),
        st.sampled_from(["", "[a-c]", "b*", "(a|)"]),
        st.sampled_from(["", "$"]),
    ),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(_WAYS, min_size=64, max_size=80))
def test_patterns_of_many_branches_are_found_in_the_same_texts(ways: list[str]) -> None:
    pattern = "|".join(ways)
    tree = in_schema(pattern)
    assert tree is not None
    assert difference(tree, expected(pattern)) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^a|b$",
        "^(?:a|b)c{2,}?$",
        "(^a$)|(^[^b-d\\s]+$)",
        "^(^a|b$)",
        "[\\w-]",
        "(^a)b",
        "(^a|^b)(c|d$)",
        "(^a|^b)(c$|d$)",
        "a(b$|c$)",
        "(^a|b)c",
        "a(b$|c)",
        "(^a)*b",
        "a(b$)?",
        "(" * 60 + "a" + ")" * 60,
        "a{100001}",
        "^[\\p{L}\\P{Nd}_.-]{1,64}$",
        "\\p{gc=Lu}\\p{Script=Greek}",
        "^(?:\\^|\\$)$",
        "^\\{[^}]*\\}$",
    ],
)
def test_anchors_and_sets(pattern: str) -> None:
    tree = in_schema(pattern)
    assert tree is not None
    assert difference(tree, expected(pattern)) is None


@pytest.mark.skipif(not MASKBENCH.exists(), reason="MaskBench is not beside this repository")
def test_patterns_of_maskbench() -> None:
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        patterns = sorted({pattern for line in lines for pattern in patterns_in(json.loads(line)["schema"])})
    n_read = 0
    for pattern in patterns[::8]:
        tree = in_schema(pattern)
        if tree is None:
            assert not is_right(pattern)
            continue
        n_read += 1
        assert difference(tree, expected(pattern)) is None, pattern
    assert n_read > 0.9 * len(patterns[::8])


def patterns_in(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str):
            yield pattern
        yield from (pattern for inner in schema.values() for pattern in patterns_in(inner))
    elif isinstance(schema, list):
        yield from (pattern for inner in schema for pattern in patterns_in(inner))


def in_schema(pattern: str) -> RegexTree | None:
    """The regex of the strings of a schema that is this pattern; None for one that is refused."""
    try:
        grammar = cfgmask.Grammar.from_json_schema({"type": "string", "pattern": pattern})
    except cfgmask.GrammarError:
        return None
    (terminal,) = [rule.body for rule in grammar.ir.rules if isinstance(rule.body, ir.Terminal)]
    return terminal.regex


def is_right(pattern: str) -> bool:
    """True if the pattern can be read and some text contains a match."""
    try:
        tree = parse_regex(pattern, dialect="ecma", context="search")
    except (cfgmask.GrammarError, cfgmask.LimitExceeded):
        return False
    return RegexAlgebra(Limits()).shortest(tree) is not None


def expected(pattern: str) -> RegexTree:
    return JsonString(parse_regex(pattern, dialect="ecma", context="search"), "any")


def difference(a: RegexTree, b: RegexTree) -> bytes | None:
    """A text that one of the trees matches and the other does not."""
    only_one = Alternation((Intersection((a, Complement(b))), Intersection((b, Complement(a)))))
    return RegexAlgebra(Limits()).shortest(only_one)
