"""Texts of each style of tool calls, token by token, against their captures, which are found by reading backwards."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import jsonschema
import pytest

import cfgmask
from cfgmask.tools.style import names
from cfgmask.values import ArgumentsDelta, CallBegun, ContentDelta, ReasoningDelta
from tests.values.walks import VOCABULARY, text_of, walk

WALKS = int(os.environ.get("CFGMASK_TEST_WALKS", "100"))
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "more": {"type": "array", "items": {"type": "string"}},
        "either": {"type": ["string", "boolean", "null"]},
        "at": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False},
    },
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}},
    {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "additionalProperties": False}}},
]

SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}


def segments(captures: list[tuple[str, bytes]], name: str) -> list[str]:
    return [text.decode() for found, text in captures if found == name]


@pytest.mark.parametrize("tool_choice", ["auto", "required"])
@pytest.mark.parametrize("style", names())
def test_styles(style: str, tool_choice: Any) -> None:
    grammar = cfgmask.Grammar.from_tools(TOOLS, style=style, tool_choice=tool_choice)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(style)
    for _ in range(WALKS):
        tokens = walk(compiled, rng, 40)
        matcher = compiled.matcher()
        assert matcher.try_advance(tokens) == len(tokens)
        captures = matcher.captures()
        names, arguments = segments(captures, "name"), segments(captures, "arguments")
        parser = grammar.parser(compiled)
        events = [event for token in tokens for event in parser.feed(token)]
        events += parser.finish()
        message = parser.value
        assert message == grammar.parse(text_of(tokens))
        assert [call.name for call in message.tool_calls] == names
        for name in ("reasoning", "content"):
            assert (getattr(message, name) or "") == "".join(segments(captures, name))
        if len(arguments) == len(names):
            assert [call.arguments for call in message.tool_calls] == [json.loads(text) for text in arguments]
        for call in message.tool_calls:
            jsonschema.validate(call.arguments, SCHEMAS[call.name])
        # The deltas are the texts.
        assert [event.name for event in events if isinstance(event, CallBegun)] == names
        for kind, text in ((ReasoningDelta, message.reasoning), (ContentDelta, message.content)):
            assert "".join(event.text for event in events if isinstance(event, kind)) == (text or "")
        for index, call in enumerate(message.tool_calls):
            deltas = [event.text for event in events if isinstance(event, ArgumentsDelta) and event.index == index]
            assert "".join(deltas) == call.text
