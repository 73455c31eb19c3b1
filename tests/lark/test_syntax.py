"""The parser of statements: its tables, and what it needs not wait for."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_syntax() -> None:
    spec = importlib.util.spec_from_file_location("make_syntax_tables", ROOT / "scripts" / "make_syntax_tables.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "cfgmask" / "lark" / "syntax_tables.json").read_text("utf-8")
    assert json.loads(written) == script.tables(), "run scripts/make_syntax_tables.py"


def test_reading_a_grammar_does_not_import_lark() -> None:
    read = """
import sys, cfgmask
cfgmask.Grammar.from_lark('start: "a"i B %regex {"type": "integer"}\\nB: /[0-9]/')
print("lark" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
