"""Unions of many objects or arrays, which are read together until keys and values tell them apart.

The same union in parts of which each is small is read one by one: language, masks, completions and budgets are
those of that.
"""

from __future__ import annotations

import json
import random
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.judge import Schema, accepts, compiled, is_valid

WORDS = ['{"', '":', '","', '"a', 'kind":"', '"},', "true", '"a":1', '"kind":"k1', '","kind":"', '1,"', "}]", '/b"']
VOCABULARY = cfgmask.Vocabulary.from_bytes(
    [bytes([i]) for i in range(256)] + [word.encode() for word in WORDS] + [b""], eos_token_id=256 + len(WORDS)
)
KEYS = ["kind", "a", "ab", "a/b", "é", "b", ""]
MANY = 8
# What comes first in so many is found when the schema is read.
LARGE = 64


def how_many(rng: random.Random, most: int) -> int:
    return LARGE + rng.randrange(most) if rng.random() < 0.25 else rng.randrange(MANY, most)


def members(rng: random.Random) -> dict[str, Any]:
    values: list[Schema] = [
        {"const": f"k{rng.randrange(12)}"},
        {"enum": ["k1", "k2", "k/3"]},
        {"enum": ["k4", 5]},
        {"enum": [f"k{i}" for i in rng.sample(range(6), 3)]},
        {"type": "string"},
        {"type": "integer"},
        {"type": "boolean"},
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False},
        False,
    ]
    weights = [6, 2, 1, 2, 2, 2, 2, 1, 0.3]
    names = rng.sample(KEYS, rng.randrange(1, len(KEYS)))
    if rng.random() < 0.7:
        names.sort(key=KEYS.index)
    return {name: rng.choices(values, weights)[0] for name in names}


def random_object(rng: random.Random) -> dict[str, Any]:
    properties = members(rng)
    found: dict[str, Any] = {"type": "object", "properties": properties}
    required = [name for name in properties if rng.random() < 0.5]
    if required:
        found["required"] = required
    kind = rng.random()
    if kind < 0.7:
        found["additionalProperties"] = False
    elif kind < 0.8:
        found["additionalProperties"] = rng.choice([{"type": "integer"}, {"type": "integer"}, {"not": {}}])
    elif kind < 0.85:
        found["patternProperties"] = {"^x": {"type": "integer"}}
    if rng.random() < 0.1:
        found["maxProperties"] = rng.randrange(1, 4)
    return found


def union(rng: random.Random) -> list[Schema]:
    objects: list[Schema] = [random_object(rng) for _ in range(how_many(rng, 3 * MANY))]
    if rng.random() < 0.3:
        objects.append({"type": ["string", "object"], "properties": {"a": {"const": 1}}, "required": ["a"]})
    return objects


