"""`cfgmask convert`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

GBNF = 'root ::= "- " [a-z]+ | "(" root ")"\nunused ::= "b"\n'
LARK = 'start: /- [a-z]+/ | "(" start ")"\n'


def test_to_stdout(run: Run, folder: Path) -> None:
    (folder / "g.gbnf").write_text(GBNF)
    result = run("convert", "g.gbnf")
    assert result.exit_code == 0
    assert result.stdout == LARK
    assert "warning[gbnf-unused-rule]" in result.stderr


def test_to_a_file_that_can_be_used(run: Run, folder: Path) -> None:
    (folder / "g.gbnf").write_text(GBNF)
    assert run("convert", "g.gbnf", "-o", "g.lark").exit_code == 0
    assert (folder / "g.lark").read_text() == LARK
    assert run("check", "g.lark", "--text", "((- ab))").exit_code == 0
    assert run("check", "g.gbnf", "--text", "((- ab))").exit_code == 0
    assert run("mask", "g.gbnf", "--prefix", "(").exit_code == 0


def test_problems(run: Run, folder: Path) -> None:
    (folder / "g.gbnf").write_text('root ::= "a" |\nx ::= "b"')
    result = run("convert", "g.gbnf")
    assert result.exit_code == 1
    assert "error[gbnf-syntax]" in result.stderr
    (folder / "g.gbnf").write_text("root ::= <a b>")
    result = run("convert", "g.gbnf")
    assert result.exit_code == 1
    assert "error[convert-unsupported]" in result.stderr


def test_misuse(run: Run, folder: Path) -> None:
    assert run("convert", "greeting.lark").exit_code == 2
    assert run("convert", "none.gbnf").exit_code == 2
    (folder / "g.gbnf").write_text(GBNF)
    assert run("convert", "g.gbnf", "-o", "no/folder/g.lark").exit_code == 2
