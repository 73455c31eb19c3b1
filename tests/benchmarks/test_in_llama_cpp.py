"""The benchmark within llama.cpp runs on a small model."""

from __future__ import annotations

import re
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.demo import model_path
from tests.scripts import benchmark


def rows(*arguments: str) -> list[list[str]]:
    command: Any = benchmark("in_llama_cpp").main
    result = CliRunner().invoke(command, ["--model", str(model_path()), *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table[2:]]


@pytest.mark.long
def test_a_table_comes_out() -> None:
    table = rows("--turns", "5", "--tokens", "4")
    assert [len(row) for row in table] == [7] * 6
    in_callback = [row[4].replace(",", "") for row in table]
    assert [bool(cell) and float(cell) > 0 for cell in in_callback] == [False, True, True, True, True, False]
    assert [bool(re.fullmatch(r"[+-]\d+ \([+-]\d+ to [+-]\d+\)", row[3])) for row in table] == [True, False] + [
        True
    ] * 4


def test_some_of_the_ways() -> None:
    table = rows("--turns", "2", "--way", "no constraint")
    assert [row[0] for row in table] == ["no constraint", "a hook that does nothing"]


def test_the_interval_holds_the_median() -> None:
    assert benchmark("in_llama_cpp").median_and_interval([n * 1000 for n in range(101)]) == "+50 (+40 to +60)"