def random_array(rng: random.Random) -> dict[str, Any]:
    values = list(members(rng).values())
    found: dict[str, Any] = {"type": "array"}
    if rng.random() < 0.7:
        found["prefixItems"] = values[: rng.randrange(1, 4)]
    if rng.random() < 0.7:
        found["items"] = rng.choice([*values, False])
    if rng.random() < 0.5:
        found["minItems"] = rng.randrange(3)
    if rng.random() < 0.3:
        found["maxItems"] = rng.randrange(4)
    if rng.random() < 0.05:
        return {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    return found


def array_union(rng: random.Random) -> list[Schema]:
    arrays: list[Schema] = [random_array(rng) for _ in range(how_many(rng, 3 * MANY))]
    arrays.append({"type": "array", "items": {"type": "boolean"}})
    if rng.random() < 0.3:
        arrays.append({"type": ["string", "array"], "items": {"const": 1}})
    return arrays + ([random_object(rng) for _ in range(MANY)] if rng.random() < 0.2 else [])


def open_union(rng: random.Random) -> list[Schema]:
    """Of objects that mostly take any other key, few of which need some key; names are of one object or of many."""
    objects: list[Schema] = []
    for i in range(how_many(rng, 6 * MANY)):
        names = rng.sample([*KEYS[1:], f"n{i}", f"n/{i}", "n0"], rng.randrange(4))
        found: dict[str, Any] = {"type": "object", "properties": {n: {"enum": [i % 5, None]} for n in names}}
        if names and rng.random() < 0.1:
            found["required"] = names[-1:]
        if rng.random() < 0.3:
            found["additionalProperties"] = rng.choice([False, {"not": {}}, {"type": "integer"}, {"type": "null"}])
        objects.append(found)
    return objects


def in_parts(objects: list[Schema]) -> Schema:
    return {"anyOf": [{"anyOf": objects[i : i + MANY - 1]} for i in range(0, len(objects), MANY - 1)]}


def both(schema: Schema, apart: Schema, **options: Any) -> tuple[cfgmask.CompiledGrammar, cfgmask.CompiledGrammar]:
    """A grammar of the union, and one of its parts."""
    one, other = (
        cfgmask.compile(cfgmask.Grammar.from_json_schema(s, whitespace="compact", **options), VOCABULARY)
        for s in (schema, apart)
    )
    return one, other


def masks(*matchers: cfgmask.Matcher) -> list[np.ndarray]:
    found = []
    for matcher in matchers:
        mask = np.zeros((VOCABULARY.n_vocab + 31) // 32, dtype=np.uint32)
        matcher.fill_mask(mask)
        found.append(mask)
    return found


def allowed(mask: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))


def walk_together(rng: random.Random, a: cfgmask.Matcher, b: cfgmask.Matcher, n_tokens: int) -> bytes:
    """Two matchers have the same masks on a random way, also after they went back."""
    text: list[int] = []
    for _ in range(n_tokens):
        here, there = masks(a, b)
        assert np.array_equal(here, there), b"".join(VOCABULARY.tokens[t] for t in text)
        assert a.is_accepting == b.is_accepting
        if text and rng.random() < 0.1:
            n = rng.randrange(1, len(text) + 1)
            a.rollback(n)
            b.rollback(n)
            del text[-n:]
            continue
        ways = [token for token in allowed(here) if token not in VOCABULARY.eos_token_ids]
        if not ways:
            break
        likely = [token for token in ways if VOCABULARY.tokens[token][:1] in b'"{}:,' or token >= 256]
        token = int(rng.choice(likely if likely and rng.random() < 0.7 else ways))
        a.advance(token)
        b.advance(token)
        text.append(token)
    return b"".join(VOCABULARY.tokens[t] for t in text)


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_masks_are_those_of_the_parts(seed: int) -> None:
    rng = random.Random(seed)
    objects = rng.choice([union, array_union])(rng)
    a, b = both({"anyOf": objects}, in_parts(objects))
    for _ in range(2):
        text = walk_together(rng, a.matcher(), b.matcher(), 30)
        matcher = a.matcher()
        assert matcher.advance_bytes(text) == len(text)
        if matcher.is_accepting:
            assert is_valid({"anyOf": objects}, text.decode())


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_masks_of_lists_of_unions(seed: int) -> None:
    rng = random.Random(seed)
    objects = rng.choice([union, array_union])(rng)
    a, b = both({"type": "array", "items": {"anyOf": objects}}, {"type": "array", "items": in_parts(objects)})
    walk_together(rng, a.matcher(), b.matcher(), 120)


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_masks_of_open_objects_are_those_of_the_parts(seed: int) -> None:
    rng = random.Random(seed)
    objects = open_union(rng)
    a, b = both({"anyOf": objects}, in_parts(objects))
    names = [*KEYS, "x", *(f"n{i}" for i in range(len(objects))), "n/1", "n/2"]
    for _ in range(3):
        value = {name: rng.choice([0, 1, None]) for name in rng.choices(names, k=rng.randrange(2 * MANY))}
        one, other = a.matcher(), b.matcher()
        for byte in json.dumps(value, separators=(",", ":"), ensure_ascii=rng.random() < 0.3).encode():
            here, there = masks(one, other)
            assert np.array_equal(here, there), value
            if not one.try_advance([byte]):
                break
            other.advance(byte)
            assert one.is_accepting == other.is_accepting
        walk_together(rng, one, other, 10)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_completions_and_budgets_are_those_of_the_parts(seed: int) -> None:
    rng = random.Random(seed)
    objects = rng.choice([union, open_union, array_union])(rng)
    a, b = both({"anyOf": objects}, in_parts(objects))
    one, other = a.matcher(), b.matcher()
    walk_together(rng, one, other, rng.randrange(20))
    assert len(one.completion()) == len(other.completion())
    n_tokens = len(b.matcher().completion()) + rng.randrange(6)
    walk_together(rng, a.matcher(max_tokens=n_tokens), b.matcher(max_tokens=n_tokens), n_tokens)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=50)
