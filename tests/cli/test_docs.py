"""docs/cli.md shows what the command really prints. `python -m tests.cli.test_docs` writes it anew."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cli.md"
BLOCK = re.compile(r"^(?P<fence>`{3,})console\n(?P<body>.*?)\n(?P=fence)$", re.DOTALL | re.MULTILINE)
PROMPT = "$ "


@pytest.mark.long
def test_the_page_shows_what_is_printed(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="the page generates with llama-cpp-python")
    if shutil.which("bash") is None:
        pytest.skip("the page is written for bash")
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_real_outputs(page, tmp_path)


def with_real_outputs(page: str, folder: Path) -> str:
    """The page with every command run in the folder, in order, and its output below it."""
    shutil.copytree(ROOT / "grammars", folder / "grammars")

    def run_block(block: re.Match[str]) -> str:
        commands = [line for line in block["body"].splitlines() if line.startswith(PROMPT)]
        lines = [part for command in commands for part in (command, _output(command, folder)) if part]
        return "\n".join([f"{block['fence']}console", *lines, block["fence"]])

    return BLOCK.sub(run_block, page)


def _output(command: str, folder: Path) -> str:
    script = f'cfgmask() {{ "{sys.executable}" -m cfgmask "$@"; }}\n{command.removeprefix(PROMPT)}'
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.stdout.decode().strip("\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(with_real_outputs(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
