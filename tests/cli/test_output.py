"""What is printed never breaks: encodings, control characters, pipes, terminals."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cfgmask.cli.output import bytes_to_json
from cfgmask.diagnostics import quoted
from tests.cli.conftest import Run, Spawn

RED = b"\x1b[1;31m"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", '""'),
        (b" plain", '" plain"'),
        (b'"\\', r'"\"\\"'),
        (b"\n\t\x00\x1b", r'"\n\t\x00\x1b"'),
        ("é€😀".encode(), '"é€😀"'),
        (b"\xe2\x82", r'"\xe2\x82"'),
        ("\u202e\u00a0".encode(), r'"\u202e\xa0"'),
    ],
)
def test_quoted(data: bytes, text: str) -> None:
    assert quoted(data) == text


def test_bytes_to_json() -> None:
    assert bytes_to_json("é".encode()) == {"text": "é", "hex": "c3a9"}
    assert bytes_to_json(b"\xc3") == {"text": None, "hex": "c3"}


def test_control_characters_of_a_schema_are_spelled_out(run: Run, folder: Path) -> None:
    (folder / "evil.json").write_text('{"properties": {"\\u001b[2J": {"multipleOf": 1000000000000000003}}}')
    shown = run("check", "evil.json").stdout
    assert r"/properties/\x1b[2J/multipleOf" in shown
    assert "\x1b" not in shown


def test_a_pipe_gets_plain_text(spawn: Spawn) -> None:
    done = spawn("check", "greeting.lark", "--text", "hello 1")
    assert done.stdout.startswith(b"error[text-refused]: ")
    assert b"\x1b" not in done.stdout


def test_a_terminal_gets_colours(folder: Path) -> None:
    assert RED in _on_a_terminal("check", "greeting.lark", "--text", "hello 1")


def test_no_color_is_respected_on_a_terminal(folder: Path) -> None:
    assert b"\x1b" not in _on_a_terminal("check", "greeting.lark", "--text", "hello 1", env={"NO_COLOR": "1"})


def test_a_character_that_the_encoding_lacks_is_escaped(spawn: Spawn) -> None:
    done = spawn("check", "greeting.lark", "--text", "hello é", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert rb"hello \xe9" in done.stdout


def test_a_reader_that_stops_early_is_no_error(spawn: Spawn, folder: Path) -> None:
    command = f"{sys.executable} -m cfgmask mask greeting.lark --limit 1000 | head -n 1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, timeout=60, cwd=folder, env=_environment({}))
    assert b"Traceback" not in done.stderr


def _on_a_terminal(*arguments: str, env: dict[str, str] | None = None) -> bytes:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cfgmask", *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=_environment(env or {})) as process:
        os.close(theirs)
        written = b""
        # At its end a pseudo-terminal gives an error on Linux and nothing elsewhere.
        while piece := _read(ours):
            written += piece
        assert process.wait(timeout=60) == 1
    os.close(ours)
    return written


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def _environment(extra: dict[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return {**kept, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **extra}
