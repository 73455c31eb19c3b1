"""Shorthands, properties and case, against the libraries whose meaning they have, over all characters."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from cfgmask.grammar.regex_tree import CharClass, Literal, RegexTree, char_class
from cfgmask.regex import DialectName, parse_regex, unicode_data

CHARACTERS = "".join(map(chr, range(sys.maxunicode + 1)))
GENERAL_CATEGORIES = [
    *["C", "Cc", "Cf", "Cn", "Co", "Cs", "L", "LC", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me"],
    *["N", "Nd", "Nl", "No", "P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So"],
    *["Z", "Zs", "Zl", "Zp"],
]
CASED = "".join(c for c in CHARACTERS if c.casefold() != c or c.lower() != c or c.upper() != c)


def ranges_of(tree: RegexTree) -> tuple[tuple[int, int], ...]:
    """The characters that a tree of one character matches."""
    if isinstance(tree, Literal):
        code = ord(tree.data.decode())
        return ((code, code),)
    assert isinstance(tree, CharClass), tree
    return tree.ranges


def found_by(expression: Any) -> tuple[tuple[int, int], ...]:
    """The characters that an expression of one character, followed by a plus sign, finds among all."""
    return char_class([(m.start(), m.end() - 1) for m in expression.finditer(CHARACTERS)]).ranges


def among(tree: RegexTree, characters: str) -> str:
    """Which of the characters the tree matches."""
    ranges = ranges_of(tree)
    starts = [low for low, _ in ranges]
    places = ((c, bisect_right(starts, ord(c)) - 1) for c in characters)
    return "".join(c for c, place in places if place >= 0 and ord(c) <= ranges[place][1])


def holds(pattern: str, characters: str, dialect: DialectName, flags: str = "") -> str:
    """Which of the characters a pattern of one character matches."""
    return among(parse_regex(pattern, dialect=dialect, flags=flags), characters)


@pytest.mark.parametrize("flags", ["", "(?a)", "(?i)"])
@pytest.mark.parametrize("shorthand", [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"[\w-]", r"[^\W\d]"])
def test_python_shorthands_are_those_of_re(flags: str, shorthand: str) -> None:
    assert ranges_of(parse_regex(flags + shorthand)) == found_by(re.compile(f"{flags}{shorthand}+"))


@pytest.mark.parametrize(
    "name",
    [
        *GENERAL_CATEGORIES,
        *["Any", "Assigned", "Alphabetic", "Uppercase", "Lowercase", "White_Space", "Emoji", "Ideographic"],
        *["ID_Start", "XID_Continue", "Default_Ignorable_Code_Point", "Noncharacter_Code_Point"],
        *["Variation_Selector", "Grapheme_Extend", "Script=Common", "Script=Inherited", "Script=Unknown"],
        *["InTags", "InSupplementary_Private_Use_Area_B", "InNoBlock", "InVariation_Selectors_Supplement"],
        *["Bidi_Class=L", "Bidi_Class=BN", "Word_Break=Extend"],
        *["gc=" + category for category in GENERAL_CATEGORIES],
    ],
)
def test_properties_are_found_without_looking_at_all_characters(name: str) -> None:
    expression = regex.compile(rf"\p{{{name}}}+")
    assert unicode_data.unicode_property(*name.split("=")).ranges == found_by(expression)


@pytest.mark.parametrize("name", ["L", "Lu", "Letter", "gc=Nd", "Greek", "Script=Greek", "scx=Grek", "Emoji", "^Ll"])
@pytest.mark.parametrize("flags", ["", "(?i)"])
def test_python_properties_are_those_of_regex(name: str, flags: str) -> None:
    for pattern in (rf"{flags}\p{{{name}}}", rf"{flags}\P{{{name}}}"):
        assert ranges_of(parse_regex(pattern)) == found_by(regex.compile(pattern + "+")), pattern


def test_ignoring_case_python_takes_each_character_as_re_does() -> None:
    for character in CASED:
        tree = parse_regex(re.escape(character), flags="i")
        found = [chr(code) for low, high in ranges_of(tree) for code in range(low, high + 1)]
        assert found == re.findall(re.escape(character), CASED, re.IGNORECASE), character


@given(st.lists(st.tuples(st.sampled_from(CASED), st.integers(0, 40)), min_size=1, max_size=3), st.booleans())
@settings(max_examples=60)
def test_ignoring_case_python_takes_classes_as_re_does(ranges: list[tuple[str, int]], negated: bool) -> None:
    inside = "".join(f"\\U{ord(c):08x}-\\U{min(ord(c) + width, 0x10FFFF):08x}" for c, width in ranges)
    pattern = f"[{'^' * negated}{inside}]"
    assert holds(pattern, CASED, "python", "i") == "".join(re.findall(pattern, CASED, re.IGNORECASE))


# `K` is the Kelvin sign. Python follows lower and upper case, Rust and ECMA's flag u the Unicode case folding, ECMA
# without it the upper case, but never from outside of ASCII into it.
@pytest.mark.parametrize(
    ("pattern", "python", "rust", "ecma", "ecma_unicode"),
    [
        ("k", "Kk\u212a", "Kk\u212a", "Kk", "Kk\u212a"),
        ("s", "SsſS", "Ssſ", "Ss", "Ssſ"),
        ("i", "Iiİı", "Ii", "Ii", "Ii"),
        ("İ", "Iiİı", "İ", "İ", "İ"),
        ("ß", "ßẞ", "ßẞ", "ß", "ßẞ"),
        ("Σ", "Σςσ", "Σςσ", "Σςσ", "Σςσ"),
        ("ǆ", "ǄǅǆǄ", "Ǆǅǆ", "Ǆǅǆ", "Ǆǅǆ"),
        ("ﬅ", "ﬅﬆ", "ﬅﬆ", "ﬅ", "ﬅﬆ"),
        ("_", "_", "_", "_", "_"),
        ("[^k]", "", "", "\u212a", ""),
    ],
)
def test_ignoring_case(pattern: str, python: str, rust: str, ecma: str, ecma_unicode: str) -> None:
    asked = "Kk\u212a" if pattern == "[^k]" else CASED + "_"
    assert set(holds(pattern, asked, "python", "i")) == set(python)
    assert set(holds(pattern, asked, "rust", "i")) == set(rust)
    assert set(holds(pattern, asked, "ecma", "i")) == set(ecma)
    assert set(holds(pattern, asked, "ecma", "iu")) == set(ecma_unicode)


def test_ignoring_case_in_ascii_mode_stays_in_ascii() -> None:
    assert holds("(?ai)k", "kK\u212a", "python") == "kK"
    assert holds("(?ai)é", "éÉ", "python") == "é"
    assert holds("(?i-u)k", "kK\u212a", "rust") == "kK"


@pytest.mark.parametrize(
    ("pattern", "asked", "python", "rust", "ecma"),
    [
        (r"\d", "5٣²", "5٣", "5٣", "5"),
        (r"\w", "a_é٣\u0301\u200dⓐ", "a_é٣", "a_é٣\u0301\u200dⓐ", "a_"),
        (r"\s", "\t\x1c\x85\xa0\u2028\u200b\ufeff", "\t\x1c\x85\xa0\u2028", "\t\x85\xa0\u2028", "\t\xa0\u2028\ufeff"),
        (".", "a\n\r\x85\u2028\u2029", "a\r\x85\u2028\u2029", "a\r\x85\u2028\u2029", "a\x85"),
    ],
)
def test_dialects_have_their_own_sets(pattern: str, asked: str, python: str, rust: str, ecma: str) -> None:
    assert holds(pattern, asked, "python") == python
    assert holds(pattern, asked, "rust") == rust
    assert holds(pattern, asked, "ecma") == ecma
    assert holds(pattern, asked, "ecma", "u") == ecma


@pytest.mark.parametrize(
    ("dialect", "flags", "pattern", "asked", "expected"),
    [
        ("rust", "", r"\p{Greek}", "aα", "α"),
        ("rust", "", r"\pL", "a1", "a"),
        ("rust", "", r"\p{is_uppercase letter}", "aA", "A"),
        ("rust", "", r"\p{gc!=Lu}", "aA", "a"),
        ("rust", "", r"\P{sc:Greek}", "aα", "a"),
        ("rust", "", r"\p{cf}", "\u200da", "\u200d"),
        ("rust", "", r"\p{White Space}", " a", " "),
        ("rust", "i", r"\p{Lu}", "aA1", "aA"),
        ("rust", "i", r"\P{Lu}", "aA1", "1"),
        ("ecma", "u", r"\p{Script=Greek}", "aα", "α"),
        ("ecma", "u", r"\p{Lowercase_Letter}", "aA", "a"),
        ("ecma", "u", r"\p{Emoji_Presentation}", "😀a", "😀"),
        ("ecma", "u", r"\p{ASCII}", "aé", "a"),
        ("ecma", "iu", r"\P{Lu}", "aA1", "aA1"),
        ("ecma", "iv", r"\P{Lu}", "aA1", "1"),
        ("ecma", "iu", r"\w", "ſ\u212a", "ſ\u212a"),
        ("ecma", "i", r"\w", "ſ\u212a", ""),
        ("python", "i", r"\p{Lowercase}", "aA1", "aA"),
    ],
)
def test_properties(dialect: DialectName, flags: str, pattern: str, asked: str, expected: str) -> None:
    assert holds(pattern, asked, dialect, flags) == expected


def test_a_property_is_read_once_in_a_process() -> None:
    parse_regex(r"\p{Thai}")
    before = unicode_data.unicode_property.cache_info().misses
    parse_regex(r"\p{Thai}|\P{Thai}[\p{Thai}]")
    assert unicode_data.unicode_property.cache_info().misses == before
