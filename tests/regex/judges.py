"""Two engines that say what a tree matches: the slow matcher of these tests and, where built, the compiled core."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.regex import algebra, parse_lexeme, parse_regex
from tests.regex import tree_matcher

# The ways to read a pattern.
READERS = [parse_regex, partial(parse_regex, context="search"), parse_lexeme]

HAS_CORE = find_spec("cfgmask._core") is not None


def assert_matches(tree: RegexTree, text: str, expected: bool) -> None:
    """Every engine says that the whole text matches, or that it does not."""
    assert tree_matcher.matches(tree, text) == expected, repr(text)
    if HAS_CORE:
        assert algebra.matches(tree, text.encode()) == expected, repr(text)


def assert_prefix(tree: RegexTree, text: str, expected: bool) -> None:
    """Every engine says that some matching text begins with `text`, or that none does."""
    assert tree_matcher.is_prefix(tree, text) == expected, repr(text)
    if HAS_CORE:
        assert algebra.is_prefix(tree, text.encode()) == expected, repr(text)
