"""How values are written: white space, separators, indentation, escapes; and `x-guidance`."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask.json_schema import JsonSchemaOptions
from tests.json_schema.judge import accepts, compiled
from tests.json_schema.test_against_reference import walk_with

SCHEMA = {"type": "object", "properties": {"a": {"type": "array"}, "b": True}, "required": ["a"]}
VALUE = {"a": [1, {"b": [], "c": {}}], "b": {"x": None}}
COMPACT = json.dumps(VALUE, separators=(",", ":"))


def refused(**options: Any) -> str:
    with pytest.raises(ValueError, match="=") as error:
        JsonSchemaOptions(**options)
    return str(error.value)


# White space


def test_a_regex_of_white_space() -> None:
    grammar = compiled(SCHEMA, whitespace=" ?")
    assert accepts(grammar, COMPACT)
    assert accepts(grammar, json.dumps(VALUE))
    assert accepts(grammar, '{ "a" : [ ] }')
    assert not accepts(grammar, '{"a":  []}')
    assert not accepts(grammar, '{"a":\n[]}')


def test_all_or_nothing_of_it() -> None:
    grammar = compiled(SCHEMA, whitespace=r"\n {4}")
    assert accepts(grammar, '{\n    "a":[1]}')
    assert not accepts(grammar, '{\n   "a":[1]}')
    assert not accepts(grammar, '{\n    \n    "a":[1]}')


@pytest.mark.parametrize("pattern", ["loose", ".*", r"\s", " |x", "(", "[]", "a&&b", "\u00a0"])
def test_nothing_but_white_space(pattern: str) -> None:
    assert refused(whitespace=pattern).startswith(f"whitespace={pattern!r} ")


def test_separators() -> None:
    grammar = compiled(SCHEMA, whitespace="compact", item_separator=", ", key_separator=": ")
    assert accepts(grammar, json.dumps(VALUE))
    assert not accepts(grammar, COMPACT)
    assert not accepts(grammar, json.dumps(VALUE, indent=1))


@pytest.mark.parametrize("pattern", ["", ";", ",,", "[,:]", " *", "("])
@pytest.mark.parametrize("name", ["item_separator", "key_separator"])
def test_separators_are_marks_with_white_space(name: str, pattern: str) -> None:
    assert refused(**{name: pattern}).startswith(f"{name}={pattern!r} ")


# Indentation

VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES, st.sampled_from([0, 1, 2, 4]))
@settings(max_examples=60, deadline=None)
def test_indented_as_by_json_dumps(value: Any, indent: int) -> None:
    text = json.dumps(value, indent=indent)
    for width, grammar in INDENTED.items():
        is_flat = not isinstance(value, (list, dict)) or not value
        assert accepts(grammar, text) == (width == indent or is_flat)
    other = json.dumps(value)
    assert accepts(INDENTED[indent], other) == (other == text)


INDENTED = {width: compiled(True, indent=width) for width in (0, 1, 2, 4)}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (SCHEMA, VALUE),
        ({"type": "array", "prefixItems": [True, {"type": "object"}], "contains": {"const": 1}}, [[], {}, 1, [1]]),
        ({"type": "array", "minItems": 2, "maxItems": 3}, [[], {"a": []}]),
        ({"type": "object", "minProperties": 1, "properties": {"a": {"type": "string"}}}, {"a": "x"}),
        ({"enum": [{"a": [1, {}]}, [[2]], "x"]}, {"a": [1, {}]}),
        ({"patternProperties": {"^x": {"type": "array"}}, "type": "object"}, {"x": [], "y": {"z": [1]}}),
    ],
)
def test_indented_schemas(schema: Any, value: Any) -> None:
    grammar = compiled(schema, indent=2)
    text = json.dumps(value, indent=2)
    assert accepts(grammar, text)
    assert not accepts(grammar, json.dumps(value))
    assert not accepts(grammar, json.dumps(value, indent=3))
    assert not accepts(grammar, text.replace("\n", "\n ", 1))


@pytest.mark.parametrize("options", [{"indent": 1}, {"escapes": "canonical"}, {"indent": 1, "escapes": "canonical"}])
def test_items_stay_unique(options: Any) -> None:
    schema = {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}
    grammar = compiled(schema, **options)
    assert accepts(grammar, json.dumps([["a", "b"], ["a"], []], indent=options.get("indent")))
    assert not accepts(grammar, json.dumps([["a"], ["b", "a", "b"]], indent=options.get("indent")))


def test_depth_is_bounded() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}}
    grammar = cfgmask.Grammar.from_json_schema(schema, indent=1)
    assert [note.code for note in grammar.notes] == ["schema-indent-depth"]
    deepest: list[Any] = []
    for _ in range(31):
        deepest = [deepest]
    made = compiled(schema, indent=1)
    assert accepts(made, json.dumps(deepest, indent=1))
    assert not accepts(made, json.dumps([deepest], indent=1))


def test_only_what_is_too_deep() -> None:
    schema: Any = {"const": 1}
    for _ in range(33):
        schema = {"type": "array", "items": schema, "minItems": 1}
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_json_schema(schema, indent=1)
    assert [d.code for d in error.value.diagnostics] == ["schema-indent-depth"]
    assert not cfgmask.Grammar.from_json_schema(schema["items"], indent=1).notes


@pytest.mark.parametrize("options", [{"indent": -1}, {"indent": 17}, {"indent": True}, {"indent": "  "}])
def test_widths(options: Any) -> None:
    assert refused(**options).endswith("it may be None or from 0 to 16")


def test_indentation_goes_alone() -> None:
    assert "contradicts" in refused(indent=2, whitespace="compact")
    assert "contradicts" in refused(indent=2, item_separator=", ")


# Escapes


@given(st.text(max_size=6))
@settings(max_examples=50)
def test_canonical_escapes(text: str) -> None:
    grammar = compiled({"type": "string"}, escapes="canonical")
    canonical = json.dumps(text, ensure_ascii=False)
    for spelling in (
        canonical,
        json.dumps(text),
        '"' + "".join(f"\\u{ord(c):04x}" for c in text if ord(c) < 0x80) + '"',
    ):
        # Python spells U+007F as itself, as RFC 8785 does.
        assert accepts(grammar, spelling) == (spelling == json.dumps(json.loads(spelling), ensure_ascii=False))


def test_canonical_everywhere() -> None:
    schema = {"type": "object", "properties": {"é/": {"enum": ["ü/", "b", 1]}}, "patternProperties": {"^x": True}}
    grammar = compiled(schema, escapes="canonical", whitespace="compact")
    assert accepts(grammar, '{"é/":"ü/","xé":{"é":"\\n"}}')
    for other in ['{"\\u00e9/":1}', '{"é\\/":1}', '{"é/":"\\u00fc/"}', '{"x\\u00e9":1}', '{"x":{"\\/":1}}']:
        assert not accepts(grammar, other)
        assert accepts(compiled(schema), other)


_SPELLINGS = ["a", "é", "/", "\x7f", *(f"\\{letter}" for letter in 'nrbtf"\\/'), "\\ud83d\\ude00"]
_SPELLINGS += [
    f"\\u{code}" for code in ("0000", "000a", "001F", "0020", "0022", "005c", "0061", "007F", "0080", "2028")
]


def _is_allowed(spelling: str, letters: str | None, general: bool | None) -> bool:
    """As llguidance says it: without letters, those of JSON but for a slash, and numbers of control characters."""
    if letters is None and general is not False:
        return True
    if not spelling.startswith("\\u"):
        return not spelling.startswith("\\") or spelling[1] in (letters if letters is not None else 'nrbtf"\\')
    is_control = len(spelling) == 6 and int(spelling[2:], 16) in (*range(0x20), 0x7F)
    return (letters is None or "u" in letters) and (general is True or is_control)


@pytest.mark.parametrize("general", [None, True, False])
@pytest.mark.parametrize("letters", [None, "", "u", "n", "bfnrt", '"\\', 'nrbtf"\\u'])
def test_allowed_escapes(letters: str | None, general: bool | None) -> None:
    guidance = {"json_allowed_escapes": letters, "json_allow_general_unicode_escapes": general}
    texts = compiled({"type": "string", "x-guidance": guidance})
    keys = compiled({"type": "object", "x-guidance": guidance}, whitespace="compact")
    for spelling in _SPELLINGS:
        allowed = _is_allowed(spelling, letters, general)
        assert accepts(texts, f'"a{spelling}b"') == allowed, spelling
        assert accepts(keys, f'{{"{spelling}":["{spelling}"]}}') == allowed, spelling


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"const": "a\nb"}, '"a\\nb"'),
        ({"type": "string", "pattern": "^\\n+$"}, '"\\n"'),
        ({"type": "object", "properties": {"\n": {}}, "required": ["\n"]}, '{"\\n":0}'),
        ({"type": "array", "items": {"enum": ["\n", "a"]}, "uniqueItems": True, "minItems": 2}, '["\\n","a"]'),
    ],
)
def test_values_that_need_other_escapes_are_no_values(schema: Any, text: str) -> None:
    for letters in ("n", "u"):
        guidance = {"json_allowed_escapes": letters, "whitespace_flexible": False}
        asked = compiled({**schema, "x-guidance": guidance})
        assert accepts(asked, text if letters == "n" else text.replace("\\n", "\\u000A"))
        assert not accepts(asked, text if letters == "u" else text.replace("\\n", "\\u000A"))
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_json_schema({**schema, "x-guidance": {"json_allowed_escapes": "t"}})
    assert [d.code for d in error.value.diagnostics] == ["schema-unsatisfiable"]
    others = compiled({"anyOf": [schema, {"type": "null"}], "x-guidance": {"json_allowed_escapes": "t"}})
    assert accepts(others, "null")
    assert not others.matcher().try_advance([ord(text[0])])


def test_items_that_are_written_with_some_escapes_stay_unique() -> None:
    guidance = {"json_allowed_escapes": "nu", "json_allow_general_unicode_escapes": True, "whitespace_flexible": False}
    grammar = compiled({"type": "array", "items": {"type": "string"}, "uniqueItems": True, "x-guidance": guidance})
    assert accepts(grammar, '["\\n","a","\\u0062"]')
    for text in ('["\\n","\\u000a"]', '["a","\\u0061"]', '["a","\\t"]'):
        assert not accepts(grammar, text)


def test_escapes_of_json_alone() -> None:
    """In YAML blocks, and where nothing but some bytes can be written."""
    schema = {"const": "é", "x-guidance": {"json_allowed_escapes": "n"}}
    assert accepts(compiled(schema, syntax="yaml"), '"\\u00e9"\n')
    ascii_only = cfgmask.Vocabulary.from_bytes([*(bytes([c]) for c in range(0x80)), b""], 0x80)
    with pytest.raises(cfgmask.GrammarError, match="bytes-missing"):
        cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), ascii_only)


# x-guidance


@pytest.mark.parametrize(
    ("guidance", "options"),
    [
        ({}, {}),
        ({"whitespace_flexible": True, "lenient": False, "coerce_one_of": True}, {}),
        ({"whitespace_flexible": False}, {"whitespace": "compact"}),
        (
            {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "},
            {"whitespace": "compact", "item_separator": ", ", "key_separator": ": "},
        ),
        ({"whitespace_pattern": " {0,2}", "whitespace_flexible": False}, {"whitespace": " {0,2}"}),
        ({"whitespace_flexible": False, "whitespace_pattern": " {0,2}"}, {"whitespace": " {0,2}"}),
    ],
)
def test_guidance_is_read(guidance: Any, options: Any) -> None:
    asked = cfgmask.Grammar.from_json_schema({**SCHEMA, "x-guidance": guidance})
    for seed in range(3):
        walk_with(asked, cfgmask.Grammar.from_json_schema(SCHEMA, **options).ir, seed)
    assert not asked.notes


def test_lenient_is_relaxed() -> None:
    schema = {"type": "array", "uniqueItems": True, "items": {"minProperties": 1001, "maxProperties": 9999}}
    with pytest.raises(cfgmask.GrammarError):
        cfgmask.Grammar.from_json_schema({**schema, "x-guidance": {"lenient": False}})
    lenient = cfgmask.Grammar.from_json_schema({**schema, "x-guidance": {"lenient": True}})
    relaxed = cfgmask.Grammar.from_json_schema(schema, on_unsupported="relax")
    assert [note.code for note in lenient.notes] == [note.code for note in relaxed.notes] != []


def test_the_caller_goes_first() -> None:
    schema = {**SCHEMA, "x-guidance": {"whitespace_flexible": False}}
    assert accepts(compiled(schema, whitespace="unbounded"), json.dumps(VALUE))
    assert accepts(compiled(schema, indent=2), json.dumps(VALUE, indent=2))


@pytest.mark.parametrize(
    ("guidance", "pointer"),
    [
        ({"indent": 2}, "/x-guidance/indent"),
        ({"json_allowed_escapes": "/"}, "/x-guidance/json_allowed_escapes"),
        ({"json_allowed_escapes": 1}, "/x-guidance/json_allowed_escapes"),
        ({"json_allow_general_unicode_escapes": "yes"}, "/x-guidance/json_allow_general_unicode_escapes"),
        ({"whitespace_pattern": "x"}, "/x-guidance/whitespace_pattern"),
        ({"whitespace_pattern": 1}, "/x-guidance/whitespace_pattern"),
        ({"item_separator": ";"}, "/x-guidance/item_separator"),
        ({"coerce_one_of": "yes"}, "/x-guidance/coerce_one_of"),
        ([], "/x-guidance"),
    ],
)
def test_guidance_that_is_refused(guidance: Any, pointer: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.Grammar.from_json_schema({**SCHEMA, "x-guidance": guidance})
    assert [(d.code, d.pointer) for d in error.value.diagnostics] == [("schema-guidance", pointer)]


def test_guidance_inside_of_a_schema_is_an_unknown_keyword() -> None:
    grammar = cfgmask.Grammar.from_json_schema({"items": {"x-guidance": {"x": 1}}})
    assert [note.pointer for note in grammar.notes] == ["/items/x-guidance"]
