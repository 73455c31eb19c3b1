"""The runner itself, and the inputs that once ended the process. `make test-hostile` runs all."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable

import pytest

from tests.hostile.all_cases import cases
from tests.hostile.runner import CPU, HANG, MEMORY, Bounds, Case, Result, matches, run_cases, with_stack

# Sanitizers make all of it slower by ten; what takes for ever takes longer than this.
BOUNDS = Bounds(cpu=60.0, memory=4 << 30)
ALL = {case.name: case for case in cases()}


def assert_right(names: list[str], *, stack: int = 0) -> None:
    chosen = [ALL[name] for name in names]
    results = list(run_cases(with_stack(chosen, stack), BOUNDS, jobs=1))
    assert [(r.case.name, r.outcome, r.detail) for r in results if not r.is_right] == []
    assert len(results) == len(chosen)


def results_of(*runs: Callable[[], object], bounds: Bounds = BOUNDS, batch: int = 20) -> list[Result]:
    chosen = [Case(str(number), run, frozenset({"accepted"})) for number, run in enumerate(runs)]
    return sorted(run_cases(chosen, bounds, jobs=2, batch=batch), key=lambda result: int(result.case.name))


def _for_ever() -> None:
    while True:
        pass


def _fall() -> None:
    raise KeyError("x")


def test_the_runner_tells_how_a_case_ends() -> None:
    found = results_of(
        lambda: None,
        lambda: os.kill(os.getpid(), signal.SIGSEGV),
        _fall,
        lambda: bytearray(6 << 30),
        lambda: os._exit(3),
        _for_ever,
        lambda: None,
        bounds=Bounds(cpu=0.5),
    )
    assert [result.outcome for result in found] == [
        "accepted", "killed SIGSEGV", "KeyError", MEMORY, "exit 3", CPU, "accepted",
    ]  # fmt: skip


def test_the_runner_waits_for_no_case_for_ever() -> None:
    assert [result.outcome for result in results_of(lambda: time.sleep(60), bounds=Bounds(wall=1.0))] == [HANG]


@pytest.mark.parametrize("batch", [1, 3])
def test_a_case_that_fails_leaves_the_others_alone(batch: int) -> None:
    runs: list[Callable[[], object]] = [lambda: None] * 7
    runs[3] = lambda: os.kill(os.getpid(), signal.SIGKILL)
    assert [result.outcome for result in results_of(*runs, batch=batch)] == [
        *["accepted"] * 3, "killed SIGKILL", *["accepted"] * 3,
    ]  # fmt: skip


def test_outcomes() -> None:
    assert matches("GrammarError a b", "GrammarError")
    assert matches("GrammarError a b", "GrammarError b")
    assert not matches("GrammarError a b", "GrammarError c")
    assert not matches("LimitExceeded max_rules", "GrammarError")


def test_there_are_enough() -> None:
    assert len(ALL) > 1_500


def test_arrays_and_callbacks() -> None:
    """Each of them was read or written where it was not, or could have been."""
    assert_right(
        [name for name in ALL if name.startswith(("api/fill_mask", "api/apply", "api/an encoder", "api/a seq"))]
    )


def test_tokens_that_are_made_when_they_are_asked_for() -> None:
    assert_right([name for name in ALL if name.startswith("api/tokens that")])


def test_the_end_of_the_process() -> None:
    assert_right([name for name in ALL if name.startswith("api/end of")])


def test_objects_that_were_never_made_and_ids_that_are_none() -> None:
    assert_right(
        [
            name
            for name in ALL
            if "never initialised" in name or name.startswith(("api/GrammarBuilder.", "api/RegexBuilder."))
        ]
    )


def test_limits_of_any_size() -> None:
    assert_right([name for name in ALL if name.startswith("api/max_")])


def test_files_that_shrink() -> None:
    assert_right(["vocabulary/GGUF that shrinks"])


@pytest.mark.parametrize("area", ["schema", "lark", "regex", "gbnf"])
def test_small_stacks(area: str) -> None:
    """As deep as the limits allow, and one deeper, all that is done with a grammar, on a stack of 256 KiB."""
    names = [name for name in ALL if name.startswith(f"{area}/nested") and ("199" in name or "201" in name)]
    # What 199 counts in each other take is bounded by `max_regex_nodes`, after minutes under sanitizers.
    names = [name for name in names if not name.startswith("lark/nested counts")]
    assert_right(names, stack=256 * 1024)
