"""Arrays in which some items must be equal, as `not` of uniqueItems asks for: every text is found one by one.

The oracle writes out all arrays of some values up to a length and asks the validator which of them are meant. A text
may be begun exactly if one of these begins so: nothing that is begun leads to a dead end.
"""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.demo import model_path
from tests.json_schema import yaml_judge
from tests.json_schema.judge import check_each_byte, compiled, is_valid
from tests.json_schema.test_unique_composites import WRITINGS, Writing

EQUAL = {"type": "array", "not": {"uniqueItems": True}}
STRINGS = {**EQUAL, "items": {"type": "string"}}
LETTERS = {**EQUAL, "items": {"enum": ["a", "b", "c"]}}
ID = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
CLOSED = {**ID, "additionalProperties": False}
NOT_ALL_STRINGS = {
    "type": "array",
    "not": {"items": {"type": "string"}, "uniqueItems": True},
    "items": {"type": ["string", "null"]},
}
WITH_ONE = {"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}}
LONG_PAIR = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "pattern": "^[xy]{5}$"},
        "b": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "minItems": 1},
    },
    "required": ["a", "b"],
    "additionalProperties": False,
}
LISTS = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
    "uniqueItems": True,
    "minItems": 3,
}
EITHER = {"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "uniqueItems": True}]}


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        (STRINGS, '["a", "b", "a"]', ""),
        (STRINGS, '["a", "b", "a", "c", "a", "d"]', ""),
        (STRINGS, '["a", "b"', "]"),
        (STRINGS, "[", "]"),
        (STRINGS, r'["a", "\u0061"]', ""),
        (STRINGS, r'["\u00e9\n", "b", "é\n"]', ""),
        (STRINGS, '["a", "ab"', "]"),
        (STRINGS, '["a", "a", ', "1"),
        ({**STRINGS, "maxItems": 2}, '["ab", "', 'b"]'),
        ({**STRINGS, "maxItems": 2}, '["ab", "a', '"]'),
        ({**STRINGS, "maxItems": 2}, r'["ab", "\u0061b"]', ""),
        ({**STRINGS, "maxItems": 3}, '["a", "b", "', 'c"]'),
        ({**STRINGS, "maxItems": 3}, '["a", "b", "b"', ","),
        ({**STRINGS, "minItems": 4}, '["a", "a", "b"', "]"),
        ({**STRINGS, "minItems": 4}, '["a", "a", "b", "c", "d"]', ""),
        (LETTERS, '["a", "b", "c", "', "d"),
        (LETTERS, '["a", "b", "c", "a"]', ""),
        ({**EQUAL, "items": {"type": "number"}}, "[1, 10, 1.0]", ""),
        ({**EQUAL, "items": {"type": "number"}}, "[0, -0]", ""),
        ({**EQUAL, "items": {"type": "number"}}, "[1.5, 1.51", "]"),
        ({**EQUAL, "items": {"type": "number"}, "maxItems": 2}, "[1.5, 1.50]", ""),
        ({**EQUAL, "items": {"type": "number"}, "maxItems": 2}, "[1.5, 1.", "6"),
        ({**EQUAL, "items": {"type": "boolean"}}, "[true, false, ", "null"),
        ({**EQUAL, "items": {"type": "boolean"}}, "[true, false, true, true]", ""),
        ({**EQUAL, "items": {"enum": [1, "1", True, "true", None]}}, '[1, "1", true, "true", null', "]"),
        ({**EQUAL, "items": {"enum": [1, "1", True, "true", None]}}, '[1, "1", true, "true", "1"]', ""),
        ({**EQUAL, "prefixItems": [{"const": 1}, {"type": "string"}], "items": False}, "", "["),
        ({**EQUAL, "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "string"}], "items": False},
         '["a", 1, "', 'b"]'),
        ({**EQUAL, "prefixItems": [{"type": "string"}, {"enum": [1, "x"]}], "items": False}, '["', 'a"]'),
        ({**EQUAL, "prefixItems": [{"type": "string"}, {"enum": [1, "x"]}], "items": False}, '["x", ', "1]"),
        ({**EQUAL, "prefixItems": [{"type": "string"}, {"enum": [1, "x"]}], "items": False}, '["x", "x"]', ""),
        ({**STRINGS, "contains": {"const": "x"}}, '["a", "a"', "]"),
        ({**STRINGS, "contains": {"const": "x"}}, '["a", "a", "x"]', ""),
        ({**STRINGS, "contains": {"const": "x"}, "maxItems": 2}, '["', 'a"]'),
        ({**STRINGS, "contains": {"const": "x"}, "maxContains": 1, "maxItems": 2}, "", "["),
        ({**STRINGS, "contains": {"const": "x"}, "maxContains": 1}, '["x", "x', '"'),
        (EQUAL, '[1, {"a": [1, {}]}, [1], {"a": [1.0, {}]}, null]', ""),
        (EQUAL, '[1, {"a": [1, {}]}, [1], {"a": [1.0, {}, 2]}', "]"),
        (EQUAL, '[{"a": 1, "b": 2}, {"b": 2, "a": 1}]', ""),
        (EQUAL, '[[], {}, [[]], {"": []}', "]"),
        ({**EQUAL, "items": ID}, '[{"id": 1, "x": 2}, {"id": 1}, {"id": 1, "x": 2.0}]', ""),
        ({**EQUAL, "items": CLOSED}, '[{"id": 1}, {"id": 2}', "]"),
        ({**EQUAL, "items": CLOSED}, '[{"id": 1}, {"id": 2}, {"id": 1}, {"id": 3}]', ""),
        ({**EQUAL, "items": {"enum": [{"a": 1}]}}, '[{"a": 1}, {"a": 1}]', ""),
        ({**EQUAL, "items": {"enum": [{"a": 1}]}}, '[{"a": 1}', "]"),
        ({"items": STRINGS}, '[["a", "a"], ["b", "b"]]', ""),
        ({"items": STRINGS}, '[["a", "a"], ["a"', "]"),
        (EITHER, '["a", "a"]', ""),
        (EITHER, '["a", "b"', "]"),
        ({"items": {"type": "string"}, "if": {"uniqueItems": True}, "then": {"maxItems": 2}, "else": {"maxItems": 3}},
         '["a", "b", "', 'c"'),
        ({"type": "array", "if": {"uniqueItems": True}, "then": {"maxItems": 1}, "items": {"type": "integer"}},
         "[1, 2, 3, 3]", ""),
        (NOT_ALL_STRINGS,
         '["a", null]', ""),
        (NOT_ALL_STRINGS,
         '["a", "b"', "]"),
        ({"not": {"uniqueItems": True}}, "[1, 1]", ""),
    ],
)  # fmt: skip
def test_how_far_an_array_goes(schema: dict[str, Any], taken: str, refused: str) -> None:
    if not taken:
        with pytest.raises(cfgmask.GrammarError, match="no value satisfies"):
            compiled(schema)
        return
    matcher = compiled(schema).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())
    assert matcher.is_accepting == (not refused)
    assert refused or is_valid(schema, taken)


