"""Grammars from strangers: an error in bounded time, never another exception and never a hang."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask import Limits
from cfgmask.gbnf import parse_gbnf
from tests.gbnf.test_diagnostics import SECTIONS
from tests.refusals import assert_refused, outcome

MEGABYTES = 1_000_000
_LIMITS = Limits()
_JUNK = random.Random(1).choices('abcXYZ|()[]{}:="<>!?*+ \n\t.,-_#\\^', k=MEGABYTES)

# Texts and the codes of what must be said about them; a limit by its name.
REFUSED = {
    "blank": (" \n\t\r\n", {"gbnf-empty"}),
    "a byte order mark alone": ("\ufeff", {"gbnf-empty"}),
    "half a surrogate pair": ('root ::= "\ud800"', {"gbnf-not-text"}),
    "a binary file": (bytes(range(256)).decode("latin-1") * 100, {"gbnf-not-text"}),
    "too long": ("# " + "x" * 40 * MEGABYTES, "max_source_bytes"),
    "one long name": ("a" * 10 * MEGABYTES, {"gbnf-syntax"}),
    "one long line of quotes": ('"' * 10 * MEGABYTES, "max_source_bytes"),
    "too many tokens": ("root ::= " + '"a" ' * MEGABYTES, "max_source_bytes"),
    "a class of too many characters": ("root ::= [" + "ab" * 3 * MEGABYTES + "]", "max_source_bytes"),
    "a string of too many escapes": ('root ::= "' + r"\n" * 3 * MEGABYTES + '"', "max_source_bytes"),
    "printable junk": ("".join(_JUNK), {"gbnf-too-many-errors"}),
    "many open classes": ("[\n" * MEGABYTES, {"gbnf-too-many-errors"}),
    "10,000 parentheses": ("root ::= " + "(" * 10_000 + '"a"' + ")" * 10_000, "max_nesting"),
    "10,000 parentheses that stay open": ("root ::= " + "(" * 10_000, "max_nesting"),
    "a long name that is not defined": (f"root ::= {'x' * 100_000}", {"gbnf-unknown-rule"}),
    "a count of many digits": ('root ::= "a"{' + "9" * 100_000 + "}", {"gbnf-bad-count"}),
    "an id of many digits": ("root ::= <[" + "9" * 100_000 + "]>", {"gbnf-bad-token"}),
    "many unknown names": ("root ::= " + " ".join(f"x{i}" for i in range(5_000)), {"gbnf-too-many-errors"}),
    "many definitions of one name": ('root ::= "a"\n' * 5_000, {"gbnf-too-many-errors"}),
    "a long circle": (
        "root ::= x0\n" + "".join(f'x{i} ::= "a" x{i + 1}\n' for i in range(3_000)) + "x3000 ::= x0",
        {"gbnf-endless-rule"},
    ),
}


def codes(text: str, limits: Limits = _LIMITS) -> set[str] | str:
    return outcome(lambda: parse_gbnf(text, limits=limits))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, expected = REFUSED[name]
    assert_refused(codes(text), expected)


ACCEPTED = {
    "a long string": 'root ::= "' + "ab" * 3 * MEGABYTES + '"',
    "parentheses as deep as the limit": "root ::= " + "(" * 200 + '"a"' + ")*" * 200,
    "a long chain of rules": "root ::= r0\n" + "".join(f"r{i} ::= r{i + 1}\n" for i in range(3_000)) + 'r3000 ::= "a"',
    "rules that double in length": "root ::= r0\n"
    + "".join(f"r{i} ::= r{i + 1} r{i + 1}\n" for i in range(150))
    + 'r150 ::= "a"',
    "many rules": "root ::= r0\n" + "".join(f'r{i} ::= [a-z]+ "," r{i + 1}\n' for i in range(3_000)) + 'r3000 ::= "b"',
    "many alternatives": "root ::= " + " | ".join(f'"x{i}"' for i in range(20_000)),
    "many rules that begin alike": "root ::= ("
    + " | ".join(f"x{i}" for i in range(500))
    + ")*\n"
    + "".join(f"x{i} ::= [a-z]+ [0-9]{{{i}}}\n" for i in range(500)),
    "a large count": 'root ::= "a"{0,2147483647}',
    "counts of counts": 'root ::= "a"' + "{1000}" * 20,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    assert codes(ACCEPTED[name]) == set()


def test_limits_are_those_given() -> None:
    assert codes('root ::= (("a"))', Limits(max_nesting=1)) == "max_nesting"
    assert codes('root ::= "a"', Limits(max_source_bytes=9)) == "max_source_bytes"


_PIECES = [
    *'"[]{}()|<>!\n\\#?*+.-_^Aa1é ',
    *("::=", "root", "root ::= ", "<[5]>", "<a>", "{1,2}", "\\x", '"a"', "[a-z]"),
]
_GRAMMARS = [section.text for section in SECTIONS]


@given(st.sampled_from(_GRAMMARS), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(_PIECES), st.integers(0, 3))))
def test_damaged_grammars_raise_nothing_else(grammar: str, damage: list[tuple[float, str, int]]) -> None:
    for place, piece, removed in damage:
        at = int(place * len(grammar))
        grammar = grammar[:at] + piece + grammar[at + removed :]
    codes(grammar)


@given(st.lists(st.sampled_from([*_PIECES, "x ::= "])).map("".join))
def test_junk_of_tokens_raises_nothing_else(text: str) -> None:
    codes(text)
