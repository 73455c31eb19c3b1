"""Masks of grammars in extended Lark, against trying every token by itself."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask import GrammarError, LimitExceeded, Limits
from cfgmask.lark import parse_lark
from tests.lark.engine import allowed, tried
from tests.lark.fuzz import LIMITS

SHIPPED = Path(__file__).resolve().parents[2] / "grammars"
# Every byte, and some tokens that cross lexemes.
TOKENS = [
    *(bytes([i]) for i in range(256)),
    *(
        b"ab",
        b"aa",
        b"a b",
        b"a,b",
        b'"a"',
        b" (",
        b") ",
        b"\n  ",
        b"1.5",
        b"select ",
        b"SELECT",
        b"\xc3\xa9",
        b"// x\n",
    ),
    b"",
]
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
GRAMMARS_TRIED = {
    "a string": 'start: "ab"',
    "a string without case": 'start: "Kıas-1"i "é"i',
    "escapes": 'start: "a\\n\\t\\r\\f\\\\\\"b" | A\nA: "\\\\" "\\""',
    "nothing": 'start: "" | "a" (| "b") ()',
    "a pattern": "start: /a[b-d]+x{2,3}|(?:y|z)*w/",
    "flags": "start: /a.b/s /[^a]./u",
    "a pattern for Python": r"start: /\w+\d/ /a/i /(?P<x>é)/ /\s/",
    "assertions inside": r"start: /a(?!b)[a-z]c/ /x\b,y/ /(?:z|(?=w)[v-x])u/",
    "a slash in a pattern": r"start: /a\/b/",
    "a range": 'start: "a".."c" "é".."ü"',
    "a range around the surrogates' plane": 'start: A\nA: "\uffee".."\U0001f600"',
    "quantifiers": 'start: "a"? "b"* "c"+ ("d" "e"){2} ["f"] "g"~2 "h"~1..3 "i"{,2} "j"{ 1 , } "k"{1,1} ("l"?)*',
    "counts of counts": 'start: (("a"{2}){3}){4} ("b"+)?',
    "groups": 'start: ("a" | "b" ("c" | "d")+) ("e")',
    "groups in groups": 'start: "x" (("a" | "b") ("c" | ("d" | "e") "f")) ("g" | ("h" "i")) "j"\n%ignore / /',
    "aliases": 'start: "a" -> one | "b" -> two',
    "modifiers": '?start: a\n!a: "x" b\n?b: "y"',
    "rules": 'start: a b\na: "x" a | "x"\nb: a? "y"',
    "left recursion": 'start: start "+" start | /[0-9]+/',
    "names with hyphens": "start: a-b\na-b: A-B\nA-B: /x/",
    "terminals": 'start: A B\nA: B "c"\nB: C+ | "d"\nC: /[ef]/',
    "terminals behind their uses": 'start: A\nA: B\nB: "b"',
    "equal terminals": 'start: A "a" /a/ B "a"\nA: "a"\nB: "a"',
    "operators on terminals": 'start: A\nA: /[a-z]+/ & ~B & ~("c" | "d"+)\nB: "if" | "else"',
    "ignored text": 'start: "a" "b"+\n%ignore " "\n%ignore /#[^\\n]*/\n%ignore " "',
    "an ignored terminal": 'start: "a" WS "b" | "c"+\nWS: / +/\n%ignore WS',
    "imports": "start: INT | NAME | STRING | FLOAT\n%import common.INT\n%import common.CNAME -> NAME\n"
    "%import common.ESCAPED_STRING -> STRING\n%import common (FLOAT, WS)\n%ignore WS",
    "an import beside a name of its own": 'start: INT DIGIT\nDIGIT: "x"\n%import common.INT',
    "priorities": 'start: A | B "x" | "ab" /c+/ "d".."e" | C | D | E\nA.2: "ab"\nB: /[a-z]+/\nC.3: /c+/\n'
    'D.-1: "d".."e"\nE. +1: ("ab")',
    "a priority of a rule": 'start: a\na.2: "x"',
    "parameters": 'start: a::0\na::_: "x" a::incr([0:3]) %if lt([0:3], 5)\n    | "y" %if ge([0:3], 2)\n'
    "    | b::_ %if is_zeros(_)\n"
    'b::_: ("z" | "w" b::set_bit(3)) %if bit_clear(3)\n    | "v" (| "u" b::bit_and(0x0f)) %if not(bit_clear(3))',
    "conditions": 'start: a::3 | a::0xff\na::_: "1" %if and(lt(_, 9), or(eq([0:2], 3), bit_count_ge([0:8], 8)), true)\n'
    '   | "2" %if is_ones([0:2]) | "3" %if ne(_, 3) | "4" a::bit_or(0x10) %if and(bit_set(0), le(_, 3), gt(_, 2))\n'
    '   | "5" a::decr(_) %if not(eq(_, 0)) | "6" a::clear_bit(4) | "7" a::_ %if true() | "8" (b::_)\nb::_: "y"',
    "options": 'start: "a" "b"+ /[a-z]/\n%ignore " "\n%cfgmask {"ignore_once": true, "ignore_initial": false}\n'
    '%cfgmask {"lexer": "complete"}',
    "other options": 'start: "a" "b"+\n%ignore " "\n%llguidance {"no_forcing": true, "ignore_once": true}\n'
    '%cfgmask {"ignore_final": false}',
    "special tokens": 'start: <[97]> | "a" <[98-100,257]> <[^98]>? "b" | <[97]> "c"',
    "any token": 'start: (<[*]> "x")+\n%ignore " "',
    "limits": 'start: a b? t "z"\na[max_tokens=2]: /[a-c]+/ "d"?\nb[max_tokens=3]: "x" c "y"\n'
    'c: "c"+ | "(" b ")"\nt[max_tokens=1]: T | "q"\nT: "q"+',
    "limits of lists": 'start: l "."\nl[max_tokens=6]: "[" (i ("," i)*)? "]"\ni[max_tokens=2]: /[0-9]+/\n%ignore " "',
    "a limit and tokens": 'start: t <[97]> a | a t\nt[max_tokens=2]: /[^ ]*/\na[max_tokens=3]: <[98]> "c"+ a?',
    "a limit and every segmentation": 'start: t "a" t?\nt[max_tokens=2]: /[a-c]+/\n%cfgmask {"lexer": "complete"}',
    "a comment": 'start: "a" // x\n  # y\n  | "b" \\\n  "c"',
}


def check(text: str, seed: int, n_walks: int = 3, n_steps: int = 20, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
    """Random walks by the masks, each of which has the tokens that can come."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(text, limits=limits), VOCABULARY, limits)
    choose = random.Random(seed)
    for _ in range(n_walks):
        matcher = compiled.matcher()
        for _ in range(n_steps):
            may_come = allowed(matcher)
            assert may_come == tried(matcher), text
            if not may_come or matcher.is_finished:
                break
            matcher.advance(choose.choice(may_come))


