"""The examples run as they stand and print what they promise."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "examples"


def run(name: str) -> list[str]:
    """What an example prints, line by line."""
    command = [sys.executable, str(FOLDER / name)]
    # The package of this tree, installed or not.
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parent)}
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_llama_cpp_tool_call() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    streamed, called = run("llama_cpp_tool_call.py")
    assert json.loads(streamed)["name"] in ("get_weather", "set_timer")
    name, arguments = called.split(" ", 1)
    assert set(ast.literal_eval(arguments)) == {"get_weather": {"city", "unit"}, "set_timer": {"minutes"}}[name]


def test_llama_cpp_tools() -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    lines = run("llama_cpp_tools.py")
    call = json.loads(lines[0])
    assert call["name"] == "get_weather"
    assert set(call["arguments"]) == {"city"}
    answer = json.loads("".join(lines[1:]))
    assert set(answer) == {"city", "celsius"}


@pytest.mark.torch
def test_transformers_json() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    (line,) = run("transformers_json.py")
    person = ast.literal_eval(line)
    assert set(person) == {"name", "age", "tags"}
    assert 0 <= person["age"] <= 150


@pytest.mark.torch
def test_transformers_tools() -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    *call, answer = run("transformers_tools.py")
    assert "get_weather" in "".join(call)
    assert isinstance(ast.literal_eval(answer), dict)


def test_numpy_loop() -> None:
    lines = run("numpy_loop.py")
    complete = [line for line in lines if not line.endswith("(cut off)")]
    assert len(lines) == 10
    assert complete
    for line in complete:
        assert set(line.strip()) <= set("0123456789+-*()")
        assert isinstance(eval(line), int)


def test_every_example_is_tested() -> None:
    tested = Path(__file__).read_text()
    # The server does not end by itself: tests/integrations/test_server.py asks it.
    assert all(f'run("{path.name}")' in tested for path in FOLDER.glob("*.py") if path.name != "server.py")
