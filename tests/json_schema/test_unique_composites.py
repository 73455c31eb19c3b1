"""uniqueItems over arrays and objects that are closed: every array of items is found one by one.

The oracle writes out all values of an item and all arrays of different ones. A text may be begun exactly if one of
these begins so: nothing that is begun leads to a dead end.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice, permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.judge import accepts, check, check_each_byte, compiled
from tests.json_schema.judge import vocabulary as judge_vocabulary

# What keys without names there may be.
UNNAMED = ("p", "q")
MOST_VALUES = 12
MOST_ITEMS = 3
MOST_TEXTS = 20_000


def values(schema: dict[str, Any]) -> list[str]:
    """The compact texts of all values, each once."""
    return list(dict.fromkeys(json.dumps(value, separators=(",", ":")) for value in _values(schema)))


def _values(schema: dict[str, Any]) -> list[Any]:
    found = list(islice(_every_value(schema), 4 * MOST_VALUES))
    return found if len(found) < 4 * MOST_VALUES else reject()


def _every_value(schema: dict[str, Any]) -> Iterable[Any]:
    if "anyOf" in schema:
        return [value for part in schema["anyOf"] for value in _values(part)]
    if "enum" in schema:
        return list(schema["enum"])
    match schema["type"]:
        case "boolean":
            return [True, False]
        case "integer":
            return list(range(schema["minimum"], schema["maximum"] + 1))
        case "array":
            prefix = schema.get("prefixItems", [])
            most = schema["maxItems"]
            parts = [_values(prefix[i] if i < len(prefix) else schema["items"]) for i in range(most)]
            lengths = range(schema.get("minItems", 0), most + 1)
            found = (list(items) for length in lengths for items in product(*parts[:length]))
            return (items for items in found if _is_array_of(schema, items))
    choices = []
    for name, member in schema["properties"].items():
        ways: list[dict[str, Any]] = [{name: value} for value in _values(member)]
        choices.append(ways if name in schema.get("required", ()) else [*ways, {}])
    for pattern, others in schema.get("patternProperties", {}).items():
        assert pattern == "^[pq]$"
        choices += [[{}, *({key: value} for value in _values(others))] for key in UNNAMED]
    objects = ({key: value for part in parts for key, value in part.items()} for parts in product(*choices))
    least, most = schema.get("minProperties", 0), schema.get("maxProperties", len(choices))
    return (value for value in objects if least <= len(value) <= most)


def _is_array_of(schema: dict[str, Any], items: list[Any]) -> bool:
    """Whether what items must be to each other, or some of them, is met."""
    texts = [*map(json.dumps, items)]
    wanted = [*map(json.dumps, schema["contains"]["enum"])] if "contains" in schema else texts
    n_wanted = sum(text in wanted for text in texts)
    is_enough = schema.get("minContains", int("contains" in schema)) <= n_wanted <= schema.get("maxContains", n_wanted)
    return is_enough and (not schema.get("uniqueItems") or len({*texts}) == len(texts))


def arrays(schema: dict[str, Any], places: list[list[str]], rest: list[str]) -> list[Any]:
    """All arrays of different items that the schema of an array allows, from the texts of what stands in each place."""
    found: list[list[str]] = [[]]
    begun = found
    for place in range(schema["maxItems"]):
        texts = places[place] if place < len(places) else rest
        begun = [[*items, text] for items in begun for text in texts if text not in items]
        found = [*found, *begun]
        if len(found) > MOST_TEXTS:
            reject()
    values = ([*map(json.loads, items)] for items in found if len(items) >= schema["minItems"])
    return [items for items in values if _is_array_of(schema, items)]


@dataclass(frozen=True)
class Writing:
    """How values are written, as options of the grammar and for the oracle."""

    options: dict[str, Any]
    written: Callable[[Any], list[str]]


def _compact(value: Any) -> list[str]:
    return [json.dumps(ordered, separators=(",", ":")) for ordered in _orders(value)]


def _indented(value: Any) -> list[str]:
    return [json.dumps(ordered, indent=1) for ordered in _orders(value)]


def _orders(value: Any) -> list[Any]:
    """With keys that have no names in every order, behind the others."""
    match value:
        case dict():
            pairs = [[(key, held) for held in _orders(held)] for key, held in value.items()]
            chosen = [[*some] for some in product(*pairs)]
            return [dict(pairs) for some in chosen for pairs in _with_unnamed_last(some)]
        case list():
            return [[*items] for items in product(*map(_orders, value))]
    return [value]


def _with_unnamed_last(pairs: list[tuple[str, Any]]) -> list[list[tuple[str, Any]]]:
    named = [pair for pair in pairs if pair[0] not in UNNAMED]
    return [[*named, *unnamed] for unnamed in permutations(pair for pair in pairs if pair[0] in UNNAMED)]


def _in_blocks(value: list[Any]) -> list[str]:
    """In the blocks of YAML: strings with and without quotes, arrays and objects in brackets, on one line."""
    items = [[f"- {text}" for text in _item(item)] for item in value]
    lines = ["\n".join(some) for some in product(*items)] if value else ["[]"]
    return [text + end for text in lines for end in ("", "\n")]


def _item(value: Any) -> list[str]:
    is_plain = isinstance(value, str) and not value.isdigit()
    return [value, f'"{value}"'] if is_plain else [json.dumps(value)]


ANY_ORDER = {"whitespace": "compact", "property_order": "any"}
WRITINGS = st.sampled_from(
    [
        Writing({"whitespace": "compact"}, _compact),
        Writing({"indent": 1}, _indented),
        # Objects to which nothing may be added have the order of the schema.
        Writing(ANY_ORDER, _compact),
        Writing({"syntax": "yaml"}, _in_blocks),
    ]
)


SCALARS = st.sampled_from(
    [
        {"type": "boolean"},
        {"enum": ["a", "b"]},
        {"enum": ["x"]},
        {"enum": [1, "1", None]},
        {"type": "integer", "minimum": 9, "maximum": 11},
        {"enum": [True]},
    ]
)


def _object(draw: st.DrawFn, parts: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    names = sorted(draw(st.sets(st.sampled_from(["a", "b", "ab", "c"]), max_size=3)))
    schema = {
        "type": "object",
        "properties": {name: draw(parts) for name in names},
        "required": [name for name in names if draw(st.booleans())],
        "additionalProperties": False,
    }
    bound = draw(st.sampled_from(["", "", "", "", "minProperties", "maxProperties"]))
    return {**schema, bound: draw(st.integers(0, 2))} if bound else schema


def _array(draw: st.DrawFn, parts: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    least = draw(st.integers(0, 2))
    schema = {"type": "array", "minItems": least, "maxItems": least + draw(st.integers(0, 2)), "items": draw(parts)}
    prefix, unique = {"prefixItems": [draw(parts)]}, {"uniqueItems": True, "minItems": least % 2}
    return {**schema, **draw(st.sampled_from([{}, prefix, unique]))}


def _tellable(schema: dict[str, Any]) -> dict[str, Any]:
    """Without arrays of different items in it: to tell these from others takes arrays that have equal items."""
    text = json.dumps(schema).replace('"uniqueItems"', '"x-unique"')
    changed: dict[str, Any] = json.loads(text)
    return changed


@st.composite
def composites(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    parts = SCALARS if depth == 0 else st.one_of(SCALARS, SCALARS, composites(depth - 1))
    kind = draw(st.sampled_from(["object", "object", "array", "anyOf"]))
    if kind == "anyOf":
        found = draw(st.lists(st.one_of(parts, composites(max(depth - 1, 0))), min_size=1, max_size=3))
        return {"anyOf": [*map(_tellable, found)]}
    return _object(draw, parts) if kind == "object" else _array(draw, parts)


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, Any], list[Any]]:
    """A schema and all its values."""
    item, prefix = draw(composites()), draw(st.lists(st.one_of(SCALARS, composites(1)), max_size=2))
    has_contains = draw(st.booleans())
    if prefix or has_contains:
        item, prefix = _tellable(item), [*map(_tellable, prefix)]
    rest, places = values(item), [values(part) for part in prefix]
    every = list(dict.fromkeys(text for texts in [*places, rest] for text in texts))
    if not 0 < len(every) <= MOST_VALUES or not any(text[0] in "[{" for text in every):
        reject()
    least = draw(st.integers(0, 2))
    most = max(least, MOST_ITEMS)
    schema: dict[str, Any] = {"items": item, "type": "array", "uniqueItems": True, "minItems": least, "maxItems": most}
    if prefix:
        schema["prefixItems"] = prefix
    if has_contains:
        wanted = draw(st.lists(st.sampled_from(every), min_size=1, max_size=3, unique=True))
        schema["contains"] = {"enum": [*map(json.loads, wanted)]}
        schema[draw(st.sampled_from(["minContains", "maxContains"]))] = draw(st.integers(0, 2))
    return schema, arrays(schema, places, rest)


def _texts(values: list[Any], writing: Writing) -> list[str]:
    n_texts, found = 0, []
    for value in values:
        found.append(writing.written(value))
        n_texts += len(found[-1])
        if n_texts > MOST_TEXTS:
            reject()
    return [text for texts in found for text in texts]


def _grammar(schema: dict[str, Any], writing: Writing) -> cfgmask.Grammar:
    """Its grammar, if the core counts so far."""
    try:
        return cfgmask.Grammar.from_json_schema(schema, **writing.options)
    except cfgmask.GrammarError as error:
        if any(problem.code != "schema-unique-items" for problem in error.diagnostics):
            raise
        reject()


def _beginnings(texts: list[str]) -> set[bytes]:
    return {text.encode()[:end] for text in texts for end in range(len(text) + 1)}


@given(problems(), WRITINGS)
def test_nothing_else_may_be_begun(problem: tuple[dict[str, Any], list[Any]], writing: Writing) -> None:
    schema, found = problem
    texts = _texts(found, writing)
    if not texts:
        with pytest.raises(cfgmask.GrammarError, match="no value satisfies"):
            compiled(schema, **writing.options)
        return
    matcher = cfgmask.compile(_grammar(schema, writing), judge_vocabulary()).matcher()
    # Numbers have further spellings, with zeros behind a point.
    check_each_byte(matcher, {text.encode() for text in texts})


@given(problems(), WRITINGS, st.integers(0, 2**16))
def test_masks_are_those_of_single_tokens(
    problem: tuple[dict[str, Any], list[Any]], writing: Writing, seed: int
) -> None:
    schema, found = problem
    texts = _texts(found, writing) or reject()
    rng = random.Random(seed)
    pieces = {bytes([b]) for b in range(256)}
    for text in rng.sample(texts, min(len(texts), 8)):
        data = text.encode()
        for _ in range(8):
            start = rng.randrange(len(data))
            pieces.add(data[start : start + rng.choice([2, 3, 6, 12, 30])])
    tokens = sorted(pieces)
    vocabulary = cfgmask.Vocabulary.from_bytes([*tokens, b""], eos_token_id=len(tokens))
    matcher = cfgmask.compile(_grammar(schema, writing), vocabulary).matcher()
    begun, beginnings, whole = b"", _beginnings(texts), {text.encode() for text in texts}
    bits = np.zeros((len(tokens) + 32) // 32, dtype=np.int32)
    ids, states = [], [b""]
    for _ in range(12):
        matcher.fill_mask(bits)
        mask = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(tokens) + 1]
        allowed = [i for i, token in enumerate(tokens) if begun + token in beginnings]
        plain = [i for i, token in enumerate(tokens) if b"." not in token and b"\\" not in token]
        assert [i for i in plain if mask[i]] == [i for i in plain if i in set(allowed)], begun
        assert mask[-1] == (begun in whole)
        if not allowed:
            break
        chosen = rng.choice(allowed)
        matcher.advance(chosen)
        begun += tokens[chosen]
        ids.append(chosen)
        states.append(begun)
        if rng.random() < 0.3:
            back = rng.randint(1, len(ids))
            matcher.rollback(back)
            del ids[len(ids) - back :], states[len(states) - back :]
            begun = states[-1]


def _broken(mark: re.Match[bytes]) -> bytes:
    """With the line break that follows or precedes it."""
    return mark[0] + b"\n" if mark[1] else b"\n" + mark[0]


ID = {"properties": {"id": {"type": "integer"}}, "required": ["id"], "type": "object", "additionalProperties": False}
MARKED = {"id": {"type": "string"}, "on": {"type": "boolean"}}
TOKENS = (
    *(
        b'{"id":',
        b"1",
        b"12",
        b"3},",
        b'1},{"id":',
        b'2},{"id":1}',
        b'1},{"id":1',
        b'},{"id":12},{"id":1',
        b"[1",
        b",2]",
    ),
    *(b'"a","on":true', b'","on":', b'true},{"id":"a","on":', b'x","on":true},{"id":"x","on":t', b'"},{"id":"a"}'),
    *(b"[1],[2],[", b"1,1],[1", b"1],[1,1],[", b"[],[", b'"a"],["a"', b'","a"],["a","', b'true,"b":[{"id":1},{"id":'),
    *(
        b'{"on":true,"id":"a"}',
        b'{"on":true,"id":"',
        b'{"b":[],"id":true}',
        b'"b":[{"id":1}],"id":t',
        b'"id":true,"b":[]},{',
    ),
)
INDENTED_TOKENS = [
    re.sub(rb"(,|\{(?!\})|\[(?!\]))|(?<!\{)\}|(?<!\[)\]", _broken, t).replace(b":", b": ") for t in TOKENS
]
YAML_TOKENS = (
    *(b"id: ", b"- id:", b"12", b"3\n", b"1\n- id: ", b"2\n- id: 1\n", b"1\n- id: 1", b"\n- id: 12\n- id: 1", b"- - 1"),
    *(b"\n  - 2", b" a\n  on: true", b"\n  on: ", b"true\n- id: a\n  on: true", b"x\n  on: true\n- id: x\n  on: t"),
    *(b"\n- - 1\n- - 2\n- -", b"1\n  - 1\n- - 1", b"- []\n- ", b'"a"\n- - "a"', b"a\n  - a", b"a\n- - a\n  - "),
    *(b"true\n  b:\n  - id: 1\n  - id:", b"\n    - id: 1\n", b"b: []\n- id:", b"- 1\n- 1", b"\n  - a\n- - a\n"),
)


@pytest.mark.parametrize(
    "item",
    [
        ID,
        {**ID, "properties": MARKED},
        {"type": ["array", "integer"], "items": {"type": "integer"}, "maxItems": 2},
        {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
        {**ID, "properties": {"id": {"type": "boolean"}, "b": {"type": "array", "items": ID, "uniqueItems": True}}},
        {"anyOf": [ID, {**ID, "properties": MARKED}]},
    ],
)
@pytest.mark.parametrize("options", [{"whitespace": "compact"}, {"indent": 0}, ANY_ORDER, {"syntax": "yaml"}])
@given(seed=st.integers(0, 2**16))
def test_masks_of_endless_items_are_those_of_single_tokens(
    item: dict[str, Any], options: dict[str, Any], seed: int
) -> None:
    further = INDENTED_TOKENS if "indent" in options else YAML_TOKENS if "syntax" in options else TOKENS
    tokens = [bytes([b]) for b in range(128)] + list(further)
    vocabulary = cfgmask.Vocabulary.from_bytes([*tokens, b""], eos_token_id=len(tokens))
    schema = {"type": "array", "items": item, "uniqueItems": True}
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema, **options), vocabulary).matcher()
    bits = np.zeros((len(tokens) + 32) // 32, dtype=np.int32)
    rng = random.Random(seed)
    steps = 0
    for _ in range(40):
        matcher.fill_mask(bits)
        mask = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(tokens)]
        fits = [t for t in range(len(tokens)) if matcher.try_advance([t], consume=False)]
        assert np.flatnonzero(mask).tolist() == fits
        likely = (
            [t for t in fits if t >= 128]
            or [t for t in fits if tokens[t] in (b"12a -\n" if "syntax" in options else b'12a"]},\n')]
            or fits
        )
        if not fits:
            break
        matcher.advance(rng.choice(likely if rng.random() < 0.7 else fits))
        steps += 1
        if rng.random() < 0.1:
            back = rng.randint(1, steps)
            matcher.rollback(back)
            steps -= back


def test_separators_of_items() -> None:
    schema = {"items": {**ID, "properties": {"id": {"enum": [1, 2]}, "on": {"type": "boolean"}}}, "uniqueItems": True}
    grammar = compiled({**schema, "type": "array"}, whitespace="compact", item_separator=", ", key_separator=": ")
    assert accepts(grammar, '[{"id": 1, "on": true}, {"id": 1}]')
    assert not accepts(grammar, '[{"id": 1,"on": true}]')
    assert not accepts(grammar, '[{"id": 1, "on": true}, {"id": 1, "on": true}]')


def test_listed_objects_and_arrays() -> None:
    """There may be hundreds of constants, and others may hold some of them."""
    objects = [{"id": i, "of": [i % 3, {}]} for i in range(200)]
    listed = [*objects, [1, {"a": None}], [1.0, {"a": None}], [], {}]
    grammar = compiled({"items": {"enum": [*listed, objects[7]]}, "uniqueItems": True})
    different = [*objects, [1, {"a": None}], [], {}]
    assert accepts(grammar, json.dumps(different))
    assert accepts(grammar, json.dumps(different[::-1]))
    assert not accepts(grammar, json.dumps([*different, {"id": 7, "of": [1, {}]}]))
    assert not accepts(grammar, json.dumps([[1, {"a": None}], [1.0, {"a": None}]]))
    pairs = {"type": "array", "prefixItems": [{"enum": [0, 1]}, {"enum": [0, 1]}], "minItems": 2, "maxItems": 2}
    both = compiled({"items": {"anyOf": [{"enum": [[0, 1], [5, 5]]}, pairs]}, "uniqueItems": True, "maxItems": 5})
    every = [[5, 5], [0, 1], [0, 0], [1, 0], [1, 1]]
    assert accepts(both, json.dumps(every))
    for again in every[:-1]:
        assert not accepts(both, json.dumps([*every[:-1], again]))


def test_items_of_different_kinds_may_begin_alike() -> None:
    """In YAML, the blank behind a key was one lexeme with the scalars of some kinds, and apart from those of others."""
    items = {"properties": {"a": {"enum": [9, 10, 11]}}, "type": "object", "required": ["a"]}
    schema = {"items": {**items, "additionalProperties": False}, "contains": {"enum": [{"a": 10}]}, "uniqueItems": True}
    grammar = compiled({**schema, "type": "array"}, syntax="yaml")
    for text in ['- {"a": 11}\n- {"a": 10}', '- {"a": 10}\n- {"a": 11}', '- {"a": 9}\n- {"a": 11}\n- {"a": 10}']:
        assert accepts(grammar, text), text
    for text in ['- {"a": 11}', '- {"a": 10}\n- {"a": 10}', '- {"a": 11}\n- {"a": 11}', "- a: 10"]:
        assert not accepts(grammar, text), text


def test_long_strings_of_a_pattern_do_not_run_out() -> None:
    """Their shortest ones are enough to tell: of these residuals within 2,048 characters a search does not see the end.

    Asked twice it spent all that a schema may spend, so that the second answer was another one.
    """
    pattern = r"^arn:aws(-[^:]+)?:lambda:[a-z0-9-]+:[0-9]{12}:function:.+$"
    names = {"type": "array", "items": {"type": "string", "pattern": pattern, "minLength": 20, "maxLength": 2048}}
    item = {
        "type": "object",
        "properties": {"field": {"type": "string", "maxLength": 1000}, "names": {**names, "uniqueItems": True}},
        "additionalProperties": False,
    }
    a, b = (f'"arn:aws-cn:lambda:eu-1:{number:012}:function:f"' for number in (1, 2))
    check(
        {"type": "array", "items": item, "uniqueItems": True},
        ["[{}]", f'[{{"names":[{a},{b}]}},{{"names":[{b},{a}]}},{{"names":[{a}]}},{{"field":"a","names":[]}}]'],
        [f'[{{"names":[{a},{a}]}}]', f'[{{"names":[{a},{b}]}},{{"names":[{a},{b}]}}]', '[{"names":["arn:aws"]}]'],
    )
