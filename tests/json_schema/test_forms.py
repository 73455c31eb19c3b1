"""Arguments in forms that are not JSON: tables, and objects at random, written and read by slow and obvious means."""

from __future__ import annotations

import ast
import itertools
import json
import random
import re
from typing import Any

import jsonschema
import pytest

import cfgmask
from cfgmask.json_schema import FORMS, JsonSchemaOptions
from tests.reference.json_schema.lower import lower_schema

BYTES = cfgmask.Vocabulary.from_bytes([bytes([i]) for i in range(256)] + [b""], eos_token_id=256)

TYPED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "port": {"type": "string"},
        "day": {"type": "integer", "minimum": 0},
        "on": {"type": "boolean"},
        "none": {"type": "null"},
        "rooms": {"type": "array", "items": {"type": "string"}},
        "at": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False},
        "kind": {"enum": ["low", "high", 5]},
        "mixed": {"type": ["string", "integer"], "maxLength": 3},
        "any": {},
    },
    "additionalProperties": False,
}
BAR = "\N{FULLWIDTH VERTICAL LINE}DSML\N{FULLWIDTH VERTICAL LINE}"
M3 = "]<]minimax[>["

# Form, text, whether it is one of TYPED.
CASES: list[tuple[str, str, bool]] = [
    ("qwen_xml", "", True),
    ("qwen_xml", "<parameter=port>\nBrest\n</parameter>\n<parameter=day>\n2\n</parameter>\n", True),
    ("qwen_xml", "<parameter=port>Brest</parameter><parameter=day> 2 </parameter>", True),
    ("qwen_xml", '<parameter=port>\na "b" <c> </d>\n\nZürich 🦀\n</parameter>\n', True),
    ("qwen_xml", "<parameter=port>\na</parameter>b\n</parameter>\n", False),
    ("qwen_xml", "<parameter=day>\n-2\n</parameter>\n", False),
    ("qwen_xml", '<parameter=day>\n"2"\n</parameter>\n', False),
    ("qwen_xml", "<parameter=day>\n2\n</parameter>\n<parameter=port>\nBrest\n</parameter>\n", False),
    ("qwen_xml", "<parameter=on>\nTrue\n</parameter>\n<parameter=none>\nNone\n</parameter>", True),
    ("qwen_xml", "<parameter=on>\ntrue\n</parameter>\n<parameter=none>\nnull\n</parameter>", True),
    ("qwen_xml", "<parameter=on>\nTRUE\n</parameter>\n", False),
    ("qwen_xml", '<parameter=rooms>\n["bar", "</parameter>"]\n</parameter>\n', True),
    ("qwen_xml", "<parameter=rooms>\n['bar']\n</parameter>\n", False),
    ("qwen_xml", '<parameter=at>\n{"x": 1.5}\n</parameter>\n', True),
    ("qwen_xml", '<parameter=at>\n{"y": 1.5}\n</parameter>\n', False),
    ("qwen_xml", "<parameter=kind>\nlow\n</parameter>\n", True),
    ("qwen_xml", "<parameter=kind>5</parameter>\n", True),
    ("qwen_xml", '<parameter=kind>\n"low"\n</parameter>\n', False),
    ("qwen_xml", "<parameter=mixed>\n12345\n</parameter>\n", True),
    ("qwen_xml", "<parameter=mixed>\nabc\n</parameter>\n", True),
    ("qwen_xml", "<parameter=mixed>\nabcd\n</parameter>\n", False),
    ("qwen_xml", "<parameter=any>\n[1, x\n</parameter>\n", True),
    ("qwen_xml", "<parameter=other>\nx\n</parameter>\n", False),
    ("seed_xml", "<parameter=port>Brest</parameter>\n<parameter=on>True</parameter>\n", True),
    ("seed_xml", "<parameter=rooms>['bar', \"it's\"]</parameter>\n<parameter=at>{'x': 1}</parameter>\n", True),
    ("seed_xml", "<parameter=at>{'y': 1}</parameter>\n", False),
    ("minimax_xml", '<parameter name="port">Brest</parameter>\n<parameter name="day">2</parameter>\n', True),
    ("minimax_xml", '<parameter name="rooms">["bar"]</parameter>\n', True),
    ("minimax_xml", '<parameter name="on">True</parameter>\n', False),
    ("minimax_m3_xml", f"{M3}<port>Brest{M3}</port>{M3}<day>2{M3}</day>", True),
    ("minimax_m3_xml", f"{M3}<rooms>{M3}<item>bar{M3}</item>{M3}<item>b{M3}</item>{M3}</rooms>", True),
    ("minimax_m3_xml", f"{M3}<rooms>{M3}</rooms>{M3}<at>{M3}<x>1.5{M3}</x>{M3}</at>", True),
    ("minimax_m3_xml", f"{M3}<port>Brest{M3}</day>", False),
    ("minimax_m3_xml", f'{M3}<rooms>["bar"]{M3}</rooms>', False),
    ("deepseek_xml", f'<{BAR}parameter name="port" string="true">Brest</{BAR}parameter>\n', True),
    ("deepseek_xml", f'<{BAR}parameter name="port" string="false">"Brest"</{BAR}parameter>\n', False),
    ("deepseek_xml", f'<{BAR}parameter name="day" string="false">2</{BAR}parameter>', True),
    ("deepseek_xml", f'<{BAR}parameter name="day" string="true">2</{BAR}parameter>', False),
    ("deepseek_xml", f'<{BAR}parameter name="mixed" string="true">2</{BAR}parameter>', True),
    ("deepseek_xml", f'<{BAR}parameter name="mixed" string="false">2</{BAR}parameter>', True),
    ("deepseek_xml", f'<{BAR}parameter name="any" string="false">{{"a": [1]}}</{BAR}parameter>', True),
    ("deepseek_xml", f'<{BAR}parameter name="any" string="false">{{"a": [1}}</{BAR}parameter>', False),
    ("deepseek_v4_1_xml", f'<{BAR} parameter name="port" string="true">Brest</{BAR} parameter>\n', True),
    (
        "glm_xml",
        "<arg_key>port</arg_key><arg_value>Brest</arg_value><arg_key>day</arg_key><arg_value>2</arg_value>",
        True,
    ),
    ("glm_xml", "<arg_key>port</arg_key>\n<arg_value>Brest</arg_value>\n", True),
    ("glm_xml", "<arg_key>rooms</arg_key><arg_value>bar</arg_value>", False),
    ("kimi_k3_xml", '<|open|>argument key="day" type="number"<|sep|>2<|close|>argument<|sep|>', True),
    ("kimi_k3_xml", '<|open|>argument key="day" type="string"<|sep|>2<|close|>argument<|sep|>', False),
    ("kimi_k3_xml", '<|open|>argument key="rooms" type="array"<|sep|>["a"]<|close|>argument<|sep|>', True),
    ("kimi_k3_xml", '<|open|>argument key="on" type="boolean"<|sep|>true<|close|>argument<|sep|>', True),
    ("cohere_xml", '<cofl:value name="port" type="raw">a "b" <c></cofl:value>', True),
    ("cohere_xml", '<cofl:value name="day" type="json">2</cofl:value>', True),
    ("cohere_xml", '<cofl:value name="day" type="raw">2</cofl:value>', False),
    ("cohere_xml", '<cofl:value name="port" type="json">"a"</cofl:value>', False),
    ("gemma", "{}", True),
    ("gemma", '{port:<|"|>Brest<|"|>,day:2,rooms:[<|"|>bar<|"|>,<|"|>b<|"|>],at:{x:1}}', True),
    ("gemma", '{kind:<|"|>low<|"|>,any:{a:[null]}}', True),
    ("gemma", '{port:"Brest"}', False),
    ("gemma", '{day:2,port:<|"|>Brest<|"|>}', False),
    ("function_gemma", "{port:<escape>Brest<escape>,day:2}", True),
    ("python_call", "", True),
    ("python_call", "port='Brest', day=2, on=True, rooms=['bar', \"it's\"], at={'x': 1}", True),
    ("python_call", 'port="Brest", on=true, kind="low"', True),
    ("python_call", "day=2, on=yes", False),
    ("python_call", "port=Brest", False),
    ("step3_xml", '<steptml:parameter name="port">Brest</steptml:parameter>', True),
    (
        "hunyuan_xml",
        "<arg_key:opensource>day</arg_key:opensource>\n<arg_value:opensource>2</arg_value:opensource>\n",
        True,
    ),
]


