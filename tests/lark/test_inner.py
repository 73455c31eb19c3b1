"""Grammars that are handed over to another one, which uses them as `@name`."""

from __future__ import annotations

from typing import Any

import pytest

from cfgmask import Grammar, GrammarError, compile
from tests.lark.engine import VOCABULARY, accepts

BOTH = Grammar.from_regex("[ab]+")
SPACED = 'start: "x" "y"\n%ignore "_"'
NESTED = 'start: "(" @nested ")" | @leaf'
COMPLETE = '%cfgmask {"lexer": "complete"}\n'

# Grammar, what is handed over, texts in its language, texts that are not.
CASES: dict[str, tuple[str, dict[str, Any], list[str], list[str]]] = {
    "a grammar": ('start: "<" @in ">"', {"in": BOTH}, ["<a>", "<bab>"], ["<>", "<c>"]),
    "a text with ignored text of its own": (
        'start: "a" @in "b"\n%ignore " "',
        {"in": SPACED},
        ["a_x__y b", "axyb"],
        ["axy_b", "ax yb", "a xyb"],
    ),
    "a schema": ('start: "v=" @v ";"', {"v": {"enum": [1, "é"]}}, ["v=1;", 'v="é";'], ["v=2;"]),
    "a name twice": ("start: @in @in", {"in": 'start: "a" | "b"'}, ["ab", "bb"], ["a", "abb"]),
    "a name that is not used": ('start: "a"', {"in": "start: nothing"}, ["a"], ["b"]),
    "grammars that use each other": (
        "start: @nested",
        {"nested": NESTED, "leaf": Grammar.from_choices(["x"])},
        ["x", "((x))"],
        ["(x", "()"],
    ),
    "inside a block": ('start: %lark { start: @in "!" }', {"in": BOTH}, ["ab!"], ["!"]),
    "the other lexer": (
        COMPLETE + 'start: @in "b"',
        {"in": Grammar.from_lark(COMPLETE + "start: /[ab]+/")},
        ["ab"],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_language(name: str) -> None:
    text, grammars, accepted, refused = CASES[name]
    compiled = compile(Grammar.from_lark(text, grammars=grammars), VOCABULARY)
    assert [text for text in accepted if not accepts(compiled, text)] == []
    assert [text for text in refused if accepts(compiled, text)] == []


def reported(text: str, grammars: dict[str, Any]) -> str:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(text, name="g.lark", grammars=grammars)
    return "\n".join(diagnostic.render() for diagnostic in caught.value.diagnostics)


def test_problems_are_placed_in_the_text_that_has_them() -> None:
    assert reported('start: "a" @in', {"in": 'start: "b"\n  | c'}) == (
        "error[lark-unknown-rule]: there is no rule `c`\n  --> @in:2:5\n2 |   | c\n  |     ^"
    )


def test_both_grammars_have_one_lexer() -> None:
    assert reported("start: @in", {"in": Grammar.from_lark(COMPLETE + 'start: "a"')}) == (
        'error[lark-subgrammar-lexer]: the lexer of `@in` is "complete", and that of this grammar "longest"\n'
        "  --> g.lark:1:8\n1 | start: @in\n  |        ^^^\n"
        '  help: write `%cfgmask {"lexer": "complete"}`'
    )


def test_long_chains_and_deep_blocks_do_not_recurse() -> None:
    chain = {f"g{i}": f'start: "a" @g{i + 1}' for i in range(3_000)}
    Grammar.from_lark("start: @g0", grammars={**chain, "g3000": 'start: "b"'})
    deep = "start: " + "%lark { start: " * 21 + '"a"' + " }" * 21
    assert "lark-nested-too-deep" in reported(deep, {})


def test_other_values_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="the grammar 'in' must be a Grammar, a str or a schema, not int"):
        Grammar.from_lark("start: @in", grammars={"in": 3})  # type: ignore[dict-item]
