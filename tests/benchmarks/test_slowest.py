"""The list of slow masks has the positions that take long in each run, and says what stands before them."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.scripts import benchmark

SLOWEST = benchmark("slowest")


def found(tmp_path: Path, *arguments: str) -> list[dict[str, object]]:
    data = tmp_path / "schemas.jsonl"
    tests = [{"valid": True, "data": [True, False]}, {"valid": False, "data": [1]}]
    data.write_text(json.dumps({"id": "booleans", "schema": {"items": {"type": "boolean"}}, "tests": tests}))
    out = tmp_path / "found.json"
    CliRunner().invoke(SLOWEST.main, ["--data", str(data), "--json", str(out), *arguments], catch_exceptions=False)
    masks: list[dict[str, object]] = json.loads(out.read_text())
    return masks


def test_each_position_with_what_stands_before_it(tmp_path: Path) -> None:
    masks = found(tmp_path, "--over", "0", "--runs", "2")
    texts = {str(mask["before"]) for mask in masks}
    assert "" in texts
    assert all("[true,false]".startswith(text) for text in texts)
    times = [float(str(mask["microseconds"])) for mask in masks]
    assert times == sorted(times, reverse=True)


def test_nothing_takes_a_second(tmp_path: Path) -> None:
    assert found(tmp_path, "--over", "1000") == []


def test_another_schema_is_left_out(tmp_path: Path) -> None:
    assert found(tmp_path, "--over", "0", "--only", "others") == []