@pytest.mark.parametrize(
    ("items", "text"),
    [
        (CLOSED, b'- {"id": 1}\n- {"id": 2}\n- {"id": 1}\n- id: 3'),
        (ID, b'- {"id": 1, "x": "y"}\n- {"id": 1, "x": "y"}'),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            b'- {"a": "a"}\n- {"a": "a"}\n- a: a',
        ),
    ],
)
def test_objects_of_yaml_come_again(items: dict[str, Any], text: bytes) -> None:
    matcher = compiled({**EQUAL, "items": items}, syntax="yaml").matcher()
    assert matcher.advance_bytes(text) == len(text)
    assert matcher.is_accepting


ITEMS = st.sampled_from(
    [
        {"enum": ["a", "ab", "b"]},
        {"enum": ["a", 1, True]},
        {"enum": [1, 10, "1"]},
        {"type": "boolean"},
        {"enum": [100, 10, None]},
        {"enum": ["x"]},
        {"enum": [[1], {"a": 1}, "a"]},
        {"enum": [[], [[]]]},
        {"type": "object", "properties": {"a": {"enum": [1, 2]}}, "additionalProperties": False},
        {"type": "array", "items": {"enum": [1]}, "maxItems": 2},
    ]
)
MOST_ITEMS = 4


def _values(item: dict[str, Any]) -> list[Any]:
    if "enum" in item:
        return list(item["enum"])
    if item["type"] == "boolean":
        return [True, False]
    return [{}, {"a": 1}, {"a": 2}] if item["type"] == "object" else [[], [1], [1, 1]]


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    item, prefix = draw(ITEMS), draw(st.one_of(st.just([]), st.lists(ITEMS, max_size=2)))
    every = [value for each in (item, *prefix) for value in _values(each)]
    schema: dict[str, Any] = {"type": "array", "items": item}
    if prefix:
        schema["prefixItems"] = prefix
    if draw(st.integers(0, 2)):
        schema["maxItems"] = draw(st.integers(1, MOST_ITEMS))
        schema["minItems"] = draw(st.integers(0, 2))
        if draw(st.booleans()):
            schema["contains"] = {"enum": draw(st.lists(st.sampled_from(every), min_size=1, max_size=2))}
            schema[draw(st.sampled_from(["minContains", "maxContains"]))] = draw(st.integers(0, 2))
    match draw(st.sampled_from(["not", "not", "oneOf", "if"])):
        case "not":
            schema["not"] = {"uniqueItems": True}
        case "oneOf":
            schema["oneOf"] = [{}, {"uniqueItems": True, "minItems": draw(st.integers(0, 2))}]
        case "if":
            schema |= {"if": {"uniqueItems": True}, "then": {"maxItems": 1}, "else": {"minItems": 3}}
    return schema