def _accepts(form: str, schema: Any, text: str, **options: Any) -> bool:
    grammar = lower_schema(schema, form=form, options=JsonSchemaOptions(**options))
    matcher = cfgmask.compile(cfgmask.Grammar(grammar), BYTES).matcher()
    data = text.encode()
    return matcher.try_advance(list(data)) == len(data) and matcher.is_accepting


@pytest.mark.parametrize(("form", "text", "is_valid"), CASES)
def test_tables(form: str, text: str, is_valid: bool) -> None:
    assert _accepts(form, TYPED, text) == is_valid


def test_every_form_has_cases() -> None:
    assert {form for form, _, _ in CASES} | {"python"} == set(FORMS)


@pytest.mark.parametrize("form", sorted(set(FORMS) - {"minimax_m3_xml"}))
def test_undeclared_keys_come_once(form: str) -> None:
    """By the writer of this file, in the order given."""
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert _accepts(form, schema, _written(form, [("a", 1), ("b", 2), ("bc", 3)]))
    assert not _accepts(form, schema, _written(form, [("a", 1), ("b", 2), ("b", 3)]))
    assert not _accepts(form, schema, _written(form, [("b", 2), ("a", 1)]))


def test_any_order() -> None:
    schema = {**TYPED, "required": ["port"]}
    assert _accepts("gemma", schema, '{day:2,port:<|"|>Brest<|"|>}', property_order="any")
    assert not _accepts("gemma", schema, "{day:2}", property_order="any")
    assert not _accepts("gemma", schema, '{port:<|"|>a<|"|>,port:<|"|>b<|"|>}', property_order="any")


