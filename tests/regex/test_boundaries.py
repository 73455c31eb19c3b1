"""Where the lexers `complete` and `longest` give the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from cfgmask.grammar.ir import Rule
from cfgmask.grammar.regex_tree import ANY_TEXT, Intersection, negated
from cfgmask.regex.boundaries import has_clear_boundaries
from tests.build import DIGITS, WORD, cat, choice, cls, grammar, many, opt, rep, rule, seq, tokens
from tests.engine.test_differential import walk as compare
from tests.strategies import GrammarShape, Problem, discards_undecided, problems

NUMBER = cat(rep(cls("09"), 1), opt(cat(".", rep(cls("09"), 1))))
STRING = cat('"', rep(cls("az")), '"')

# Rules, and whether the next byte always tells where a lexeme ends.
CASES: dict[str, tuple[list[Rule], bool]] = {
    "one terminal": ([rule("start", WORD)], True),
    "different characters": ([rule("start", many(choice(WORD, seq(" ", DIGITS, " "))))], False),
    "separated": ([rule("start", seq(WORD, many(seq(",", WORD))))], True),
    "a terminal after itself": ([rule("start", many(WORD))], False),
    "characters after each other": ([rule("start", many(cls("az")))], True),
    "an end that may go on": ([rule("start", seq(NUMBER, ".", "."))], False),
    "an end that goes on with other characters": ([rule("start", seq(NUMBER, ",", "."))], True),
    "keyword and name": ([rule("start", choice(seq("if", " "), seq(WORD, "x")))], False),
    "keyword and name before a space": ([rule("start", seq(choice("if", WORD), " "))], True),
    "two literals": ([rule("start", choice(seq("a", "b"), seq("ab", "c")))], False),
    "two literals that part": ([rule("start", choice(seq("a", "c"), seq("ab", "c")))], True),
    "strings": ([rule("start", many(choice(STRING, ",")))], True),
    "equal first bytes": ([rule("start", seq(rep("é", 1), "ê"))], False),
    "other first bytes": ([rule("start", seq(rep("é", 1), "€"))], True),
    "two conditions": ([rule("start", seq(rep("\n"), Intersection((WORD, ANY_TEXT))))], True),
    "characters beside each other": ([rule("start", seq(rep("\n"), cat(negated(cls("\n\n")), ANY_TEXT)))], True),
    "the empty text": ([rule("start", seq(rep("a"), rep("b"), rep("c")))], True),
    "over an empty one": ([rule("start", seq(rep("a"), rep("b"), rep("a")))], False),
    "tokens between": ([rule("start", seq(WORD, tokens(1), WORD))], True),
    "recursion": ([rule("start", choice(seq("(", "$start", ")"), WORD))], True),
    "left recursion": ([rule("start", choice(seq("$start", "+", WORD), WORD))], True),
    "what follows a rule": ([rule("start", seq("$x", "a")), rule("x", choice("b", WORD))], False),
    "never at one place": ([rule("start", seq("{", cat("{", WORD), "a1"))], False),
    "never at one place, apart": ([rule("start", seq("{", cat("{", DIGITS), "a"))], True),
}


@pytest.mark.parametrize("name", CASES)
def test_clear_boundaries(name: str) -> None:
    rules, expected = CASES[name]
    assert has_clear_boundaries(grammar(*rules, lexer="complete")) is expected


@pytest.mark.parametrize("n", [1, 3_000])
def test_long_chains_are_bounded(n: int) -> None:
    rules = [rule(f"r{i}", seq(WORD, ",", f"$r{i + 1}")) for i in range(n)]
    ir = grammar(rule("start", "$r0"), *rules, rule(f"r{n}", "!"))
    assert has_clear_boundaries(ir) is (n == 1)


@given(problems(GrammarShape(priorities=False, lexers=("complete",), ignores=False)))
@discards_undecided
def test_masks_of_longest_are_those_of_complete(problem: Problem) -> None:
    assume(has_clear_boundaries(problem.ir))
    compare(replace(problem, ir=replace(problem.ir, lexer="longest")), fresh=False)
