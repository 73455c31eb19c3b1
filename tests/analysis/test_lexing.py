"""How much of the lexer is looked at: the estimate must not give up what could be finished."""

from __future__ import annotations

from pathlib import Path

import pytest

import cfgmask
from cfgmask.analysis.findings import LIMITS
from cfgmask.analysis.flat import Flat
from cfgmask.analysis.lexing import Lexing, TooLarge
from cfgmask.analysis.sets import Sets
from cfgmask.regex.algebra import RegexAlgebra

GRAMMARS = sorted((Path(__file__).resolve().parents[2] / "grammars").glob("*.lark"))
ENOUGH = 100_000

STATEMENTS = r"""
statement_#: "let" NAME_# "=" sum_# ";"
    | "if" "(" sum_# ")" "{" statement_#* "}" ["else" "{" statement_#* "}"]
    | NAME_# "(" [sum_# ("," sum_#)*] ")" ";"
sum_#: value_# (("+" | "-") value_#)*
value_#: NUMBER_# | STRING_# | NAME_# | "(" sum_# ")" | "-" value_#
NAME_#: /[a-z_][a-z0-9_]{0,30}/
NUMBER_#: /[0-9]+(\.[0-9]+)?/
STRING_#: "\"" /[^"\\\n]*/ "\""
"""


def languages(n: int) -> str:
    choice = " | ".join(f'"language{i}" statement_{i}+' for i in range(n))
    return f"start: {choice}\n" + "".join(STATEMENTS.replace("#", str(i)) for i in range(n)) + '%ignore " "\n'


def lexing(grammar: cfgmask.Grammar, max_states: int) -> Lexing:
    flat = Flat(grammar.ir, RegexAlgebra(LIMITS))
    return Lexing(flat, Sets(flat), max_states)


# The formats have more contexts than are looked at, as their table in tests/grammars says.
@pytest.mark.parametrize("path", [path for path in GRAMMARS if path.stem != "formats"], ids=lambda path: path.stem)
def test_what_is_just_enough_for_a_grammar_is_enough(path: Path) -> None:
    just_enough(cfgmask.Grammar.from_file(path))


@pytest.mark.parametrize("n", [5, 20])
def test_what_is_just_enough_for_many_small_languages_is_enough(n: int) -> None:
    just_enough(cfgmask.Grammar.from_lark(languages(n)))


def just_enough(grammar: cfgmask.Grammar) -> None:
    done = lexing(grammar, ENOUGH)
    assert len(lexing(grammar, done.n_states).contexts) == len(done.contexts)
    with pytest.raises(TooLarge):
        lexing(grammar, done.n_states - 1)


def test_what_is_far_from_enough_is_given_up_before_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = cfgmask.Grammar.from_lark(languages(20))
    monkeypatch.setattr(Lexing, "_context", lambda *_: pytest.fail("a context was looked at"))
    with pytest.raises(TooLarge):
        lexing(grammar, 5_000)