def _arrays(schema: dict[str, Any]) -> list[list[Any]]:
    """All arrays of items and places up to a length."""
    prefix = schema.get("prefixItems", [])
    places = [_values(prefix[i] if i < len(prefix) else schema["items"]) for i in range(MOST_ITEMS)]
    return [list(items) for length in range(MOST_ITEMS + 1) for items in product(*places[:length])]


@given(problems(), WRITINGS)
def test_nothing_else_may_be_begun(schema: dict[str, Any], writing: Writing) -> None:
    every = _arrays(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = [items for items in every if validator.is_valid(items)]
    try:
        matcher = compiled(schema, **writing.options).matcher()
    except cfgmask.GrammarError as error:
        (problem,) = error.diagnostics
        if problem.code == "schema-unsatisfiable":
            assert not found
        else:
            assert problem.code == "schema-unique-items"
            assert problem.pointer in ("/not/uniqueItems", "/oneOf/1/uniqueItems", "/if/uniqueItems")
            assert "maxItems" in schema
            assert any(isinstance(item, (list, dict)) for items in every for item in items)
        return
    texts = {text.encode() for items in found for text in writing.written(items)}
    # How longer arrays end was not written out.
    most = MOST_ITEMS if "maxItems" in schema else MOST_ITEMS - 2
    short = {text.encode() for items in every if len(items) <= most for text in writing.written(items)}
    check_each_byte(matcher, texts, {text[:end] for text in short for end in range(len(text) + 1)})


BYTES = [bytes([b]) for b in range(128)]
PIECES = [
    *(b'"a","a"', b'"a","b","', b'","', b'","a","a', b'a","b","a"]', b'"x","x"]', b'b"]', b'a"', rb'\u0061","a"'),
    *(b"1,1.0", b"1,10,1", b"1]", b",1]", b"0,0", b".0]", b"1,[1],[1]", b"],[", b"[1]]", b"true,false,true"),
    *(b'{"id":1},{"id":1', b'},{"id":', b'"id":12},{"id":12}]', b'1}]', b'{"id":1,"x":2}', b'[{"id":1},{"id":1}]'),
]  # fmt: skip


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "schema",
    [
        STRINGS,
        {**STRINGS, "maxItems": 3},
        LETTERS,
        EQUAL,
        {**EQUAL, "items": {"type": ["number", "string", "boolean"]}, "maxItems": 4},
        {**EQUAL, "items": ID},
        {**EQUAL, "items": {"type": ["object", "array"], "items": {"type": "integer"}, **CLOSED}, "minItems": 3},
        {"type": "array", "items": {**STRINGS, "items": {"type": ["string", "array"]}}},
    ],
)
@pytest.mark.parametrize("options", [{"whitespace": "compact"}, {}, {"whitespace": "bounded"}])
@given(seed=st.integers(0, 2**16))
def test_masks_are_those_of_single_tokens(schema: dict[str, Any], options: dict[str, Any], seed: int) -> None:
    tokens = [*BYTES, *PIECES]
    vocabulary = cfgmask.Vocabulary.from_bytes([*tokens, b""], eos_token_id=len(tokens))
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, **options), vocabulary).matcher()
    bits = np.zeros((len(tokens) + 32) // 32, dtype=np.int32)
    rng, begun, n_taken = random.Random(seed), b"", 0
    for _ in range(40):
        matcher.fill_mask(bits)
        mask = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(tokens) + 1]
        fits = [t for t, token in enumerate(tokens) if matcher.fork().advance_bytes(token) == len(token)]
        assert np.flatnonzero(mask[:-1]).tolist() == fits, begun
        assert mask[-1] == matcher.is_accepting == (_is_json(begun) and is_valid(schema, begun.decode()))
        likely = [t for t in fits if t >= len(BYTES) or tokens[t] in b'"a1,]'] or fits
        if not fits:
            break
        matcher.advance(chosen := rng.choice(likely))
        begun, n_taken = begun + tokens[chosen], n_taken + 1
        if rng.random() < 0.1:
            matcher.rollback(1)
            begun = begun[: len(begun) - len(tokens[chosen])]


