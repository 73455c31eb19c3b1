"""Tables of transcripts, one a style: as text, and as tokens of a vocabulary that has the markers as tokens.

A table is a JSON file `transcripts/STYLE.json`: a list of cases. A case has a `text`, and `valid`, which is true where
it is left out; the other keys are arguments of `Grammar.from_tools`. `tools` names the tools of `TOOLS` that there are,
all functions by default. Cases with `rendered` are what the chat template of that name renders for `calls`, `content`
and `reasoning`; `python -m tests.tools.rendered FOLDER --write` writes them.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import pytest

import cfgmask
from cfgmask.tools.style import Style, names, style
from cfgmask.tools.write import write_tools
from cfgmask.values import Message

FOLDER = Path(__file__).parent / "transcripts"
STYLES = Path(cfgmask.__file__).parent / "tools" / "styles"
BYTES = cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)


def _function(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


_ANY_TEXT = {"type": "string"}
TOOLS = {
    "tide": _function("tide", {"port": _ANY_TEXT, "day": {"type": "integer"}}, ["port"]),
    "lamp": _function("lamp", {"on": {"type": "boolean"}, "rooms": {"type": "array", "items": _ANY_TEXT}}, ["on"]),
    "ping": _function("ping", {}, []),
    "sail": _function(
        "sail",
        {
            "to": {"type": "object", "properties": {"x": {"type": "number"}, "of": {"type": "array"}}},
            "when": {"type": ["string", "null"]},
        },
        [],
    ),
    "sql": {
        "type": "custom",
        "custom": {
            "name": "sql",
            "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "SELECT [a-z]+"}},
        },
    },
}
FUNCTIONS = ["tide", "lamp", "ping", "sail"]


def _cases() -> list[Any]:
    found = []
    for file in sorted(FOLDER.glob("*.json")):
        for number, case in enumerate(json.loads(file.read_text(encoding="utf-8"))):
            found.append(pytest.param(file.stem, case, id=f"{file.stem}-{number}"))
    return found


def _grammar(name: str, case: dict[str, Any]) -> cfgmask.Grammar:
    return made(name, json.dumps(arguments_of(case)))


def arguments_of(case: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `from_tools` in a case."""
    others = ("text", "valid", "about", "rendered", "calls", "content", "reasoning")
    # Where `rendered` is, `reasoning` is what was thought.
    kept = "" if "rendered" in case else "reasoning"
    return {key: value for key, value in case.items() if key not in others or key == kept}


@lru_cache(maxsize=64)
def made(name: str, given: str) -> cfgmask.Grammar:
    """The grammar of a style for arguments as JSON text."""
    arguments = json.loads(given)
    tools = [TOOLS[tool] for tool in arguments.pop("tools", FUNCTIONS)]
    return cfgmask.Grammar.from_tools(tools, style=name, **arguments)


def markers_of(found: Style) -> list[str]:
    """All markers of a style, longest first."""
    data = json.loads((STYLES / f"{found.name}.json").read_text("utf-8"))
    return sorted(data.get("markers", []), key=len, reverse=True)


@cache
def vocabulary_of(name: str, *, has_bytes: bool) -> cfgmask.Vocabulary:
    """Single bytes, pairs that begin like markers do, and the markers of a style as tokens, with their text or without.

    With their text they are added tokens, as `<tool_call>` often is.
    """
    markers = markers_of(style(name))
    tokens = [bytes([i]) for i in range(256)]
    tokens += [marker.encode() if has_bytes else b"" for marker in markers]
    special = {} if has_bytes else {marker: 256 + i for i, marker in enumerate(markers)}
    return cfgmask.Vocabulary.from_bytes([*tokens, b""], eos_token_id=len(tokens), special_tokens=special)


def tokens_of(name: str, text: str) -> list[int]:
    """The text as tokens of `vocabulary_of`: every marker is its token."""
    markers = markers_of(style(name))
    if not markers:
        return list(text.encode())
    parts = re.split("(" + "|".join(map(re.escape, markers)) + ")", text)
    return [i for part in parts for i in ([256 + markers.index(part)] if part in markers else list(part.encode()))]


@lru_cache(maxsize=256)
def _compiled(grammar: cfgmask.Grammar, vocabulary: cfgmask.Vocabulary) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(grammar, vocabulary)


def _accepts(grammar: cfgmask.Grammar, vocabulary: cfgmask.Vocabulary, ids: list[int]) -> bool:
    matcher = _compiled(grammar, vocabulary).matcher()
    return matcher.try_advance(ids) == len(ids) and matcher.is_accepting


@pytest.mark.parametrize(("name", "case"), _cases())
def test_as_text(name: str, case: dict[str, Any]) -> None:
    assert _accepts(_grammar(name, case), BYTES, list(case["text"].encode())) == case.get("valid", True)


