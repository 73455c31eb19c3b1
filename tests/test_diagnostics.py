"""How diagnostics are shown: one line of the source, carets below, nothing that a terminal would obey."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask.diagnostics import Diagnostic, Related, Source, Span, visible
from cfgmask.errors import LimitExceeded


def shown(text: str, start: int, end: int, name: str = "x.json") -> list[str]:
    """The three lines that show a span."""
    return Diagnostic("code", "message", Span(Source(name, text), start, end)).render().split("\n")[1:]


@pytest.mark.parametrize(
    ("text", "start", "end", "line", "carets"),
    [
        ("one\ntwo\nthree", 4, 7, "2 | two", "  | ^^^"),
        ("one\r\ntwo\r\n", 5, 8, "2 | two", "  | ^^^"),
        ("one\ntwo", 3, 4, "1 | one", "  |    ^"),
        ("one", 3, 3, "1 | one", "  |    ^"),
        ("", 0, 1, "1 | ", "  | ^"),
        ("one\ntwo", 1, 6, "1 | one", "  |  ^^"),
        ("\ta\tb", 3, 4, "1 | \ta\tb", "  | \t \t^"),
        ("\x1b[2Jab", 4, 5, r"1 | \x1b[2Jab", "  |        ^"),
        ("a\x00b", 1, 2, r"1 | a\x00b", "  |  ^^^^"),
        ("a\x1b\u202eb\u200b", 1, 4, r"1 | a\x1b\u202eb\u200b", "  |  ^^^^^^^^^^^"),
        ("a\rb", 2, 3, r"1 | a\rb", "  |    ^"),
        ("\ud800x", 1, 2, r"1 | \ud800x", "  |       ^"),
    ],
)
def test_the_line_and_the_carets_below_it(text: str, start: int, end: int, line: str, carets: str) -> None:
    assert shown(text, start, end)[1:] == [line, carets]


def test_long_lines_are_cut_around_the_place() -> None:
    place, line, carets = shown("a" * 1_000 + "b" + "c" * 1_000, 1_000, 1_001)
    assert place == "  --> x.json:1:1001"
    assert len(line) < 130
    assert line[carets.index("^")] == "b"


def test_long_pointers_are_cut_to_their_ends() -> None:
    rendered = Diagnostic("code", "message", pointer="/properties/" + "a" * 100_000 + "/minimum").render()
    assert len(rendered) < 400
    assert "/properties/aaa" in rendered
    assert rendered.endswith("aaa/minimum")


HOSTILE = "\x1b]0;x\x07\x9b2J\u202e\u2028\n\r\t\ud800\x7f"


def test_every_part_is_shown_without_its_control_characters() -> None:
    span = Span(Source(f"n{HOSTILE}", f"{HOSTILE}t"), 0, 3)
    diagnostic = Diagnostic(
        "code", f"m{HOSTILE}", span, f"/p{HOSTILE}", related=(Related(span, f"r{HOSTILE}"),), help=f"h{HOSTILE}"
    )
    assert_harmless(diagnostic.render())
    assert_harmless(str(LimitExceeded("max_nesting", 1, f"at /{HOSTILE}")))
    assert diagnostic.to_json()["message"] == f"m{HOSTILE}"


@given(st.text(), st.text(), st.integers(0, 20), st.integers(0, 20))
def test_no_text_reaches_the_terminal_raw(text: str, name: str, start: int, length: int) -> None:
    start = min(start, len(text))
    place, line, carets = shown(text, start, start + length, name)
    assert_harmless("\n".join((place, line, carets)))
    assert set(carets[carets.index("|") + 1 :]) <= set(" \t^")
    assert carets.endswith("^")
    if start < len(text) and text[start] != "\n" and len(text) < 100 and not text[: start + 1].endswith("\r"):
        assert line[carets.index("^") :].startswith(visible(text[start]).replace("\\t", "\t"))


def assert_harmless(rendered: str) -> None:
    assert [c for c in rendered if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") and c not in "\n\t"] == []
