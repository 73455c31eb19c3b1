"""The benchmark within llama.cpp runs on a small model."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.demo import model_path
from tests.scripts import benchmark


def test_a_table_comes_out() -> None:
    arguments = ["--model", str(model_path()), "--texts", "1", "--tokens", "4"]
    result = CliRunner().invoke(benchmark("in_llama_cpp").main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    table = [line for line in result.stdout.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 6
    assert {line.count("|") for line in table} == {8}
    in_callback = [line.split("|")[5].replace(",", "").strip() for line in table[2:]]
    assert [bool(cell) and float(cell) > 0 for cell in in_callback] == [False, True, True, True, True, False]
