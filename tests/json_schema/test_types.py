"""type, enum, const, boolean schemas, and JSON itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.json_schema.judge import Schema, accepts, check, compiled, spellings

ONE_OF_EACH = ["null", "true", "1", "1.5", '"a"', "[]", "{}"]

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (True, ONE_OF_EACH, []),
    ({}, ONE_OF_EACH, []),
    ({"type": "null"}, ["null"], ["true", "0", '""', "[]", "{}"]),
    ({"type": "boolean"}, ["true", "false"], ["null", "0", '"true"']),
    ({"type": "string"}, ['""', '"a"', r'"\u0061\n"', '"é€𝄞"', r'"\ud834\udd1e"'], ["null", "1", "[]"]),
    ({"type": "integer"}, ["0", "-7", "12345678901234567890", "1.0"], ["1.5", '"1"', "true"]),
    ({"type": "number"}, ["0", "-7.25", "1e3", "1E-3", "1.5e+10"], ['"1"', "true", "null"]),
    ({"type": ["string", "null"]}, ['"a"', "null"], ["1", "[]"]),
    ({"type": ["integer", "boolean"]}, ["1", "false"], ["1.5", "null"]),
    ({"const": 1}, ["1", "1.0"], ["true", "2", '"1"', "[1]"]),
    ({"const": False}, ["false"], ["0", "null"]),
    ({"const": None}, ["null"], ["false", "0"]),
    ({"const": 'a\n"é'}, [r'"a\n\"é"', r'"a\u000a\"\u00e9"'], ['"a"']),
    ({"const": [1, {"a": "b"}]}, ['[1,{"a":"b"}]', '[\n  1,\n  {"a": "b"}\n]'], ["[1]", '[1,{"a":"c"}]', "[]"]),
    ({"const": {}}, ["{}"], ['{"a":1}', "[]"]),
    (
        {"const": {"a": 1, "b": [None]}},
        ['{"a":1,"b":[null]}'],
        ['{"a":1}', '{"a":1,"b":[]}', '{"a":1,"b":[null],"c":1}'],
    ),
    ({"enum": ["a", "b", 1, None]}, ['"a"', '"b"', "1", "null"], ['"c"', "2", "true"]),
    ({"enum": ["a", 1], "type": "string"}, ['"a"'], ["1", '"b"']),
    ({"enum": [[], [1], {"a": 1}], "type": "array"}, ["[]", "[1]"], ['{"a":1}', "[2]"]),
    ({"enum": [1, 2, 3], "minimum": 2}, ["2", "3"], ["1"]),
    ({"enum": ["a", "bb", "ccc"], "minLength": 2, "pattern": "^[^c]"}, ['"bb"'], ['"a"', '"ccc"']),
    ({"enum": [{"a": 1}, {"b": 1}], "required": ["b"]}, ['{"b":1}'], ['{"a":1}']),
    ({"enum": ["x", "y"], "const": "x"}, ['"x"'], ['"y"']),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


@pytest.mark.parametrize(
    "value", [None, 0, -1.5, 'a"\\/\u2028é𝄞', [], [[], [1, "x"]], {}, {"": {"b": [None, True]}, "c": {}}]
)
def test_any_value_may_be_written(value: Any) -> None:
    grammar = compiled(True)
    assert all(accepts(grammar, text) for text in spellings(value))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "'a'",
        '"a',
        '"\t"',
        r'"\x"',
        r'"\ud834"',
        "[1,]",
        "[,1]",
        "{a:1}",
        '{"a"}',
        '{"a":1,}',
        "[1 2]",
        "1 2",
        "NaN",
        "tru",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    assert not accepts(compiled(True), text)


def test_a_large_enum_is_one_terminal() -> None:
    names = [f"name {i}" for i in range(10_000)]
    grammar = compiled({"enum": names})
    assert accepts(grammar, '"name 9999"')
    assert not accepts(grammar, '"name 10000"')


def test_fixed_strings_are_spelled_one_way() -> None:
    grammar = compiled({"type": "object", "properties": {"ab": {"const": "cd"}}, "required": ["ab"]})
    assert accepts(grammar, '{"ab":"cd"}')
    assert not accepts(grammar, r'{"\u0061b":"cd"}')
    assert not accepts(grammar, r'{"ab":"\u0063d"}')
