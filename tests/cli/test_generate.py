"""`cfgmask generate`, with the model that ships inside."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import jsonschema
import pytest

from cfgmask.demo import PROMPTS
from cfgmask.demo.tools import tool_call_schema
from tests.cli.conftest import Run, Spawn

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


def test_a_trace_of_both(run: Run, schema: str) -> None:
    """What the model would say first, and what takes its place."""
    plain = run("generate", schema, "--unconstrained", "--prompt", PROMPTS[0]).stdout
    traced = run("generate", schema, "--unconstrained", "--trace", "--prompt", PROMPTS[0])
    assert traced.exit_code == 0
    text, free, constrained = traced.stdout.split("---  trace, ")
    assert text == plain
    assert free.startswith("unconstrained ---")
    assert free.count("the grammar refuses it") == 1
    assert 'likeliest was "Sure", of those allowed "{' in constrained
    tokens = [line.split('"  (')[0].split('"', 1)[1] for line in constrained.splitlines()[1:-1]]
    assert "".join(tokens).replace('\\"', '"') == CALL


def test_a_trace_as_json(run: Run, schema: str) -> None:
    answer = json.loads(run("generate", schema, "--json", "--trace", "--prompt", PROMPTS[0]).stdout)
    (name, trace), *others = answer["trace"].items()
    assert (name, others) == ("constrained", [])
    steps = trace["steps"]
    assert "".join(step["text"] for step in steps) == answer["text"] == CALL
    assert [step["next_state"] for step in steps[:-1]] == [step["state"] for step in steps[1:]]
    assert steps[0]["look"]["survives"] is False
    assert steps[0]["look"]["top"] == steps[0]["id"] != steps[0]["look"]["raw_top"]
    assert steps[0]["look"]["rejection_mass"] > 0.5
    assert trace["naive_checks"] >= trace["cached_checks"] > 0


def test_json(run: Run, schema: str) -> None:
    result = run("generate", schema, "--json", "--unconstrained", "--prompt", PROMPTS[0])
    answer = json.loads(result.stdout)
    assert answer["ok"] is True
    assert answer["text"] == CALL
    assert answer["unconstrained"] == CHAT
    assert answer["finish_reason"] == "stop"


def test_a_text_is_complete_within_max_tokens(run: Run, schema: str) -> None:
    result = run("generate", schema, "--max-tokens", "22", "--prompt", PROMPTS[0])
    assert (result.exit_code, result.stderr) == (0, "")
    jsonschema.validate(json.loads(result.stdout), tool_call_schema())


def test_max_tokens_that_hold_no_text_are_a_problem(run: Run, schema: str) -> None:
    result = run("generate", schema, "--max-tokens", "4", "--prompt", PROMPTS[0])
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr
        == """\
error[budget-too-small]: max_tokens is 4, and the shortest completion found takes 16 tokens
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


def test_a_prompt_that_is_no_text_is_misuse(spawn: Spawn, schema: str) -> None:
    done = spawn("generate", schema, "--prompt", os.fsdecode(b"a\xff"))
    assert done.returncode == 2
    assert b"the prompt is no Unicode text: character 1" in done.stderr


@pytest.mark.parametrize("seed", ["-1", str(2**32 - 1), "1.5"])
def test_a_seed_that_llama_cpp_would_cut_is_misuse(run: Run, schema: str, seed: str) -> None:
    result = run("generate", schema, "--seed", seed, "--prompt", "x")
    assert result.exit_code == 2
    assert "--seed" in result.stderr


def test_missing_llama_cpp_is_told_with_the_extra(run: Run, schema: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    result = run("generate", schema, "--prompt", "x")
    assert result.exit_code == 2
    assert "generating needs llama-cpp-python: pip install 'cfgmask[llama]'" in result.stderr


def test_a_reader_that_stops_early_is_no_error(spawn: Spawn, schema: str) -> None:
    """As in `cfgmask generate … | head -c 1`."""
    done = spawn("generate", schema, "--prompt", PROMPTS[0], close_early=True)
    assert (done.stdout, done.stderr) == (b"{", b"")


def test_an_interrupt_ends_without_a_traceback(spawn: Spawn, folder: Path) -> None:
    # Many seconds of work, so that the signal comes in the middle of it.
    (folder / "long.lark").write_text("start: /[a-z]{8000}/\n")
    room = ("--context", "8192", "--max-tokens", "8000")
    done = spawn("generate", "long.lark", *room, "--prompt", "x", interrupt=True)
    assert done.returncode == 1
    assert 0 < len(done.stdout) < 50000
    # llama.cpp remarks on a context that is longer than the model was trained for.
    assert done.stderr.rstrip().endswith(b"Aborted!")
    assert b"Traceback" not in done.stderr


def test_a_broken_grammar_is_told_before_a_model_is_loaded(run: Run, folder: Path) -> None:
    (folder / "bad.lark").write_text("start: missing\n")
    (folder / "bad.gguf").write_bytes(b"")
    result = run("generate", "bad.lark", "--model", "bad.gguf", "--prompt", "x")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "--> bad.lark:1:8" in result.stderr
