"""`python -m cfgmask.demo`: one prompt with and without a grammar."""

from __future__ import annotations

import json

import pytest

from cfgmask.demo import PROMPTS
from cfgmask.demo.tools import TOOLS, tool_call_schema

pytest.importorskip("llama_cpp", reason="the demo generates with llama-cpp-python")
pytest.importorskip("jsonschema", reason="the demo validates with jsonschema")

from cfgmask.demo.__main__ import main, problem

VALID = {"name": "set_timer", "arguments": {"minutes": 5}}


@pytest.mark.parametrize("prompt", PROMPTS)
def test_whatever_the_prompt_the_call_is_valid(prompt: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(prompt) == 0
    shown = capsys.readouterr().out
    assert "a valid tool call" in shown
    assert problem(shown.splitlines()[-1], tool_call_schema()) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Sure!", "not JSON from character 0 on"),
        (json.dumps({**VALID, "name": "get_time"}), "not a tool call: "),
        (json.dumps({"name": "add_event", "arguments": {"title": "x", "date": "2025-02-30"}}), "not a tool call: "),
    ],
)
def test_problems_are_found(text: str, complaint: str) -> None:
    assert (problem(text, tool_call_schema()) or "").startswith(complaint)


def test_a_valid_call_has_none() -> None:
    assert problem(json.dumps(VALID), tool_call_schema()) is None


def test_the_schema_is_closed() -> None:
    for branch in tool_call_schema()["anyOf"]:
        assert branch["additionalProperties"] is False
        assert branch["required"] == ["name", "arguments"]
    assert len(tool_call_schema()["anyOf"]) == len(TOOLS)
