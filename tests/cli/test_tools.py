"""`cfgmask tools`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cfgmask
from cfgmask.tools.style import names
from tests.cli.conftest import Run

TOOLS = [{"name": "timer", "inputSchema": {"properties": {"minutes": {"type": "integer"}}, "required": ["minutes"]}}]
CALL = '[TOOL_CALLS]timer[ARGS]{"minutes": 10}'


@pytest.fixture
def tools(folder: Path) -> str:
    """The name of a file with tools."""
    (folder / "tools.json").write_text(json.dumps(TOOLS))
    return "tools.json"


def test_the_grammar_is_one(run: Run, tools: str, folder: Path) -> None:
    result = run("tools", tools, "--style", "mistral", "--choice", "required", "--parallel", "no")
    assert result.exit_code == 0
    assert "%json {" in result.stdout
    cfgmask.Grammar.from_lark(result.stdout)


def test_texts(run: Run, tools: str, folder: Path) -> None:
    (folder / "answer.txt").write_text("Hello.")
    result = run("tools", tools, "--style", "mistral", "--text", CALL, "--input", "answer.txt")
    assert result.exit_code == 0
    assert result.stdout == "text 1: accepted\nanswer.txt: accepted\n"
    result = run("tools", tools, "--style", "mistral", "--choice", "timer", "--text", "Hello.")
    assert result.exit_code == 1
    assert "error[text-refused]" in result.stdout
    result = run("tools", tools, "--style", "mistral", "--parallel", "1", "--text", CALL + CALL, "--json")
    assert [verdict["outcome"] for verdict in json.loads(result.stdout)] == ["refused"]


def test_lists(run: Run) -> None:
    assert all(name in run("tools", "--list").stdout for name in names())
    assert [style["name"] for style in json.loads(run("tools", "--list", "--json").stdout)] == list(names())


def test_templates(run: Run, tools: str, folder: Path) -> None:
    (folder / "template.jinja").write_text("{{ '[TOOL_CALLS]' }}{{ '[ARGS]' }}")
    result = run("tools", tools, "--template", "template.jinja", "--text", CALL)
    assert result.exit_code == 0
    assert "the style mistral was found in the chat template" in result.stderr
    (folder / "template.jinja").write_text("nothing")
    result = run("tools", tools, "--template", "template.jinja", "--text", CALL)
    assert result.exit_code == 1
    assert "error[tools-style]" in result.stderr


def test_problems(run: Run, tools: str, folder: Path) -> None:
    (folder / "bad.json").write_text('[{"name": "a b"}, {}]')
    result = run("tools", "bad.json", "--style", "hermes")
    assert result.exit_code == 1
    assert result.stderr.count("error[tools-name]") == 2


def test_misuse(run: Run, tools: str, folder: Path) -> None:
    (folder / "bad.json").write_text("[")
    (folder / "deep.json").write_text("[" * 100_000 + "]" * 100_000)
    for arguments in (
        [],
        ["bad.json", "--style", "hermes"],
        ["deep.json", "--style", "hermes"],
        [tools, "--style", "hermse"],
        [tools, "--style", "hermes", "--parallel", "some"],
        [tools, "--style", "hermes", "--reasoning", "on"],
        ["none.json"],
    ):
        assert run("tools", *arguments).exit_code == 2, arguments