def test_texts_of_each_object_are_taken(seed: int) -> None:
    rng = random.Random(seed)
    objects = union(rng)
    grammar = compiled({"anyOf": objects})
    for schema in objects:
        try:
            alone = compiled(schema)
        except cfgmask.GrammarError:
            continue  # it has a required member that nothing can be
        matcher = alone.matcher()
        matcher.advance_bytes(b"{")
        text = b"{" + bytes(matcher.completion())
        assert accepts(grammar, text.decode())


TAGGED = [
    {
        "type": "object",
        "properties": {"kind": {"const": f"k{i}"}, f"p{i}": {"type": "integer"}},
        "required": ["kind", f"p{i}"],
        "additionalProperties": False,
    }
    for i in range(20)
]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_names_of_keys_and_tags(keyword: str) -> None:
    matcher = compiled({keyword: TAGGED}, whitespace="compact").matcher()
    matcher.advance_bytes(b"{")
    assert matcher.expected() == ['"kind"']
    matcher.advance_bytes(b'"kind":')
    assert matcher.expected() == [f'"k{i}"' for i in sorted(range(20), key=str)]
    matcher.advance_bytes(b'"k1')
    assert matcher.expected() == ['"k1"', *(f'"k{i}"' for i in range(10, 20))]
    matcher.advance_bytes(b'2",')
    assert matcher.expected() == ['"p12"']


def test_objects_that_lack_one_key_each_are_bounded() -> None:
    """Which of them are left after some keys could be any subset of them."""
    names = [f"n{i:02}" for i in range(40)]
    objects = [
        {"type": "object", "properties": {n: {"type": "null"} for n in names if n != lacking}} for lacking in names
    ]
    for schema in objects:
        schema["additionalProperties"] = False
    a, b = both({"anyOf": objects}, in_parts(objects))
    matcher = a.matcher()
    text = json.dumps(dict.fromkeys(names[:20] + names[21:]), separators=(",", ":")).encode()
    assert matcher.advance_bytes(text[:-1]) == len(text) - 1
    assert len(matcher.completion()) == 1
    whole = json.dumps(dict.fromkeys(names), separators=(",", ":")).encode()
    assert a.matcher().advance_bytes(whole) == whole.index(b',"n39"')
    for seed in range(5):
        walk_together(random.Random(seed), a.matcher(), b.matcher(), 100)


def test_each_object_but_one_is_left_by_a_key() -> None:
    """What is left are halves, and halves of these."""
    n = 300
    objects: list[Schema] = [
        {"type": "object", "properties": {f"n{i}": {"type": "null"}, f"m{i}": {"type": "null"}}} for i in range(n)
    ]
    grammar = compiled({"anyOf": objects}, whitespace="compact")
    for left in (0, 7, 123, n - 1):
        others = [f"n{i}" for i in range(n) if i != left]
        random.Random(left).shuffle(others)
        matcher = grammar.matcher()
        text = "{" + ",".join(f'"{name}":1' for name in others)
        assert matcher.advance_bytes(text.encode()) == len(text)
        for wrong in [f',"n{left}":1', f',"m{left}":1', f',"{others[3]}":1']:
            assert matcher.fork().advance_bytes(wrong.encode()) == wrong.rindex('"')
        # Only what comes first may be a member.
        assert matcher.advance_bytes(b',"x":1}') == 7
        text = "{" + ",".join(f'"{name}":{"null" if name == others[0] else 1}' for name in others) + "}"
        assert accepts(grammar, text)


