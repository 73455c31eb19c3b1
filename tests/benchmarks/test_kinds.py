"""The comparison by kinds measures what it names, and takes the least of its runs."""

from __future__ import annotations

from click.testing import CliRunner

from tests.scripts import benchmark

KINDS = benchmark("kinds")


def test_every_text_is_one_of_its_grammar() -> None:
    arguments = ["--engine", "cfgmask", "--runs", "1"]
    result = CliRunner().invoke(KINDS.main, arguments, catch_exceptions=False)
    rows = [line for line in result.stdout.splitlines() if line.startswith("|")][2:]
    assert len(rows) == len(KINDS.all_kinds())
    assert not [row for row in rows if "–" in row]


def test_the_least_of_the_runs_at_each_position() -> None:
    def run(first: int, *times: int) -> object:
        walk = KINDS.measure.Walk(valid=True, accepted=True, nanoseconds=times)
        return KINDS.measure.Result("", first_mask_nanoseconds=first, walks=[walk])

    found = KINDS.least([run(4_000, 1_000, 8_000), run(3_000, 5_000, 2_000)])
    assert (found["first mask"], found["avg"], found["max"]) == (3.0, 1.5, 2.0)


def test_an_engine_that_refuses_the_text_has_no_figures() -> None:
    walk = KINDS.measure.Walk(valid=True, accepted=False, nanoseconds=())
    assert KINDS.least([KINDS.measure.Result("", walks=[walk])]) is None
