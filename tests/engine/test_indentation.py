"""Indented lines: the core against the oracle, and tables of texts through every path."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.engine.test_differential import walk
from tests.indented import indented_problems
from tests.strategies import Problem, discards_undecided


@given(indented_problems(), st.booleans())
@discards_undecided
def test_lines_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk(problem, fresh=fresh)


@given(indented_problems(conditions=True), st.booleans())
@discards_undecided
def test_lines_with_conditions_are_the_oracles(problem: Problem, fresh: bool) -> None:
    walk(problem, fresh=fresh)
