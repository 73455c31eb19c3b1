"""The comparison over Lark grammars measures its tables and the long text."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tests.scripts import benchmark

LARK_MASKS = benchmark("lark_masks")


def test_tables_and_the_long_text_are_measured(tmp_path: Path) -> None:
    (tmp_path / "letters.lark").write_text('start: "a"+', encoding="utf-8")
    table = {"grammar": "letters.lark", "accept": ["aa"], "refuse": ["b"]}
    (tmp_path / "letters.json").write_text(json.dumps(table), encoding="utf-8")
    found = tmp_path / "found.json"
    folders = ["--grammars", str(tmp_path), "--tables", str(tmp_path)]
    arguments = [*folders, "--long", "200", "--engine", "cfgmask", "--json", str(found)]
    result = CliRunner().invoke(LARK_MASKS.main, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    rows = [row["cfgmask"] for row in json.loads(found.read_text(encoding="utf-8"))["results"]]
    assert [row["case"] for row in rows] == ["letters.lark", "arithmetic, 200 bytes"]
    assert [[walk["accepted"] for walk in row["walks"]] for row in rows] == [[True, False], [True]]