@pytest.mark.parametrize(
    ("schema", "begun", "completion"),
    [
        (STRINGS, b"", b'["",""]'),
        (STRINGS, b'["abc"', b',"",""]'),
        ({**STRINGS, "maxItems": 2}, b'["abc"', b',"abc"]'),
        ({**STRINGS, "items": {"type": "string", "minLength": 9}}, b'["abcdefghi"', b',"abcdefghi"]'),
        ({**EQUAL, "items": {"type": "integer"}}, b"[123", b",0,0]"),
        ({**EQUAL, "items": LONG_PAIR}, b"", b'[{"a":"xxxxx","b":[0]},{"a":"xxxxx","b":[0]}]'),
        ({**EQUAL, "items": LONG_PAIR}, b'[{"a":"xxxyy","b":[5]},{"a":"xxxyy",', b'"b":[5]}]'),
        ({**EQUAL, "items": LONG_PAIR}, b'[{"a":"xxxyy","b":[5]},{"a":"x', b'xxyy","b":[5]}]'),
        ({**EQUAL, "items": LISTS}, b"", b"[[[],[0],[0,1]],[[],[0],[0,1]]]"),
    ],
)
def test_the_shortest_way_to_the_end(schema: dict[str, Any], begun: bytes, completion: bytes) -> None:
    matcher = compiled(schema, whitespace="compact").matcher()
    matcher.advance_bytes(begun)
    found = matcher.completion()
    assert found is not None
    assert len(found) == len(completion)
    assert is_valid(schema, (begun + bytes(found)).decode())


@pytest.mark.parametrize(
    ("schema", "begun", "completion"),
    [
        (EQUAL, b"", b"- 0\n- 0"),
        (EQUAL, b"- word", b"\n- word"),
        (EQUAL, b'- "a"', b"\n- a"),
        (EQUAL, b'- report",":', b"!\n- 0\n- 0"),
        (EQUAL, b'- {"a":', b" 0}\n- 0\n- 0"),
        (EQUAL, b'- {"a": 1, "b": 2}\n- ', b"0\n- 0"),
        (EQUAL, b'- {"a": 1, "b": 2}\n- {"a": 1, "b', b'": 2}'),
        ({**EQUAL, "items": {"type": "object"}}, b'- {"a": 1, "b": 2}\n- ', b"{}\n- {}"),
        ({**EQUAL, "items": CLOSED}, b'- {"id": 12}\n- {"id": 1', b"2}"),
        ({**EQUAL, "items": CLOSED}, b'- {"id": 12}\n- {"id": 3}\n- ', b'{"id": 3}'),
        ({"items": EQUAL}, b"- - word", b"\n  - word"),
    ],
)
def test_the_shortest_way_to_the_end_in_yaml(schema: dict[str, Any], begun: bytes, completion: bytes) -> None:
    matcher = compiled(schema, syntax="yaml").matcher()
    assert matcher.advance_bytes(begun) == len(begun)
    found = matcher.completion()
    assert found is not None
    assert len(found) == len(completion)
    assert yaml_judge.says(schema, (begun + bytes(found)).decode())


