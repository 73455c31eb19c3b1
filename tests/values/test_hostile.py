"""Texts to be read that would take all the stack or time there is, and objects that are no texts."""

from __future__ import annotations

import ast
import json
import random
import re
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask import Grammar, ParseError
from cfgmask.values import JsonReader
from cfgmask.values.forms import read_form
from tests.cpu_time import cpu_seconds, hold

DEPTH = 20_000
M3 = "]<]minimax[>["
TEXTS = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"a": %s}}\n</tool_call>',
    "qwen_3_coder": "<tool_call>\n<function=f>\n<parameter=a>\n%s\n</parameter>\n</function>\n</tool_call>",
    "glm_4_5": "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>",
    "pythonic": "[f(a=%s)]",
    "gemma_4": "<|tool_call>call:f{a:%s}<tool_call|>",
}


def depth_of(value: Any) -> int:
    """How many lists are around nothing. Equality of such lists would recurse."""
    depth = 0
    while isinstance(value, list):
        depth += 1
        if not value:
            break
        (value,) = value
    return depth


@pytest.mark.parametrize("style", TEXTS)
def test_values_of_any_depth(style: str) -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}}]
    grammar = Grammar.from_tools(tools, style=style, tool_choice="required")
    grammar.parse(TEXTS[style] % "[]")

    def read() -> None:
        (call,) = grammar.parse(TEXTS[style] % ("[" * DEPTH + "]" * DEPTH)).tool_calls
        assert depth_of(call.arguments["a"]) == DEPTH

    # gemma_4 took 100 s: each step asked for the captures around all of the brackets.
    hold(cpu_seconds(read), 5)


def test_items_between_tags_of_any_depth() -> None:
    text = f"{M3}<a>" + f"{M3}<item>" * DEPTH + "1" + f"{M3}</item>" * DEPTH + f"{M3}</a>"
    value = read_form("minimax_m3_xml", text)["a"]
    for _ in range(DEPTH):
        (value,) = value
    assert value == 1


@pytest.mark.parametrize(
    "text", ["-" * DEPTH + "1", "'" * DEPTH, "[" * DEPTH, "{'a':" * DEPTH, "dict(a=" * DEPTH, "(" * DEPTH]
)
def test_text_that_only_begins_like_a_value_is_a_string(text: str) -> None:
    assert read_form("seed_xml", f"<parameter=a>[{text}</parameter>") == {"a": "[" + text}


@pytest.mark.parametrize(
    ("form", "text"),
    [("qwen_xml", "<parameter=a>%s</parameter>"), ("seed_xml", "<parameter=a>[%s]</parameter>"), ("gemma", "{a:%s}")],
)
def test_integers_that_python_does_not_read(form: str, text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        read_form(form, text % ("1" * 5_000))


def test_what_is_no_text() -> None:
    grammar = Grammar.from_json_schema({"type": "array"})
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
    values: list[Any] = [None, 5, 1.5, grammar]
    for value in values:
        for given in (None, vocabulary):
            with pytest.raises(TypeError, match=f"parse takes a str, bytes or token ids, not {type(value).__name__}"):
                grammar.parse(value, given)
    for value in (None, 1.5, grammar):
        with pytest.raises(TypeError, match="feed takes a str, bytes, a token id or token ids, not"):
            grammar.parser(vocabulary).feed(value)
    items: list[Any] = ["a", None, 1.5, True, [91]]
    for item in items:
        with pytest.raises(TypeError, match="a token id must be an int, not"):
            grammar.parse([item], vocabulary)
    for value in (None, 5, [91]):
        with pytest.raises(TypeError, match="feed takes a str or bytes, not"):
            JsonReader().feed(value)
    for token_id in (-1, 257, 2**40, -(2**70)):
        with pytest.raises(ParseError):
            grammar.parse([token_id], vocabulary)
    for text in ("\ud800", "[\ud800"):
        for read in (grammar.parse, grammar.parser().feed):
            with pytest.raises(ParseError, match=f"byte {len(text) - 1}"):
                read(text)


def test_texts_in_other_objects() -> None:
    grammar = Grammar.from_json_schema({"type": "array"})
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([i]) for i in range(256)), b""], eos_token_id=256)
    assert grammar.parse(memoryview(b"[1]")) == [1]
    assert grammar.parse(bytearray(b"[1]"), vocabulary) == [1]
    assert grammar.parse(np.array([91, 93, 256]), vocabulary) == []
    parser = grammar.parser(vocabulary)
    parser.feed(memoryview(b"["))
    parser.feed(np.int64(93))
    assert parser.value == []


