"""Running the command: in this process for its output, in another for what only a process has."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cfgmask.cli import main

GREETING = """\
start: "hello" NAME ("," NAME)* "!"
NAME: /[a-z]+/
%ignore / /
"""

Run = Callable[..., Result]
Spawn = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory but for `greeting.lark`, so that outputs hold short paths."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greeting.lark").write_text(GREETING)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """`run("check", "greeting.lark")`; an exception that would be a traceback fails the test."""

    def invoke(*arguments: str, stdin: bytes | None = None) -> Result:
        return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)

    return invoke


@pytest.fixture
def spawn(folder: Path) -> Spawn:
    """The same as a process of its own: `spawn("check", "greeting.lark", env={"NO_COLOR": "1"})`."""

    def start(*arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "cfgmask", *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(env or {})},
        )

    return start
