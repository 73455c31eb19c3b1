"""Files that are not what they should be: a diagnostic or a usage error each, in bounded time, never a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run, Spawn

DEEP = 10_000

PROBLEMS: dict[str, tuple[str, bytes]] = {
    "empty grammar": ("a.lark", b""),
    "empty schema": ("a.json", b""),
    "binary grammar": ("a.lark", bytes(range(256)) * 40),
    "binary schema": ("a.json", bytes(range(256)) * 40),
    "not UTF-8": ("a.lark", b'start: "\xe9"\n'),
    "zero bytes": ("a.lark", bytes(100)),
    "nested brackets": ("a.lark", b"start: " + b"(" * DEEP + b'"a"' + b")" * DEEP + b"\n"),
    "open brackets": ("a.lark", b"start: " + b"[" * DEEP),
    "nested regex": ("a.lark", b"start: /" + b"(" * DEEP + b"a" + b")" * DEEP + b"/\n"),
    "nested schema": ("a.json", b'{"items":' * DEEP + b"{}" + b"}" * DEEP),
    "nested array": ("a.json", b'{"const":' + b"[" * DEEP + b"]" * DEEP + b"}"),
    "open schema": ("a.json", b'{"items":' * DEEP),
    "only left-recursive": ("a.lark", b'start: start "a"\n'),
    "reference loop": ("a.json", b'{"$ref": "#"}'),
    "not a schema": ("a.json", b"[1, 2]"),
    "unknown suffix": ("a.txt", b'start: "a"\n'),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems(run: Run, folder: Path, name: str) -> None:
    file, data = PROBLEMS[name]
    (folder / file).write_bytes(data)
    result = run("check", file)
    assert result.exit_code == 1
    assert "error[" in result.stdout
    assert result.stderr == ""


def test_the_byte_that_is_not_utf8_is_named(run: Run, folder: Path) -> None:
    (folder / "latin.lark").write_bytes(b'start: "\xe9"\n')
    assert "byte 0xe9 at offset 8" in run("check", "latin.lark").stdout


@pytest.mark.parametrize(("file", "unit"), [("big.lark", b'start: "a"\n'), ("big.json", b"{"), ("big.lark", b"a b ")])
def test_ten_megabytes(spawn: Spawn, folder: Path, file: str, unit: bytes) -> None:
    (folder / file).write_bytes(unit * (10_000_000 // len(unit)))
    done = spawn("check", file)
    assert done.returncode == 1, done.stderr.decode()
    assert b"error[" in done.stdout
    assert len(done.stdout) < 1_000_000


def test_a_text_of_ten_megabytes(spawn: Spawn, folder: Path) -> None:
    (folder / "long.txt").write_bytes(b"hello " + b"anna, " * 1_600_000 + b"anna!")
    done = spawn("check", "greeting.lark", "--input", "long.txt")
    assert (done.returncode, done.stdout) == (0, b"long.txt: accepted\ngreeting.lark: fine\n")


@pytest.mark.parametrize("command", ["check", "mask"])
def test_a_folder_is_misuse(spawn: Spawn, folder: Path, command: str) -> None:
    (folder / "folder.lark").mkdir()
    assert spawn(command, "folder.lark").returncode == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file_is_misuse(spawn: Spawn, folder: Path) -> None:
    (folder / "greeting.lark").chmod(0)
    done = spawn("check", "greeting.lark")
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["check", "mask", "generate"])
def test_a_grammar_on_stdin_is_misuse(run: Run, command: str) -> None:
    result = run(command, "-", *(("--prompt", "x") if command == "generate" else ()))
    assert result.exit_code == 2
    assert "a grammar is read from a file, whose name ends in .lark, .gbnf or .json" in result.stderr


def test_files_of_windows(run: Run, folder: Path) -> None:
    (folder / "windows.lark").write_bytes(b'\xef\xbb\xbfstart: "a"\r\n  | missing\r\n')
    result = run("check", "windows.lark")
    assert result.exit_code == 1
    assert "--> windows.lark:2:5\n2 |   | missing\n  |     ^^^^^^^\n" in result.stdout
    (folder / "windows.json").write_bytes(b'\xef\xbb\xbf{\r\n"type": "integer"}\r\n')
    assert run("check", "windows.json", "--text", "5").exit_code == 0


@pytest.mark.parametrize("arguments", [("check", "greeting.lark", "--json"), ("mask", "greeting.lark")])
def test_a_reader_that_stops_early_is_no_error(spawn: Spawn, arguments: tuple[str, ...]) -> None:
    assert spawn(*arguments, close_early=True).stderr == b""
