"""The option `indenter` gives the language of Lark's LALR parser with an `Indenter`."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput
from lark.indenter import DedentError, Indenter

import cfgmask
from tests.lark.engine import accepts, compiled

LINES = """
start: (line | _NL)*
line: NAME _NL | "!" NAME ":" _NL _INDENT line+ _DEDENT
NAME: /[a-z]+/
%declare _INDENT _DEDENT
"""


@dataclass(frozen=True)
class Case:
    grammar: str
    pieces: tuple[str, ...]
    longest: int
    opens: tuple[str, ...] = ()
    closes: tuple[str, ...] = ()
    tab_len: int = 2

    @property
    def options(self) -> str:
        brackets = f'"OPEN_PAREN_types": {[*self.opens]}, "CLOSE_PAREN_types": {[*self.closes]}'.replace("'", '"')
        return f'%cfgmask {{"indenter": {{"NL_type": "_NL", {brackets}, "tab_len": {self.tab_len}}}}}\n'

    def lark(self) -> Lark:
        def of(value: object) -> property:
            return property(lambda _: value)

        members = {
            "NL_type": of("_NL"),
            "OPEN_PAREN_types": of(self.opens),
            "CLOSE_PAREN_types": of(self.closes),
            "INDENT_type": of("_INDENT"),
            "DEDENT_type": of("_DEDENT"),
            "tab_len": of(self.tab_len),
        }
        return Lark(self.grammar, parser="lalr", postlex=type("Lines", (Indenter,), members)())


CASES = {
    "blocks": Case(LINES + "_NL: /(\\n *)+/", ("!a:", "b", "\n", " "), 7),
    "one line break a newline": Case(LINES + "_NL: /\\n[ \\t]*/", ("!a:\n", "b\n", "\n", " ", "\t"), 6),
    "line breaks of two characters": Case(LINES + "_NL: /(\\r?\\n *)+/", ("!a:", "b", "\r", "\n", " "), 6),
    "comments": Case(LINES + '_NL: (/\\n */ | /#[^\\n]*/)+\n%ignore /[ ]+/', ("!a:\n", "b\n", "\n", " ", "#c\n"), 6),
    "ignored comments too": Case(
        LINES + "_NL: (/\\n */ | COMMENT)+\nCOMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore / /",
        ("!", "a ", ":", "\n ", "#c\n", "b\n"),
        6,
    ),
    "brackets": Case(
        'start: (value _NL)+\nvalue: NAME | "(" value* ")"\nNAME: "a"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n',
        ("(", ")", "a", "\n", " "),
        6,
        ("LPAR",),
        ("RPAR",),
    ),
    "named brackets": Case(
        "start: (line | value _NL)+\nline: value _NL _INDENT start _DEDENT\nvalue: NAME | OPEN value* CLOSE\n"
        'NAME: "a"\nOPEN: /</\nCLOSE: ">"\n_NL: /(\\n *)+/\n%declare _INDENT _DEDENT\n%ignore " "\n',
        ("<", ">", "a", "\n", " "),
        6,
        ("OPEN",),
        ("CLOSE",),
    ),
    "brackets that the grammar does not pair": Case(
        'start: ("(" | ")" | "a" | _NL)*\n_NL: /\\n */\n%declare _INDENT _DEDENT\n',
        ("(", ")", "a", "\n"),
        6,
        ("LPAR",),
        ("RPAR",),
    ),
    "keywords": Case(
        'start: (NAME _NL | "if" NAME* _NL | NAME "." NAME _NL)+\nNAME: /[a-z]+/\n_NL: /\\n */\n%ignore " "\n'
        "%declare _INDENT _DEDENT\n",
        ("if", "a", ".", " ", "\n"),
        6,
    ),
}  # fmt: skip


def in_lark(parser: Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except (UnexpectedInput, DedentError, AssertionError):
        return False
    except IndexError:  # a newline that has no line break
        return False
    return True


@pytest.mark.parametrize("name", CASES)
def test_same_language(name: str) -> None:
    case = CASES[name]
    ours, theirs, n_accepted = compiled(case.options + case.grammar), case.lark(), 0
    for length in range(case.longest + 1):
        for pieces in product(case.pieces, repeat=length):
            text = "".join(pieces)
            accepted = accepts(ours, text)
            assert accepted == in_lark(theirs, text), repr(text)
            n_accepted += accepted
    assert n_accepted > 20


@given(st.lists(st.sampled_from(["!a:\n", "b\n", " ", "  ", "\t", "#c \n", "b", "\n"]), max_size=30))
def test_same_language_of_long_texts(pieces: list[str]) -> None:
    case = CASES["comments"]
    ours, theirs = compiled(case.options + case.grammar), case.lark()
    assert accepts(ours, "".join(pieces)) == in_lark(theirs, "".join(pieces))


def test_captures_are_blocks() -> None:
    grammar = """
        start: (line | _NL)*
        line: NAME _NL | "if" NAME ":" block
        block[capture]: _NL _INDENT line+ _DEDENT
        NAME: /[a-z]+/
        _NL: /(\\n *)+/
        %ignore " "
        %declare _INDENT _DEDENT
        %cfgmask {"indenter": {"NL_type": "_NL"}}
    """
    matcher = compiled(grammar).matcher()
    for part in (b"if a:\n  b\n  if ", b"c:\n   d\n", b"e\nf\n"):
        assert matcher.advance_bytes(part) == len(part)
    blocks = [("block", b"\n   d\n"), ("block", b"\n  b\n  if c:\n   d\n")]
    assert matcher.captures() == blocks
    matcher.rollback(1)
    assert matcher.captures() == blocks  # the text may end here, and all blocks with it
    matcher.rollback(1)
    assert matcher.captures() == []


def test_blocks_are_completed() -> None:
    matcher = compiled(CASES["blocks"].options + CASES["blocks"].grammar).matcher()
    text = b"!a:\n  b\n  !c:"
    assert matcher.advance_bytes(text) == len(text)
    assert bytes(matcher.completion() or []) == b"\n   a\n"


@pytest.mark.parametrize(
    "value",
    ["false", "[]", "3", '{"x": 1}', '{"NL_type": 3}', '{"NL_type": "A", "NL_type": "B"}', '{"OPEN_PAREN_types": "A"}'],
)
def test_values_that_are_no_indenter(value: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_lark(f'start: "a"\n%cfgmask {{"indenter": {value}}}')
    assert [problem.code for problem in error.value.diagnostics] == ["lark-bad-option"]


def test_limits_on_tokens() -> None:
    limited = LINES.replace("line:", "line: word _NL |") + "word[max_tokens=3]: /[0-9]+/\n_NL: /\\n */\n"
    grammar = cfgmask.Grammar.from_lark('%cfgmask {"indenter": {"NL_type": "_NL"}}' + limited)
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.try_advance([*b"!a:\n  1234\n"]) == len(b"!a:\n  123")
    assert matcher.try_advance([*b"!a:\n  123\n  12\n1\n"]) == len(b"!a:\n  123\n  12\n1\n")


def test_lines_of_a_grammar_inside_are_refused() -> None:
    python = cfgmask.Grammar.from_lark(CASES["blocks"].options + CASES["blocks"].grammar)
    with pytest.raises(cfgmask.GrammarError, match="lark-subgrammar-indenter"):
        cfgmask.Grammar.from_lark("start: @lines", grammars={"lines": python})


def test_too_many_widths() -> None:
    grammar = cfgmask.Grammar.from_lark(CASES["blocks"].options + CASES["blocks"].grammar)
    limits = cfgmask.Limits(max_item_sets=1_000)
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
    matcher = cfgmask.compile(grammar, vocabulary, limits).matcher()
    with pytest.raises(cfgmask.LimitExceeded) as error:
        matcher.advance_bytes(b"!a:\n" + b" " * 2_000)
    assert error.value.limit == "max_item_sets"
