"""Assertions at the edges of terminals, against Python's `regex` on whole texts and against Lark's own parser."""

from __future__ import annotations

from itertools import product

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput

from cfgmask.errors import GrammarError
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


_WORDS = st.lists(st.text(st.sampled_from("ab1-"), min_size=1, max_size=3), min_size=1, max_size=4)
_NAMES = st.sampled_from(
    ["[ab]+", "[ab1]+[ab]*", "a[ab1]*", "[ab][ab-]*", r"[a-z]\w*", r"[a-z]+[\w-]*", "[ab]{2,}", "a-?[ab]*"]
)
_OTHERS = st.sampled_from(["/[ab1]/", '"1"', '"b1"', "/[^a]/", '"-"', "/-+[a1]*/", "/[1-]/"])
_WORD_TEXTS = ["".join(letters) for n in range(6) for letters in product("ab1-", repeat=n)]


@given(_WORDS, _NAMES, _OTHERS, st.sampled_from(["", "i"]))
@settings(max_examples=60)
def test_excluded_words_mean_the_same_in_one_terminal(words: list[str], name: str, other: str, flags: str) -> None:
    pattern = f"/(?!(?:{'|'.join(words)})\\b){name}/{flags}"
    grammar = f"start: (A | B)*\nA: {pattern}\nB: {other}\n"
    # A limit on tokens that no text reaches: each text of `A` then has its own condition on what follows.
    limited = f"start: a\na[max_tokens=100]: (A | b)*\nb: B\nA: {pattern}\nB: {other}\n"
    try:
        engines = [compiled(grammar), compiled(limited)]
    except GrammarError as error:
        assume({d.code for d in error.diagnostics} != {"regex-assertions-too-complex"})
        raise
    for text in _WORD_TEXTS:
        assert len({accepts(engine, text) for engine in engines}) == 1, text


RESERVED = (
    "and assert async await break case catch class const continue debugger default delete do else enum except export "
    "extends finally for from function global goto if implements import in instanceof interface is lambda let local "
    "loop match module new nil none not null object or package pass private protected public raise repeat return self "
    "static struct super switch template then this throw trait true try type typedef typeof union until use using var "
    "void while with yield"
)


@pytest.mark.parametrize(("name", "flags"), [(r"[a-z_]\w*", ""), ("[a-zA-Z_][a-zA-Z0-9_]*", "i"), ("[a-z][a-z-]*", "")])
def test_names_may_exclude_many_words(name: str, flags: str) -> None:
    words = RESERVED.split()
    assert len(words) >= 75
    engine = compiled(f"start: (NAME | OTHER)+\nNAME: /(?!(?:{'|'.join(words)})\\b){name}/{flags}\nOTHER: /[ .é-]/")
    for text in ("an", "ands", "i", "iff", "whil", "an d", "x.y"):
        assert accepts(engine, text), text
    for text in ("and", "while", "and x", "x and", "if.x", "if-x"):
        assert not accepts(engine, text), text
    # `\b` looks at any word character: after the name there is one that it does not have.
    assert accepts(engine, "ifé")
    if flags:
        assert not accepts(engine, "WHILE")


def test_excluded_words_look_at_the_text_after_tokens_too() -> None:
    engine = compiled("start: NAME <[0]> REST\nNAME: /(?!and\\b)[a-z]+/\nREST: /[a-z]+ /")
    for first, rest, fits in (("an", "d ", False), ("an", "dx ", True), ("and", "x ", True), ("ab", "d ", True)):
        matcher = engine.matcher()
        assert matcher.advance_bytes(first.encode()) == len(first)
        assert matcher.try_advance([0]) == 1
        assert (matcher.advance_bytes(rest.encode()) == len(rest)) == fits, (first, rest)
