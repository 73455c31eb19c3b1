"""What patterns ask of the text around a lexeme: generated ones against `regex` at all places, and a table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import Divisible, RegexTree
from cfgmask.regex import Lexeme, LexemeCase, parse_lexeme
from cfgmask.regex.lexemes import TooEntangled, all_of, any_of, in_sequence, is_empty_by_assertion, repeated
from tests.regex import tree_matcher
from tests.regex.test_assertions import patterns

texts = st.text(st.sampled_from("ab-\n"), max_size=5)


# In a lexeme, lazy quantifiers end where `re` would end them, which is not what matches somewhere: see test_lazy.
LAZY = regex.compile(r"[*+?}]\?")


def read(pattern: str) -> Lexeme:
    """The lexeme; a pattern that is refused as too complex is no example, nor is a lazy one."""
    assume(not LAZY.search(pattern))
    try:
        return parse_lexeme(pattern)
    except GrammarError as error:
        assume({d.code for d in error.diagnostics} != {"regex-assertions-too-complex"})
        raise


def meets(condition: RegexTree | None, text: str) -> bool:
    return condition is None or tree_matcher.matches(condition, text)


def stands_at(lexeme: Lexeme, text: str, start: int, end: int) -> bool:
    """Whether text[start:end] is a lexeme there."""
    return any(
        meets(case.before, text[:start])
        and tree_matcher.matches(case.tree, text[start:end])
        and meets(case.after, text[end:])
        for case in lexeme
    )


def matches_at(pattern: str, text: str, start: int, end: int) -> bool:
    """Whether some match that begins at `start` ends at `end`, with the whole text in sight."""
    rest = len(text) - end
    return bool(regex.compile(rf"(?:{pattern})(?=[\s\S]{{{rest}}}\Z)").match(text, start))


def assert_same_places(lexeme: Lexeme, pattern: str, text: str) -> None:
    for start in range(len(text) + 1):
        for end in range(start, len(text) + 1):
            expected = matches_at(pattern, text, start, end)
            assert stands_at(lexeme, text, start, end) == expected, (text, start, end)


@given(patterns, st.lists(texts, min_size=2, max_size=4))
def test_the_same_places_match(pattern: str, candidates: list[str]) -> None:
    lexeme = read(pattern)
    for text in candidates:
        assert_same_places(lexeme, pattern, text)


_OPERATORS = ["sequence", "alternation", "repetition", "intersection"]


@given(st.lists(patterns, min_size=2, max_size=3), st.sampled_from(_OPERATORS), st.lists(texts, min_size=2, max_size=4))
def test_lexemes_that_are_put_together_see_each_other(parts: list[str], operator: str, candidates: list[str]) -> None:
    lexemes = [read(part) for part in parts]
    try:
        joined, pattern = put_together(operator, parts, lexemes)
    except TooEntangled:
        assume(False)
    for text in candidates:
        if operator != "intersection":
            assert_same_places(joined, pattern, text)
            continue
        for start in range(len(text) + 1):
            for end in range(start, len(text) + 1):
                expected = all(matches_at(part, text, start, end) for part in parts)
                assert stands_at(joined, text, start, end) == expected, (text, start, end)


def put_together(operator: str, parts: Sequence[str], lexemes: Sequence[Lexeme]) -> tuple[Lexeme, str]:
    """The lexeme, and the pattern that means the same where there is one."""
    grouped = [f"(?:{part})" for part in parts]
    if operator == "sequence":
        return in_sequence(lexemes), "".join(grouped)
    if operator == "alternation":
        return any_of(lexemes), "|".join(grouped)
    if operator == "intersection":
        return all_of(lexemes), ""
    return repeated(lexemes[0], 1, 2), grouped[0] + "{1,2}"


@pytest.mark.parametrize(
    ("flags", "pattern", "text", "places"),
    [
        ("", "a(?=b)", "abaa", [(0, 1)]),
        ("", "a(?!b)", "aba", [(2, 3)]),
        ("", "(?<!a)b", "babb", [(0, 1), (3, 4)]),
        ("", r"\bif\b", "if elif if", [(0, 2), (8, 10)]),
        ("", r"\Ba", "aa-a", [(1, 2)]),
        ("m", "^#$", "#\n##\n#", [(0, 1), (5, 6)]),
        ("", "^a", "aa", [(0, 1)]),
        ("", r"a\Z", "aa", [(1, 2)]),
        ("", "a$", "a\na\n", [(2, 3)]),
        ("", "a|(?<=a)b", "ab", [(0, 1), (1, 2)]),
    ],
)
def test_places(flags: str, pattern: str, text: str, places: list[tuple[int, int]]) -> None:
    lexeme = parse_lexeme(pattern, flags=flags)
    spans = [(start, end) for start in range(len(text)) for end in range(start + 1, len(text) + 1)]
    assert [span for span in spans if stands_at(lexeme, text, *span)] == places


@pytest.mark.parametrize(
    "pattern",
    ["a+", "(?:a(?=b))*c", r"a\B-?b", r'"(?:(?!").)*"', r'".*?(?<!\\)(?:\\\\)*"', r"a\b-", "(?=a)a", "(?m:a$\n^b)"],
)
def test_assertions_that_see_no_neighbour_ask_nothing(pattern: str) -> None:
    (case,) = parse_lexeme(pattern)
    assert case.is_plain


@pytest.mark.parametrize(
    ("pattern", "expected"), [("a*(?=b)", True), (r"\b", True), (r"a*|b\b", False), (r"a\b", False)]
)
def test_empty_by_assertion(pattern: str, expected: bool) -> None:
    assert is_empty_by_assertion(parse_lexeme(pattern)) == expected


def test_what_patterns_have_no_part_in_is_too_entangled_beside_an_assertion() -> None:
    with pytest.raises(TooEntangled):
        in_sequence([parse_lexeme(r"a\b"), (LexemeCase(Divisible(7)),)])