@pytest.mark.parametrize("has_bytes", [True, False])
@pytest.mark.parametrize(("name", "case"), _cases())
def test_as_tokens(name: str, case: dict[str, Any], has_bytes: bool) -> None:
    """What is valid as text is so with markers as tokens. A marker in a string is text there, and no token."""
    if case.get("about") == "marker in a string":
        pytest.skip("the marker is text here, and no token")
    vocabulary = vocabulary_of(name, has_bytes=has_bytes)
    assert _accepts(_grammar(name, case), vocabulary, tokens_of(name, case["text"])) == case.get("valid", True)


@pytest.mark.parametrize("name", names())
def test_each_tool_has_its_own_arguments(name: str) -> None:
    """A valid call of one tool is none of a tool with another schema."""
    valid = [case["text"] for case in cases_of(name) if case.get("valid", True) and set(case) <= {"text", "valid"}]
    calls = [text for text in valid if "tide" in text and "lamp" not in text]
    assert calls
    compiled = _compiled(made(name, '{"tools": ["tide", "lamp"], "tool_choice": "required"}'), BYTES)
    n_accepted = 0
    for text in calls:
        n_accepted += _takes(compiled, text)
        assert not _takes(compiled, text.replace("tide", "lamp"))
    assert n_accepted


def _takes(compiled: cfgmask.CompiledGrammar, text: str) -> bool:
    data = list(text.encode())
    matcher = compiled.matcher()
    return matcher.try_advance(data) == len(data) and matcher.is_accepting


def cases_of(name: str) -> list[dict[str, Any]]:
    """The table of a style."""
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("name", "case"), [case for case in _cases() if "rendered" in case.values[1]])
def test_rendered_turns_are_read_back(name: str, case: dict[str, Any]) -> None:
    message = _grammar(name, case).parse(case["text"])
    assert [[call.name, call.arguments] for call in message.tool_calls] == case["calls"]
    content, reasoning = case.get("content", ""), case.get("reasoning", "")
    if name == "harmony" and case["calls"]:
        content, reasoning = "", content + reasoning  # its template writes text before calls as thinking
    assert [(message.content or "").strip(), (message.reasoning or "").strip()] == [content, reasoning]


def said(message: Message) -> tuple[Any, ...]:
    """What a message says; free text that is there and empty is none."""
    calls = [(call.name, call.arguments, call.id) for call in message.tool_calls]
    return message.reasoning or "", message.content or "", calls, message.value


@pytest.mark.parametrize("name", names())
def test_tokens_are_read_as_the_text_is(name: str) -> None:
    """Markers that are tokens without text are part of arguments in some forms."""
    grammar, vocabulary = made(name, "{}"), vocabulary_of(name, has_bytes=False)
    compiled = _compiled(grammar, vocabulary)
    for case in cases_of(name):
        if set(case) <= {"text"}:
            read = grammar.parse(tokens_of(name, case["text"]), compiled)
            assert said(read) == said(grammar.parse(case["text"])), case["text"]


def test_every_style_has_transcripts() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(names())


def test_schemas_are_written_as_they_are() -> None:
    """Whatever texts they hold."""
    tools = [{"name": f"f{i}", "parameters": {"properties": {"a": {"const": f"<part-{1 - i}>"}}}} for i in range(2)]
    grammar = cfgmask.Grammar.from_tools(tools, style="hermes", tool_choice="required")
    text = write_tools(grammar.ir_for(BYTES))
    assert ["<part-1>" in text, "<part-0>" in text, text.count("%json")] == [True, True, 2]
    calls = ['<tool_call>\n{"name": "f0", "arguments": {"a": "<part-' + i + '>"}}\n</tool_call>' for i in "01"]
    again = cfgmask.Grammar.from_lark(text)
    assert again.parse(calls[1]).tool_calls[0].arguments == {"a": "<part-1>"}
    with pytest.raises(cfgmask.ParseError):
        again.parse(calls[0])


@pytest.mark.parametrize("name", ["cohere", "deepseek_v3_2", "glm_4_7", "harmony", "hermes", "kimi", "llama"])
def test_written_as_lark(name: str) -> None:
    """The text of a grammar, read back, has the same transcripts."""
    # Strings of JSON in tags have no spelling in Lark.
    tools = FUNCTIONS if style(name).arguments == "json" else ["tide", "ping"]
    cases = [case for file, case in (param.values for param in _cases()) if file == name]
    plain = [case for case in cases if set(case) <= {"text", "valid", "about"}]
    plain = [case for case in plain if not any(tool in case["text"] for tool in {*FUNCTIONS} - {*tools})]
    assert len(plain) > 5
    grammar = _grammar(name, {"tools": tools})
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(write_tools(grammar.ir_for(BYTES))), BYTES)
    for case in plain:
        data = list(case["text"].encode())
        matcher = compiled.matcher()
        accepted = matcher.try_advance(data) == len(data) and matcher.is_accepting
        assert accepted == case.get("valid", True), case["text"]


def test_rendered_styles_have_rendered_turns() -> None:
    """A style that says so has calls that a template rendered, and the documentation names the templates."""
    table = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", table.partition("| Style |")[2], re.MULTILINE))
    for name in names():
        has_turns = any(case.get("calls") for case in cases_of(name) if "rendered" in case)
        assert (style(name).evidence == "rendered") == has_turns == rows[name].startswith("rendered: "), name
