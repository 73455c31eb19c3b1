"""Lists of tools, choices and formats of answers: what is read, and every problem of what is not."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Annotated, Any

import pytest

import cfgmask
from cfgmask.tools.choice import read_choice
from cfgmask.tools.read import TextFormat, read_tools
from cfgmask.tools.style import read_style, style

BYTES = cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def add(a: int, b: int = 0) -> int:
    """The sum of two numbers."""
    return a + b


@dataclasses.dataclass
class Move:
    """Move somewhere."""

    to: str
    fast: bool = False


def _accepts(grammar: cfgmask.Grammar, text: str) -> bool:
    data = list(text.encode())
    matcher = cfgmask.compile(grammar, BYTES).matcher()
    return matcher.try_advance(data) == len(data) and matcher.is_accepting


def _call(name: str, arguments: str) -> str:
    return f'{{"name": "{name}", "arguments": {arguments}}}'


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA, "strict": True}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"name": "f", "title": "F", "description": "d", "inputSchema": SCHEMA},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"name": "f", "description": "d", "parameters": SCHEMA},
    ],
)
def test_dicts(tool: dict[str, Any]) -> None:
    for tools in ([tool], {"tools": [tool]}):
        (read,) = read_tools(tools)
        assert (read.name, read.schema, read.kind, read.description) == ("f", SCHEMA, "function", "d")


def test_tools_without_a_schema_take_any_object() -> None:
    for tool in (
        {"type": "function", "function": {"name": "f"}},
        {"type": "function", "function": {"name": "f", "parameters": None}},
        {"type": "function", "function": {"name": "f", "parameters": SCHEMA, "strict": False}},
        {"type": "web_search", "name": "f"},
    ):
        grammar = cfgmask.Grammar.from_tools([tool], style="generic")
        assert _accepts(grammar, _call("f", '{"x": [1]}'))
        assert not _accepts(grammar, _call("f", "3"))


def test_undeclared_parameters() -> None:
    """A schema that says nothing of other keys has none; one that does is taken at its word."""
    tool = {"name": "f", "parameters": {"properties": {"a": {}}}}
    assert not _accepts(cfgmask.Grammar.from_tools([tool], style="generic"), _call("f", '{"b": 1}'))
    tool = {"name": "f", "parameters": {"properties": {"a": {}}, "additionalProperties": True}}
    assert _accepts(cfgmask.Grammar.from_tools([tool], style="generic"), _call("f", '{"b": 1}'))


def test_custom_and_builtin_tools() -> None:
    lark = {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: /a+/"}}
    regex = {"type": "grammar", "syntax": "regex", "definition": "a+"}
    tools = [
        {"type": "custom", "custom": {"name": "c", "format": lark}},
        {"type": "custom", "name": "d", "format": regex},
        {"type": "custom", "name": "e"},
        {"type": "browser"},
        {"type": "builtin", "name": "python"},
    ]
    read = read_tools(tools)
    assert [tool.format for tool in read[:3]] == [
        TextFormat("lark", "start: /a+/"),
        TextFormat("regex", "a+"),
        TextFormat(),
    ]
    assert [(tool.name, tool.kind) for tool in read[3:]] == [("browser", "builtin"), ("python", "builtin")]
    begin, end = "<|channel|>commentary to=functions.", "<|call|>"
    grammar = cfgmask.Grammar.from_tools(tools, style="harmony")
    for name, text, is_valid in (
        ("c", "aa", True),
        ("c", "b", False),
        ("d", "aaa", True),
        ("e", "any <|call| thing", True),
    ):
        assert _accepts(grammar, f"{begin}{name} <|constrain|>json<|message|>{text}{end}") == is_valid
    assert _accepts(grammar, '<|channel|>analysis to=browser code<|message|>{"q": 1}<|call|>')
    grammar = cfgmask.Grammar.from_tools(tools[1:3], style="generic")
    assert _accepts(grammar, _call("d", '{"input": "aa"}'))
    assert not _accepts(grammar, _call("d", '{"input": "b"}'))
    assert _accepts(grammar, _call("e", '{"input": "b"}'))


def test_python() -> None:
    grammar = cfgmask.Grammar.from_tools([add, Move], style="generic")
    assert _accepts(grammar, _call("add", '{"a": 1}'))
    assert not _accepts(grammar, _call("add", '{"b": 1}'))
    assert _accepts(grammar, _call("Move", '{"to": "x", "fast": true}'))
    assert [tool.description for tool in read_tools([add, Move])] == ["The sum of two numbers.", "Move somewhere."]


def test_python_by_pydantic() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")

    def press(key: str, times=1) -> None:  # type: ignore[no-untyped-def]
        """Press a key."""

    press.__annotations__["times"] = Annotated[int, pydantic.Field(ge=0)]
    search = pydantic.create_model("Search", __doc__="Search for something.", query=(str, ...), limit=(int, 10))
    grammar = cfgmask.Grammar.from_tools([press, search], style="generic")
    assert _accepts(grammar, _call("press", '{"key": "a", "times": 2}'))
    assert not _accepts(grammar, _call("press", '{"key": "a", "times": -1}'))
    assert _accepts(grammar, _call("Search", '{"query": "x", "limit": 3}'))
    assert [tool.description for tool in read_tools([press, search])] == ["Press a key.", "Search for something."]


def _positional(a: int, /) -> None: ...


def _any_number(*a: int) -> None: ...


PROBLEMS: list[tuple[Any, list[tuple[str, str | None]]]] = [
    ([3], [("tools-form", "/0")]),
    ([{"type": 3}], [("tools-form", "/0/type")]),
    ([{"type": "function", "function": 3}], [("tools-form", "/0/function")]),
    ([{"type": "function", "function": {"name": "f", "strict": 1}}], [("tools-form", "/0/function/strict")]),
    ([{"name": "f", "parameters": 3}], [("tools-form", "/0/parameters")]),
    ([{"type": "function", "function": {}}], [("tools-name", "/0/function/name")]),
    ([{"name": "a b"}], [("tools-name", "/0/name")]),
    ([{"name": "a" * 300}], [("tools-name", "/0/name")]),
    ([{"name": "f"}, {"name": "f"}], [("tools-same-name", "/1")]),
    (
        [{"type": "function", "function": {"name": "f", "paramters": {}}}],
        [("tools-unknown-key", "/0/function/paramters")],
    ),
    ([{"type": "custom", "name": "f", "format": {"type": "grammer"}}], [("tools-format", "/0/format")]),
    (
        [{"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": "gbnf"}}],
        [("tools-format", "/0/format/syntax")],
    ),
    (
        [{"type": "custom", "name": "f", "format": {"type": "grammar", "syntax": "lark"}}],
        [("tools-format", "/0/format/definition")],
    ),
    ([_positional, _any_number], [("tools-signature", "/0"), ("tools-signature", "/1")]),
    ([lambda x: x], [("tools-name", "/0")]),
    # All at once.
    ([{}, {"name": ""}, 3], [("tools-name", "/0/name"), ("tools-name", "/1/name"), ("tools-form", "/2")]),
]


@pytest.mark.parametrize(("tools", "expected"), PROBLEMS)
def test_problems(tools: Any, expected: list[tuple[str, str | None]]) -> None:
    with pytest.raises(cfgmask.GrammarError) as raised:
        read_tools(tools)
    assert [(found.code, found.pointer) for found in raised.value.diagnostics] == expected


def test_problems_of_schemas_have_their_places() -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"properties": {"a": {"type": "strin"}}}}},
        {"name": "g", "inputSchema": {"properties": {"b": {"minimum": "x"}}}},
    ]
    with pytest.raises(cfgmask.GrammarError) as raised:
        cfgmask.Grammar.from_tools(tools, style="hermes")
    assert [found.pointer for found in raised.value.diagnostics] == [
        "/0/function/parameters/properties/a/type",
        "/1/inputSchema/properties/b/minimum",
    ]


def test_not_a_list() -> None:
    with pytest.raises(TypeError, match="tools must be a list"):
        read_tools("f")


CHOICES: list[tuple[Any, str, list[str], int | None]] = [
    ("auto", "auto", ["f", "g"], None),
    (None, "auto", ["f", "g"], None),
    ("required", "required", ["f", "g"], None),
    ("any", "required", ["f", "g"], None),
    ("none", "none", ["f", "g"], None),
    ({"type": "function", "function": {"name": "g"}}, "required", ["g"], 1),
    ({"type": "function", "name": "g"}, "required", ["g"], 1),
    ({"type": "tool", "name": "g"}, "required", ["g"], 1),
    ({"type": "any"}, "required", ["f", "g"], None),
    (
        {
            "type": "allowed_tools",
            "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "g"}}]},
        },
        "auto",
        ["g"],
        None,
    ),
    (
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
        "required",
        ["f"],
        None,
    ),
]


@pytest.mark.parametrize(("written", "mode", "names", "maximum"), CHOICES)
def test_choices(written: Any, mode: str, names: list[str], maximum: int | None) -> None:
    choice = read_choice(read_tools([{"name": "f"}, {"name": "g"}]), written, True)
    assert (choice.mode, [tool.name for tool in choice.tools], choice.maximum) == (mode, names, maximum)


def test_problems_of_choices() -> None:
    tools = read_tools([{"name": "first"}])
    for written, code, pointer in (
        ("requird", "tools-choice", "/tool_choice"),
        (3, "tools-choice", "/tool_choice"),
        ({"type": "function", "function": {"name": "frist"}}, "tools-choice-unknown", "/tool_choice/function/name"),
        ({"type": "function"}, "tools-choice", "/tool_choice/name"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "x", "tools": []}},
            "tools-choice",
            "/tool_choice/allowed_tools/mode",
        ),
        ({"type": "allowed_tools", "allowed_tools": {"tools": []}}, "tools-choice", "/tool_choice/allowed_tools/tools"),
        (
            {"type": "allowed_tools", "allowed_tools": {"tools": [{"type": "function", "function": {"name": "x"}}]}},
            "tools-choice-unknown",
            "/tool_choice/allowed_tools/tools/0/function/name",
        ),
    ):
        with pytest.raises(cfgmask.GrammarError) as raised:
            read_choice(tools, written, True)
        assert [(found.code, found.pointer) for found in raised.value.diagnostics] == [(code, pointer)]
    with pytest.raises(cfgmask.GrammarError, match="tools-choice-no-tools"):
        read_choice((), "required", True)
    for wrong in (0, -1, "3"):
        with pytest.raises(ValueError, match="parallel_tool_calls"):
            read_choice(tools, "auto", wrong)  # type: ignore[arg-type]


def test_answers_that_could_begin_like_a_call() -> None:
    tools = [{"name": "f", "parameters": SCHEMA}]
    with pytest.raises(cfgmask.GrammarError, match="tools-response-format"):
        cfgmask.Grammar.from_tools(tools, style="llama", response_format={"properties": {"name": {"type": "string"}}})
    # With a marker there is no question.
    grammar = cfgmask.Grammar.from_tools(tools, style="hermes", response_format={"properties": {"name": {}}})
    assert _accepts(grammar, '{"name": 3}')
    for format in (Move, {"type": "json_schema", "json_schema": {"schema": {"required": ["to"]}}}):
        grammar = cfgmask.Grammar.from_tools(tools, style="llama", response_format=format, tool_choice="none")
        assert _accepts(grammar, '{"to": "x"}')
        assert not _accepts(grammar, "words")
    with pytest.raises(cfgmask.GrammarError, match="tools-response-format"):
        cfgmask.Grammar.from_tools(tools, style="llama", response_format={"type": "json_schema"})


def test_other_problems() -> None:
    with pytest.raises(ValueError, match="did you mean `hermes`"):
        cfgmask.Grammar.from_tools([], style="hermse")
    with pytest.raises(ValueError, match="reasoning must be"):
        cfgmask.Grammar.from_tools([], style="qwen_3", reasoning="on")
    with pytest.raises(cfgmask.GrammarError, match="tools-prompt-thinking"):
        cfgmask.Grammar.from_tools([], style="qwen_3", reasoning="disabled", prompt="<think>\n")
    lark = {"type": "custom", "name": "c", "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}}
    with pytest.raises(cfgmask.GrammarError, match="tools-custom-grammar"):
        cfgmask.Grammar.from_tools([lark], style="hermes")
    with pytest.raises(cfgmask.GrammarError, match="tools-style"):
        cfgmask.Grammar.from_tools([])
    notes = cfgmask.Grammar.from_tools([], style="hermes", reasoning="enabled").notes
    assert [note.code for note in notes] == ["tools-no-thinking"]


def test_thinking_has_a_budget() -> None:
    grammar = cfgmask.Grammar.from_tools([], style="qwen_3", reasoning={"max_tokens": 3})
    assert _accepts(grammar, "<think>\nabc\n</think>\n\nHi.")
    assert not _accepts(grammar, "<think>\nabcd\n</think>\n\nHi.")


def test_prompts_that_have_begun_a_call() -> None:
    tools = [{"name": "f", "parameters": SCHEMA}]
    grammar = cfgmask.Grammar.from_tools(tools, style="hermes", prompt="<|im_start|>assistant\n<tool_call>\n")
    assert _accepts(grammar, _call("f", '{"a": 1}') + "\n</tool_call>")
    assert not _accepts(grammar, "<tool_call>\n" + _call("f", '{"a": 1}') + "\n</tool_call>")
    grammar = cfgmask.Grammar.from_tools(tools, style="mistral_list", prompt="[/INST][TOOL_CALLS]")
    assert _accepts(grammar, "[" + _call("f", '{"a": 1}') + "]")


def test_pickles() -> None:
    grammar = pickle.loads(pickle.dumps(cfgmask.Grammar.from_tools([add], style="qwen_3", prompt="<think>\n")))
    assert _accepts(grammar, "x\n</think>\n\n<tool_call>\n" + _call("add", '{"a": 1}') + "\n</tool_call>")


def test_the_tools_of_a_grammar_do_not_change() -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}
    grammar = cfgmask.Grammar.from_tools([tool], style="generic")
    tool["parameters"]["properties"]["b"] = {}  # type: ignore[index]
    assert not _accepts(grammar, _call("f", '{"b": 1}'))
    assert len(grammar.ir.rules) > 5


@pytest.mark.parametrize("kind", ["integer", "general"], ids=["core", "general"])
def test_what_is_read_later_is_what_the_tools_were(kind: str) -> None:
    """The rules without a vocabulary, notes, values of messages and pickles are made when they are asked for."""
    value = {"type": "integer"} if kind == "integer" else {"type": "string", "pattern": "(?<=a)b|1"}
    tool: dict[str, Any] = {
        "name": "f",
        "parameters": {"properties": {"a": {**value, "x-unknown": 1}}, "required": ["a"]},
    }
    grammar = cfgmask.Grammar.from_tools([tool], style="hermes", tool_choice="required")
    same = cfgmask.Grammar.from_tools([copy.deepcopy(tool)], style="hermes", tool_choice="required")
    tool["parameters"]["properties"]["a"] = {"type": "null"}
    tool["parameters"]["required"].append("b")
    assert grammar.notes == same.notes
    assert grammar.ir == same.ir
    text = '<tool_call>\n{"name": "f", "arguments": {"a": %s}}\n</tool_call>' % ("1" if kind == "integer" else '"1"')
    for one in (grammar, pickle.loads(pickle.dumps(grammar))):
        assert one.parse(text) == same.parse(text)


def test_styles_that_are_wrong() -> None:
    good = {"about": "", "families": [], "evidence": "ours", "recognise": [], "call": "$name$arguments"}
    read_style("x", good)
    for wrong in ({"call": "$name"}, {"section": "x"}, {"sepperator": ""}):
        with pytest.raises(ValueError, match="the style x has"):
            read_style("x", good | wrong)
    assert style("qwen_2_5").name == "hermes"
