"""Counted repetition under intersection and complement: what is empty at every count is found without counting."""

from __future__ import annotations

import pytest

import cfgmask

BYTES = cfgmask.Vocabulary.from_bytes(
    [bytes([b]) for b in range(256)] + [b"", b"foo", b"xfoo", b"oof"], eos_token_id=256
)


@pytest.mark.parametrize(
    ("terminal", "taken", "refused"),
    [
        ("/.{0,1000}/ & ~/.*foo.*/", b"afo", b"o"),
        ("/.{0,100000}/ & ~/.*foo.*/", b"fof", b"oo"),
        ("/(?s:.{0,500})/ & ~/(?s:.*)-->(?s:.*)/", b"a--", b">"),
        ("/[a-z ]{1,400}/ & ~/.*(foo|bar|bazinga).*/", b"bazing", b"a"),
        ("(/.*foo.*/ & ~/.*bar.*/) | (/.*bar.*/ & ~/.*foo.*/)", b"xfooba", b"r"),
    ],
)
def test_counts_do_not_have_to_be_walked(terminal: str, taken: bytes, refused: bytes) -> None:
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(f"start: A\nA: {terminal}\n"), BYTES).matcher()
    assert matcher.advance_bytes(taken) == len(taken)
    assert matcher.advance_bytes(refused) < len(refused)


def test_nothing_is_left_at_the_last_count() -> None:
    """Without counts this is not empty: the exact search decides."""
    grammar = cfgmask.Grammar.from_lark("start: A\nA: /a{0,3}/ & ~/a{0,2}/ & /a*b?/\n")
    matcher = cfgmask.compile(grammar, BYTES).matcher()
    assert matcher.forced_bytes() == b"aaa"
