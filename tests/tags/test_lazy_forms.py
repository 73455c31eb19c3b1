"""Schemas in forms that are not JSON, as parts: the same masks as with all their rules at once, and as every token."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.grammar.ir import GrammarIR
from cfgmask.grammar.parts import expanded, parts_of
from cfgmask.json_schema.forms import FORMS
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.tags.lower import lower
from cfgmask.tags.nodes import Each, Marker, RowList, Schema, Sequence, Slot, Text
from cfgmask.tags.token_ids import NO_TOKENS, ids_of
from tests.json_schema.general import expanded_generally
from tests.json_schema.random_schemas import SCHEMAS as RANDOM

OBJECT = {"type": "object", "additionalProperties": False}
ANY_ORDER = JsonSchemaOptions(property_order="any")

# The core writes every form.
LAZY = sorted(FORMS)
# Those with one way for the outermost object and for what is in it, and between braces.
WHOLE = ("python", "gemma", "function_gemma", "minimax_m3_xml")
BRACES = ("python", "gemma", "function_gemma")
PYTHON = ("python", "python_call", "seed_xml")

SCHEMAS: dict[str, Any] = {
    "strings": {**OBJECT, "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]},
    "optional": {**OBJECT, "properties": {key: {"type": "integer"} for key in ("a", "ab", "b")}},
    "required": {**OBJECT, "properties": {"a": {"type": "boolean"}, "b": {"type": "null"}}, "required": ["a", "b"]},
    "string or number": {**OBJECT, "properties": {"a": {"type": ["string", "integer"]}}, "required": ["a"]},
    "listed": {**OBJECT, "properties": {"a": {"enum": ["x", "1", 1, None, "nulls", True]}}, "required": ["a"]},
    "a pattern": {**OBJECT, "properties": {"a": {"type": "string", "pattern": "^[a-c<1]+$"}}, "required": ["a"]},
    "a pattern or more": {
        **OBJECT,
        "properties": {"a": {"anyOf": [{"type": "string", "pattern": "^[x\\[{1 ]*$"}, {"type": ["array", "integer"]}]}},
    },
    "a length": {**OBJECT, "properties": {"a": {"type": "string", "minLength": 2, "maxLength": 4}}},
    "a format": {**OBJECT, "properties": {"a": {"type": "string", "format": "date"}}},
    "arrays": {
        **OBJECT,
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True},
        },
    },
    "objects": {
        **OBJECT,
        "properties": {
            "a": {"type": "object", "properties": {"x": {"type": "number"}}},
            "b": {"anyOf": [{"const": {"y": n}} for n in range(3)]},
        },
    },
    "array or object or number": {**OBJECT, "properties": {"a": {"type": ["array", "object", "number"]}}},
    "anything": {**OBJECT, "properties": {"a": {}, "b": True}},
    "never": {**OBJECT, "properties": {"a": {"type": "integer"}, "b": False}},
    "recursive": {
        **OBJECT,
        "properties": {"a": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": {"type": "object", "properties": {"c": {"$ref": "#/$defs/tree"}}}},
    },
    "several objects": {
        "anyOf": [
            {**OBJECT, "properties": {"a": {"const": n}, f"b{n}": {"type": "integer"}}, "required": ["a"]}
            for n in (1, 2)
        ]
    },
    "none": {**OBJECT, "properties": {}},
}
# Values of several kinds inside of others, as JSON or as literals of Python.
INSIDE: dict[str, Any] = {
    "strings": {"type": "string"},
    "listed strings": {"enum": ["a", "it's", 'say "x"', "back\\slash", "line\nbreak", "é\x7f", ""]},
    "a pattern": {"type": "string", "pattern": "^[a'\"\\\\\n]+$"},
    "a length": {"type": "string", "minLength": 1, "maxLength": 3},
    "a format": {"type": "string", "format": "date"},
    "words": {"type": ["boolean", "null"]},
    "numbers": {"type": "number", "minimum": -1.5, "maximum": 12},
    "listed numbers": {"enum": [1, 1.5, 100, -3, True, None]},
    "different strings": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    "different values": {"type": "array", "items": {"enum": ["a", "b'", 1, True, None]}, "uniqueItems": True},
    "two of three": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 2, "uniqueItems": True},
    "different scalars": {
        "type": "array",
        "items": {"type": ["string", "number", "boolean", "null"]},
        "uniqueItems": True,
        "minItems": 1,
    },
    "items by position": {"type": "array", "prefixItems": [{"type": "string"}, {"const": 1}], "maxItems": 3},
    "an array that contains": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}},
    "an array of few": {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
    "undeclared keys": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "undeclared keys of a kind": {"type": "object", "additionalProperties": {"type": "integer"}},
    "so many keys": {
        "type": "object",
        "additionalProperties": {"type": "null"},
        "minProperties": 2,
        "maxProperties": 3,
    },
    "so many members": {
        **OBJECT,
        "properties": {key: {"type": "null"} for key in "abcd"},
        "minProperties": 2,
        "maxProperties": 3,
    },
    "keys of a pattern": {
        "type": "object",
        "patternProperties": {"^x": {"type": "null"}},
        "additionalProperties": False,
    },
    "names of a kind": {"type": "object", "propertyNames": {"maxLength": 2}},
    "no key that can be written": {
        "type": "object",
        "patternProperties": {"^'": {"type": "null"}},
        "additionalProperties": False,
    },
    "no such key": {"type": "object", "properties": {"a": False}},
    "required keys": {**OBJECT, "properties": {key: {"type": "null"} for key in "abc"}, "required": ["b"]},
    "unusual keys": {**OBJECT, "properties": {key: {"type": "null"} for key in ("a b", "é", "[", "</f>", "x-y")}},
    "many objects": {"anyOf": [{**OBJECT, "properties": {"k": {"const": f"k{n}"}, "n": {}}} for n in range(20)]},
    "many arrays": {"anyOf": [{"type": "array", "prefixItems": [{"const": f"k{n}"}]} for n in range(20)]},
    "many scalars": {"anyOf": [{"type": "string", "pattern": f"^a{n}b+$"} for n in range(20)]},
    "objects and scalars": {"anyOf": [{"type": ["object", "string", "array"]}, {"const": 1}]},
    "an array of objects": {"type": "array", "items": {**OBJECT, "properties": {"a": {"type": "string"}}}},
}
# Outermost objects with other keys than those with names, with so many of them, or with strings that hold the end.
OUTERMOST: dict[str, Any] = {
    "any object": {"type": "object"},
    "anything": True,
    "undeclared keys": {"type": "object", "properties": {"a": {"type": "integer"}}},
    "a required key": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b"]},
    "keys of a kind": {"type": "object", "additionalProperties": {"type": ["integer", "string"]}},
    "keys of patterns": {
        "type": "object",
        "patternProperties": {"^x": {"type": "null"}, "y$": {"type": "boolean"}},
        "additionalProperties": False,
    },
    "keys of a pattern and others": {
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "patternProperties": {"^x": {"type": "null"}},
        "additionalProperties": {"type": "array"},
    },
    "few keys": {"type": "object", "propertyNames": {"enum": ["a", "b", "c d"]}},
    "two of few keys": {"type": "object", "propertyNames": {"enum": ["a", "b", "c"]}, "minProperties": 2},
    "a minimum": {**OBJECT, "properties": {"a": {}, "b": {}}, "minProperties": 1},
    "so many members": {
        **OBJECT,
        "properties": {key: {"type": "null"} for key in "abcd"},
        "minProperties": 2,
        "maxProperties": 3,
    },
    "so many keys": {"type": "object", "properties": {"a": {"type": "null"}}, "minProperties": 2, "maxProperties": 3},
    "a key besides": {
        "type": "object",
        "properties": {"a": {"type": "null"}},
        "not": {"additionalProperties": False, "properties": {"a": {}}},
    },
    "a union": {
        "anyOf": [
            {**OBJECT, "properties": {"a": {"type": "null"}}, "required": ["a"]},
            {"type": "object", "additionalProperties": {"type": "boolean"}},
            {"type": "string"},
        ]
    },
    "none or one": {"anyOf": [{**OBJECT, "properties": {}}, {**OBJECT, "properties": {"a": {}}, "required": ["a"]}]},
    "the end in a string": {**OBJECT, "properties": {"a": {"const": "</parameter>"}, "b": {}}},
}
# Keys that these forms do not write.
UNWRITABLE = {
    "unusual keys": ("gemma", "function_gemma", "minimax_m3_xml"),
    # Numbers that must differ cannot be told apart in it.
    "different values": ("minimax_m3_xml",),
    "different scalars": ("minimax_m3_xml",),
}
MARKERS = sorted({marker for form in FORMS.values() for marker in form.markers})
TOKENS = [
    *(bytes([i]) for i in range(256)),
    *(
        b"</",
        b">\n",
        b"a=",
        b'="',
        b"</parameter>\n",
        b"\n<",
        b'{"',
        b"1<",
        b'"a"',
        b"tr",
        b"]]",
        b"true",
        b"x\n",
        b"', ",
        b"['",
        b": '",
        b"{'a",
        b"True, ",
        b'">',
        b'<|"|>',
        b'<|"|>,',
        b"{a:",
        b"a:1,",
        b"]<]minimax[>[",
        b"]<]minimax[>[<a>",
        b"<item>",
        b"</a>",
        b"</item>",
    ),
]
N_TEXTS = len(TOKENS)
TOKENS += [b""] * len(MARKERS) + [b""]
WITHOUT = cfgmask.Vocabulary.from_bytes([*TOKENS[:N_TEXTS], b""], eos_token_id=N_TEXTS)
WITH = cfgmask.Vocabulary.from_bytes(
    TOKENS,
    eos_token_id=len(TOKENS) - 1,
    special_tokens={marker: N_TEXTS + i for i, marker in enumerate(MARKERS)},
)


def rules(schema: Any, form: str, vocabulary: cfgmask.Vocabulary) -> GrammarIR:
    """The grammar of a value between two texts that the end of many forms begins with."""
    node = Sequence((Text("("), Schema(schema, form), Text("</f>")))
    return lower(node, ids=NO_TOKENS if vocabulary is WITHOUT else ids_of(vocabulary), parts=True)


def compare(made: GrammarIR, vocabulary: cfgmask.Vocabulary, seed: int, n_walks: int, n_steps: int) -> int:
    """Walk by the masks of all ways; how many walks came to an end."""
    ids = NO_TOKENS if vocabulary is WITHOUT else ids_of(vocabulary)
    all_ways = (made, expanded(made), expanded_generally(made, ids))
    compiled = [cfgmask.compile(grammar, vocabulary) for grammar in all_ways]
    choose = random.Random(seed)
    n_ended = 0
    for _ in range(n_walks):
        matchers = [each.matcher() for each in compiled]
        for step in range(n_steps):
            masks = [allowed(matcher, vocabulary) for matcher in matchers]
            assert masks[0] == masks[1] == masks[2], step
            if choose.random() < 0.05:
                fits = [t for t in range(vocabulary.n_vocab) if matchers[0].try_advance([t], consume=False)]
                assert fits == masks[0]
            assert len({matcher.is_accepting for matcher in matchers}) == 1
            if matchers[0].is_finished or not masks[0]:
                break
            forced = [len(matcher.forced_bytes()) for matcher in matchers]
            assert len(set(forced)) == 1
            liked = [t for t in masks[0] if t >= 256 or vocabulary.tokens[t] in b"<>/{}[]\"=\n1x,:' "]
            token = choose.choice(liked if liked and choose.random() < 0.8 else masks[0])
            for matcher in matchers:
                matcher.advance(token)
        if not matchers[0].is_finished:
            ends = [completion(matcher) for matcher in matchers]
            assert None not in ends
            assert len(set(ends)) == 1
        n_ended += 1
    return n_ended


def completion(matcher: cfgmask.Matcher) -> int | str | None:
    """The length of the shortest one, if it is found within the limits."""
    try:
        found = matcher.completion()
    except cfgmask.LimitExceeded as error:
        return error.limit
    return None if found is None else len(found)


def allowed(matcher: cfgmask.Matcher, vocabulary: cfgmask.Vocabulary) -> list[int]:
    bits = np.zeros((vocabulary.n_vocab + 31) // 32, np.int32)
    matcher.fill_mask(bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize("form", LAZY)
@pytest.mark.parametrize("name", SCHEMAS)
def test_masks(name: str, form: str) -> None:
    if form == "minimax_m3_xml" and name == "arrays":
        pytest.skip("numbers that must differ cannot be told apart in it")
    for vocabulary in (WITHOUT, WITH):
        made = rules(SCHEMAS[name], form, vocabulary)
        # Without white space between members or brackets, no members are no text at all.
        has_text = name != "none" or FORMS[form].has_gaps or form in BRACES
        assert len(parts_of(made)) == (1 if has_text else 0)
        assert compare(made, vocabulary, len(name), 3, 50)


@pytest.mark.parametrize("form", [*PYTHON, "qwen_xml", "gemma", "minimax_m3_xml"])
@pytest.mark.parametrize("name", INSIDE)
def test_values_inside(name: str, form: str) -> None:
    value = INSIDE[name]
    arguments = {"a": value, "b": {"type": "array", "items": value}, "c": {**OBJECT, "properties": {"a": value}}}
    schema = {**OBJECT, "properties": arguments}
    if form in UNWRITABLE.get(name, ()):
        with pytest.raises(cfgmask.GrammarError, match="schema-form-"):
            cfgmask.compile(cfgmask.Grammar(rules(schema, form, WITHOUT)), WITHOUT)
        return
    for vocabulary in (WITHOUT, WITH) if form in WHOLE else (WITHOUT,):
        made = rules(schema, form, vocabulary)
        assert len(parts_of(made)) == 1
        assert compare(made, vocabulary, len(name), 6, 60)


@pytest.mark.parametrize("form", BRACES)
@pytest.mark.parametrize("name", INSIDE)
def test_values_inside_of_members_in_any_order(name: str, form: str) -> None:
    value = INSIDE[name]
    arguments = {"a": value, "b": {"type": "array", "items": value}, "c": {**OBJECT, "properties": {"a": value}}}
    node = Schema({**OBJECT, "properties": arguments, "required": ["b"]}, form, ANY_ORDER)
    if form in UNWRITABLE.get(name, ()):
        with pytest.raises(cfgmask.GrammarError, match="schema-form-key"):
            lower(node, parts=True)
        return
    for vocabulary in (WITHOUT, WITH):
        made = lower(node, ids=NO_TOKENS if vocabulary is WITHOUT else ids_of(vocabulary), parts=True)
        assert len(parts_of(made)) == 1
        assert compare(made, vocabulary, len(name), 6, 60)


@settings(max_examples=30)
@given(RANDOM, RANDOM, RANDOM, st.sampled_from(LAZY), st.booleans(), st.integers(0, 2**32))
def test_random_schemas(one: Any, two: Any, three: Any, form: str, has_tokens: bool, seed: int) -> None:
    inside = {"type": "array", "items": two}
    schema = {**OBJECT, "properties": {"a": one, "b": inside, "c": three}, "required": ["c"]}
    vocabulary = WITH if has_tokens else WITHOUT
    options = ANY_ORDER if form in BRACES and seed % 2 else JsonSchemaOptions()
    try:
        made = lower(Schema(schema, form, options), ids=ids_of(vocabulary) if has_tokens else NO_TOKENS, parts=True)
    except cfgmask.GrammarError:
        return
    event(f"parts: {len(parts_of(made))}")
    try:
        compare(made, vocabulary, seed, 2, 40)
    except cfgmask.LimitExceeded:
        event("a limit")


@pytest.mark.parametrize("form", PYTHON)
def test_keys_that_are_no_literals_inside(form: str) -> None:
    for name in ("it's", 'a"b', "a\\b", "a\nb", "\x7f", "\x85", ""):
        schema = {**OBJECT, "properties": {"a": {**OBJECT, "properties": {name: {}}}}}
        with pytest.raises(cfgmask.GrammarError) as raised:
            cfgmask.compile(cfgmask.Grammar(rules(schema, form, WITHOUT)), WITHOUT)
        assert [d.code for d in raised.value.diagnostics] == ["schema-form-key"]


@pytest.mark.parametrize("form", LAZY)
def test_hundreds_of_alternatives(form: str) -> None:
    """More than the core looks at, of which the last has a key of its own."""
    objects = [{**OBJECT, "properties": {"a": {"const": n}}, "required": ["a"]} for n in range(300)]
    schema = {"anyOf": [*objects, {**OBJECT, "properties": {"z": {}}, "required": ["z"]}]}
    assert compare(rules(schema, form, WITHOUT), WITHOUT, 1, 2, 45)


@pytest.mark.parametrize("form", LAZY)
@pytest.mark.parametrize("name", OUTERMOST)
def test_outermost_objects(name: str, form: str) -> None:
    if form == "minimax_m3_xml" and name in ("so many keys", "two of few keys", "a key besides"):
        with pytest.raises(cfgmask.GrammarError, match="schema-form-object"):
            rules(OUTERMOST[name], form, WITHOUT)
        return
    for vocabulary in (WITHOUT, WITH):
        made = rules(OUTERMOST[name], form, vocabulary)
        is_empty = form == "minimax_m3_xml" and name in ("any object", "anything", "keys of a kind", "few keys")
        is_empty = is_empty or (form == "minimax_m3_xml" and name == "keys of patterns")
        assert len(parts_of(made)) == (0 if is_empty else 1)
        assert compare(made, vocabulary, len(name), 3, 50)


@pytest.mark.parametrize("form", ["qwen_xml", "seed_xml", "minimax_xml"])
def test_a_string_that_must_hold_the_end(form: str) -> None:
    schema = {**OBJECT, "properties": {"a": {"const": "</parameter>"}, "b": {}}, "required": ["a"]}
    with pytest.raises(cfgmask.GrammarError, match="schema-form-object"):
        rules(schema, form, WITHOUT)


def test_keys_that_cannot_be_written() -> None:
    tool = {"name": "f", "parameters": {"properties": {"a b": {"type": "string"}}}}
    with pytest.raises(cfgmask.GrammarError) as raised:
        cfgmask.Grammar.from_tools([tool], style="qwen_3_coder")
    assert [(d.code, d.pointer) for d in raised.value.diagnostics] == [("schema-form-key", "/0/parameters")]


@pytest.mark.parametrize("form", BRACES)
@pytest.mark.parametrize("name", SCHEMAS)
def test_members_in_any_order(name: str, form: str) -> None:
    for vocabulary in (WITHOUT, WITH):
        ids = NO_TOKENS if vocabulary is WITHOUT else ids_of(vocabulary)
        made = lower(Schema(SCHEMAS[name], form, ANY_ORDER), ids=ids, parts=True)
        assert len(parts_of(made)) == 1
        assert compare(made, vocabulary, len(name), 4, 50)


@pytest.mark.parametrize("form", BRACES)
@pytest.mark.parametrize("name", ["1", "-2.5", "null", "true"])
def test_names_that_are_read_as_other_values(name: str, form: str) -> None:
    schema = {**OBJECT, "properties": {name: {"type": "null"}, "b": {"type": "null"}}}
    assert compare(lower(Schema(schema, form, ANY_ORDER), parts=True), WITHOUT, 1, 3, 30)
    with pytest.raises(cfgmask.GrammarError, match="schema-form-key"):
        lower(Schema({**schema, "required": [name]}, form, ANY_ORDER), parts=True)


@pytest.mark.parametrize("form", sorted(set(LAZY) - set(BRACES)))
def test_members_in_any_order_need_braces(form: str) -> None:
    with pytest.raises(cfgmask.GrammarError, match="schema-form-order"):
        lower(Schema(SCHEMAS["strings"], form, ANY_ORDER), parts=True)


@pytest.mark.parametrize("form", LAZY)
def test_arrays_and_objects_that_must_differ_need_json(form: str) -> None:
    items = {"type": ["object", "string"], "additionalProperties": {"type": "string"}}
    schema = {**OBJECT, "properties": {"a": {"type": "array", "uniqueItems": True, "items": items}}, "required": ["a"]}
    if FORMS[form].nested == "json":
        assert parts_of(rules(schema, form, WITHOUT))
        return
    with pytest.raises(cfgmask.GrammarError, match="schema-form-unique"):
        rules(schema, form, WITHOUT)


@pytest.mark.parametrize("form", [form for form in LAZY if form in BRACES])
def test_keys_that_must_be_there_are_not_counted_in_any_order(form: str) -> None:
    properties = {"a": {"type": "null"}, "b": {"type": "null"}}
    inside = {"type": "object", "properties": properties, "minProperties": 2, "patternProperties": {"^x": {}}}
    schema = {**OBJECT, "properties": {"c": inside}, "required": ["c"]}
    with pytest.raises(cfgmask.GrammarError, match="schema-form-order"):
        lower(Schema(schema, form, ANY_ORDER), parts=True)


def test_keys_without_names_are_left_out_of_tags() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "null"}}}
    schema = {"type": "object", "properties": {"a": inner, "b": {"type": "array", "items": inner}}}
    for vocabulary in (WITHOUT, WITH):
        made = rules(schema, "minimax_m3_xml", vocabulary)
        assert len(parts_of(made)) == 1
        assert compare(made, vocabulary, 2, 4, 50)
    tool = {"name": "f", "parameters": {**schema, "additionalProperties": True}}
    grammar = cfgmask.Grammar.from_tools([tool], style="minimax_m3")
    assert [(note.code, note.severity) for note in grammar.notes] == [("schema-form-key", "note")]


@pytest.mark.parametrize("form", LAZY)
def test_canonical_strings(form: str) -> None:
    made = lower(Schema(SCHEMAS["objects"], form, JsonSchemaOptions(escapes="canonical")), parts=True)
    assert len(parts_of(made)) == 1
    assert compare(made, WITHOUT, 1, 3, 50)


def test_rows() -> None:
    """Variants are alternatives, whether some of their values are parts or not."""
    values = [*SCHEMAS.values(), *OUTERMOST.values()]
    schemas = [Schema(value, "qwen_xml") for value in values]
    names = tuple(f"n{i}" for i in range(len(values)))
    kept = RowList(names, schemas.__getitem__, lambda: [schema.type for schema in schemas])
    node = Each(Sequence((Marker("<|sep|>"), Slot("text"), Text(">"), Slot("value"), Text("</f>"))), ("n", "v"), kept)
    for vocabulary in (WITHOUT, WITH):
        assert compare(lower(node, ids=ids_of(vocabulary), parts=True), vocabulary, 5, 12, 60)


def test_pickled() -> None:
    tools = [{"name": f"f{i}", "parameters": SCHEMAS["strings"]} for i in range(3)]
    grammar = cfgmask.Grammar.from_tools(tools, style="qwen_3_coder", tool_choice="required")
    compiled = cfgmask.compile(grammar, WITHOUT)
    text = b"<tool_call>\n<function=f1>\n<parameter=b>\nx\n</parameter>\n</function>\n</tool_call>"
    for one in (compiled, pickle.loads(pickle.dumps(compiled))):
        matcher = one.matcher()
        assert matcher.try_advance(list(text)) == len(text)
        assert matcher.is_accepting