@pytest.mark.parametrize("text", GRAMMARS_TRIED.values(), ids=GRAMMARS_TRIED)
def test_masks_have_the_tokens_that_can_come(text: str) -> None:
    check(text, seed=len(text))


@pytest.mark.parametrize(
    "name", ["arithmetic", "chess", "csv", "iso_date", "json", "markdown_table", "sql_select", "yaml"]
)
def test_masks_of_shipped_grammars(name: str) -> None:
    check((SHIPPED / f"{name}.lark").read_text(encoding="utf-8"), seed=1)


ATOMS = ['"a"', '"ab"', '"B"i', '""', '"a".."c"', "/[a-c]+/", "/a|b{2}/", "/./s", r"/\w/", "A", "B", "INT"]
USES = ["a", "b", "p::1", "p::_", "p::incr([0:2])"]
SETS = ["<[97]>", "<[98-99]>", "t"]
COUNTS = ["", "?", "*", "+", "{2}", "{1,2}", "~0..1"]
CONDITIONS = ["", " %if true", " %if lt([0:2], 3)", " %if or(bit_set(0), not(is_zeros(_)))"]


def bodies(atoms: list[str], operators: list[str], ends: list[str]) -> st.SearchStrategy[str]:
    counted = st.builds(str.__add__, st.sampled_from(atoms), st.sampled_from(COUNTS))
    groups = st.recursive(
        counted,
        lambda inner: st.builds(
            lambda brackets, parts, operator, count: f"{brackets[0]}{operator.join(parts)}{brackets[1]}{count}",
            st.sampled_from(["()", "[]"]),
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from(operators),
            st.sampled_from(["", "?"]),
        ),
        max_leaves=6,
    )
    alternatives = st.lists(st.builds(str.__add__, groups, st.sampled_from(ends)), min_size=1, max_size=3)
    return alternatives.map(" | ".join)


