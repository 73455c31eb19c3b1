"""Reachable rules: what `start` leads to."""

from __future__ import annotations

from cfgmask.grammar.ir import Choice, GrammarIR, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.reachable import reachable_rules, without_unreachable
from cfgmask.grammar.regex_tree import text

A = Terminal("A", text("a"))
GRAMMAR = GrammarIR(
    (
        Rule("start", Choice((A, Sequence((Repeat(RuleRef("x"), 0, None), A))))),
        Rule("x", RuleRef("start")),
        Rule("unused", RuleRef("also_unused")),
        Rule("also_unused", RuleRef("x")),
    ),
    "start",
)


def test_reachable_rules() -> None:
    assert reachable_rules(GRAMMAR) == {"start", "x"}


def test_without_unreachable() -> None:
    assert [rule.name for rule in without_unreachable(GRAMMAR).rules] == ["start", "x"]


def test_a_long_chain_takes_linear_time() -> None:
    n = 50_000
    rules = (*(Rule(f"r{i}", RuleRef(f"r{i + 1}")) for i in range(n)), Rule(f"r{n}", A))
    assert len(reachable_rules(GrammarIR(rules, "r0"))) == n + 1
