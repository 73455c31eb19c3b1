"""What is refused: every code once in full, every way to get there with its place, and all problems at once."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from cfgmask.diagnostics import Source, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.regex import Context, DialectName, parse_regex
from cfgmask.regex.messages import TEXTS

_RENDERED = Path(__file__).with_name("diagnostics.txt").read_text(encoding="utf-8").split("\n## ")[1:]


def refusals(
    pattern: str, dialect: DialectName, flags: str = "", context: Context = "text"
) -> list[tuple[str, int, int]]:
    """Code and place of everything that is wrong with a pattern."""
    with pytest.raises(GrammarError) as caught:
        parse_regex(pattern, dialect=dialect, flags=flags, context=context)
    found = caught.value.diagnostics
    assert all(d.span and d.help and d.severity == "error" for d in found)
    return [(d.code, d.span.start, d.span.end) for d in found if d.span]


@pytest.mark.parametrize("case", _RENDERED, ids=lambda case: case.split("[", 1)[1].split("]")[0])
def test_every_code_is_explained(case: str) -> None:
    head, _, expected = case.partition("\n")
    reader, _, pattern = head.partition(" ")
    reader, _, flags = reader.partition("/")
    dialect, _, context = reader.partition(":")
    with pytest.raises(GrammarError) as caught:
        parse_regex(pattern, dialect=dialect, flags=flags, context=context or "text")  # type: ignore[arg-type]
    assert str(caught.value) == expected.rstrip("\n")


@pytest.mark.parametrize(
    ("dialect", "flags", "pattern", "code", "start", "end"),
    [
        ("python", "", "(?#note", "unclosed-group", 0, 3),
        ("python", "", "^*", "nothing-to-repeat", 1, 2),
        ("python", "", r"\A+", "nothing-to-repeat", 2, 3),
        ("rust", "", "a(?i)*", "nothing-to-repeat", 5, 6),
        ("rust", "", "(?i)*", "nothing-to-repeat", 4, 5),
        ("ecma", "", "{1}", "nothing-to-repeat", 0, 3),
        ("python", "", "a{1}{2}", "multiple-repeat", 4, 7),
        ("ecma", "", "a*+", "multiple-repeat", 2, 3),
        ("python", "", "a???", "multiple-repeat", 3, 4),
        ("rust", "", "a{", "stray-brace", 1, 2),
        ("rust", "", "a{}", "stray-brace", 1, 2),
        ("ecma", "u", "a}", "stray-brace", 1, 2),
        ("ecma", "", r"\A", "bad-escape", 0, 2),
        ("ecma", "", r"\a", "bad-escape", 0, 2),
        ("rust", "", r"\Z", "bad-escape", 0, 2),
        ("rust", "", r"\é", "bad-escape", 0, 2),
        ("rust", "", r"[\b]", "bad-escape", 1, 3),
        ("ecma", "u", r"\-", "bad-escape", 0, 2),
        ("python", "", r"\x4", "bad-escape", 0, 2),
        ("python", "", r"\xg1", "bad-escape", 0, 2),
        ("rust", "", r"\x{}", "bad-escape", 0, 4),
        ("ecma", "", r"\u{12", "bad-escape", 0, 2),
        ("ecma", "", r"\c1", "bad-escape", 0, 2),
        ("ecma", "", r"\01", "bad-escape", 0, 2),
        ("ecma", "", r"[\1]", "bad-escape", 1, 3),
        ("python", "", r"\N", "bad-escape", 0, 2),
        ("python", "", r"[\8]", "bad-escape", 1, 3),
        ("python", "", r"\777", "bad-escape", 0, 4),
        ("python", "", r"\p", "bad-escape", 0, 2),
        ("python", "", r"\p{L&}", "bad-escape", 0, 6),
        ("rust", "", r"\p{^L}", "bad-escape", 0, 6),
        ("ecma", "", r"\pL", "bad-escape", 0, 2),
        ("rust", "", r"[\u{D800}]", "surrogate", 1, 9),
        ("python", "", "a\ud800b", "surrogate", 1, 2),
        ("ecma", "", r"a[\ud800-\udbff]", "surrogate", 1, 16),
        ("rust", "", "[a-[b]]", "bad-class-range", 1, 3),
        ("ecma", "u", r"[\w-a]", "bad-class-range", 1, 5),
        ("rust", "", r"\p{InGreek}", "unknown-property", 0, 11),
        ("rust", "", r"\p{posix_digit}", "unknown-property", 0, 15),
        ("ecma", "", r"\p{Greek}", "unknown-property", 0, 9),
        ("ecma", "", r"\p{letter}", "unknown-property", 0, 10),
        ("ecma", "", r"\p{gc=Foo}", "unknown-property", 0, 10),
        ("ecma", "", r"\p{foo=L}", "unknown-property", 0, 9),
        ("python", "", "a(?i)b", "misplaced-flags", 1, 5),
        ("python", "", "(?-i)b", "misplaced-flags", 0, 5),
        ("python", "L", "ab", "bad-flag", 2, 2),
        ("python", "au", "ab", "bad-flag", 2, 2),
        ("ecma", "uv", "ab", "bad-flag", 2, 2),
        ("ecma", "x", "ab", "bad-flag", 2, 2),
        ("rust", "", "(?R)a", "recursion", 0, 4),
        ("rust", "", "(?iR)a", "bad-flag", 3, 4),
        ("python", "", "(?i-i:a)", "bad-flag", 0, 6),
        ("python", "", "(?au:a)", "bad-flag", 0, 5),
        ("python", "", "(?-:a)", "bad-flag", 0, 4),
        ("python", "", "(?-a:a)", "bad-flag", 3, 4),
        ("python", "", "(?<>a)", "bad-group-name", 3, 3),
        ("python", "", "(?|a|b)", "bad-group", 0, 3),
        ("ecma", "", "[[:alpha:]]", "posix-class", 1, 10),
        ("ecma", "v", "[a&&b--c]", "set-syntax", 0, 9),
        ("ecma", "v", "[a-z&&b]", "set-syntax", 0, 8),
        ("ecma", "v", "[(]", "set-syntax", 1, 2),
        ("ecma", "v", "[!!]", "set-syntax", 1, 3),
        ("ecma", "v", r"[\q{ab}]", "set-syntax", 1, 7),
        ("rust", "", "(?!a)b", "lookahead", 0, 5),
        ("rust", "", "(?<=a)b", "lookbehind", 0, 6),
        ("ecma", "", "(?<=a)*b", "nothing-to-repeat", 6, 7),
        ("ecma", "u", "(?=a)*a", "nothing-to-repeat", 5, 6),
        ("python", "", "(?P<n>.)(?P=n)", "backreference", 8, 14),
        ("python", "", r"(?P<n>.)\g<n>", "backreference", 8, 13),
        ("ecma", "", r"(?<n>.)\k<n>", "backreference", 7, 12),
        ("rust", "", r"(.)\1", "backreference", 3, 5),
        ("python", "", "(?&x)", "recursion", 0, 5),
        ("python", "", "(?P>x)", "recursion", 0, 6),
        ("python", "", "(a)?(?(1)b|c)", "conditional", 4, 9),
        ("python", "", "a?+", "possessive", 0, 3),
        ("rust", "", r"(?-u)\W", "non-utf8", 5, 7),
        ("rust", "", "(?-u)[^a]", "non-utf8", 5, 9),
        ("rust", "", "(?-u)[é]", "non-utf8", 6, 7),
        ("rust", "", r"(?-u)\xff", "non-utf8", 5, 9),
        ("rust", "", r"(?-u)\pL", "non-utf8", 5, 8),
    ],
)
def test_places(dialect: DialectName, flags: str, pattern: str, code: str, start: int, end: int) -> None:
    assert refusals(pattern, dialect, flags) == [(f"regex-{code}", start, end)]


def test_all_problems_come_at_once_in_the_order_of_the_pattern() -> None:
    assert refusals(r"(a|[z-a]\y*+(?>b{3,1})", "python") == [
        ("regex-unclosed-group", 0, 1),
        ("regex-reversed-range", 4, 7),
        ("regex-bad-escape", 8, 10),
        ("regex-possessive", 8, 12),
        ("regex-atomic-group", 12, 22),
        ("regex-bad-counts", 16, 21),
    ]


def test_refused_in_a_search_as_well() -> None:
    assert refusals(r"^(.)\1", "ecma", context="search") == [("regex-backreference", 4, 6)]


def test_a_span_places_the_pattern_in_a_larger_source() -> None:
    source = Source("x.lark", 'start: "a"\nWORD: /a(b/\n')
    with pytest.raises(GrammarError) as caught:
        parse_regex("a(b", span=Span(source, 18, 21))
    assert str(caught.value) == "\n".join(
        [
            "error[regex-unclosed-group]: this group is never closed",
            "  --> x.lark:2:9",
            "2 | WORD: /a(b/",
            "  |         ^",
            "  help: add `)`",
        ]
    )


def test_the_source_has_a_name() -> None:
    with pytest.raises(GrammarError, match=r"--> schema\.json:1:1"):
        parse_regex("(", source_name="schema.json")


def test_a_file_full_of_problems_gives_a_hundred_of_them() -> None:
    assert len(refusals("\\y" * 1000, "python")) == 100


@pytest.mark.parametrize("part", [r"\p{Nothing}", r"[\p{Nothing}]", r"\ud800", "[b-a]"])
def test_what_is_wrong_twice_is_reported_twice(part: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_regex(f"{part}a{part}", dialect="python")
    first, second = [d.span.start for d in caught.value.diagnostics if d.span]
    assert second - first == len(part) + 1


def test_a_name_of_a_character_may_be_anything() -> None:
    assert ("regex-unknown-character", 0, 5) in refusals("\\N{\ud800}", "python")


@pytest.mark.parametrize("pattern", [r"\<a", r"a\>"])
def test_the_ends_of_words_have_escapes_in_rust_only(pattern: str) -> None:
    assert [code for code, _, _ in refusals(pattern, "ecma", "u")] == ["regex-bad-escape"]


FRAGMENTS = [
    *"aab()[]{}|*+?.^$,-01:=!<>dKs_&\n\xa0\ud800#é\\",
    "(?",
    "(?:",
    "[^",
    "{1,",
    "{2}",
    "{ 2 , 3 }",
    "[a-",
    "(?P<",
    "(?<",
]
FRAGMENTS += [
    "(?<n>",
    "(?i",
    "(?x)",
    "(?-u:",
    "(?#",
    "(?R)",
    "(?1)",
    "(?(1)",
    "(?P=n)",
    "(?>",
    "[:alpha:]",
    "[[:^digit:]]",
    "&&",
]
FRAGMENTS += [
    r"\x41",
    r"\x4",
    r"\u{61}",
    r"\uD83D\uDE00",
    r"\U0001F600",
    r"\p{Lu}",
    r"\P{^L}",
    r"\pL",
    r"\N{BULLET}",
    r"\N{",
    r"\k<n>",
]
FRAGMENTS += [
    r"\012",
    r"\400",
    r"\1",
    r"\cA",
    r"\c",
    r"\q{ab}",
    r"\b{start}",
    r"\A",
    r"\Z",
    r"[\b]",
    r"\w",
    "--",
    "~~",
    "{99999999999}",
]


@pytest.mark.parametrize(
    ("dialect", "flags"),
    [
        ("python", ""),
        ("python", "ix"),
        ("rust", ""),
        ("rust", "x"),
        ("ecma", ""),
        ("ecma", "u"),
        ("ecma", "v"),
        ("ecma", "g?"),
    ],
)
def test_whatever_is_written_is_read_or_refused_by_places_in_it(dialect: DialectName, flags: str) -> None:
    source = random.Random(f"{dialect}/{flags}")
    for _ in range(1_500):
        pattern = "".join(source.choices(FRAGMENTS, k=source.randint(1, 10)))
        try:
            parse_regex(pattern, dialect=dialect, flags=flags)
        except GrammarError as error:
            for problem in error.diagnostics:
                assert problem.span is not None, pattern
                assert 0 <= problem.span.start <= problem.span.end <= len(pattern), pattern
        except LimitExceeded:
            assert len(pattern) > 10, pattern


def test_every_text_is_one_that_the_core_asks_for() -> None:
    core = Path(__file__).parents[2] / "cfgmask/core/pattern"
    written = {text for file in core.glob("*.cc") for text in re.findall(r'"([a-z0-9.-]+)"', file.read_text())}
    assert written >= set(TEXTS)
    assert {text for text in written if text.partition(".")[0] in {code.partition(".")[0] for code in TEXTS}} == set(
        TEXTS
    )
