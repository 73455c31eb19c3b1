"""Productive rules: which can end, and what is left of a grammar without the others."""

from __future__ import annotations

import pytest

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.productive import productive_rules, without_nonproductive
from cfgmask.grammar.regex_tree import NOTHING, text

A = Terminal("A", text("a"))
NEVER = Terminal("NEVER", NOTHING)


def grammar(**bodies: Expr) -> GrammarIR:
    return GrammarIR(tuple(Rule(name, body) for name, body in bodies.items()), "start")


def ref(name: str) -> RuleRef:
    return RuleRef(name)


CASES = {
    "a terminal": (grammar(start=A), {"start"}),
    "a terminal without texts": (grammar(start=NEVER), set()),
    "nothing": (grammar(start=Choice(())), set()),
    "the empty text": (grammar(start=Sequence(())), {"start"}),
    "itself": (grammar(start=ref("start")), set()),
    "left recursion alone": (grammar(start=Sequence((ref("start"), A))), set()),
    "left recursion with an end": (grammar(start=Choice((Sequence((ref("start"), A)), A))), {"start"}),
    "one of a choice": (grammar(start=Choice((ref("x"), A)), x=ref("x")), {"start"}),
    "all of a sequence": (grammar(start=Sequence((A, ref("x"))), x=ref("x")), set()),
    "the same part twice": (grammar(start=Sequence((ref("x"), ref("x"))), x=A), {"start", "x"}),
    "optional": (grammar(start=Repeat(ref("x"), 0, 1), x=ref("x")), {"start"}),
    "needed": (grammar(start=Repeat(ref("x"), 1, None), x=ref("x")), set()),
    "in a circle": (grammar(start=ref("x"), x=ref("y"), y=ref("start")), set()),
    "out of a circle": (grammar(start=ref("x"), x=Choice((ref("start"), ref("y"))), y=A), {"start", "x", "y"}),
}


@pytest.mark.parametrize("name", CASES)
def test_productive_rules(name: str) -> None:
    given, expected = CASES[name]
    assert productive_rules(given) == expected


def without(given: GrammarIR) -> dict[str, Expr]:
    return {rule.name: rule.body for rule in without_nonproductive(given, productive_rules(given)).rules}


def test_alternatives_that_cannot_end_are_dropped() -> None:
    given = grammar(start=Choice((Sequence((A, ref("x"))), A, Repeat(ref("x"), 0, None))), x=Sequence((A, ref("x"))))
    assert without(given) == {"start": Choice((A, Sequence(())))}


def test_a_start_that_cannot_end_stays() -> None:
    assert without(grammar(start=ref("start"))) == {"start": Choice(())}


def test_a_grammar_without_such_rules_is_itself() -> None:
    given = grammar(start=Choice((A, ref("start"))))
    assert without_nonproductive(given, productive_rules(given)) is given


def test_a_shared_part_is_looked_at_once() -> None:
    body: Expr = A
    for _ in range(200):
        body = Sequence((body, body))
    assert productive_rules(grammar(start=body)) == {"start"}
    assert without(grammar(start=Choice((body, ref("x"))), x=ref("x"))).keys() == {"start"}


def test_long_chains_and_deep_expressions_take_linear_time() -> None:
    n = 50_000
    chain = {f"r{i}": ref(f"r{i + 1}") for i in range(n)}
    assert len(productive_rules(grammar(start=ref("r0"), **chain, **{f"r{n}": A}))) == n + 2
    body: Expr = A
    for _ in range(n):
        body = Repeat(body, 1, 2)
    assert productive_rules(grammar(start=body)) == {"start"}
