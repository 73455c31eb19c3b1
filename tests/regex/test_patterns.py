"""Patterns of each dialect with texts that they match and texts that they do not."""

from __future__ import annotations

import pytest

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Concatenation,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.regex import DialectName, parse_regex
from tests.regex.judges import assert_matches

A, B = Literal(b"a"), Literal(b"b")
A_OR_B = CharClass(((0x61, 0x62),))

# dialect, flags, pattern, texts it matches, texts it does not
Case = tuple[DialectName, str, str, list[str], list[str]]

PYTHON: list[Case] = [
    ("python", "", r"a(b|(?:c)d)", ["ab", "acd"], ["a", "abc", "ac"]),
    ("python", "", r"", [""], ["a"]),
    ("python", "", r"a||b", ["a", "", "b"], ["ab"]),
    ("python", "", r"()*", [""], ["a"]),
    ("python", "", r"(?P<year>\d{4})-(?<month>\d\d)", ["2024-05"], ["24-05"]),
    ("python", "", r"a(?#no (b)c", ["ac"], ["abc"]),
    ("python", "", r"a(?#comment)+", ["a", "aa"], [""]),
    ("python", "", r"ab*?c+?d??e{1,2}?", ["ace", "abbccdee"], ["ae", "aceee"]),
    ("python", "", r"a{2}b{1,}c{,2}d{1,2}", ["aabd", "aabbccd"], ["abd", "aabcccd"]),
    ("python", "", r"x{,}y{}z{a}{", ["y{}z{a}{", "xxy{}z{a}{"], ["yz"]),
    ("python", "", r"\n\t\r\f\v\a\0\x41\u00e9\U0001F600", ["\n\t\r\f\v\a\0Aé😀"], [""]),
    ("python", "", r"\012\101\0011[\1\07\101]", ["\nA\0011A", "\nA\0011\1"], ["\n"]),
    ("python", "", r"\N{BULLET}[\N{EM DASH}]", ["•—"], ["•"]),
    ("python", "", r"\.\-\ \é\\\"[\]\-\\]", ['.- é\\"]', '.- é\\"-'], [".- e"]),
    ("python", "", r"[]a]+[^]a]", ["]ax", "]\n"], ["]]"]),
    ("python", "", r"[a-]+[-a]+[a\-c]", ["a-a-c", "aac"], ["aab"]),
    ("python", "", r"[\b][\x41-\x43]", ["\bB"], ["bB"]),
    ("python", "", r"[[a]&&[b]", ["[&&b", "a&&b"], ["a"]),
    ("python", "", r"a\Z", ["a"], ["a\n"]),
    ("python", "", r"\Aa$", ["a"], ["a\n", "ba"]),
    ("python", "", r"a$\n|b", ["a\n", "b"], ["a"]),
    ("python", "", r"(?i)straße", ["STRAßE", "strAẞe"], ["strasse"]),
    ("python", "", r"(?i:a)b(?i:c(?-i:d))", ["Abcd", "abCd"], ["aBcd", "abcD"]),
    ("python", "", r"(?s)a.b", ["a\nb"], ["ab"]),
    ("python", "", r"(?s:.)(?-s:.)", ["\na"], ["\n\n"]),
    ("python", "m", r"\Aa|b\Z", ["a", "b"], ["a\n"]),
    ("python", "x", "a b # comment\n c \\  [ ] \\#", ["abc  #"], ["a b"]),
    ("python", "", "(?x) a + (?-x: b)", ["aa b"], ["ab"]),
    ("python", "", r"(?a:\w)\w", ["aé"], ["éa"]),
    ("python", "a", r"(?u:\w)\w", ["éa"], ["aé"]),
    ("python", "", r"(?i)(?s)A.", ["a\n"], ["b\n"]),
    ("python", "", r"(?ix) a (?#b) B ", ["AB"], ["A B"]),
]

