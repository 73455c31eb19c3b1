"""Lookaround, word boundaries and line anchors: generated patterns against `regex`, and tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import (
    ANY_TEXT,
    CharClass,
    Concatenation,
    Intersection,
    JsonString,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.regex import Context, DialectName, algebra, parse_regex
from tests.regex.judges import HAS_CORE, READERS, assert_matches

ALPHABET = "ab-\n"

_pieces = st.sampled_from(
    ["a", "b", "ab", "-", ".", "[ab]", "[^a]", r"\w", r"\W", r"\n", "a*", "b?", ".*", "[a-]{1,3}"]
)
_places = st.sampled_from([r"\b", r"\B", "^", "$", r"\A", r"\Z", "(?m:^)", "(?m:$)"])
_quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "{0,3}"])
_looks = st.sampled_from(["(?=", "(?!", "(?<=", "(?<!"])


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(parts, min_size=2, max_size=4).map("".join),
        st.lists(parts, min_size=2, max_size=3).map(lambda p: "(?:" + "|".join(p) + ")"),
        st.builds(lambda body, quantifier: f"(?:{body}){quantifier}", parts, _quantifiers),
        st.builds(lambda look, body: f"{look}{body})", _looks, parts),
    )


_guarded = st.builds(
    lambda start, look, body, step, quantifier, end: f"{start}(?:{look}{body}){step}){quantifier}{end}",
    st.sampled_from(["^", "", "b?"]),
    _looks,
    st.one_of(_pieces, st.lists(st.one_of(_pieces, _places), min_size=2, max_size=3).map("".join)),
    st.sampled_from(["a", ".", "[^a]", r"\w"]),
    _quantifiers,
    st.sampled_from(["$", "", r"\b", "^$", "a"]),
)

patterns = st.recursive(st.one_of(_pieces, _pieces, _places, _guarded), _combined, max_leaves=7)
texts = st.lists(st.text(st.sampled_from(ALPHABET), max_size=6), min_size=4, max_size=10)


def read(pattern: str, context: Context) -> RegexTree:
    """The tree; a pattern that is refused as too complex is no example."""
    try:
        return parse_regex(pattern, context=context)
    except GrammarError as error:
        assume({d.code for d in error.diagnostics} != {"regex-assertions-too-complex"})
        raise


@given(patterns, texts)
def test_the_same_texts_match_as_a_whole(pattern: str, candidates: list[str]) -> None:
    tree, expected = read(pattern, "text"), regex.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.fullmatch(text)))


@given(patterns, texts)
def test_the_same_texts_have_a_match(pattern: str, candidates: list[str]) -> None:
    tree, expected = read(pattern, "search"), regex.compile(pattern)
    for text in candidates:
        assert_matches(tree, text, bool(expected.search(text)))


@pytest.mark.skipif(not HAS_CORE, reason="the compiled core is not built")
@given(patterns, texts)
def test_a_prefix_is_viable_where_some_text_goes_on_from_it(pattern: str, candidates: list[str]) -> None:
    tree, expected = read(pattern, "text"), regex.compile(pattern)
    for text in candidates:
        longer = Intersection((tree, Concatenation((Literal(text.encode()), ANY_TEXT))))
        found = algebra.shortest(longer)
        assert algebra.is_prefix(tree, text.encode()) == (found is not None), text
        assert found is None or expected.fullmatch(found.decode()), text
        if expected.fullmatch(text):
            assert found == text.encode()


PASSWORD = r"^(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s])(?!.*(.)\s).{8,}$"
LABEL = r"^(?!-)[a-z0-9-]{1,63}(?<!-)$"
# Text around templates as configuration languages have it: `${` and `%{` open one unless the sign stands twice.
TEMPLATE_TEXT = r"^(?:(?!\$\$\{)(?!\$\{)(?!%%\{)(?!%\{)[^\"\\]|\\.|\$(?!\$?\{)|%(?!%?\{))+$"
HOST = r"^((?!-)[A-Za-z0-9-]{1,63}(?<!-)\.)+[A-Za-z]{2,6}$"

Row = tuple[DialectName, str, str, list[str], list[str]]

SEARCHES: list[Row] = [
    ("ecma", "", PASSWORD, ["Abcdef1!", "1!ABCDEFG"], ["abcdef1!", "Abc1!", "Abc def1!", "Abcdefg1"]),
    ("ecma", "", LABEL, ["a", "a-b", "0" * 63], ["-a", "a-", "-", "", "a" * 64]),
    ("ecma", "", HOST, ["a.bc", "a-b.c.de"], ["-a.bc", "a-.bc", "a.b", "a..bc"]),
    ("ecma", "", TEMPLATE_TEXT, ["$", "$$", "a%$b{", r"\$\{", "{$"], ["${", "$${", "a%{", "%%{", '"', "\\"]),
    ("ecma", "", "^(?!foo|bar).*$", ["", "fo", "xfoo"], ["foo", "barx"]),
    ("ecma", "", "^(?!foo$).*$", ["", "foox"], ["foo"]),
    ("ecma", "", "^((?!foo).)*$", ["", "fo", "ffo", "fofo"], ["foo", "xfoox", "ffoo", "fofoo"]),
    ("ecma", "", "^((?!foo|oba).)+$", ["f", "fo", "ob"], ["", "foo", "fooba", "xoba"]),
    ("ecma", "", r"^((?!\bfoo).){2,4}$", ["xfoo", "fo"], ["foo", " foo", "xxxxx", "a"]),
    ("ecma", "", "^x((?!foo).)*y$", ["xy", "xfoy", "xoofy"], ["xfooy", "xyfoo"]),
    ("ecma", "", "((?!foo).)*$", ["foo", "a", ""], []),
    ("ecma", "", r"<!--((?!-->)[^])*-->", ["<!-- a-- -->", "x<!---->-->"], ["<!--", "<!-->"]),
    ("python", "", r"^(?:\b.){0,3}\A$", [""], ["b-"]),
    ("ecma", "", "(?=x)", ["x", "axb"], ["", "a"]),
    ("ecma", "", "a(?=b)", ["ab", "xaby"], ["a", "ba"]),
    ("ecma", "", "(?<=a)b", ["ab", "xaby"], ["b", "ba"]),
    ("ecma", "", "(?<!a)b", ["b", "bb", "abb"], ["ab", ""]),
    ("ecma", "", "(?<=^a.*)b", ["ab", "axb"], ["b", "xab"]),
    ("ecma", "", "(?<=(?<!x)a)b(?=c(?!d))", ["abc", "abcx"], ["xabc", "abcd", "ab"]),
    ("ecma", "", "(?:a(?=b)|b(?=a|$))+$", ["ab", "bab", "b", "xab"], ["a", "ba", ""]),
    ("ecma", "", r"\bfoo\b", ["foo", "a foo.", "éfooé"], ["foos", "_foo"]),
    ("ecma", "", r"^\w+\b\W", ["ab ", "a-b"], ["ab", "é "]),
    ("python", "", r"\bfoo\b", ["foo", "a foo."], ["foos", "éfoo"]),
    ("python", "a", r"\bfoo\b", ["éfooé"], ["foos"]),
    ("rust", "", r"\bfoo\b", ["foo", "a foo."], ["foos", "éfoo"]),
    ("rust", "", r"(?-u:\b)foo", ["éfoo"], ["sfoo"]),
    ("rust", "", r"\b{start}-|\<a", ["a", " a"], ["-", "ba"]),
    ("rust", "", r"\b{end}-|a\>", ["a", "a ", "b-"], ["-", "ab"]),
    ("rust", "", r"-\b{end-half}.|\b{start-half}-.", ["--", "-a", "a--"], ["-", "a-a"]),
    ("ecma", "", r"a\B", ["ab", "xaa"], ["a", "a-"]),
    ("ecma", "m", "^a$", ["a", "b\na", "a\rb", "b\u2028a\u2029"], ["ab", "b a"]),
    ("python", "m", "^a$", ["a", "b\na", "a\nb"], ["a\rb", "ab"]),
    ("rust", "m", "^a$", ["a", "b\na", "a\nb"], ["a\rb", "ab"]),
    ("ecma", "m", r"(?:^a$\n?)+b", ["a\nb", "xb\na\na\nb"], ["ab", "a\n"]),
    ("ecma", "i", "(?<=K)a(?!B)", ["ka", "KAc"], ["kab", "KAB"]),
    ("ecma", "", "(?=a)*b", ["b"], ["a"]),
    ("ecma", "", "(?=a){2}.", ["a"], ["b"]),
    ("python", "", r"a(?=$)", ["a", "a\n"], ["a\nb", "ab"]),
    ("python", "", "(?:(?!--)[a-z-]){2,4}$", ["ab", "a-b", "x--ab"], ["a", "--"]),
    ("python", "", "^(?:(?!--)[a-z-]){2,3}", ["ab", "a-b", "ab--"], ["a--", "a"]),
]


@pytest.mark.parametrize(("dialect", "flags", "pattern", "inside", "outside"), SEARCHES)
def test_searches(dialect: DialectName, flags: str, pattern: str, inside: list[str], outside: list[str]) -> None:
    tree = parse_regex(pattern, dialect=dialect, flags=flags, context="search")
    for text in inside:
        assert_matches(tree, text, True)
    for text in outside:
        assert_matches(tree, text, False)


def test_what_the_first_character_decides_leaves_no_intersection() -> None:
    alphanumeric, hyphen = ((0x30, 0x39), (0x61, 0x7A)), ((0x2D, 0x2D), (0x30, 0x39), (0x61, 0x7A))
    tree = parse_regex("^(?!-)[a-z0-9-]{3,63}(?<!-)$", dialect="ecma", context="search")
    ends = CharClass(alphanumeric)
    assert tree == Concatenation((ends, Repetition(CharClass(hyphen), 1, 61), ends))


@pytest.mark.parametrize(
    "pattern",
    [
        PASSWORD,
        LABEL,
        HOST,
        r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[@$!%*?&])[A-Za-z\d@$!%*?&]{8,64}$",
        "^(?!(?:" + "|".join(f"word{n}" for n in range(200)) + ")$)[a-z0-9]+$",
        r"^(?:(?!\b(?:secret|password)\b).)*$",
        "^((?!" + "|".join(f"word{n}" for n in range(200)) + ").)*$",
        r"^(?!.*\.\.)(?!\.)[a-z0-9.]{1,64}(?<!\.)@(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,}$",
    ],
)
def test_patterns_in_use_are_read_and_searched(pattern: str) -> None:
    # All of these take milliseconds, the search included.
    tree = parse_regex(pattern, dialect="ecma", context="search")
    if HAS_CORE:
        assert not algebra.is_empty(JsonString(tree))
        assert algebra.shortest(tree) is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:" * 12 + r"\ba|b\B" + "c)*" * 12,
        "(?=" * 60 + r"a*\b" + ")b*" * 60,
        "".join(f"(?=.*{chr(97 + n)})" for n in range(20)) + "x(?<=a.*)y",
        "".join(f"(?<=a{{{n}}})(?!b{{{n}}})c*" for n in range(1, 12)),
        r"(?:\b(?:a|(?!bc)b|(?<!ac)c)*\B)*" * 6,
        "(?:(?!" + "a" * 100 + ")a)*b",
        "(?:(?=.{100})a)*b",
        "(?:(?<=a{30}b?)c?)*" * 5,
    ],
)
@pytest.mark.parametrize("read_as", READERS)
def test_entangled_assertions_are_given_up(pattern: str, read_as: Callable[[str], object]) -> None:
    # Without the bounds some of these would never end.
    assert codes(pattern, read_as) <= {"regex-assertions-too-complex"}


def codes(pattern: str, read_as: Callable[[str], object]) -> set[str]:
    """What a pattern is refused for."""
    try:
        read_as(pattern)
    except GrammarError as error:
        return {diagnostic.code for diagnostic in error.diagnostics}
    return set()