@pytest.mark.parametrize("begun", [b'- report",":', b'- {"a": 1, "b":', b'- {"ab": 1}\n- 11111'])
def test_little_is_made_for_a_mask(begun: bytes) -> None:
    """What begins in a token is completed as any other such is, in YAML, too, where the text might end anywhere."""
    vocabulary = cfgmask.Vocabulary.from_gguf(model_path())
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(EQUAL, syntax="yaml"), vocabulary)
    matcher = compiled.matcher(max_tokens=40)
    assert matcher.advance_bytes(begun) == len(begun)
    way = matcher.completion()
    assert way is not None
    matcher = compiled.matcher(max_tokens=40 - matcher.tokens_left + len(way))
    matcher.advance_bytes(begun)
    before = compiled.stats()
    matcher.fill_mask(np.zeros(-(-vocabulary.n_vocab // 32), dtype=np.uint32))
    after = compiled.stats()
    assert after["item_sets"] - before["item_sets"] < 2_000
    assert after["states"] - before["states"] < 5_000


@pytest.mark.parametrize("schema", [STRINGS, {**STRINGS, "maxItems": 2}, EQUAL, {**EQUAL, "items": CLOSED}, LETTERS])
@given(seed=st.integers(0, 2**16), budget=st.integers(20, 60))
def test_a_budget_is_kept(schema: dict[str, Any], seed: int, budget: int) -> None:
    matcher = compiled(schema, whitespace="compact").matcher(max_tokens=budget)
    bits, rng, text = np.zeros(9, dtype=np.int32), random.Random(seed), b""
    for _ in range(budget):
        matcher.fill_mask(bits)
        mask = np.unpackbits(bits.view(np.uint8), bitorder="little")[:257]
        fits = np.flatnonzero(mask[:256]).tolist()
        assert fits or mask[256], text
        if not fits:
            break
        likely = [t for t in fits if bytes([t]) in b'"a1,[{i'] or fits
        matcher.advance(token := rng.choice(likely))
        text += bytes([token])
    assert matcher.is_accepting
    assert is_valid(schema, text.decode())


def test_a_token_may_end_a_value_and_begin_it_again() -> None:
    """The value was one of those that are not told apart in a walk; the last item must be one that came."""
    vocabulary = cfgmask.Vocabulary.from_bytes([*BYTES, b'","', b'","a', b""], eos_token_id=len(BYTES) + 2)
    schema = {**EQUAL, "items": {"type": ["number", "string"]}, "maxItems": 3}
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), vocabulary).matcher()
    matcher.advance_bytes(b'[0,"')
    bits = np.zeros(5, dtype=np.int32)
    matcher.fill_mask(bits)
    mask = np.unpackbits(bits.view(np.uint8), bitorder="little")
    assert [mask[len(BYTES)], mask[len(BYTES) + 1]] == [1, 0]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({**EQUAL, "maxItems": 2}, "the last item would have to be an array or an object"),
        ({**EQUAL, "items": CLOSED, "maxItems": 5}, "the last item would have to be an array or an object"),
        ({**LETTERS, "maxItems": 20_000}, "the last item would have to be an array or an object"),
        ({"type": "array", "uniqueItems": True, "items": EQUAL}, "its items may run out"),
        ({**EQUAL, "items": {"type": "array", "items": {"type": "integer"}, "not": {"uniqueItems": True}}},
         "the last item would have to be an array or an object"),
    ],
)  # fmt: skip
def test_what_is_refused(schema: dict[str, Any], reason: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as caught:
        compiled(schema)
    for problem in caught.value.diagnostics:
        assert problem.code == "schema-unique-items"
        assert problem.pointer is not None
        assert problem.pointer.endswith("/uniqueItems")
        assert reason in problem.message
    assert compiled(schema, on_unsupported="relax").matcher().advance_bytes(b"[") == 1
