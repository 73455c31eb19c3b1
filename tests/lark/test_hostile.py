"""Grammars from strangers: an error in bounded time, never another exception and never a hang."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfgmask import GrammarError, Limits
from cfgmask.lark import parse_lark
from tests.lark import fuzz
from tests.lark.test_diagnostics import sections
from tests.refusals import assert_refused, outcome

MEGABYTES = 1_000_000
_LIMITS = Limits()
_LETTERS = "abcdefghijklmnopqrsu"
_JUNK = random.Random(1).choices('abcXYZ|()[]{}:"/~<>%?*+ \n\t.,-_&!@', k=MEGABYTES)


def chain(end: str, n: int = 3_000) -> str:
    """`start` uses R0, which uses R1, and so on to the last one, which is `end`."""
    return "start: R0\n" + "".join(f"R{i}: R{i + 1}\n" for i in range(n)) + f"R{n}: {end}\n"


# Texts and the codes of what must be said about them; a limit by its name.
REFUSED = {
    "empty": ("", {"lark-empty"}),
    "blank": (" \n\t\r\n", {"lark-empty"}),
    "a byte order mark alone": ("\ufeff", {"lark-empty"}),
    "NUL": ("start: \x00", {"lark-not-text"}),
    "half a surrogate pair": ('start: "\ud800"', {"lark-not-text"}),
    "a binary file": (bytes(range(256)).decode("latin-1") * 100, {"lark-not-text"}),
    "too long": ("// " + "x" * 40 * MEGABYTES, "max_source_bytes"),
    "one long name": ("a" * 10 * MEGABYTES, {"lark-syntax", "lark-no-start"}),
    "one long line of quotes": ('"' * 10 * MEGABYTES, "max_source_bytes"),
    "too many tokens": ("start: " + '"a" ' * MEGABYTES, "max_source_bytes"),
    "printable junk": ("".join(_JUNK), {"lark-too-many-errors"}),
    "10,000 parentheses": ("start: " + "(" * 10_000 + '"a"' + ")" * 10_000, "max_nesting"),
    "10,000 brackets that stay open": ("start: " + "[" * 10_000, "max_nesting"),
    "10,000 objects": ("start: %json " + '{"not":' * 10_000 + "{}" + "}" * 10_000, "max_nesting"),
    "10,000 groups in a regex": ("start: /" + "(" * 10_000 + ")" * 10_000 + "/", "max_nesting"),
    "many complements": ("start: A\nA: " + "~" * 10_000 + '"a"', {"lark-syntax"}),
    "many operators": ('start: "a"' + "?" * 10_000, {"lark-syntax"}),
    "terminals nested by name": (
        "start: A0\n" + "".join(f'A{i}: "x" A{i + 1}\n' for i in range(300)) + 'A300: "x"',
        "max_nesting",
    ),
    "a long circle of terminals": (chain("R0"), {"lark-recursive-terminal"}),
    "a long name in a message": (f"start: {'x' * 100_000}", {"lark-bad-name"}),
    "a count of many digits": ('start: "a"{' + "9" * 100_000 + "}", {"lark-bad-count"}),
    "an option of many digits": ('%cfgmask {"lexer": ' + "9" * 100_000 + "}\n" + 'start: "a"', {"lark-bad-options"}),
    "10,000 brackets in options": (
        '%cfgmask {"a": ' + "[" * 10_000 + "]" * 10_000 + '}\nstart: "a"',
        {"lark-bad-options"},
    ),
    "10,000 brackets in a regex block": (
        'start: X\nX: %regex {"substring_words": ' + "[" * 10_000 + "]" * 10_000 + "}",
        {"lark-bad-regex-block"},
    ),
    "many unknown names": ("start: " + " ".join(f"x{i}" for i in range(5_000)), {"lark-too-many-errors"}),
    "many definitions of one name": ('start: "a"\n' * 5_000, {"lark-too-many-errors"}),
    "all orders of twenty arguments": (
        "start: t{" + ", ".join(f'"{letter}"' for letter in _LETTERS) + "}\n"
        "t{" + ", ".join(_LETTERS) + "}: t{" + ", ".join(_LETTERS[1] + _LETTERS[0] + _LETTERS[2:]) + "}"
        " | t{" + ", ".join(_LETTERS[1:] + _LETTERS[0]) + "}",
        "max_source_bytes",
    ),
    "templates that double": ('start: t{"a"}\nt{x}: t{u{x, x}} | "b"\nu{x, y}: x y', {"lark-endless-template"}),
    "a template in templates": ("start: " + "t{" * 190 + '"a"' + "}" * 190 + "\nt{x}: x", {"lark-endless-template"}),
    "many patterns with assertions": ("start: " + " | ".join(f"/a*?b{i}/" for i in range(40_000)), "max_rules"),
    "many patterns in blocks": (
        "start: "
        + " | ".join("%lark { start: " + " | ".join(f"/\\bb{i}/" for i in range(100)) + " }" for _ in range(400)),
        "max_rules",
    ),
    "only left-recursive": ('start: start "a"', {"lark-endless-rule"}),
}


def codes(text: str, limits: Limits = _LIMITS) -> set[str] | str:
    return outcome(lambda: parse_lark(text, limits=limits))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, expected = REFUSED[name]
    assert_refused(codes(text), expected)


ACCEPTED = {
    "a byte order mark": '\ufeffstart: "a"',
    "line breaks of Windows": 'start: "a"\r\n  | "b"\r\n',
    "no line break at the end": 'start: "a" // done',
    "parentheses as deep as the limit": "start: " + "(" * 200 + '"a"' + ")*" * 200,
    "a long chain of terminals": chain('"a"'),
    "terminals that double in length": "start: A0\n"
    + "".join(f"A{i}: A{i + 1} A{i + 1}\n" for i in range(150))
    + 'A150: "a"',
    "many rules": "start: r0\n" + "".join(f'r{i}: "a" r{i + 1}\n' for i in range(3_000)) + 'r3000: "b"',
    "patterns without regard to case": "start: " + " | ".join(f"/b{i}/i" for i in range(10_000)),
    "patterns with assertions": "start: " + " | ".join(rf"/\bb{i}\b/" for i in range(1_000)),
    "a large count": 'start: "a"{0,2147483647}',
    "substrings of a long text": 'start: %regex {"substring_chars": "' + "ab c" * 25_000 + '"}',
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name: str) -> None:
    assert codes(ACCEPTED[name]) == set()


def test_all_errors_are_reported_up_to_a_bound() -> None:
    with pytest.raises(GrammarError) as caught:
        parse_lark("start: " + " ".join(f"x{i}" for i in range(5_000)))
    assert len(caught.value.diagnostics) == 101
    assert caught.value.diagnostics[-1].code == "lark-too-many-errors"


def test_limits_are_those_given() -> None:
    assert codes('start: (("a"))', Limits(max_nesting=1)) == "max_nesting"
    assert codes('start: "a"', Limits(max_source_bytes=9)) == "max_source_bytes"


def test_blocks_of_one_grammar_spend_together() -> None:
    blocks = "".join(f'| %json {{"const": {n}}}' for n in range(100))
    assert codes(f'start: "a"{blocks}') == set()
    assert codes(f'start: "a"{blocks}', Limits(max_rules=10_000)) == "max_rules"


def test_json_in_blocks_takes_one_token() -> None:
    limits = Limits(max_source_bytes=12_800)
    numbers, strings = ", ".join(["1"] * 1_000), '"a" ' * 1_000
    assert codes(f'start: %json {{"enum": [{numbers}]}} "b"\n', limits) == set()
    assert codes(f"start: %lark {{start: {strings}}}", limits) == "max_source_bytes"


_PIECES = [
    *'"/{}()[]|&~:\n\\%#?*+!., -_Aai@<>é1',
    *(
        "%json {",
        "->",
        "::",
        "<[",
        "<a>",
        "..",
        "%ignore ",
        "%import common.",
        "{1,2}",
        "~3",
        "%if ",
        "//",
        "\\x",
        '"a"',
    ),
    *("/b/i", "%lark {", "%regex {", "%cfgmask {", "0x1"),
]
_GRAMMARS = [grammar for _, grammar, _ in sections()]


@given(st.sampled_from(_GRAMMARS), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(_PIECES), st.integers(0, 3))))
def test_damaged_grammars_raise_nothing_else(grammar: str, damage: list[tuple[float, str, int]]) -> None:
    for place, piece, removed in damage:
        at = int(place * len(grammar))
        grammar = grammar[:at] + piece + grammar[at + removed :]
    codes(grammar)


@given(st.lists(st.sampled_from([*_PIECES, "start: ", "A: ", "\n"])).map("".join))
def test_junk_of_tokens_raises_nothing_else(text: str) -> None:
    codes(text)


def test_mutated_grammars_raise_nothing_else() -> None:
    """`python -m tests.lark.fuzz` reads more of them."""
    found = {fuzz.outcome(text) for text in fuzz.mutations(2_000, seed=1)}
    assert found >= {"read", "refused"}
