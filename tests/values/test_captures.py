"""The values of captures: by name, and of JSON where a capture is that."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest

import cfgmask
from cfgmask.lark.write import write_lark
from cfgmask.values import Captures
from tests.values.walks import VOCABULARY, text_of, walk

GRAMMAR = r"""
start: (item ";")+ | "[" outer "]"
item: city "=" data | "n" n | "flag" flag
city[capture]: /[A-Zé][a-z]{0,5}/
data[capture]: %json {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}},
                      "additionalProperties": false}
n[capture="number", json]: /-?(0|[1-9][0-9]{0,3})(\.[0-9]+)?/
flag[json, capture]: "true" | "false"
outer[capture]: city "," rows
rows[capture]: %json {"type": "array", "maxItems": 2} | %json {"type": "null"}
"""


def test_values_by_name() -> None:
    grammar = cfgmask.Grammar.from_lark(GRAMMAR)
    found = grammar.parse('Lima={"a": 3, "b": "é\\n"};n12;n0.5;flagtrue;')
    assert isinstance(found, Captures)
    assert (found["city"], found["data"], found["flag"]) == ("Lima", {"a": 3, "b": "é\n"}, True)
    assert found["number"] == 0.5
    assert found.all("number") == [12, 0.5]
    assert found.all("rows") == []
    assert found.asdict() == {"city": "Lima", "data": {"a": 3, "b": "é\n"}, "number": [12, 0.5], "flag": True}
    assert found[0].value == found[0].text == "Lima"
    assert [capture.name for capture in found[1:3]] == ["data", "number"]
    with pytest.raises(KeyError, match="rows"):
        found["rows"]
    (outer,) = grammar.parse("[Lima,[1, null]]")
    assert outer.value == outer.text == "Lima,[1, null]"
    assert [(each.name, each.value) for each in outer.captures] == [("city", "Lima"), ("rows", [1, None])]
    assert grammar.parse("[Lima,null]")[0].captures[1].value is None


def test_values_are_those_of_json() -> None:
    """Of random texts that the grammar writes, fed in pieces: the values of all captures, wherever they stand."""
    compiled = cfgmask.compile(cfgmask.Grammar.from_lark(GRAMMAR), VOCABULARY)
    grammar = cfgmask.Grammar.from_lark(GRAMMAR)
    rng = random.Random(2)
    n_json = 0
    for _ in range(300):
        text = text_of(walk(compiled, rng, 40))
        parser = grammar.parser()
        at = 0
        while at < len(text):
            n = rng.randrange(1, 7)
            parser.feed(text[at : at + n])
            at += n
        parser.finish()
        waiting: list[Any] = list(parser.value)
        while waiting:
            capture = waiting.pop()
            waiting += capture.captures
            assert text[capture.start : capture.end].decode() == capture.text
            is_json = capture.name in ("data", "number", "flag", "rows")
            assert capture.value == (json.loads(capture.text) if is_json else capture.text)
            n_json += is_json
    assert n_json > 50


def test_a_capture_that_is_not_json() -> None:
    grammar = cfgmask.Grammar.from_lark("start: n\nn[capture, json]: /[0-9]+/")
    assert grammar.parse("70")["n"] == 70
    with pytest.raises(ValueError, match="the capture 'n' is declared as JSON, and its text is not"):
        grammar.parse("07")


def test_one_name_for_json_and_other_texts_is_text() -> None:
    grammar = cfgmask.Grammar.from_lark('start: a b\na[capture="x", json]: "1"\nb[capture="x"]: "2"')
    assert grammar.parse("12").all("x") == ["1", "2"]


def test_pickled_and_written_grammars_have_the_same_values() -> None:
    grammar = cfgmask.Grammar.from_lark(GRAMMAR)
    text = 'Lima={"a": 3};n1;'
    assert pickle.loads(pickle.dumps(grammar)).parse(text).asdict() == grammar.parse(text).asdict()
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert grammar.parse(text.encode(), compiled).asdict() == {"city": "Lima", "data": {"a": 3}, "number": 1}
    inner = cfgmask.Grammar.from_lark("start: @inner", grammars={"inner": grammar})
    assert inner.parse(text).asdict() == grammar.parse(text).asdict()
    digit = cfgmask.Grammar.from_lark("start: n\nn[capture, json]: /[0-9]/")
    assert cfgmask.Grammar.from_lark(write_lark(digit.ir)).parse("7")["n"] == 7
