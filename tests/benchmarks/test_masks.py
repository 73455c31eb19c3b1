"""The comparison measures the cases that it is asked for, and lists the masks that take long in each run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tests.scripts import benchmark

MASKS = benchmark("masks")


def figures(tmp_path: Path, *arguments: str) -> Any:
    out = tmp_path / "found.json"
    result = CliRunner().invoke(MASKS.main, [*arguments, "--json", str(out)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(out.read_text(encoding="utf-8"))


def test_tables_of_lark_grammars_and_the_long_text_are_measured(tmp_path: Path) -> None:
    (tmp_path / "letters.lark").write_text('start: "a"+', encoding="utf-8")
    table = {"grammar": "letters.lark", "accept": ["aa"], "refuse": ["b"]}
    (tmp_path / "letters.json").write_text(json.dumps(table), encoding="utf-8")
    folders = ["--grammars", str(tmp_path), "--tables", str(tmp_path)]
    found = figures(tmp_path, *folders, "--long", "200", "--engine", "cfgmask")
    rows = [row["cfgmask"] for row in found["results"]]
    assert [row["case"] for row in rows] == ["letters.lark", "arithmetic, 200 bytes"]
    assert [[walk["accepted"] for walk in row["walks"]] for row in rows] == [[True, False], [True]]


def test_the_grammars_of_the_repository_need_no_folder(tmp_path: Path) -> None:
    found = figures(tmp_path, "--grammars", "--long", "0", "--only", "csv.lark", "--engine", "cfgmask")
    assert [row["cfgmask"]["case"] for row in found["results"]] == ["csv.lark"]


def slow_masks(tmp_path: Path, *arguments: str) -> Any:
    data = tmp_path / "schemas.jsonl"
    tests = [{"valid": True, "data": [True, False]}, {"valid": False, "data": [1]}]
    data.write_text(json.dumps({"id": "booleans", "schema": {"items": {"type": "boolean"}}, "tests": tests}))
    return figures(tmp_path, "--data", str(data), *arguments)


def test_each_slow_position_with_the_text_before_it(tmp_path: Path) -> None:
    masks = slow_masks(tmp_path, "--slowest", "0", "--runs", "2")
    texts = {mask["before"] for mask in masks}
    assert "" in texts
    assert all("[true,false]".startswith(text) for text in texts)
    times = [mask["microseconds"] for mask in masks]
    assert times == sorted(times, reverse=True)


def test_nothing_takes_a_second(tmp_path: Path) -> None:
    assert slow_masks(tmp_path, "--slowest", "1000") == []


def test_another_schema_is_left_out(tmp_path: Path) -> None:
    assert slow_masks(tmp_path, "--slowest", "0", "--only", "others") == []
