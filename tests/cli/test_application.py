"""The command as a whole: its version, its help, its exit codes as a process."""

from __future__ import annotations

import re

import pytest

from tests.cli.conftest import Run, Spawn


def test_version(spawn: Spawn) -> None:
    done = spawn("--version")
    assert done.returncode == 0
    assert re.fullmatch(rb"cfgmask (\d+\.\d+\.\d+\S*|0\+unknown)\n", done.stdout)


@pytest.mark.parametrize("command", ["check", "generate", "mask"])
def test_help_has_examples(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert re.search(rf"^    cfgmask {command} \S+\.(lark|json)", result.stdout, re.MULTILINE)


def test_help_lists_the_commands(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    for command in ("check", "generate", "mask"):
        assert re.search(rf"^  {command} ", result.stdout, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["check", "greeting.lark", "--text", "hello you!"], 0),
        (["check", "greeting.lark", "--text", "hello"], 1),
        (["check", "missing.lark"], 2),
        (["mask", "greeting.lark"], 0),
        (["mask", "greeting.lark", "--prefix", "bye"], 1),
        (["mask", "missing.lark"], 2),
    ],
)
def test_exit_codes(spawn: Spawn, arguments: list[str], code: int) -> None:
    done = spawn(*arguments)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
