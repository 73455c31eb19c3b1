"""`cfgmask generate`, with the model that ships inside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cfgmask.demo import PROMPTS
from cfgmask.demo.tools import tool_call_schema
from tests.cli.conftest import Run

pytest.importorskip("llama_cpp", reason="generation needs llama-cpp-python")

CALL = '{"name": "get_weather", "arguments": {"city": "Paris", "unit": "celsius"}}'
CHAT = f"Sure! Here is the JSON you asked for:\n```json\n{CALL}\n```\nIs there anything else?"


@pytest.fixture
def schema(folder: Path) -> str:
    (folder / "call.json").write_text(json.dumps(tool_call_schema()))
    return "call.json"


def test_the_text_is_all_of_stdout(run: Run, schema: str) -> None:
    result = run("generate", schema, "--prompt", PROMPTS[0])
    assert (result.exit_code, result.stdout, result.stderr) == (0, CALL + "\n", "")


def test_unconstrained_shows_both(run: Run, schema: str) -> None:
    result = run("generate", schema, "--unconstrained", "--prompt", PROMPTS[0])
    assert result.exit_code == 0
    assert result.stdout == f"--- unconstrained ---\n{CHAT}\n--- constrained ---\n{CALL}\n"


def test_json(run: Run, schema: str) -> None:
    result = run("generate", schema, "--json", "--unconstrained", "--prompt", PROMPTS[0])
    answer = json.loads(result.stdout)
    assert answer["ok"] is True
    assert answer["text"] == CALL
    assert answer["unconstrained"] == CHAT
    assert answer["finish_reason"] == "stop"


def test_a_text_cut_by_max_tokens_is_a_problem(run: Run, schema: str) -> None:
    result = run("generate", schema, "--max-tokens", "4", "--prompt", PROMPTS[0])
    assert result.exit_code == 1
    assert CALL.startswith(result.stdout.rstrip("\n"))
    assert (
        result.stderr
        == """\
error[text-incomplete]: the text was cut off after 4 tokens, before it was complete
  help: allow more with --max-tokens, or a longer --context

"""
    )


def test_a_seed_repeats_a_text(run: Run) -> None:
    def text(seed: int) -> str:
        options = ("--temperature", "2", "--max-tokens", "20", "--seed", str(seed), "--prompt", "Anna lives in ")
        return run("generate", "greeting.lark", *options).stdout

    assert text(1) == text(1) != text(2)


def test_a_file_that_is_no_model_is_misuse(run: Run, schema: str, folder: Path) -> None:
    (folder / "bad.gguf").write_bytes(b"GGUF" + bytes(100))
    result = run("generate", schema, "--model", "bad.gguf", "--prompt", "x")
    assert result.exit_code == 2
    assert "bad.gguf: not a model that llama.cpp can load" in result.stderr


def test_a_prompt_longer_than_the_context_is_misuse(run: Run, schema: str) -> None:
    result = run("generate", schema, "--context", "32", "--prompt", "1234567890" * 60)
    assert result.exit_code == 2
    assert "context" in result.stderr


def test_a_broken_grammar_is_told_before_a_model_is_loaded(run: Run, folder: Path) -> None:
    (folder / "bad.lark").write_text("start: missing\n")
    (folder / "bad.gguf").write_bytes(b"")
    result = run("generate", "bad.lark", "--model", "bad.gguf", "--prompt", "x")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "--> bad.lark:1:8" in result.stderr
