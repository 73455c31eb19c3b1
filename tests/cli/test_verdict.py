"""Where a text stops fitting, in bytes, characters, lines and columns."""

from __future__ import annotations

import cfgmask
from cfgmask.cli import verdict as verdicts
from cfgmask.cli.stand_in import stand_in_vocabulary
from cfgmask.cli.verdict import Verdict, judge


def examine(pattern: str, data: bytes) -> Verdict:
    grammar = cfgmask.Grammar.from_regex(pattern)
    return judge(cfgmask.compile(grammar, stand_in_vocabulary(grammar)), "text", data)


def test_accepted() -> None:
    verdict = examine("[a-z]+", b"abc")
    assert (verdict.outcome, verdict.offset, verdict.may_end) == ("accepted", 3, True)
    assert verdict.diagnostic() is None


def test_incomplete_says_what_must_come() -> None:
    verdict = examine("ab[0-9]cd", b"ab1")
    assert (verdict.outcome, verdict.offset, verdict.forced) == ("incomplete", 3, b"cd")


def test_refused_at_the_first_byte_that_does_not_fit() -> None:
    verdict = examine("[a-z\n]+", b"ab\ncd1e")
    assert (verdict.outcome, verdict.offset, verdict.start) == ("refused", 5, 5)
    assert (verdict.to_json()["line"], verdict.to_json()["column"]) == (2, 3)


def test_a_byte_within_a_character_is_shown_at_the_character() -> None:
    # U+20AC is e2 82 ac and U+20AD e2 82 ad: refused at their last byte.
    verdict = examine("é€", "é₭".encode())
    assert (verdict.offset, verdict.start) == (4, 1)


def test_what_is_not_utf8_is_counted_as_it_is_shown() -> None:
    verdict = examine("[a-z]+", b"ab\xff\xfe")
    assert (verdict.offset, verdict.start, verdict.source.text) == (2, 2, "ab\ufffd\ufffd")


def test_the_place_of_a_refusal_does_not_depend_on_chunks() -> None:
    text = b"a" * (2 * verdicts._CHUNK) + b"1"
    for cut in (0, 1, verdicts._CHUNK):
        verdict = examine("[a-z]*", text[cut:])
        assert (verdict.outcome, verdict.offset) == ("refused", len(text) - 1 - cut)


def test_a_line_break_too_many_is_named() -> None:
    diagnostic = examine("[a-z]+", b"abc\n").diagnostic()
    assert diagnostic is not None
    assert diagnostic.help == "it is accepted without the line break at its end"


def test_expectations_are_cut_but_for_the_end() -> None:
    verdict = Verdict(
        source=cfgmask.Source("text", ""),
        outcome="incomplete",
        offset=0,
        start=0,
        expected=tuple(f"T{number}" for number in range(20)),
        may_end=True,
        forced=b"",
    )
    assert verdict.expectation() == ("T0, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, 8 more or the end of the text")
