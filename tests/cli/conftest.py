"""Running the command: in this process for its output, in another for what only a process has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
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
    """The same as a process of its own: `spawn("check", "greeting.lark", env={"NO_COLOR": "1"})`.

    close_early  close its stdout once something came out, as `head` does
    interrupt    send SIGINT once something came out, as Ctrl-C does
    """

    def start(
        *arguments: str,
        env: dict[str, str] | None = None,
        close_early: bool = False,
        interrupt: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "cfgmask", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(env or {})},
            # What a shell starts in the background ignores the signal, and so would all that it starts.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        with process:
            first = b""
            if close_early or interrupt:
                assert process.stdout is not None
                first = os.read(process.stdout.fileno(), 1)
            if close_early:
                process.stdout.close()
                process.stdout = None
            if interrupt:
                process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=60)
        return subprocess.CompletedProcess(arguments, process.returncode, first + (stdout or b""), stderr)

    return start