def closed_object(rng: random.Random) -> dict[str, Any]:
    properties = members(rng)
    required = [name for name in properties if name == "kind" or rng.random() < 0.3]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def object_like(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Keys of a schema in its order, with values that are often those that it lists."""
    found = {}
    for name, member in schema["properties"].items():
        if name not in schema["required"] and rng.random() < 0.4:
            continue
        said = member if isinstance(member, dict) else {}
        listed = said.get("enum", [said["const"]] if "const" in said else [])
        found[name] = rng.choice([*listed, *listed, "k1", 1, True, {}])
    return found


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_exactly_one_of_tagged_objects(seed: int) -> None:
    rng = random.Random(seed)
    check_exactly_one([closed_object(rng) for _ in range(rng.randrange(2, 3 * MANY))], rng)


@given(st.integers(0, 2**32))
@settings(deadline=None)
def test_exactly_one_of_objects_with_different_keys(seed: int) -> None:
    rng = random.Random(seed)
    names = [*KEYS, *(f"n{i}" for i in range(2 * MANY))]
    parts = []
    for _ in range(rng.randrange(2, 3 * MANY)):
        own = sorted(rng.sample(names, rng.randrange(4)), key=names.index)
        part: dict[str, Any] = {"type": "object", "properties": {key: {"enum": [1, True]} for key in own}}
        part["required"] = own if rng.random() < 0.7 else own[:1]
        if own and rng.random() < 0.1:
            part["properties"][own[-1]] = False
        parts.append({**part, "additionalProperties": False})
    check_exactly_one(parts, rng)


def check_exactly_one(parts: list[dict[str, Any]], rng: random.Random) -> None:
    """A text is taken where one part alone has its value, with the keys in that part's order."""
    try:
        grammar = compiled({"oneOf": parts}, whitespace="compact")
    except cfgmask.GrammarError:
        grammar = None  # no value at all
    validators = [jsonschema.Draft202012Validator(part) for part in parts]
    for _ in range(30):
        value = object_like(rng, rng.choice(parts))
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        of = [part for part, validator in zip(parts, validators, strict=True) if validator.is_valid(value)]
        in_order = len(of) == 1 and [name for name in of[0]["properties"] if name in value] == list(value)
        assert (grammar is not None and accepts(grammar, text)) == in_order, text


def scalar_or_array(rng: random.Random) -> dict[str, Any]:
    low = rng.choice([rng.randrange(-130, 130), rng.randrange(9, 13), 1.5])
    word = rng.choice(["a", "ab", "abc", "b", "ba", "é", "1"])
    return rng.choice(
        [
            {"type": "string", "pattern": f"^{word}{rng.choice(['', '$', '[ab]$', 'c*$'])}"},
            {"type": "string", "pattern": f"{word}$"},
            {"type": rng.choice(["integer", "number"]), "minimum": low, "maximum": low + rng.choice([0, 1, 4, 30])},
            {"type": "array", "prefixItems": [{"enum": rng.sample(KEYS, 2)}], "minItems": rng.randrange(2)},
            {"type": "array", "items": {"const": rng.choice(["a", "b", 1])}, "maxItems": 2},
            {"enum": [rng.choice([word, 10, None])]},
            {"type": ["string", "integer"], "maxLength": 1, "maximum": 3},
        ]
    )


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=200)
def test_exactly_one_of_scalars_and_arrays(seed: int) -> None:
    """Told apart by what they begin with, by an item that has to be there, or by a look at each two."""
    rng = random.Random(seed)
    parts = [scalar_or_array(rng) for _ in range(rng.randrange(2, 3 * MANY))]
    # One that no part overlaps, so that there is some value.
    parts.append({"const": "the last"})
    grammar = compiled({"oneOf": parts}, whitespace="compact")
    validators = [jsonschema.Draft202012Validator(part) for part in parts]
    words = ["", "a", "ab", "aba", "abc", "abcc", "b", "ba", "bab", "é", "1", "1a", "xab"]
    numbers = [-121, -12, -3, 0, 1, 2, 9, 10, 11, 12, 13, 40, 100, 121, 129, 1.5, 11.5]
    for value in [*words, *numbers, None, [], ["a"], ["a", "b"], ["b"], ["é"], [1], ["a", 1], ["a", "a", "a"]]:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        n_valid = sum(validator.is_valid(value) for validator in validators)
        assert accepts(grammar, text) == (n_valid == 1), (value, parts)