@pytest.mark.parametrize("key", ["name", "n", "nul", "nulls", "true_", "t", "fals", "false1", "x"])
def test_keys_that_begin_like_words_come_once_in_any_order(key: str) -> None:
    """They have no quotes, and are told from null, true and false by more than their first byte."""
    schema = {"type": "object", "properties": {key: {"type": "integer"}, "other": {"type": "integer"}}}
    schema |= {"required": [key], "additionalProperties": False}
    assert _accepts("gemma", schema, f"{{{key}:1,other:2}}", property_order="any")
    assert _accepts("gemma", schema, f"{{other:2,{key}:1}}", property_order="any")
    assert not _accepts("gemma", schema, f"{{{key}:1,{key}:2}}", property_order="any")
    assert not _accepts("gemma", schema, f"{{{key}:1,{key}:2,other:3}}", property_order="any")


def test_nothing_to_write() -> None:
    with pytest.raises(cfgmask.GrammarError, match="schema-form-object"):
        lower_schema({"type": "array"}, form="qwen_xml")
    with pytest.raises(cfgmask.GrammarError, match="schema-form-key"):
        lower_schema({"properties": {"a b": {}}, "required": ["a b"]}, form="qwen_xml")
    with pytest.raises(cfgmask.GrammarError, match="schema-form-order"):
        lower_schema(TYPED, form="qwen_xml", options=JsonSchemaOptions(property_order="any"))
    notes = lower_schema({"properties": {"a": {}}}, form="minimax_m3_xml").notes
    assert [note.code for note in notes] == ["schema-form-key"]


@pytest.mark.parametrize("items", [{}, {"type": "number"}, {"enum": [1, "1", None]}], ids=str)
def test_numbers_without_quotes_cannot_be_told_apart(items: dict[str, Any]) -> None:
    array = {"type": "array", "items": items, "uniqueItems": True}
    for schema in ({"properties": {"k": array}}, {"properties": {"k": {"type": "array", "items": array}}}):
        with pytest.raises(cfgmask.GrammarError, match="schema-form-unique"):
            lower_schema({"type": "object", **schema}, form="minimax_m3_xml")


def test_strings_without_quotes_differ() -> None:
    words = {"type": "array", "items": {"enum": ["a", "b", True]}, "uniqueItems": True}

    def is_valid(*items: str) -> bool:
        written = "".join(f"{M3}<item>{item}{M3}</item>" for item in items)
        return _accepts("minimax_m3_xml", {"type": "object", "properties": {"k": words}}, f"{M3}<k>{written}{M3}</k>")

    assert is_valid("a", "true", "b")
    assert not is_valid("a", "a")
    assert not is_valid("true", "a", "true")


# ---- At random ----

_TEXTS = [
    "",
    "a",
    "Brest",
    "5",
    "-1",
    "true",
    "null",
    "None",
    "[",
    '["a"]',
    "{}",
    '{"a": 1}',
    "a\nb",
    " x ",
    "</x>",
    "'",
    '"',
]
_SCALARS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "maxLength": 2},
    {"enum": ["a", "5", 5, None]},
    {"type": "integer", "minimum": 0},
    {"type": ["string", "integer"], "maxLength": 1},
    {"type": "boolean"},
    {"type": ["null", "string"]},
    {"type": "array", "items": {"type": ["integer", "string"]}, "maxItems": 2},
    {"type": ["array", "string"], "pattern": "^[^x]*$"},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
]


def _written(form: str, members: list[tuple[str, Any]]) -> str:
    """The members of an object; strings as they are."""
    shape = FORMS[form]
    written = []
    for key, value in members:
        kind = "string" if isinstance(value, str) else "number"
        before = shape.key.replace("$key", key).replace("$gap", "").replace("$type", shape.type_name(kind))
        if shape.quotes:
            before = before.replace(key, f"'{key}'", 1)
        before = before.replace("$string", "true" if isinstance(value, str) else "false")
        written.append(
            before + (value if isinstance(value, str) else json.dumps(value)) + shape.end.replace("$key", key)
        )
    return shape.open + shape.separator.join(written) + shape.close


