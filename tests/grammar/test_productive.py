"""Productive rules: which can end, and what is left of a grammar without the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    example, expected = CASES[name]
    assert productive_rules(example) == expected


def without(example: GrammarIR) -> dict[str, Expr]:
    return {rule.name: rule.body for rule in without_nonproductive(example, productive_rules(example)).rules}


def test_alternatives_that_cannot_end_are_dropped() -> None:
    example = grammar(start=Choice((Sequence((A, ref("x"))), A, Repeat(ref("x"), 0, None))), x=Sequence((A, ref("x"))))
    assert without(example) == {"start": Choice((A, Sequence(())))}


def test_a_start_that_cannot_end_stays() -> None:
    assert without(grammar(start=ref("start"))) == {"start": Choice(())}


def test_a_grammar_without_such_rules_is_itself() -> None:
    example = grammar(start=Choice((A, ref("start"))))
    assert without_nonproductive(example, productive_rules(example)) is example


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


def ends(expr: Expr, rules: set[str]) -> bool:
    """Whether an expression can end given that these rules can; the slow and obvious way."""
    if isinstance(expr, RuleRef):
        return expr.name in rules
    if isinstance(expr, Sequence):
        return all(ends(part, rules) for part in expr.parts)
    if isinstance(expr, Choice):
        return any(ends(part, rules) for part in expr.parts)
    if isinstance(expr, Repeat):
        return expr.minimum == 0 or ends(expr.body, rules)
    return expr is A


NAMES = [f"r{i}" for i in range(12)]
expressions = st.recursive(
    st.sampled_from([A, NEVER, *map(ref, NAMES)]),
    lambda parts: (
        st.builds(Sequence, st.lists(parts, max_size=3).map(tuple))
        | st.builds(Choice, st.lists(parts, max_size=3).map(tuple))
        | st.builds(Repeat, parts, st.integers(0, 1), st.just(2))
    ),
    max_leaves=5,
)


@given(st.lists(expressions, min_size=len(NAMES), max_size=len(NAMES)))
def test_the_productive_rules_are_the_least_fixed_point(bodies: list[Expr]) -> None:
    named = dict(zip(NAMES, bodies, strict=True))
    expected: set[str] = set()
    for _ in NAMES:
        expected |= {name for name, body in named.items() if ends(body, expected)}
    assert productive_rules(grammar(start=ref("r0"), **named)) - {"start"} == expected
