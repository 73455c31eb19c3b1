"""What may stand between lexemes."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise, starmap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema import JsonSchemaOptions
from tests.json_schema.judge import Schema, accepts, compiled, vocabulary
from tests.reference.json_schema.lower import lower_schema

SCHEMA = {"type": "object", "properties": {"a": {"type": "array"}}, "required": ["a"]}
COMPACT = '{"a":[1,{"b":2}]}'
PRETTY = ['{"a": [1, {"b": 2}]}', '{\n    "a": [\n        1\n    ]\n}', '{\r\n\t"a" : [ ] }']


def nested(depth: int) -> object:
    return {"a": [nested(depth - 1)]} if depth else 1


LEXEME_OR_GAP = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+|\s+')


def is_natural(text: str) -> bool:
    """Whether each gap of a JSON text is as the options say, read gap by gap."""
    found = LEXEME_OR_GAP.findall(text)
    lexemes = [i for i, part in enumerate(found) if not part.isspace()]
    gaps = [(found[i], "".join(found[i + 1 : j]), found[j]) for i, j in pairwise(lexemes)]
    return lexemes[0] == 0 and lexemes[-1] == len(found) - 1 and all(starmap(_may_stand, gaps))


def _may_stand(left: str, gap: str, right: str) -> bool:
    if right in (":", ","):
        return gap == ""
    if left in (":", ",") and gap in ("", " "):
        return True
    return bool(re.fullmatch(r"(\r?\n[ \t]{0,64})?", gap)) and (
        gap == "" or left in tuple("{[,") or right in tuple("}]")
    )


def json_values() -> st.SearchStrategy[object]:
    scalars = st.sampled_from([None, True, 0, -12, 1.5, "", "a", 'b": ,\n{'])
    keys = st.sampled_from(["", "a", "b", '"x: ']).flatmap(lambda key: st.sampled_from([key, key + "y"]))
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=8
    )


def _general(options: dict[str, Any]) -> cfgmask.CompiledGrammar:
    return cfgmask.compile(cfgmask.Grammar(lower_schema({}, options=JsonSchemaOptions(**options))), vocabulary())


EVERY_WAY = {
    "plain": lambda: compiled({}),
    "general": lambda: _general({}),
    "any order": lambda: compiled({}, property_order="any"),
    "general, any order": lambda: _general({"property_order": "any"}),
    "a block of Lark": lambda: cfgmask.compile(cfgmask.Grammar.from_lark("start: %json {}"), vocabulary()),
}


@pytest.fixture(scope="module", params=list(EVERY_WAY))
def grammar(request: pytest.FixtureRequest) -> cfgmask.CompiledGrammar:
    return EVERY_WAY[request.param]()


@given(value=json_values(), indent=st.sampled_from([None, 0, 1, 2, 3, 4, 8, "\t"]), is_compact=st.booleans())
def test_natural_takes_what_dumps_writes(
    grammar: cfgmask.CompiledGrammar, value: object, indent: int | str | None, is_compact: bool
) -> None:
    text = json.dumps(value, indent=indent, separators=(",", ":") if is_compact else None)
    assert accepts(grammar, text)


@given(value=json_values(), indent=st.sampled_from([None, 0, 2, "\t"]), data=st.data())
def test_natural_takes_nothing_else(
    grammar: cfgmask.CompiledGrammar, value: object, indent: int | str | None, data: st.DataObject
) -> None:
    lexemes = LEXEME_OR_GAP.findall(json.dumps(value, indent=indent))
    more = st.sampled_from(["", " ", "\n", "\t", "\r", "\r\n", "  ", "\n \t", "\n" + " " * 64, "\n" + " " * 65])
    at = data.draw(st.sets(st.integers(0, len(lexemes) - 1), max_size=2))
    parts = [part + data.draw(more) if i in at else part for i, part in enumerate(lexemes)]
    changed = "".join(parts)
    assert accepts(grammar, changed) == is_natural(changed), changed


@pytest.mark.parametrize("text", ["{}", "[]", "{\n}", "[\n\t]", '{"a":1,\r\n"b": 2}', "[\n1, 2\n]", '{"a": [\n[]]}'])
def test_natural(grammar: cfgmask.CompiledGrammar, text: str) -> None:
    assert accepts(grammar, text)


@pytest.mark.parametrize(
    "text",
    ["{ }", "[ ]", "{\n\n}", "[\n\n]", '{"a" :1}', '{"a":  1}', '{"a":\n1}', "[1 ,2]", "[1,  2]", "[1, \n2]", "[ 1]",
       "[1 ]", "[1\n,2]", "[\r1]", '{"a"        :1}', "[" + " " * 8 + "1]"],
)  # fmt: skip
def test_natural_spins_nowhere(grammar: cfgmask.CompiledGrammar, text: str) -> None:
    assert not accepts(grammar, text)


@pytest.mark.parametrize("whitespace", ["natural", "compact"])
def test_separators_stand_as_they_are_given(whitespace: str) -> None:
    grammar = compiled({}, whitespace=whitespace, item_separator=", ", key_separator=" ?:")
    assert accepts(grammar, '{"a" :[1, 2], "b":{}}')
    assert not any(accepts(grammar, text) for text in ["[1,2]", "[1,\n2]", '{"a": 1}'])
    assert accepts(grammar, "[\n1, 2\n]") == (whitespace == "natural")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "uniqueItems": True, "items": {"type": ["array", "object", "integer"]}},
        {"type": "array", "uniqueItems": True, "items": {"properties": {"a": {"type": "integer"}}, "type": "object"}},
        {"type": "object", "patternProperties": {"^[ab]$": True}, "additionalProperties": {"type": "array"}},
        {
            "anyOf": [
                {"properties": {k: {"const": i}}, "required": [k], "type": "object"} for i, k in enumerate("abcdef")
            ]
        },
        {"type": "array", "contains": {"const": 1}, "minItems": 1},
    ],
)
@pytest.mark.parametrize("order", ["schema", "any"])
@given(value=json_values(), indent=st.sampled_from([None, 1, "\t"]))
def test_what_a_schema_allows_does_not_depend_on_white_space(
    schema: Schema, order: str, value: object, indent: int | str | None
) -> None:
    texts = [json.dumps(value, separators=(",", ":")), json.dumps(value, indent=indent)]
    assert len({accepts(_known(json.dumps(schema), order), text) for text in texts}) == 1


@cache
def _known(schema: str, order: str) -> cfgmask.CompiledGrammar:
    return compiled(json.loads(schema), property_order=order)


def test_bounded() -> None:
    grammar = compiled(SCHEMA, whitespace="bounded")
    assert all(accepts(grammar, text) for text in [COMPACT, *PRETTY])
    for indent in (2, 4, "\t"):
        assert accepts(grammar, json.dumps(nested(7), indent=indent))


@pytest.mark.parametrize("gap", [" " * 9, "\n\n", "\n" + " " * 65, " \n \n"])
def test_bounded_is_bounded(gap: str) -> None:
    grammar = compiled(SCHEMA, whitespace="bounded")
    assert not accepts(grammar, '{"a":' + gap + "[]}")
    assert not accepts(grammar, '{"a":[1,' + gap + "2]}")


@pytest.mark.parametrize("text", [" " + COMPACT, COMPACT + "\n"])
@pytest.mark.parametrize("whitespace", ["natural", "bounded", "compact", "unbounded"])
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