# ---- literals of Python, against Python's own reader


def oracle(node: ast.expr) -> Any:
    """The value of a syntax tree. ValueError for all that is no literal of JSON's values."""
    words = {"None": None, "True": True, "False": False, "null": None, "true": True, "false": False}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        if any(keyword.arg is None for keyword in node.keywords):
            raise ValueError
        return {keyword.arg: oracle(keyword.value) for keyword in node.keywords}
    if isinstance(node, ast.Name) and node.id in words:
        return words[node.id]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [oracle(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = [oracle(key) if key is not None else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys):
            raise ValueError
        return dict(zip(keys, map(oracle, node.values), strict=True))
    value = ast.literal_eval(node)
    if value is not None and not isinstance(value, (str, int, float)):
        raise ValueError
    return value


def random_literal(rng: random.Random, depth: int = 3) -> str:
    kind = rng.randrange(8 if depth else 5)
    if kind < 5:
        return rng.choice(
            [
                "1",
                "-2",
                "0",
                "1.5",
                "-2e3",
                "None",
                "null",
                "True",
                "false",
                "'it\\'s'",
                '"a,b"',
                "'[\\n]'",
                "''",
                "'é:='",
            ]
        )
    parts = [random_literal(rng, depth - 1) for _ in range(rng.randrange(4))]
    gap = rng.choice(["", " ", "\n"])
    if kind == 5:
        return f"[{gap}{f',{gap}'.join(parts)}{rng.choice(['', ',']) if parts else ''}{gap}]"
    if kind == 6:
        return "{" + gap + ", ".join(f"'k{i}'{gap}:{part}" for i, part in enumerate(parts)) + "}"
    return f"dict({gap}" + ",".join(f"k{i}{gap}={part}" for i, part in enumerate(parts)) + ")"


@pytest.mark.filterwarnings("ignore:invalid escape:DeprecationWarning", "ignore:invalid escape:SyntaxWarning")
def test_literals_are_those_of_python() -> None:
    rng = random.Random(7)
    n_read = 0
    for number in range(6_000):
        text = random_literal(rng)
        if number % 2:
            at = rng.randrange(len(text))
            text = (
                text[:at]
                + rng.choice(["", ",", "]", "}", "'", ":", "=", " ", "[", "("])
                + text[at + rng.randrange(2) :]
            )
        try:
            expected: Any = ("value", oracle(ast.parse(text.strip(), mode="eval").body))
        except (ValueError, SyntaxError):
            expected = "refused"
        try:
            found: Any = ("value", read_form("python", text))
        except ValueError:
            found = "refused"
        # Python reads more, such as `1.`, `(1)` and strings beside each other, and it does not take `0` for a name; but
        # nothing is read in another way.
        if not number % 2 or (found != "refused" and not re.search(r"[(,]\s*[0-9]\w*\s*=|\\[^\\'n]", text)):
            assert found == expected, text
        n_read += found != "refused"
    assert n_read > 3_000


def test_json_of_literals_is_their_value() -> None:
    rng = random.Random(8)
    for _ in range(500):
        text = f"[{random_literal(rng)}]"
        seen = []

        def allows(key: str, shown: str, seen: list[str] = seen) -> bool:
            seen.append(shown)
            return True

        value = read_form("seed_xml", f"<parameter=a>{text}</parameter>", allows)["a"]
        assert [json.loads(shown) for shown in seen] == [value]
