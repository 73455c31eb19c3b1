"""What may stand between lexemes."""

from __future__ import annotations

import json

import pytest

from cfgmask.json_schema import JsonSchemaOptions
from tests.json_schema.judge import accepts, compiled

SCHEMA = {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}
COMPACT = '{"a":[1,{"b":2}]}'
PRETTY = ['{"a": [1, {"b": 2}]}', '{\n    "a": [\n        1\n    ]\n}', '{\r\n\t"a" : [ ] }']


def nested(depth: int) -> object:
    return {"a": [nested(depth - 1)]} if depth else 1


def test_bounded() -> None:
    grammar = compiled(SCHEMA)
    assert all(accepts(grammar, text) for text in [COMPACT, *PRETTY])
    for indent in (2, 4, "\t"):
        assert accepts(grammar, json.dumps(nested(7), indent=indent))


@pytest.mark.parametrize("gap", [" " * 9, "\n\n", "\n" + " " * 65, " \n \n"])
def test_bounded_is_bounded(gap: str) -> None:
    grammar = compiled(SCHEMA)
    assert not accepts(grammar, '{"a":' + gap + "[]}")
    assert not accepts(grammar, '{"a":[1,' + gap + "2]}")


@pytest.mark.parametrize("text", [" " + COMPACT, COMPACT + "\n"])
@pytest.mark.parametrize("whitespace", ["bounded", "compact", "unbounded"])
def test_none_around_the_value(text: str, whitespace: str) -> None:
    assert not accepts(compiled(SCHEMA, whitespace=whitespace), text)


def test_compact() -> None:
    grammar = compiled(SCHEMA, whitespace="compact")
    assert accepts(grammar, COMPACT)
    assert not any(accepts(grammar, text) for text in PRETTY)


def test_unbounded() -> None:
    grammar = compiled(SCHEMA, whitespace="unbounded")
    assert all(accepts(grammar, text) for text in [COMPACT, *PRETTY, '{"a"' + " \n\r\t" * 100 + ":[]}"])
    assert not accepts(grammar, '{"a":\u00a0[]}')


def test_options_name_what_they_do_not_know() -> None:
    with pytest.raises(ValueError, match=r"^escapes='few' is not supported; it may be \"any\", \"canonical\"$"):
        JsonSchemaOptions(escapes="few")  # type: ignore[arg-type]
