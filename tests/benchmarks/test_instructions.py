"""Where the benchmarks say that instructions go, on counts that are known."""

from __future__ import annotations

from tests.scripts import benchmark

instructions = benchmark("instructions")

ANNOTATED = """
--------------------------------------------------------------------------------
Ir
--------------------------------------------------------------------------------
4,000 (100.0%)  PROGRAM TOTALS

3,000 (75.00%)  core/matcher/matcher.cc:cfgmask::Matcher::next_mask() [_core.so]
1,000 (25.00%)  core/matcher/matcher.cc:cfgmask::Matcher::advance(unsigned int)'2 [_core.so]
  500 (12.50%)  core/matcher/matcher.cc:cfgmask::Matcher::advance(unsigned int) [_core.so]
2,000 (50.00%)  core/earley/parser.cc:cfgmask::Parser::scan(cfgmask::Id<a>, b) [_core.so]
  400 (10.00%)  ???:malloc [libc.so.6]
"""


def test_counts_are_those_of_functions_with_their_callees() -> None:
    counts = instructions.inclusive_counts(ANNOTATED)
    assert counts["cfgmask::Matcher::next_mask"] == 3_000
    assert counts["cfgmask::Matcher::advance"] == 1_000
    assert counts["malloc"] == 400


def test_parts_are_shares_of_what_is_counted() -> None:
    rows = instructions.table(instructions.inclusive_counts(ANNOTATED), positions=10).splitlines()
    assert "| item sets | 200 | 50.0% |" in rows
    assert "| `advance` | 100 | 25.0% |" in rows
    assert "| all | 400 | 100% |" in rows