@pytest.mark.parametrize(
    ("part", "taken", "refused"),
    [
        (lambda i: {"type": "string", "pattern": f"^p{i}_"}, ['"p64_"', '"p9999_x"'], ['"p64"', '"p10000_"', "1"]),
        (
            lambda i: {"type": "integer", "minimum": 10 * i, "maximum": 10 * i + 3},
            ["643", "99990"],
            ["644", "99994", '"1"'],
        ),
        (
            lambda i: {"type": "array", "prefixItems": [{"const": f"k{i}"}, {"const": i}], "minItems": 1},
            ['["k64",64,1]', '["k9999"]'],
            ['["k64",65]', "[]", '["k10000"]'],
        ),
        (
            lambda i: [{"const": f"k{i}"}, {"pattern": f"^p{i}_", "type": "string"}, {"enum": [i]}][i % 3],
            ['"k63"', '"p9997_"', "9998"],
            ['"k64"', "9999", "[]"],
        ),
    ],
    ids=["patterns", "ranges", "arrays", "everything"],
)
def test_exactly_one_of_thousands_told_apart_at_sight(part: Any, taken: list[str], refused: list[str]) -> None:
    """Each was compared with each, and more than 2,000 ended at a limit."""
    grammar = compiled({"oneOf": [part(i) for i in range(10_000)]})
    for text in taken + refused:
        assert accepts(grammar, text) == (text in taken), text


def test_exactly_one_of_thousands_with_different_keys() -> None:
    parts = [
        {
            "type": "object",
            "properties": {f"n{i}": {"type": "integer"}, "n": {"type": "null"}},
            "required": [f"n{i}"],
            "additionalProperties": False,
        }
        for i in range(3000)
    ]
    grammar = compiled({"oneOf": parts})
    assert accepts(grammar, '{"n2998":1,"n":null}')
    for wrong in ['{"n":null}', '{"n2":1,"n3":1}', '{"n3000":1}', "{}"]:
        assert not accepts(grammar, wrong)


@pytest.mark.parametrize("kind", [None, "object"])
def test_exactly_one_of_thousands(kind: str | None) -> None:
    """Told apart by their tags, also where only what stands around says that they are objects."""
    parts: list[Schema] = [
        {"properties": {"kind": {"const": f"k{i}"}, "n": {"type": ["integer", "string"][i % 2]}}, "required": ["kind"]}
        for i in range(3000)
    ]
    if kind is None:
        parts = [{**part, "type": "object"} for part in parts if isinstance(part, dict)]
    grammar = compiled({"oneOf": parts, **({"type": kind} if kind else {})})
    assert accepts(grammar, '{"kind":"k2998","n":1}')
    assert accepts(grammar, '{"kind":"k2999","n":"x"}')
    for wrong in ['{"kind":"k2999","n":1}', '{"kind":"k3000"}', "{}", "1"]:
        assert not accepts(grammar, wrong)


def test_any_of_thousands_beside_other_keywords() -> None:
    parts = [{"properties": {f"n{i}": {"type": "integer"}}, "required": [f"n{i}"]} for i in range(3000)]
    grammar = compiled({"type": "object", "anyOf": parts, "maxProperties": 2})
    assert accepts(grammar, '{"n2999":1,"n2":"x"}')
    for wrong in ['{"n2999":"x"}', '{"n1":1,"n2":1,"n3":1}', "1"]:
        assert not accepts(grammar, wrong)
