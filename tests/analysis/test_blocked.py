"""Texts that `lexer: complete` takes and longest match rejects: that they are found, are such, and what to write."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings

import cfgmask
from cfgmask.analysis import find, without_superseded
from cfgmask.analysis.blocked import Blocked, find_blocked
from cfgmask.analysis.findings import LIMITS, QUICK
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.sets import Sets
from cfgmask.analysis.shortest import Shortest
from cfgmask.compiler.byte_vocabulary import byte_vocabulary
from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import GrammarIR
from cfgmask.regex.algebra import RegexAlgebra
from tests.oracle import Oracle
from tests.strategies import GrammarShape, Problem, discards_undecided, problems

LONGEST = GrammarShape(token_sets=False, priorities=False, lexers=("longest",))

# A grammar, a text that was rejected, and what was to be written instead.
NAMED = {
    "a comment in white space": (
        'start: "a" "/" "b"\n%ignore /[ ]+(\\/\\*[^*]*\\*\\/)?/',
        "a / b",
        'start: "a" "/" "b"\n%ignore /[ ]+/\n%ignore /\\/\\*[^*]*\\*\\//',
    ),
    "two strings in a line": (
        'start: /".*"/ "," /".*"/',
        '"",""',
        'start: /"[^"\\n]*"/ "," /"[^"\\n]*"/',
    ),
    "two strings and white space": (
        'start: STRING "," STRING\nSTRING: /".*"/\n%ignore " "',
        '"" , ""',
        'start: STRING "," STRING\nSTRING: /"[^"\\n]*"/\n%ignore " "',
    ),
    "words that begin alike": (
        'start: ("list" | "listen") "ed"',
        "listed",
        'start: BOTH | "listen" "ed"\nBOTH: "list" "ed"',
    ),
    "a range": (
        'start: NUM ".." NUM\nNUM: /[0-9]+(\\.[0-9]*)?/',
        "1..1",
        'start: BOTH NUM\nBOTH: NUM ".."\nNUM: /[0-9]+(\\.[0-9]*)?/',
    ),
    "a range and white space": (
        'start: NUM ".." NUM\nNUM: /[0-9]+(\\.[0-9]+)?/\n%ignore " "',
        "1.. 0",
        'start: BOTH NUM\nBOTH: NUM " "* ".."\nNUM: /[0-9]+(\\.[0-9]+)?/\n%ignore " "',
    ),
    "a comment that begins with white space": (
        'start: "a" "\\n" "b"\n%ignore " "\n%ignore /\\s*#[^\\n]*/',
        "a \nb",
        'start: "a" "\\n" "b"\n%ignore " "\n%ignore /#[^\\n]*/',
    ),
    "Lark's own comments": (
        'start: "%ignore" REGEX\nREGEX: /\\/[a-z]+\\//\nCOMMENT: /\\s*/ "//" /[^\\n]/*\n%ignore " "\n%ignore COMMENT',
        "%ignore /x/",
        'start: "%ignore" REGEX\nREGEX: /\\/[a-z]+\\//\nCOMMENT: "//" /[^\\n]/*\n%ignore " "\n%ignore COMMENT',
    ),
    "line breaks and what indents": (
        'start: "a" "b"\n%ignore "\\n"\n%ignore /[ ]+/\n%ignore /\\s*#[^\\n]*/',
        "a \nb",
        'start: "a" "b"\n%ignore "\\n"\n%ignore /[ ]+/\n%ignore /#[^\\n]*/',
    ),
    "comments to the last end": (
        'start: "a" "b" "a"\n%ignore /\\/\\*.*\\*\\//s\n%ignore " "',
        "a b /**/ a",
        'start: "a" "b" "a"\n%ignore /\\/\\*(?:(?!\\*\\/).)*\\*\\//s\n%ignore " "',
    ),
}

FINE = {
    "words run together": 'start: "if" NAME "then" NAME\nNAME: /[a-z]+/\n%ignore " "',
    "numbers run together": 'start: NUM NUM\nNUM: /[0-9]+(\\.[0-9]+)?/\n%ignore " "',
    "signs run together": 'start: sum\nsum: sum "-" unary | unary\nunary: "-" unary | "x" "--"?\n%ignore " "',
    "generics": 'start: type\ntype: "T" ["<" type ">"]\nOTHER: "x"\n%ignore /[ \\n]+/\n%ignore OTHER',
    "a member of a number": 'start: (NUM | NAME) ("." NAME)*\nNUM: /[0-9]+(\\.[0-9]*)?/\nNAME: /[a-z]+/\n%ignore " "',
    "division and comments": (
        'start: NAME ("/" NAME)*\nNAME: /[a-z]+/\n%ignore /[ \\n]+/\n%ignore /\\/\\/[^\\n]*/\n'
        "%ignore /\\/\\*(?:(?!\\*\\/).)*\\*\\//s"
    ),
    "comments to the end of the line": "start: NAME+\nNAME: /[a-z]+/\n%ignore /[ \\n]+/\n%ignore /#.*/",
    "lines": 'start: (NAME "=" NAME NL)*\nNAME: /[a-z]+/\nNL: /[ ]*\\n/\n%ignore /[ ]+/',
    "strings of two kinds": 'start: (A | B)+\nA: /"([^"\\\\]|\\\\.)*"/\nB: /\'[^\']*\'/\n%ignore " "',
    "words that have a priority": 'start: IF NAME | NAME "=" NAME\nIF.2: "if"\nNAME: /[a-z]+/\n%ignore " "',
    "lazy rules": "start: (call | TEXT)*\ncall[lazy]: /[\\s\\S]*<call>/\nTEXT: /[\\s\\S]+/",
    "every cut counts": 'start: ("list" | "listen") "ed"\n%cfgmask {"lexer": "complete"}',
}


def blocked_in(ir: GrammarIR) -> Blocked | None:
    flat = Flat(ir, RegexAlgebra(LIMITS))
    return find_blocked(flat, Sets(flat), Shortest(flat), QUICK.n_lexemes)


def takes(ir: GrammarIR, text: bytes) -> bool:
    matcher = cfgmask.compile(ir, byte_vocabulary(ir)).matcher()
    return matcher.advance_bytes(text) == len(text) and matcher.is_accepting


def findings(grammar: cfgmask.Grammar) -> tuple[Diagnostic, ...]:
    return find(grammar.ir, cfgmask.compile(grammar, byte_vocabulary(grammar.ir)))


@pytest.mark.parametrize("name", NAMED)
def test_what_people_meet_is_found(name: str) -> None:
    grammar, text, better = NAMED[name]
    ir = cfgmask.Grammar.from_lark(grammar).ir
    found = blocked_in(ir)
    assert found is not None
    assert found.text == text.encode()
    assert takes(replace(ir, lexer="complete"), found.text)
    assert not takes(ir, found.text)
    mended = cfgmask.Grammar.from_lark(better).ir
    assert takes(mended, found.text)
    assert blocked_in(mended) is None


@pytest.mark.parametrize("name", FINE)
def test_well_made_grammars_are_left_alone(name: str) -> None:
    grammar = cfgmask.Grammar.from_lark(FINE[name])
    assert blocked_in(grammar.ir) is None
    assert [note.code for note in grammar.notes if note.code.startswith("lark-")] == []


def test_what_to_write_is_right() -> None:
    """The statements in the help for ignored text, put in place of the one that is shown."""
    for name in ("a comment in white space", "a comment that begins with white space"):
        grammar = NAMED[name][0]
        (found,) = [f for f in findings(cfgmask.Grammar.from_lark(grammar)) if f.code == "grammar-blocked-text"]
        assert found.span is not None
        statements = re.findall(r"`(%ignore [^`]*)`", found.help or "")
        line = grammar[: found.span.start].count("\n")
        lines = grammar.split("\n")
        lines[line : line + 1] = statements
        assert blocked_in(cfgmask.Grammar.from_lark("\n".join(lines)).ir) is None


def test_reading_notes_what_is_cheap_and_check_says_it_once() -> None:
    grammar = cfgmask.Grammar.from_lark(NAMED["a comment in white space"][0])
    assert [note.code for note in grammar.notes] == ["lark-ignored-text"]
    found = findings(grammar)
    assert [f.code for f in found] == ["grammar-blocked-text"]
    assert without_superseded(grammar.notes, found) == ()
    assert without_superseded(grammar.notes, ()) == grammar.notes


@given(problems(LONGEST))
@settings(max_examples=20)
@discards_undecided
def test_a_blocked_text_is_one(problem: Problem) -> None:
    """By the oracle, in both modes."""
    try:
        found = blocked_in(problem.ir)
    except (GrammarError, LimitExceeded):
        return
    if found is None:
        return
    complete = Oracle(replace(problem.ir, lexer="complete"), [b""] * 64)
    state = complete.step_bytes(complete.initial, found.text)
    assert state
    assert complete.is_accepting(state)
    state = problem.oracle.step_bytes(problem.oracle.initial, found.text)
    assert not state or not problem.oracle.is_accepting(state)
    assert bool(problem.oracle.step_bytes(problem.oracle.initial, found.text[: found.n_taken]) or not found.n_taken)
