"""Assertions at the edges of terminals, against Python's `regex` on whole texts and against Lark's own parser."""

from __future__ import annotations

from itertools import product

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput

from tests.lark.engine import accepts, compiled

ALPHABET = "ab "
LONGEST = 4
TEXTS = ["".join(letters) for n in range(LONGEST + 1) for letters in product(ALPHABET, repeat=n)]

_bodies = st.sampled_from(["a", "b", "ab", "[ab]+", "a+", " ", "a ?", "[^b]", ".+"])
_fixed = st.sampled_from(["a", "b", "ab", "ba", " a", "[ab]", "."])
_before = st.sampled_from(["", "", r"\b", r"\B", "(?<=a)", "(?<!a)", "(?<!b|^)", "^", "(?<= .*)"])
_after = st.sampled_from(["", "", r"\b", r"\B", "(?=b)", "(?!b)", "(?! *a)", "$", r"(?!\Z)"])


def _patterns(bodies: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda before, body, after: before + body + after, _before, bodies, _after)


def places(pattern: str, text: str) -> set[tuple[int, int]]:
    """Where the pattern matches something in the text, with all of the text in sight."""
    found = set()
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            whole = rf"(?:{pattern})(?=[\s\S]{{{len(text) - end}}}\Z)"
            if regex.compile(whole).match(text, start):
                found.add((start, end))
    return found


def can_be_cut(text: str, lexemes: set[tuple[int, int]]) -> bool:
    """Whether lexemes stand side by side from the first character to the last."""
    reached = {0}
    for start, end in sorted(lexemes):
        if start in reached:
            reached.add(end)
    return len(text) in reached


@given(st.lists(_patterns(_bodies), min_size=1, max_size=3))
def test_every_way_to_cut_a_text_counts(patterns: list[str]) -> None:
    alternatives = " | ".join(['"z"', *(f"/{pattern}/" for pattern in patterns)])
    grammar = f'%cfgmask {{"lexer": "complete"}}\nstart: ({alternatives})*\n'
    engine = compiled(grammar)
    for text in TEXTS:
        lexemes = set().union(*(places(pattern, text) for pattern in patterns))
        assert accepts(engine, text) == can_be_cut(text, lexemes), text


@given(_patterns(_bodies), _patterns(_bodies), st.sampled_from([" ", " $", "^ ", r"\b "]))
def test_ignored_text_is_cut_out_like_lexemes(first: str, second: str, ignored: str) -> None:
    """In complete mode: one of each, ignored text anywhere between, before and behind."""
    grammar = f'%cfgmask {{"lexer": "complete"}}\nstart: /{first}/ /{second}/ | "z"\n%ignore /{ignored}/\n'
    engine = compiled(grammar)
    for text in TEXTS:
        skipped = places(ignored, text)
        expected = any(
            start < end <= begin < stop
            and can_be_cut(text[:start], {s for s in skipped if s[1] <= start})
            and can_be_cut(text[end:begin], {(s - end, e - end) for s, e in skipped if end <= s and e <= begin})
            and can_be_cut(text[stop:], {(s - stop, e - stop) for s, e in skipped if stop <= s})
            for start, end in places(first, text)
            for begin, stop in places(second, text)
        )
        assert accepts(engine, text) == expected, text


# Terminals whose texts have one length: Lark looks for shorter ones in what it has matched, without what stands around.
@given(st.lists(_patterns(_fixed), min_size=1, max_size=3), st.booleans())
def test_the_language_is_larks(patterns: list[str], ignores: bool) -> None:
    names = [f"T{number}" for number in range(len(patterns))]
    # Lark's matcher has lookbehinds of one length only.
    assume(not any("(?<!b|^)" in pattern or "(?<= .*)" in pattern for pattern in patterns))
    grammar = f'start: ({" | ".join(names)} | "z")+\n'
    grammar += "".join(f"{name}: /{pattern}/\n" for name, pattern in zip(names, patterns, strict=True))
    grammar += '%ignore " "\n' if ignores else ""
    parser = Lark(grammar, parser="earley", lexer="dynamic_complete", ambiguity="forest")
    engine = compiled('%cfgmask {"lexer": "complete"}\n' + grammar)
    for text in TEXTS:
        assert accepts(engine, text) == in_lark(parser, text), text


def in_lark(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except UnexpectedInput:
        return False
    return True


@pytest.mark.parametrize(
    ("grammar", "inside", "outside"),
    [
        ('start: A "c"?\nA: B /b/\nB: /a(?=b)/', ["ab", "abc"], ["ac"]),
        ('start: A "x"?\nA: "a" B | "b"\nB: /(?<=a)c(?!x)/', ["ac", "b", "bx"], ["acx", "c"]),
        ("start: A A\nA: B+ & /.{2,3}/\nB: /a\\b|-/", ["a--a-", "-----"], ["aa", "a--a", "a-aa-"]),
        ('start: A*\nA: /x\\b/ | " "', ["x x", "x", ""], ["xx"]),
    ],
)
def test_terminals_made_of_others(grammar: str, inside: list[str], outside: list[str]) -> None:
    engine = compiled(grammar)
    assert [text for text in inside + outside if accepts(engine, text)] == inside


def test_words_without_blanks_between_them() -> None:
    engine = compiled('start: (IF | NAME | "(" | ")")+\nIF: /\\bif\\b/\nNAME: /\\b(?!if\\b)[a-z]+\\b/\n%ignore " "')
    assert accepts(engine, "if (iff) if")
    assert not accepts(engine, "ifx-")