@given(
    bodies([*ATOMS, *USES[:3], *SETS], [" ", " | "], ["", " -> x"]),
    bodies([*ATOMS, *USES[:3], *SETS], [" ", " | "], [""]),
    bodies([*ATOMS, *USES], [" ", " | "], CONDITIONS),
    bodies([*ATOMS, "a", "<[97]>"], [" ", " | "], [""]),
    bodies(ATOMS[:9], [" ", " | ", " & ", " & ~"], [""]),
    st.sampled_from(["", '%cfgmask {"lexer": "complete"}', '%cfgmask {"ignore_once": true, "ignore_final": false}']),
    st.integers(0, 2**16),
)
def test_masks_of_random_grammars(a: str, b: str, p: str, t: str, terminal: str, options: str, seed: int) -> None:
    text = f"""
start: a | b | p::2 | A | B | INT | t "c"
?a: {a} | "a"
b.2: {b} | "b"
p::_: {p} | "c"
t[max_tokens=2]: {t} | "c"
A: {terminal}
B.1: "b"
%import common.INT
%ignore " "
{options}
"""
    with suppress(GrammarError, LimitExceeded):
        check(text, seed, n_walks=1, n_steps=8, limits=LIMITS)


def test_another_start() -> None:
    text = 'start: "a" other\nother: "b" start?'
    matcher = cfgmask.compile(cfgmask.Grammar.from_lark(text, start="other"), VOCABULARY).matcher()
    assert matcher.advance_bytes(b"bab") == 3
    assert matcher.is_accepting
    with pytest.raises(GrammarError, match="Start"):
        cfgmask.Grammar.from_lark(text, start="Start")


LIMITED = {
    "max_nesting": 'start: (((((((((("a"))))))))))',
    "max_source_bytes": "start: " + '"a" ' * 40,
    "max_rules": 'start: A "b" A\n%import common.INT -> A',
    "max_regex_nodes": "start: " + " ".join(f'"{number}"' for number in range(40)),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_limits_hold(limit: str) -> None:
    text, limits = LIMITED[limit], replace(Limits(), **{limit: 8})
    cfgmask.compile(cfgmask.Grammar.from_lark(text), VOCABULARY)
    # One that has made nothing of the grammar so far.
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    for read in (cfgmask.Grammar.from_lark, parse_lark):
        with pytest.raises(LimitExceeded) as caught:
            cfgmask.compile(read(text, limits=limits), vocabulary, limits)  # type: ignore[operator]
        assert caught.value.limit == limit


def test_a_grammar_without_texts_is_told_of_with_its_place() -> None:
    grammar = cfgmask.Grammar.from_lark('start: A\nA: "a" & "b"')
    with pytest.raises(GrammarError) as caught:
        cfgmask.compile(grammar, VOCABULARY)
    (problem,) = caught.value.diagnostics
    assert problem.code == "grammar-empty"
    assert problem.span is not None
    assert [related.span.text for related in problem.related] == ["A"]