RUST: list[Case] = [
    ("rust", "", r"a(?i)b|c", ["aB", "C"], ["AB"]),
    ("rust", "", r"(a(?i)b)c", ["aBc"], ["aBC"]),
    ("rust", "", r"a**+", ["", "aa"], ["b"]),
    ("rust", "", r"a{2}{2}", ["aaaa"], ["aa"]),
    ("rust", "", r"a{ 1 , 2 }", ["a", "aa"], ["aaa"]),
    ("rust", "U", r"a*?b+", ["ab"], ["a"]),
    ("rust", "", r"^*a\z", ["a"], ["b"]),
    ("rust", "", r"\x{1F600}\u{e9}\U{41}\x41\u0041\U00000041", ["😀éAAAA"], [""]),
    ("rust", "", r"\&\~\-\#\ \/", ["&~-# /"], [""]),
    ("rust", "", r"[a-z&&[^aeiou]]+", ["xyz"], ["xay"]),
    ("rust", "", r"[a-z--aeiou]+", ["xyz"], ["xay"]),
    ("rust", "", r"[a-c~~b-d]", ["a", "d"], ["b", "c"]),
    ("rust", "", r"[0-9--4&&3-5x]", ["3", "5"], ["4", "9", "x"]),
    ("rust", "", r"[^a[b-d]&&\p{L}]", ["e", "1"], ["a", "c"]),
    ("rust", "", r"[[:alpha:][:^digit:]]", ["a", "é"], ["5"]),
    ("rust", "", r"[:alpha:]", ["a", ":"], ["b"]),
    ("rust", "", r"[---a][]a-]+", ["-]", "-a"], ["b"]),
    ("rust", "", r"[a&b][&&a]", [], ["&a"]),
    ("rust", "x", "[ a # b\n c ] ( ?: d ) { 2 }", ["add", "cdd"], [" dd", "#dd"]),
    ("rust", "i", r"[^k]", ["s"], ["K", "\u212a"]),
    ("rust", "i", r"[a-z&&[^k]]", ["S", "ſ"], ["K"]),
    ("rust", "", r"(?-u:\w\d)\w", ["a1é"], ["é1a", "a٣a"]),
    ("rust", "", r"\pL\p{Greek}\PL", ["aα1"], ["1α1"]),
    ("rust", "", r"a$", ["a"], ["a\n"]),
    ("rust", "", r"(?P<a>x)(?<b>y)", ["xy"], [""]),
]

ECMA: list[Case] = [
    ("ecma", "", r"a{,3}b{c{1", ["a{,3}b{c{1"], ["aab"]),
    ("ecma", "", r"x]y}z", ["x]y}z"], [""]),
    ("ecma", "", r"\cA\cj\0\/\-\_", ["\x01\n\0/-_"], [""]),
    ("ecma", "", r"\u{1F600}\uD83D\uDE00\u00e9\x41", ["😀😀éA"], [""]),
    ("ecma", "", r"[]|b", ["b"], ["", "]"]),
    ("ecma", "", r"[^]", ["\n", "a"], [""]),
    ("ecma", "", r"[\w-a]+[\]]", ["x-a]"], ["+]"]),
    ("ecma", "", r"[\uD83D\uDE00-\uD83D\uDE4F]", ["😀", "😎"], ["a"]),
    ("ecma", "", r"[^\uD800-\uDFFF]", ["a", "😀"], []),
    ("ecma", "", r"[\b\d-]", ["\b", "-", "1"], ["b"]),
    ("ecma", "", r"(?<$x1>a)(?:b)(?i:c)", ["abC"], ["ABC"]),
    ("ecma", "", r"[[a]", ["[", "a"], ["]"]),
    ("ecma", "", r"[a&&b]", ["&", "b"], [""]),
    ("ecma", "u", r"\p{Lu}\/[\-\]]", ["A/-", "A/]"], ["a/-"]),
    ("ecma", "v", r"[\p{L}--[a-z]]+", ["Aé"], ["a"]),
    ("ecma", "v", r"[\p{L}&&\p{ASCII}&&[^a]][\&\-]", ["b&", "B-"], ["a&", "é&"]),
    ("ecma", "v", r"[[a-c][x-z]\d]", ["b", "y", "1"], ["d"]),
    ("ecma", "gdy", r"a", ["a"], ["b"]),
    ("ecma", "s", r"a.$", ["a\n"], ["a"]),
    ("ecma", "", r"a.", ["ab"], ["a\n", "a\u2028"]),
]


