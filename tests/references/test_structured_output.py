"""A plan for structured output names 65 tests; README.md beside this file says what stands for each of them here.

Those of its patterns and schemas are the rows of this table, by their names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import cfgmask
from cfgmask.integrations.token_view import ACCEPTED, TokenView
from tests.json_schema.judge import accepts, vocabulary

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

PATTERNS: dict[str, tuple[str, list[str], list[str]]] = {
    "literal_match": ("abc", ["abc"], ["ab", "abcd", "abd"]),
    "alternation": ("a|b", ["a", "b"], ["c", "ab"]),
    "character_class": ("[a-z]", ["a", "m", "z"], ["5", "A"]),
    "negated_class": ("[^0-9]", ["a", "é"], ["5"]),
    "quantifier_star": ("a*", ["", "a", "aaa"], ["b"]),
    "quantifier_plus": ("a+", ["a", "aaa"], [""]),
    "quantifier_optional": ("a?", ["", "a"], ["aa"]),
    "quantifier_range": ("a{2,4}", ["aa", "aaa", "aaaa"], ["a", "aaaaa"]),
    "dot_matches_any": (".", ["a", "5", "€"], ["\n", "ab"]),
    "grouping": ("(ab)+", ["ab", "abab"], ["a", "aba"]),
    "nested_groups": ("(a(bc))+", ["abc", "abcabc"], ["abca"]),
    "escape_special": (r"\.", ["."], ["a"]),
    "shorthand_classes": (r"\d\w\s", ["1a ", "9_\t"], ["aa ", "1- ", "1ab"]),
    "complex_pattern": (r'\{"n": (-?\d+|"[a-z]*"|null)\}', ['{"n": -12}', '{"n": "ab"}'], ['{"n": }', '{"n": 1.5}']),
    "empty_pattern": ("", [""], ["a"]),
    "single_char": ("a", ["a"], ["", "b"]),
}


def obj(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties] if required is None else required,
        "additionalProperties": False,
    }


STRING, INTEGER, NUMBER, BOOLEAN, NULL = ({"type": t} for t in ("string", "integer", "number", "boolean", "null"))
STRINGS = {"type": "array", "items": STRING}

SCHEMAS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "string_type": (STRING, ["", 'a"\\\n'], [1, None]),
    "number_type": (NUMBER, [0, -1.5, 1e30], ["1", True]),
    "integer_type": (INTEGER, [0, -12], [1.5, "1"]),
    "boolean_type": (BOOLEAN, [True, False], [1, "true"]),
    "null_type": (NULL, [None], [False, 0]),
    "simple_object": (obj(a=STRING), [{"a": "x"}], [{}, {"a": 1}]),
    "object_multiple_fields": (obj(["a"], a=STRING, b=INTEGER), [{"a": "x"}, {"a": "x", "b": 1}], [{"b": 1}]),
    "nested_object": (obj(a=obj(b=INTEGER)), [{"a": {"b": 1}}], [{"a": {}}, {"a": 1}]),
    "array_of_strings": (STRINGS, [[], ["a", "b"]], [[1], ["a", None]]),
    "array_of_objects": ({"type": "array", "items": obj(a=INTEGER)}, [[{"a": 1}, {"a": 2}]], [[{}], {"a": 1}]),
    "enum_strings": ({"enum": ["red", "green", "blue"]}, ["red", "blue"], ["black", 1]),
    "enum_mixed": ({"enum": ["one", 2]}, ["one", 2], ["2", 1]),
    "empty_object": ({"type": "object", "properties": {}}, [{}], [[]]),
    "array_min_max_items": (STRINGS | {"minItems": 1, "maxItems": 2}, [["a"], ["a", "b"]], [[], ["a", "b", "c"]]),
    "string_min_max_length": (STRING | {"minLength": 2, "maxLength": 3}, ["ab", "abc"], ["a", "abcd"]),
    "nested_array_in_object": (obj(a=STRINGS), [{"a": ["x"]}], [{"a": "x"}]),
    "boolean_in_object": (obj(a=BOOLEAN), [{"a": True}], [{"a": "true"}]),
    "nullable_field": (obj(a={"enum": ["x", None]}), [{"a": "x"}, {"a": None}], [{"a": "y"}, {}]),
    "integer_field_in_object": (obj(a=INTEGER), [{"a": 7}], [{"a": 7.5}]),
    "deeply_nested": (obj(a=obj(b=obj(c=NULL))), [{"a": {"b": {"c": None}}}], [{"a": {"b": {}}}]),
    "all_types_object": (
        obj(s=STRING, i=INTEGER, n=NUMBER, b=BOOLEAN, z=NULL, l=STRINGS, o=obj()),
        [{"s": "", "i": 1, "n": 1.5, "b": False, "z": None, "l": [], "o": {}}],
        [{"s": "", "i": 1}],
    ),
    "required_vs_optional": (obj(["b"], a=STRING, b=STRING), [{"b": "y"}, {"a": "x", "b": "y"}], [{"a": "x"}]),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_pattern(name: str) -> None:
    pattern, good, bad = PATTERNS[name]
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex(pattern), vocabulary())
    assert [text for text in good + bad if accepts(compiled, text)] == good


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema(name: str) -> None:
    schema, good, bad = SCHEMAS[name]
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary())
    assert [value for value in good + bad if accepts(compiled, json.dumps(value))] == good


def test_dfa_minimization() -> None:
    """The states that texts come to are those of the smallest automaton, which has four, the start and the end."""
    view = TokenView(cfgmask.compile(cfgmask.Grammar.from_regex("(a|b)*abb"), vocabulary()))
    state: int | None = view.start
    seen = []
    for character in "babaabb":
        assert state is not None
        state = view.step(state, ord(character))
        seen.append(state)
    after_b, a, ab, a_again, aa, ab_again, abb = seen
    assert (a, a, ab) == (a_again, aa, ab_again)
    assert view.reaching() == {view.start, after_b, a, ab, abb, ACCEPTED}


def test_a_token_that_ends_a_value_and_its_object() -> None:
    tokens = [*(bytes([byte]) for byte in range(256)), b'"}', b'x"}', b'",', b'xy"}', b""]
    grammar = cfgmask.Grammar.from_json_schema(obj(a=STRING | {"maxLength": 2}))
    compiled = cfgmask.compile(grammar, cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1))
    matcher = compiled.matcher()
    matcher.advance_bytes(b'{"a": "y')
    assert [matcher.fork().try_advance([token]) for token in range(256, 260)] == [1, 1, 0, 0]
    matcher.advance(257)
    assert matcher.is_accepting


def test_each_name_has_a_counterpart_that_exists() -> None:
    rows = re.findall(r"^\| `test_(\w+)` \| `([\w/.]+)::(\w+)` \|", (HERE / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 65
    for name, file, test in rows:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), (name, file, test)
        if test in ("test_pattern", "test_schema"):
            assert name in PATTERNS | SCHEMAS, name