def _is_value(text: str, schema: Any, pad: str) -> bool:
    """By the rule: JSON that the schema allows, otherwise a string."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None if text.strip() == "None" else {"True": True, "False": False}.get(text.strip(), ...)
        if value is None or value is ...:
            value = ... if text.strip() != "None" else None
    if value is not ... and _valid(value, schema):
        return True
    if isinstance(schema.get("type"), list) and text.lstrip()[:1] == "[" and "array" in schema["type"]:
        # Where not every text is a string, arrays come first.
        return False
    bodies = {text, text.removeprefix(pad), text.removesuffix(pad), text.removeprefix(pad).removesuffix(pad)}
    return any(_valid(body, schema) for body in bodies)


def _valid(value: Any, schema: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid(value))


@pytest.mark.parametrize("seed", range(40))
def test_values_at_random(seed: int) -> None:
    """Texts as the value of one parameter, in the form of Qwen."""
    rng = random.Random(seed)
    value = rng.choice(_SCALARS)
    schema = {"type": "object", "properties": {"k": value}, "additionalProperties": False}
    grammar = lower_schema(schema, form="qwen_xml")
    compiled = cfgmask.compile(cfgmask.Grammar(grammar), BYTES)
    for _ in range(30):
        text = "".join(rng.choices(_TEXTS, k=rng.choice([1, 1, 2])))
        if rng.random() < 0.5:
            text = f"\n{text}\n"
        data = f"<parameter=k>{text}</parameter>".encode()
        matcher = compiled.matcher()
        taken = matcher.try_advance(list(data)) == len(data) and matcher.is_accepting
        assert taken == _is_value(text, value, "\n"), (value, text)


_LITERALS = ["'a'", '"a"', "'True'", '"True"', "true", "True", "null", "None", "1", "1.0", "'1'", '"1"', '"é"', "'é'"]


@pytest.mark.parametrize("items", [{}, {"enum": ["a", "True", True, None, 1, "1", "é"]}, {"type": "string"}])
def test_lists_of_python_whose_values_differ(items: dict[str, Any]) -> None:
    """A value may have one spelling only; whatever is accepted has no value twice."""
    array = {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}
    schema = {"type": "object", "properties": {"k": array}, "additionalProperties": False}
    compiled = cfgmask.compile(cfgmask.Grammar(lower_schema(schema, form="python_call")), BYTES)
    values = {"true": True, "null": None} | {
        text: ast.literal_eval(text) for text in _LITERALS if text not in ("true", "null")
    }
    lists = [[text] for text in _LITERALS] + [list(pair) for pair in itertools.product(_LITERALS, repeat=2)]
    accepted = []
    for texts in lists:
        data = f"k=[{', '.join(texts)}]".encode()
        matcher = compiled.matcher()
        if matcher.try_advance(list(data)) == len(data) and matcher.is_accepting:
            accepted.append([values[text] for text in texts])
            assert _valid(accepted[-1], array), texts
    written = [json.dumps(value) for value in accepted]
    wanted = [[value] for value in items.get("enum", ["a", "é"])]
    assert {json.dumps(value) for value in wanted} <= set(written)
    assert any(len(value) == 2 for value in accepted)


def test_markers_by_id() -> None:
    from cfgmask.grammar.ir import TokenSet

    names = ["<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"]
    tokens = [bytes([i]) for i in range(256)] + [b""] * 5
    vocabulary = cfgmask.Vocabulary.from_bytes(
        tokens, eos_token_id=260, special_tokens={name: 256 + i for i, name in enumerate(names)}
    )
    by_id = {name: TokenSet(name, names=(name,)) for name in names}
    compiled = cfgmask.compile(cfgmask.Grammar(lower_schema(TYPED, form="glm_xml", tokens=by_id)), vocabulary)

    def ids(text: str) -> list[int]:
        parts = re.split("(" + "|".join(map(re.escape, names)) + ")", text)
        return [i for part in parts for i in ([256 + names.index(part)] if part in names else list(part.encode()))]

    good = ids("<arg_key>port</arg_key><arg_value>Brest</arg_value><arg_key>day</arg_key>\n<arg_value>2</arg_value>")
    matcher = compiled.matcher()
    assert matcher.try_advance(good) == len(good)
    assert matcher.is_accepting
    # The text of a marker is none.
    spelled = list(b"<arg_key>port</arg_key>")
    assert compiled.matcher().try_advance(spelled) == 0
    inside = [*ids("<arg_key>port</arg_key><arg_value>"), *b"a</arg_value>"]
    assert compiled.matcher().try_advance(inside) < len(inside)
