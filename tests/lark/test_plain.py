"""Plain grammars, which the core reads by itself, against what the stages of `cfgmask.lark` make of them."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import cfgmask
from cfgmask import GrammarError, LimitExceeded, Limits
from cfgmask.lark import PlainGrammar, parse_lark
from cfgmask.lark.plain import plain_grammar
from tests.lark import test_plain_schemas
from tests.lark.both_ways import allowed_by_all, compiled_both_ways
from tests.lark.fuzz import GRAMMARS, LIMITS, mutations

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
# Grammars that are plain, each for another reason: should one of them take the general way, the table is wrong.
PLAIN = {
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
# And grammars that are not, or that are to be warned of.
NOT_PLAIN = {
    "nothing at all": "",
    "no start": 'other: "a"',
    "a syntax error": "start: (",
    "an unknown name": "start: a",
    "two definitions": 'start: "a"\nstart: "b"',
    "a rule that never ends": 'start: start "a" | a "b"\na: a "c"',
    "an unused rule": 'start: "a"\nb: "b"',
    "an unused terminal": 'start: "a"\nB: "b"',
    "an unused import": 'start: "a"\n%import common.INT',
    "an unknown import": "start: X\n%import common.X",
    "an unknown module": "start: X\n%import nothing.X",
    "an imported rule": "start: suite\n%import python.suite",
    "a name of a module's": "start: common__INT X\ncommon__INT: /a/\n%import common.INT -> X",
    "recursion of terminals": 'start: A\nA: "a" A | "b"',
    "a rule in a terminal": 'start: A\nA: b\nb: "b"',
    "an operator in a rule": 'start: "a" & "b"',
    "an empty terminal": 'start: A "b"\nA: ""',
    "an empty pattern": "start: /(?:)/ /a/",
    "an empty ignore": 'start: "a"\n%ignore ""',
    "nothing on one side": 'start: A\nA: "a" & ',
    "a repeated complement": 'start: A\nA: ~"a"+',
    "no times": 'start: "a"{0} "b"',
    "a range the wrong way": 'start: "b".."a"',
    "a range of texts": 'start: "ab".."c"',
    "an unknown escape": r'start: "\d"',
    "a hexadecimal escape": r'start: "\x41"',
    "a lazy quantifier": "start: /a*?b/",
    "a set operation": "start: /[a-z&&b]/",
    "an assertion": r"start: /\bif\b/ /a/",
    "a look ahead": "start: /a(?=b)/ /b/",
    "a pattern of nothing": r"start: /a\bb/ /x/",
    "a class of nothing": r"start: /[^\s\S]/",
    "many assertions": "start: " + " ".join(f"/a(?!{letter})[a-z]c/" for letter in "abcdefghijklmnopq"),
    "a wrong pattern": "start: /(/",
    "a pattern with tokens": "start: /a(?P<TEXT_TOKEN>)/",
    "a wrong set of tokens": "start: <[3-1]>",
    "no token at all": "start: <[^*]>",
    "a limit of nothing": 'start: "b" a\na[max_tokens=0]: "a"?',
    "a limit twice": 'start: a\na[max_tokens=2, max_tokens=3]: "a"',
    "a limit without a number": 'start: a\na[max_tokens]: "a"',
    "a limit that is no number": 'start: a\na[max_tokens=2.5]: "a"',
    "another attribute": 'start: a\na[max_tokens=2, lazy]: "a"',
    "a limit of a terminal": 'start: A\nA[max_tokens=2]: "a"',
    "a limit and a parameter": 'start: a::0\na[max_tokens=2]::_: "a"',
    "a limit of the empty text": 'start: "b" a\na[max_tokens=2]: ""',
    "a token in a terminal": "start: A\nA: <[3]>",
    "a grammar inside": 'start: %lark { start: "a" }',
    "a regex of numbers": 'start: A\nA: %regex {"type": "integer"}',
    "a template": 'start: a{"b"}\na{x}: x',
    "attributes": 'start[lazy]: "a"',
    "a wrong option": 'start: "a"\n%cfgmask {"ignore_once": 1}',
    "an option twice": 'start: "a"\n%cfgmask {"ignore_once": true}\n%cfgmask {"ignore_once": true}',
    "an indenter": 'start: "a" _NEWLINE\n_NEWLINE: /\\n *\\/\n%cfgmask {"indenter": true}',
    "a declaration bound": 'start: A\n%declare A\n%cfgmask {"declared": {"A": "<a>"}}',
    "a declaration": "start: A\n%declare A",
    "an extension": "start: QUOTED_TEXT",
    "a parameter that is missing": 'start: a\na::_: "b"',
    "a parameter too many": 'start: a::0\na: "b"',
    "a parameter of nothing": 'start: a::_\na::_: "b"',
    "a condition on nothing": 'start: "b" %if eq(_, 0)',
    "an alias in a terminal": 'start: A\nA: "a" -> x | "b"',
    "a condition in a terminal": 'start: A\nA: "a" %if true | "b"',
    "a terminal with a parameter": "start: A::0\nA: /a/",
    "a parameter in a terminal": 'start: A\nA: B::0\nB: "b"',
    "a parameter in what is ignored": 'start: "a"\nB: "b"\n%ignore B::0',
    "many digits": f'start: a::{101 * "0"}\na::_: "b"',
    "a start with a parameter": 'start::_: "a"',
    "bits the wrong way": 'start: a::0\na::_: "b" %if eq([3:3], 0)',
    "a large number": f'start: a::{2**64}\na::_: "b"',
    "an unknown condition": 'start: a::0\na::_: "b" %if odd(_)',
    "a control character": 'start: "\x01"',
}


# What is warned of without being looked for when a plain grammar is read.
FOUND_ON_DEMAND = {"lark-ignored-text", "lark-lazy-end"}


def compare(text: str, seed: int, n_walks: int = 4, limits: Limits = Limits()) -> None:  # noqa: B008  # immutable
    """Random walks by the masks: these, what is said of tokens, and what is made on the way are the same."""
    grammar = cfgmask.Grammar.from_lark(text, limits=limits)
    plain, general = compiled_both_ways(grammar, TOKENS, limits)
    assert {note.code for note in grammar.notes} <= FOUND_ON_DEMAND
    choose = random.Random(seed)
    for _ in range(n_walks):
        matchers = [plain.matcher(), general.matcher()]
        for _ in range(25):
            may_come = allowed_by_all(matchers, text)
            token = choose.randrange(len(TOKENS))
            assert matchers[0].explain(token) == matchers[1].explain(token), text
            if not may_come or matchers[0].is_finished:
                break
            token = choose.choice(may_come)
            for matcher in matchers:
                matcher.advance(token)
        assert matchers[0].is_accepting == matchers[1].is_accepting
    counted = ("states", "item_sets", "items", "lexer_states", "masks")
    assert [plain.stats()[name] for name in counted] == [general.stats()[name] for name in counted], text


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_it_is_the_same_grammar(text: str) -> None:
    compare(text, seed=len(text))


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_is_not_plain_is_left_alone(text: str) -> None:
    assert plain_grammar(text, "start", Limits()) is None


@pytest.mark.parametrize(
    "name", ["arithmetic", "chess", "csv", "iso_date", "json", "markdown_table", "sql_select", "yaml"]
)
def test_shipped_grammars_are_plain(name: str) -> None:
    compare((SHIPPED / f"{name}.lark").read_text(encoding="utf-8"), seed=1)


def test_damaged_grammars() -> None:
    """Whatever is plain is read without a complaint, and comes to the same."""
    n_plain = 0
    for number, text in enumerate(mutations(6_000, seed=20)):
        if plain_grammar(text, "start", LIMITS) is None:
            continue
        n_plain += 1
        if "%json" in text:
            with suppress(GrammarError, LimitExceeded):
                test_plain_schemas.compare(text, seed=number, n_walks=2, n_steps=25)
            continue
        notes = parse_lark(text, limits=LIMITS).notes
        # That ignored text takes what follows it is seen from the terminals together; `Grammar.notes` says so anyway.
        assert {note.code for note in notes} <= {"lark-ignored-text"}, (text, notes)
        told = cfgmask.Grammar.from_lark(text, limits=LIMITS).notes
        assert [note.render() for note in told] == [note.render() for note in notes]
        try:
            compare(text, seed=number, n_walks=2, limits=LIMITS)
        except (GrammarError, LimitExceeded):
            continue
    assert n_plain > 200


def test_all_grammars_of_the_tests() -> None:
    texts = [text for several in GRAMMARS for text in several]
    plain = [text for text in texts if plain_grammar(text, "start", Limits()) is not None]
    assert len(plain) > 30
    for text in plain:
        if not names_far_tokens(text):
            (test_plain_schemas.compare if "%json" in text else compare)(text, seed=len(text))


def names_far_tokens(text: str) -> bool:
    plain = cfgmask.Grammar.from_lark(text).plain
    assert isinstance(plain, PlainGrammar)
    return any(high >= len(TOKENS) for tokens in plain.token_sets() for _, high in tokens.ranges)


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
def test_random_grammars(a: str, b: str, p: str, t: str, terminal: str, options: str, seed: int) -> None:
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
    is_plain = plain_grammar(text, "start", LIMITS) is not None
    event(f"plain: {is_plain}")
    if is_plain:
        with suppress(LimitExceeded):
            compare(text, seed, n_walks=2, limits=LIMITS)


def test_another_start() -> None:
    text = 'start: "a" other\nother: "b" start?'
    assert plain_grammar(text, "other", Limits()) is not None
    matcher = cfgmask.compile(
        cfgmask.Grammar.from_lark(text, start="other"), cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=269)
    ).matcher()
    assert matcher.advance_bytes(b"bab") == 3
    assert matcher.is_accepting
    assert plain_grammar(text, "Start", Limits()) is None


LIMITED = {
    "max_nesting": 'start: (((((((((("a"))))))))))',
    "max_source_bytes": "start: " + '"a" ' * 40,
    "max_rules": 'start: A "b" A\n%import common.INT -> A',
    "max_regex_nodes": "start: " + " ".join(f'"{number}"' for number in range(40)),
}


@pytest.mark.parametrize("limit", LIMITED)
def test_limits_hold(limit: str) -> None:
    text, limits = LIMITED[limit], replace(Limits(), **{limit: 8})
    assert plain_grammar(text, "start", Limits()) is not None
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    for read in (cfgmask.Grammar.from_lark, parse_lark):
        with pytest.raises(LimitExceeded) as caught:
            cfgmask.compile(read(text, limits=limits), vocabulary, limits)  # type: ignore[operator]
        assert caught.value.limit == limit


def test_a_grammar_without_texts_is_told_of_with_its_place() -> None:
    grammar = cfgmask.Grammar.from_lark('start: A\nA: "a" & "b"')
    assert grammar.plain is not None
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    with pytest.raises(GrammarError) as caught:
        cfgmask.compile(grammar, vocabulary)
    (problem,) = caught.value.diagnostics
    assert problem.code == "grammar-empty"
    assert problem.span is not None
    assert [related.span.text for related in problem.related] == ["A"]
