"""The commands that the README shows succeed. Its Python and its grammars are run by `tests/docs`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def _shell_lines(start: str) -> list[str]:
    blocks = re.findall(
        r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return [line for block in blocks for line in block.splitlines() if line.startswith(start)]


@pytest.mark.parametrize("command", _shell_lines("cfgmask "))
def test_commands_succeed(command: str) -> None:
    if command.startswith("cfgmask generate"):
        pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    in_this_python = command.replace("cfgmask", f"'{sys.executable}' -m cfgmask", 1)
    done = subprocess.run(["bash", "-c", in_this_python], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", _shell_lines("make "))
def test_make_has_the_targets(command: str) -> None:
    target = command.split()[1]
    assert re.search(rf"^{re.escape(target)}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
