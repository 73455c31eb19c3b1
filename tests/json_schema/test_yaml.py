"""Texts of YAML from a schema. Two readers of YAML and a validator judge them, so no table can be wrong unseen."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema import JsonSchemaOptions
from cfgmask.json_schema.yaml_scalars import MAX_KEY_LENGTH
from tests.json_schema import yaml_judge
from tests.json_schema.judge import Schema, accepts, compiled, vocabulary
from tests.json_schema.yaml_judge import check

PLAIN = [
    "a",
    "a b",
    "a  b",
    "a:b",
    "a#b",
    "-x",
    "--x",
    "~a",
    "1.2.3",
    "10 km",
    "1a",
    "nullable",
    "é",
    "a\xa0b",
    "\U0001f600",
]
PLAIN += [".", "..", "...a", ":a", "::a", "?a", "---a", "-#a", "-:a", "a:#b", "a :#b", "a ::b"]
PLAIN += ["1e", "1e+", "0x", "0o", "0b", "0xg", "0o8", "00:00", "1:60", "0:0:0", "2024-2-9", "2024-02-29x", ".x", ".e1"]
PLAIN += ["nUll", "yEs", "tRUE", "oN", "-.nan", "+.NaN", ".iNf", "-.inf1", "_1", "2024-1-1 1", "==", "<<<"]
PLAIN += ["a'b", 'a"b', "a, b", "a]", "a{}", "x=y", "a&b", "a\\nb", "Yes!", "-1x", "..x", "2024-01", "0b12x", "%a"[1:]]
NOT_PLAIN = [
    "",
    "-_",
    "+_1",
    " a",
    "a ",
    "a: b",
    "a:",
    "a #b",
    "-",
    "- a",
    "? a",
    ": a",
    "#a",
    "[a",
    "]",
    "{a",
    "}",
    ",",
    "&a",
    "*a",
    "!a",
]
NOT_PLAIN += ["|", ">", "'a", "%a", "@a", "`a", "a\tb", "---", "...", "--- a", "\ufeffa", "a\x85b", "a\u2028b", "\x7f"]
RESOLVED = [
    "~",
    "null",
    "Null",
    "NULL",
    "true",
    "False",
    "yes",
    "No",
    "ON",
    "off",
    "=",
    "<<",
    "1",
    "-1",
    "+1",
    "0x1F",
    "0o7",
    "017",
]
RESOLVED += [
    "0b1",
    "1_000",
    "1:30",
    "1:30:00",
    "190:20:30.15",
    "1.",
    ".5",
    "1e5",
    "1E+5",
    "1.5e3",
    ".inf",
    "-.Inf",
    ".NaN",
]
RESOLVED += [".5e1", "-.5E07", "+_", "-1_", "0o_", "0x_", "-0b1", "1.e5", "._", "1:2.", "-1:30"]
RESOLVED += [
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "2024-01-01 00:00:00",
    "2024-1-1 0:00:00.5 -3",
    "685_230.15",
    "08",
    "12e03",
]


@pytest.mark.parametrize("text", PLAIN)
def test_strings_without_quotes(text: str) -> None:
    check({"type": "string"}, [text, json.dumps(text, ensure_ascii=False), f"{text}\n"])
    check({"type": "object", "maxProperties": 1}, [f"k: {text}"])
    check({"type": "array", "items": {"type": "string"}}, [f"- {text}\n- {text}"])
    check({"const": text}, [text])


@pytest.mark.parametrize("text", NOT_PLAIN + RESOLVED)
def test_strings_that_need_quotes(text: str) -> None:
    for schema in ({"type": "string"}, {"const": text}, {"type": "string", "minLength": 0, "pattern": "^"}):
        grammar = compiled(schema, syntax="yaml")
        assert not accepts(grammar, text)
        assert accepts(grammar, json.dumps(text))
        assert yaml_judge.value(json.dumps(text)) == text


# Those that are special to a version of YAML, and their neighbours.
CHARACTERS = [*range(0x300), *range(0x1FF0, 0x2070), *range(0xD7F0, 0xD800), 0xE000, *range(0xFEF0, 0xFF10)]
CHARACTERS += [*range(0xFFE0, 0x10010), 0x1FFFE, 0x10FFFF]


@pytest.mark.parametrize("around", ["{}", "a{}b", "a {}b"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_characters(around: str, quote: str) -> None:
    """What is accepted stands for itself to both readers; each character is tried in a list of many."""
    start = compiled({"type": "string"}, syntax="yaml").matcher()
    items = {}
    for code in CHARACTERS:
        said = around.format(chr(code))
        data = f"{quote}{said}{quote}".encode()
        matcher = start.fork()
        if chr(code) != "\\" and matcher.advance_bytes(data) == len(data) and matcher.is_accepting:
            items[f"- {data.decode()}\n"] = said
    assert len(items) > 800
    assert yaml_judge.yaml.safe_load("".join(items)) == [*items.values()]
    assert yaml_judge.read_new("".join(items)) == [*items.values()]


MARKS = "-?:,[]{}#&*!|>'\"%@`~=<._+"
# Of these consist words, numbers, dates and marks, and texts that are nearly such.
PIECES = [*MARKS, " ", "a", "0", "1", "9", "60", "e", "E", "x", "o", "b", "T", "Z", "inf", "nan", "null", "Yes", "on"]
PIECES += [
    "0x",
    "0o7",
    "0b1",
    "1:",
    ":30",
    "2024",
    "-02",
    "-9",
    "T1:00:00",
    "---",
    "...",
    "1_",
    ".5",
    "e+1",
    "\xa0",
    "\ufeff",
]
SHORT = ["".join(pieces) for n in (1, 2) for pieces in itertools.product(PIECES, repeat=n)]


def assert_written_where_a_string(texts: Iterable[str]) -> int:
    """Both ways: what stands without quotes is the string to both readers, and what is stands so. Returns how many."""
    value = compiled({"type": "string"}, syntax="yaml").matcher()
    key = compiled({"type": "object", "additionalProperties": {"const": 1}}, syntax="yaml").matcher()
    n = 0
    for text in texts:
        if text[:1] == '"' or "\ufeff" in text:  # which the specification allows between quotes only
            continue
        for start, is_key, written in ((value, False, text), (key, True, f"{text}: 1\n")):
            matcher = start.fork()
            data = written.encode()
            accepted = matcher.advance_bytes(data) == len(data) and matcher.is_accepting
            # A key that begins with a dash has quotes: at the left margin it would look like an item.
            expected = yaml_judge.is_string(text, key=is_key) and not (is_key and text[0] == "-")
            assert accepted == expected, written
            n += accepted
    return n


def test_what_is_a_string_needs_no_quotes() -> None:
    short = random.Random(0).sample(SHORT, 900)
    assert assert_written_where_a_string([*short, *PIECES]) > 300


@given(st.lists(st.sampled_from(PIECES), min_size=3, max_size=6).map("".join))
def test_longer_strings_need_no_quotes(text: str) -> None:
    assert_written_where_a_string([text])


@given(st.from_regex(r"\A-?[0-9]{1,3}(\.[0-9]{1,2})?([eE][+-]?[0-9])?\Z"))
def test_numbers_are_numbers(text: str) -> None:
    if accepts(compiled({"type": "number"}, syntax="yaml"), text):
        assert yaml_judge.says({"type": "number"}, text)


def test_numbers() -> None:
    check(
        {"type": "number"},
        ["0", "-1", "1.5", "1.0", "1.5e+3", "1.5E-07"],
        ["1e5", "1.5e5", "1:30"],
        ["1_0", "+1", "1.", ".5", "0x1F"],
    )
    check({"type": "integer", "minimum": 3}, ["3", "10"], ["2", "3.5", '"3"'], ["4.0", "0x1F"])
    check({"type": "integer", "minimum": 3}, ["3", "10", "4.0"], ["2", "3.5", '"3"'], ["0x1F"], numbers="any")
    check({"multipleOf": 0.1, "type": "number"}, ["0.3", "1.50"], ["0.31"])


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        ({"type": "string", "pattern": "^[a-z]+$"}, ["abc", '"abc"', r'"\u0061"'], ["ab1", "yes", "null", '"1"']),
        ({"type": "string", "minLength": 2, "maxLength": 3}, ["ab", "abc", '"12"', r'"\u0061\n"'], ["a", "12", "abcd"]),
        (
            {"enum": ["a", "yes", 1, "1", None, "null", [], {}, ["x"], {"k": "v"}]},
            ["a", '"yes"', "1", '"1"', "null", '"null"', "[]", "{}", "- x", "k: v"],
            ["yes", "b", "- y", "true"],
        ),
        ({"const": "a: b"}, ['"a: b"'], ["a: b"]),
        ({"const": "a\u2028b"}, [r'"a\u2028b"'], ["a b"]),
        ({"const": "\U0001f600"}, ["\U0001f600", '"\U0001f600"'], [r'"\ud83d\ude00"']),
        ({"type": "string"}, [r'"a\/b\tc\u00e9"', '"it\'s"'], [r'"\x"', r'"\ud83d\ude00"']),
        ({"type": "boolean"}, ["true", "false"], ["yes", '"true"', "True!"]),
        (
            {"type": "array", "items": {"type": ["string", "number"]}, "uniqueItems": True},
            ['- a\n- b\n- 1\n- "1"\n- -x\n- 1.2.3'],
            ["- a\n- a", '- a\n- "a"', '- a\n- "\\u0061"', "- 1\n- 1.0", "- -x\n- -x", "- 1.2.3\n- 1.2.3"],
        ),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True}, ["- a\n- b", "[]"], ["- a\n- b\n- a"]),
        (
            {"type": "array", "minItems": 2, "items": {"type": "array", "items": {"type": "array"}}},
            ["- []\n- - []\n  - - 1\n    - - a\n    - b: 1\n      c: 2\n"],
            ["- []", "- - 1\n- []"],
        ),
        (
            {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
            ["a: 1\nb: 2", "b: 1", "{}"],
            ["a: 1\na: 2", "c: 1"],
        ),
        (
            {"type": "object", "minProperties": 2},
            ["a: 1\nb: 2", '"1": 1\n"a b": 2\na c: 3'],
            ["a: 1", "a: 1\na: 2", "1: 1\n2: 2"],
        ),
        (
            {
                "type": "object",
                "properties": {"yes": True, "a:b": True, "- x": True, "-y": True, "": True},
                "additionalProperties": False,
            },
            ['"yes": 1\na:b: 2\n"- x": 3\n"-y": 4\n"": 5'],
            ["yes: 1", "a: 1"],
        ),
        (
            {
                "type": "array",
                "contains": {"type": "object", "minProperties": 1},
                "items": {"type": ["object", "string"]},
            },
            ["- a:b\n- a: b\n- c", "- x: y\n"],
            ["- a", "- {}"],
        ),
        (
            {
                "type": "object",
                "properties": {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}}},
                "additionalProperties": False,
            },
            ["a:\n  a:\n    b:\n      - a: {}\n        b: []\n      - b:\n        - {}\nb: []\n"],
            ["a:\n  c: 1"],
        ),
        (
            True,
            ["null", "a", "- a: 1\n  b:\n    - c\n", "a: b\nc:\n  d: {}\n", "{}\n", '"a": 1\n'],
            ["a: b: c", "- a\nb", "a:\nb: 1: 2"],
        ),
    ],
)
def test_schemas(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


@pytest.mark.parametrize(
    ("name", "valid", "invalid"),
    [
        ("date", ['"2024-02-29"'], ["2024-02-29", '"2024-02-30"']),
        ("email", ["a@b.example", '"a@b.example"'], ["a@b@c"]),
        ("uri", ["http://a.example/?b#c"], ["a b"]),
        ("ipv4", ["127.0.0.1"], ["127.0.0"]),
        ("time", ["12:30:00Z", '"12:30:00Z"'], ["12:30:00", '"12:30:00"']),
    ],
)
def test_formats(name: str, valid: list[str], invalid: list[str]) -> None:
    schema = {"type": "string", "format": name}
    check(schema, valid)
    assert not any(accepts(compiled(schema, syntax="yaml"), text) for text in invalid)


def test_indent() -> None:
    schema: Schema = {"type": "object"}
    texts = {
        n: f"a:\n{' ' * n}b:\n{' ' * 2 * n}c:\n{' ' * 3 * n}- d: 1\n{' ' * 3 * n}  e:\n{' ' * 4 * n}  f: 1\n"
        for n in (1, 2, 3, 4, 16)
    }
    for n, text in texts.items():
        check(schema, [text, "a:\n- 1\n"], [], [other for m, other in texts.items() if m != n], indent=n)


def test_keys_of_any_length() -> None:
    longest = "k" * MAX_KEY_LENGTH
    check({"type": "object"}, [f"{longest}: 1\n", f'"{longest}": 1\n', '"' + r"\u00e9" * MAX_KEY_LENGTH + '": 1\n'])
    check({"type": "object"}, [], [], [f"{longest}k: 1\n"])
    check({"properties": {longest * 6: True}, "required": [longest * 6], "type": "object"}, [f"{longest * 6}: 1\n"])
    with pytest.raises(cfgmask.GrammarError) as refused:
        compiled({"properties": {longest * 7: True}, "type": "object"}, syntax="yaml")
    assert [d.code for d in refused.value.diagnostics] == ["schema-yaml-key"]


def nested(depth: int) -> Schema:
    schema: Schema = {"type": "null"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema, "minItems": 1}
    return schema


def test_depth_is_bounded() -> None:
    assert accepts(compiled(True, syntax="yaml"), "- " * 32 + "a")
    assert not accepts(compiled(True, syntax="yaml"), "- " * 33 + "a")
    assert cfgmask.Grammar.from_json_schema(nested(32), syntax="yaml").notes == ()
    notes = cfgmask.Grammar.from_json_schema(True, syntax="yaml").notes
    assert [(note.code, note.severity) for note in notes] == [("schema-indent-depth", "note")]
    check(nested(32), ["- " * 32 + "null"])
    with pytest.raises(cfgmask.GrammarError) as refused:
        compiled(nested(33), syntax="yaml")
    assert [d.code for d in refused.value.diagnostics] == ["schema-indent-depth"]


@pytest.mark.parametrize(
    "options",
    [{"whitespace": "compact"}, {"item_separator": ", "}, {"escapes": "canonical"}, {"property_order": "any"}],
)
def test_options_of_json_only(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r'is not supported with syntax="yaml"$'):
        JsonSchemaOptions(syntax="yaml", **options)


def test_options() -> None:
    with pytest.raises(ValueError, match=r'^syntax=\'toml\' is not supported; it may be "json", "yaml"$'):
        JsonSchemaOptions(syntax="toml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^indent=0 is not supported in YAML"):
        JsonSchemaOptions(syntax="yaml", indent=0)
    guided = {
        "x-guidance": {"whitespace_flexible": False, "lenient": True},
        "type": "integer",
        "multipleOf": 1000000000000000003,
    }
    assert accepts(compiled(guided, syntax="yaml"), "5")


def test_front_matter() -> None:
    """YAML inside of a Lark grammar: text that looks like one more item cannot follow items at the left margin."""
    schema = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "string"}}}
    header = cfgmask.Grammar.from_json_schema({**schema, "additionalProperties": False}, syntax="yaml")
    page = cfgmask.Grammar.from_lark('start: "---\\n" @header "---\\n" /[a-z ]+/', grammars={"header": header})
    grammar = cfgmask.compile(page, vocabulary())
    for inner in ("a:\n  - x\n", "a:\n- x\nb: c\n", "a: []\n", "{}\n"):
        assert accepts(grammar, f"---\n{inner}---\nsome text")
    assert not accepts(grammar, "---\na:\n- x\n---\nsome text")
