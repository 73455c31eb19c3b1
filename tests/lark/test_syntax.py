"""The parser of statements: its tables, and what it needs not wait for."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import regex

from cfgmask.lark.syntax import FREQUENT

ROOT = Path(__file__).parents[2]


def test_the_tables_are_those_of_the_syntax() -> None:
    spec = importlib.util.spec_from_file_location("make_syntax_tables", ROOT / "scripts" / "make_syntax_tables.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    written = (ROOT / "cfgmask" / "lark" / "syntax_tables.json").read_text("utf-8")
    assert json.loads(written) == script.tables(), "run scripts/make_syntax_tables.py"


def test_the_order_of_terminals_makes_no_difference() -> None:
    """Frequent ones are tried first, so nothing that comes behind them in the tables may begin like them."""
    tables = json.loads((ROOT / "cfgmask" / "lark" / "syntax_tables.json").read_text("utf-8"))
    words = {word for _, _, word in tables["words"]}
    characters = [chr(c) for c in range(0x3000)]
    begins = {
        name: {c for c in characters if regex.fullmatch(pattern, c, partial=True)}
        for name, pattern in tables["terminals"]
        if name not in words
    }
    order = [name for name in begins if name not in FREQUENT]
    for name in FREQUENT:
        assert begins[name]
        assert not [other for other in order if begins[name] & begins[other]]
    in_tables = [name for name in begins if name in FREQUENT]
    alike = [(a, b) for i, a in enumerate(in_tables) for b in in_tables[i + 1 :] if begins[a] & begins[b]]
    assert alike == [("DOUBLE_COLON", "COLON")]
    assert FREQUENT.index("DOUBLE_COLON") < FREQUENT.index("COLON")


def test_reading_a_grammar_does_not_import_lark() -> None:
    read = """
import sys, cfgmask
cfgmask.Grammar.from_lark('start: "a"i B %regex {"type": "integer"}\\nB: /[0-9]/')
print("lark" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
