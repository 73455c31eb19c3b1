"""Start rules of another name than the usual one."""

from __future__ import annotations

from pathlib import Path

import pytest

import cfgmask
from cfgmask.errors import GrammarError
from tests.lark.engine import VOCABULARY, accepts

LARK = """\
expression: term ("+" term)*
term: NUMBER | call{NUMBER}
call{x}: "f(" x ")"
counted::_: "c"
NUMBER: /[0-9]+/
start: "s" expression
%import common.CNAME
"""
GBNF = 'root ::= "s" item\nitem ::= "a"+'


def accepted(grammar: cfgmask.Grammar, *texts: str) -> list[bool]:
    compiled = cfgmask.compile(grammar, VOCABULARY)
    return [accepts(compiled, text) for text in texts]


@pytest.mark.parametrize(
    ("start", "texts"),
    [("start", ["s1+f(2)"]), ("expression", ["1+f(2)", "1", "f(2)"]), ("term", ["1", "f(2)"])],
)
def test_lark(start: str, texts: list[str]) -> None:
    every = ["s1+f(2)", "1+f(2)", "1", "f(2)"]
    assert accepted(cfgmask.Grammar.from_lark(LARK, start=start), *every) == [text in texts for text in every]


def test_gbnf() -> None:
    assert accepted(cfgmask.Grammar.from_gbnf(GBNF, start="item"), "aa", "saa") == [True, False]


def test_an_imported_rule(tmp_path: Path) -> None:
    (tmp_path / "other.lark").write_text('x: "a" y\ny: "b"\n')
    grammar = cfgmask.Grammar.from_lark("%import .other.x", folder=tmp_path, start="x")
    assert accepted(grammar, "ab", "b") == [True, False]


def test_grammars_inside_have_starts_of_their_own() -> None:
    grammar = cfgmask.Grammar.from_lark(
        'main: "<" %lark { start: "a" } @b ">"', grammars={"b": 'start: "b"'}, start="main"
    )
    assert accepted(grammar, "<ab>") == [True]


@pytest.mark.parametrize(
    ("start", "message", "help"),
    [
        ("expresion", "the grammar has no rule `expresion`", "did you mean `expression`?"),
        (
            "NUMBER",
            "the grammar has no rule `NUMBER`",
            "every text of the grammar is to be a `NUMBER`: it must be a rule",
        ),
        ("call", "the rule `call` cannot be a template: nothing gives it arguments", "use the template in a `call`"),
        ("counted", "the rule `counted` cannot have a parameter: nothing gives it a value", "write another rule"),
    ],
)
def test_what_is_no_start(start: str, message: str, help: str) -> None:
    with pytest.raises(GrammarError) as caught:
        cfgmask.Grammar.from_lark(LARK, start=start)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("lark-no-start", message)
    assert diagnostic.help is not None
    assert diagnostic.help.startswith(help)


def test_gbnf_without_it() -> None:
    with pytest.raises(GrammarError, match=r"gbnf-no-root\]: the grammar has no rule `start`"):
        cfgmask.Grammar.from_gbnf(GBNF, start="start")


@pytest.mark.parametrize(
    ("name", "text", "usual", "other"), [("g.lark", LARK, "s1", "term"), ("g.gbnf", GBNF, "sa", "item")]
)
def test_files(tmp_path: Path, name: str, text: str, usual: str, other: str) -> None:
    (tmp_path / name).write_text(text)
    assert accepted(cfgmask.Grammar.from_file(tmp_path / name), usual) == [True]
    assert accepted(cfgmask.Grammar.from_file(tmp_path / name, start=other), usual, usual[1:]) == [False, True]


def test_a_schema_has_no_rules(tmp_path: Path) -> None:
    (tmp_path / "schema.json").write_text("{}")
    with pytest.raises(GrammarError, match="file-no-rules"):
        cfgmask.Grammar.from_file(tmp_path / "schema.json", start="start")
