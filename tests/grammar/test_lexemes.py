"""Regular parts as terminals: the same language, fewer lexemes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from cfgmask.grammar.ir import Rule, RuleRef, Terminal, TokenSet
from cfgmask.grammar.lexemes import with_lexemes
from cfgmask.grammar.regex_tree import ANY_CHAR
from cfgmask.grammar.walk import walk
from tests.build import choice, cls, grammar, many, rule, seq, t, tokens
from tests.engine.harness import compile_ir
from tests.engine.test_differential import walk as compare
from tests.strategies import GrammarShape, Problem, discards_undecided, problems

SPACES = rule("ws", many(cls(" ")))
TEXT = t(ANY_CHAR, name=".")

# Rules, and what each rule that is left is made of, terminals by their names.
CASES = {
    "a regular rule": (
        [rule("start", seq("$x", "$start")), rule("x", choice(seq("a", "b"), "c"))],
        {"start": ["x", "$start"]},
    ),
    "a rule of rules": (
        [rule("start", seq("$x", "$start")), rule("x", seq("$y", "$y")), rule("y", many("a"))],
        {"start": ["x", "$start"]},
    ),
    "the start rule keeps its names": (
        [rule("start", seq("a", "b", "$ws", "c")), SPACES],
        {"start": ["'a' 'b'", "ws", "'c'"]},
    ),
    "repeated names": ([rule("start", seq(many("$ws"), "c")), SPACES], {"start": ["ws*", "'c'"]}),
    "recursive rules": (
        [rule("start", "$x"), rule("x", choice(seq("(", "$x", ")"), seq("a", many("b", 1))))],
        {"start": ["$x"], "x": ["'('", "$x", "')'", "'a' 'b'+"]},
    ),
    "two loops over text": (
        [rule("start", seq("$x", "$start")), rule("x", seq("$y", ";", "$y")), rule("y", many(TEXT, 1))],
        {"start": ["$x", "$start"], "x": ["y", "';'", "y"]},
    ),
    "short repetitions are no loops": (
        [rule("start", seq("$x", "$start")), rule("x", seq(many(TEXT, 0, 3), many(TEXT, 0, 3), many(TEXT, 1)))],
        {"start": ["x", "$start"]},
    ),
    "token sets": (
        [rule("start", seq("a", tokens(5), "$x")), rule("x", tokens(6))],
        {"start": ["'a'", "<[5]>", "$x"], "x": ["<[6]>"]},
    ),
    "nothing": ([rule("start", seq(seq(), "$x")), rule("x", seq())], {"start": []}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_left(name: str) -> None:
    rules, expected = CASES[name]
    after = with_lexemes(grammar(*rules, lexer="complete"))
    assert {r.name: leaves(r) for r in after.rules} == expected


def leaves(rule: Rule) -> list[str]:
    found: list[str] = []
    for expr in walk(rule.body):
        if isinstance(expr, Terminal):
            found.append(expr.name)
        elif isinstance(expr, RuleRef):
            found.append(f"${expr.name}")
        elif isinstance(expr, TokenSet):
            found.append(expr.text)
    return found


def test_a_long_chain_of_rules_stays_within_the_nesting_of_regexes() -> None:
    rules = [rule(f"r{i}", seq("a", f"$r{i + 1}")) for i in range(300)]
    after = with_lexemes(grammar(rule("start", "$r0"), *rules, rule("r300", "b"), lexer="complete"))
    assert len(after.rules) < 300
    assert compile_ir(after).matcher().advance_bytes(b"a" * 300 + b"b") == 301


def test_rules_that_double_in_length_share_their_parts() -> None:
    rules = [rule(f"r{i}", seq(f"$r{i + 1}", f"$r{i + 1}")) for i in range(50)]
    after = with_lexemes(grammar(rule("start", "$r0"), *rules, rule("r50", "b"), lexer="complete"))
    assert len(after.rules) == 1


@given(problems(GrammarShape(priorities=False, lexers=("complete",), ignores=False)))
@discards_undecided
def test_masks_stay_the_same(problem: Problem) -> None:
    compare(replace(problem, ir=with_lexemes(problem.ir)), fresh=False)
