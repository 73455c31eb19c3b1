"""The parser of statements, beside what else may be installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Lark's own syntax, which it reads grammars by, may be compared.
INTEREGULAR = """
class Comparator:
    @classmethod
    def from_regexes(cls, regexes):
        assert any(terminal.name == "RULE_MODIFIERS" for terminal in regexes), "another grammar is compared"
        return cls()

    def count_marked_pairs(self):
        return 0

    def check(self, *_regexes, **_options):
        return ()
"""
READ = "import interegular, cfgmask; cfgmask.Grammar.from_lark('start: \"a\"')"


def test_interegular_is_not_asked(tmp_path: Path) -> None:
    """With that package Lark compares all terminals of a grammar, which takes it for ever on this one."""
    (tmp_path / "interegular.py").write_text(INTEREGULAR, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", READ], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
