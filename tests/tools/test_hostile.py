"""Tools, choices and prompts from strangers: each is read, or refused by an error that says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

import cfgmask
from cfgmask import Grammar, GrammarError, LimitExceeded

TOOL: dict[str, Any] = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}
STYLES = ["hermes", "qwen_3_coder", "minimax_m3", "pythonic", "harmony"]


def deep(depth: int = 50_000) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"properties": {"a": value}}
    return value


def deep_list() -> list[Any]:
    value: list[Any] = []
    for _ in range(50_000):
        value = [value]
    return value


def cyclic() -> dict[str, Any]:
    value: dict[str, Any] = {"properties": {}}
    value["properties"]["a"] = value
    return value


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("make", [deep, cyclic])
def test_schemas_that_are_too_deep(style: str, make: Any) -> None:
    with pytest.raises(LimitExceeded, match="max_nesting"):
        Grammar.from_tools([{"name": "f", "parameters": make()}], style=style)
    with pytest.raises(LimitExceeded, match="max_nesting"):
        Grammar.from_tools([], style=style, response_format={"type": "json_schema", "json_schema": {"schema": make()}})


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"style": 5}, TypeError, "style must be a str or a Style, not int"),
        ({"prompt": b"x"}, TypeError, "prompt must be a str, not bytes"),
        ({"reasoning": {"max_tokens": 10**40}}, ValueError, "reasoning must be"),
        ({"reasoning": deep()}, ValueError, "reasoning must be"),
        ({"parallel_tool_calls": deep_list()}, ValueError, "parallel_tool_calls must be"),
        ({"parallel_tool_calls": 1.5}, ValueError, "parallel_tool_calls must be"),
        ({"tool_choice": deep()}, GrammarError, "tools-choice"),
        ({"tool_choice": {"type": "function", "function": {"name": ["f"]}}}, GrammarError, "tools-choice"),
        ({"response_format": deep_list()}, GrammarError, "type-unsupported"),
        ({"response_format": {"type": "json_schema"}}, GrammarError, "tools-response-format"),
        ({"tools": [deep_list()]}, GrammarError, "tools-form"),
        ({"tools": [{"name": "\ud800" * 300}]}, GrammarError, "tools-name"),
        ({"tools": [{"name": "f", "parameters": {"properties": {"\ud800": {}}}}]}, GrammarError, "lone-surrogate"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Grammar.from_tools(**{"tools": [TOOL], "style": "qwen_3", **arguments})


@pytest.mark.parametrize("prompt", ["<think>" * 200_000, "<tool_call>" * 200_000, "<think>" + " " * 500_000, "\ud800"])
def test_long_prompts(prompt: str) -> None:
    assert cfgmask.Grammar.from_tools([TOOL], style="qwen_3", prompt=prompt).name == "<tools>"


def test_structural_tags_that_are_too_deep() -> None:
    for tag in (deep(), {"format": {"type": "json_schema", "json_schema": deep()}}):
        with pytest.raises(LimitExceeded, match="max_nesting"):
            Grammar.from_structural_tag(tag)


def test_limits_of_tools_say_what_met_them() -> None:
    tool = {"name": "f0", "parameters": {"properties": {"a": {"type": "integer"}}}}
    for style in STYLES:
        with pytest.raises(LimitExceeded, match=r"max_nesting.*\(the schema at /1/parameters\)"):
            Grammar.from_tools([tool, {"name": "f", "parameters": deep()}], style=style)