@pytest.mark.parametrize(("dialect", "flags", "pattern", "inside", "outside"), PYTHON + RUST + ECMA)
def test_languages(dialect: DialectName, flags: str, pattern: str, inside: list[str], outside: list[str]) -> None:
    tree = parse_regex(pattern, dialect=dialect, flags=flags)
    for text in inside:
        assert_matches(tree, text, True)
    for text in outside:
        assert_matches(tree, text, False)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("foo", ["foo", "xfoox", "a\nfoo\n"], ["fo", ""]),
        ("^foo", ["foo", "foox"], ["xfoo", "\nfoo"]),
        ("foo$", ["foo", "xfoo"], ["foox", "foo\n"]),
        ("^a|b$", ["a", "ax", "b", "xb"], ["xa", "bx", ""]),
        ("(^|x)a", ["a", "ab", "xa", "bxab"], ["ba", ""]),
        ("(?:a|$)(?:^|b)", ["ab", "xab", ""], ["b", "a"]),
        ("a(b|$)", ["ab", "a", "xa", "abc"], ["ac"]),
        ("^$", [""], ["a", "\n"]),
        ("$^", [""], ["a", "\n"]),
        ("(^)*?a", ["a", "ba"], [""]),
        ("(^a)*b$", ["ab", "b", "xb", "aab"], ["ba"]),
        ("(?:^a|b){2}", ["ab", "bb", "xbb", "abx"], ["aa", "ba", "xab"]),
        ("(?:a$|b){2}", ["ba", "bb", "xba", "bbx"], ["aa", "ab", "bax"]),
        ("a?^b", ["b", "bc"], ["ab", ""]),
        ("a$b?", ["a", "xa"], ["ab"]),
        ("", ["", "a"], []),
        ("^", ["", "a"], []),
    ],
)
def test_search(pattern: str, inside: list[str], outside: list[str]) -> None:
    tree = parse_regex(pattern, dialect="ecma", context="search")
    for text in inside:
        assert_matches(tree, text, True)
    for text in outside:
        assert_matches(tree, text, False)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("foo", Concatenation((ANY_TEXT, Literal(b"foo"), ANY_TEXT))),
        ("^foo$", Literal(b"foo")),
        ("^[ab]+$", Repetition(A_OR_B, 1, None)),
        ("(?:^(a))$", A),
        ("^a", Concatenation((A, ANY_TEXT))),
        ("^a|b$", Alternation((Concatenation((A, ANY_TEXT)), Concatenation((ANY_TEXT, B))))),
        ("a^b", NOTHING),
        ("a$b", NOTHING),
        ("^", ANY_TEXT),
        ("$^", EMPTY_TEXT),
    ],
)
def test_anchors_leave_no_trace(pattern: str, expected: RegexTree) -> None:
    assert parse_regex(pattern, dialect="ecma", context="search") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a(?:b(c))d", Literal(b"abcd")),
        ("é", Literal("é".encode())),
        ("[é]", Literal("é".encode())),
        ("[b-ba]", A_OR_B),
        ("a|(b|ab)", Alternation((A_OR_B, Literal(b"ab")))),
        ("(?s).", ANY_CHAR),
        (r"[\s\S]", ANY_CHAR),
        (".{0,100000}", Repetition(CharClass(((0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF))), 0, 100000)),
        ("a{2147483647}", Repetition(A, 2147483647, 2147483647)),
        ("(a*)+", Repetition(A, 0, None)),
        ("(?:a{1,3}){2,4}", Repetition(A, 2, 12)),
        ("(?:a{2,3}){2}", Repetition(Repetition(A, 2, 3), 2, 2)),
        ("a{1}b{0}", A),
        (r"[^\s\S]", NOTHING),
        (r"a[^\s\S]|b", B),
    ],
)
def test_trees_are_normalised(pattern: str, expected: RegexTree) -> None:
    assert parse_regex(pattern) == expected


def test_long_alternations_and_sequences_are_flat() -> None:
    words = [f"w{i}" for i in range(1000)]
    tree = parse_regex("|".join(words))
    assert tree == Alternation(tuple(Literal(word.encode()) for word in words))
    assert parse_regex("".join(f"a{i}+" for i in range(10))).__class__ is Concatenation


def test_an_unknown_dialect_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="unknown dialect"):
        parse_regex("a", dialect="pcre")  # type: ignore[arg-type]
