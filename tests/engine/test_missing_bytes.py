"""Vocabularies that lack bytes: what they cannot write is no part of a grammar.

`missing_bytes` compares random ones with brute force.
"""

from __future__ import annotations

from typing import Any

import pytest

import cfgmask
from tests.engine import missing_bytes
from tests.engine.harness import mask_of

_PRINTABLE = bytes(range(0x20, 0x7F))


def _vocabulary(*tokens: bytes) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_bytes([*tokens, b""], len(tokens))


def _without(missing: bytes) -> cfgmask.Vocabulary:
    return _vocabulary(*(bytes([byte]) for byte in _PRINTABLE if byte not in missing))


def _next(grammar: cfgmask.Grammar, vocabulary: cfgmask.Vocabulary, text: bytes) -> set[bytes]:
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.advance_bytes(text) == len(text)
    return {vocabulary.tokens[token] for token in mask_of(matcher, vocabulary.n_vocab)}


def test_nothing_is_begun_that_no_token_completes() -> None:
    vocabulary = _vocabulary(b"0x", b"1", b"2")
    for grammar in (
        cfgmask.Grammar.from_regex("0x1f|0x2"),
        cfgmask.Grammar.from_lark('start: "0x1f" | "0x2"'),
        cfgmask.Grammar.from_lark('start: A | "0x2"\nA: "0x1" "f"+'),
        cfgmask.Grammar.from_gbnf('root ::= "0x1f" | "0x2"'),
        cfgmask.Grammar.from_choices(["0x1f", "0x2"]),
    ):
        assert _next(grammar, vocabulary, b"0x") == {b"2"}


_ERROR = "this vocabulary cannot write any match of the grammar: {} needs {}, which no token contains"


@pytest.mark.parametrize(
    ("schema", "missing", "match", "needed"),
    [
        ({"type": "object"}, b"{", "'{}'", "'{' (0x7B)"),
        ({"type": "object"}, b"{}", "'{}'", "'{' (0x7B), '}' (0x7D)"),
        ({"type": "array"}, b"]", "'[]'", "']' (0x5D)"),
        ({"type": "string"}, b'"', "'\"\"'", "'\"' (0x22)"),
        ({"const": "é"}, b'"', "'\"\\\\u00E9\"'", "'\"' (0x22)"),
        ({"type": "array", "minItems": 2}, b",", "'[0,0]'", "',' (0x2C)"),
        ({"type": "object", "required": ["n"]}, b":", "'{\"n\":0}'", "':' (0x3A)"),
        ({"type": "object", "required": ["n"]}, b"n", "'{\"n\":0}'", "'n' (0x6E)"),
        ({"enum": [True]}, b"u", "'true'", "'u' (0x75)"),
    ],
)
def test_the_bytes_are_named(schema: dict[str, Any], missing: bytes, match: str, needed: str) -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), _without(missing))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "grammar-bytes-missing"
    assert diagnostic.message == _ERROR.format(match, needed)


def test_the_rendered_error() -> None:
    with pytest.raises(cfgmask.GrammarError) as error:
        cfgmask.compile(cfgmask.Grammar.from_lark('start: "0x1f"'), _vocabulary(b"0x", b"1"))
    assert str(error.value) == "\n".join(
        [
            f"error[grammar-bytes-missing]: {_ERROR.format(repr('0x1f'), repr('f') + ' (0x66)')}",
            "  --> <grammar>:1:1",
            '1 | start: "0x1f"',
            "  | ^^^^^",
            "  help: use a vocabulary in which some token contains these bytes",
        ]
    )


_TWO = {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 2}


def test_values_that_cannot_be_written_are_not_counted() -> None:
    grammar = cfgmask.Grammar.from_json_schema(_TWO, whitespace="compact")
    assert _next(grammar, _without(b"c"), b'["a"') == {b","}
    assert _next(grammar, _without(b"c"), b'["a","') == {b"b"}
    with pytest.raises(cfgmask.GrammarError, match=r"'\[\"a\",\"c\"\]' needs 'c' \(0x63\)"):
        cfgmask.compile(grammar, _without(b"bc"))


def test_strings_without_some_characters_are_told_apart() -> None:
    """What remains of a string's texts is subtracted from by value, however they are written."""
    schema = {"type": "array", "items": {"type": "string", "pattern": "^[ab]$"}, "uniqueItems": True}
    grammar = cfgmask.Grammar.from_json_schema(schema, whitespace="compact")
    vocabulary = _without(b"5")
    assert b"a" not in _next(grammar, vocabulary, b'["\\u0061","')
    assert _next(grammar, vocabulary, b'["a","\\u006') == {b"2"}
    assert _next(grammar, vocabulary, b'["a","\\u0062"') == {b"]"}


def test_a_block_that_cannot_be_written_leaves_the_rest_of_a_grammar() -> None:
    source = 'start: json | "n"\njson: %json {"type": "object"}'
    vocabulary = _without(b"{")
    for grammar in (
        cfgmask.Grammar.from_lark(source),
        cfgmask.Grammar.from_lark('start: @other | "n"', grammars={"other": {"type": "object"}}),
        cfgmask.Grammar.from_lark(
            'start: @other | "n"', grammars={"other": cfgmask.Grammar.from_json_schema({"type": "object"})}
        ),
    ):
        assert _next(grammar, vocabulary, b"") == {b"n"}


def test_keys_that_cannot_be_written() -> None:
    schema = {"properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": False}
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", **schema}, whitespace="compact")
    assert _next(grammar, _without(b"a"), b'{"') == {b"b"}
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "minProperties": 2, **schema})
    with pytest.raises(cfgmask.GrammarError, match="needs 'a'"):
        cfgmask.compile(grammar, _without(b"a"))


def test_all_of_printable_ascii_writes_every_value() -> None:
    """The short way is for these vocabularies, too: characters beyond ASCII are written as escapes."""
    grammar = cfgmask.Grammar.from_json_schema({"const": "é"})
    matcher = cfgmask.compile(grammar, _without(b"")).matcher()
    tokens = matcher.completion()
    assert tokens is not None
    assert bytes(_PRINTABLE[token] for token in tokens).lower() == b'"\\u00e9"'


def test_sets_of_values_in_other_forms() -> None:
    """What is written in another form was counted before: a value that cannot be written may not be one of a set."""
    few = {"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": True, "minItems": 3}

    def compiled(value: dict[str, Any], style: str, missing: bytes) -> cfgmask.CompiledGrammar:
        parameters = {"type": "object", "properties": {"x": value}, "required": ["x"], "additionalProperties": False}
        tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
        grammar = cfgmask.Grammar.from_tools([tool], style=style, tool_choice="required", parallel_tool_calls=False)
        tokens = [bytes([byte]) for byte in range(256) if byte not in missing]
        return cfgmask.compile(grammar, _vocabulary(*tokens))

    for style in ("qwen_3_coder", "pythonic", "gemma_4"):
        with pytest.raises(cfgmask.GrammarError, match="schema-form-bytes") as error:
            compiled(few, style, b"b")
        # Without a set, values are left out; and no text has these bytes.
        for value, missing in (({"enum": ["a", "b"]}, b"b"), (few, b"\xc0\xff")):
            assert compiled(value, style, missing).matcher().completion() is not None
    shown = """'b<|"|>'"""
    assert str(error.value) == "\n".join(
        [
            f"error[schema-form-bytes]: this vocabulary cannot write {shown}, a value in a counted array or object",
            "  at /0/function/parameters",
            "  help: use a vocabulary whose tokens contain all bytes, or leave out `uniqueItems` and the like",
        ]
    )


def test_against_brute_force() -> None:
    faults, counts = missing_bytes.run(60, 0)
    assert not faults
    assert counts["compared"] > 20
    assert counts["refused: grammar-bytes-missing"] > 5


_FEW = {"type": "array", "items": {"enum": ["a", 1, 2]}, "uniqueItems": True, "minItems": 3}


def test_values_in_structural_tags() -> None:
    """Without a `1` there are too few values for the array."""
    either = {"type": "or", "elements": [{"type": "json_schema", "json_schema": s} for s in (_FEW, {"type": "string"})]}
    format = {"type": "sequence", "elements": [{"type": "const_string", "value": "<"}, either]}
    grammar = cfgmask.Grammar.from_structural_tag({"type": "structural_tag", "format": format})
    assert _next(grammar, _without(b"1"), b"<") == {b'"'}
    assert _next(grammar, _without(b"3"), b"<") == {b'"', b"["}


def test_arguments_of_tools() -> None:
    properties = {"x": {"anyOf": [_FEW, {"type": "null"}]}}
    parameters = {"type": "object", "properties": properties, "required": ["x"], "additionalProperties": False}
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    grammar = cfgmask.Grammar.from_tools(
        tools, style="llama", tool_choice="required", reasoning="disabled", whitespace="compact"
    )
    begun = b'{"name": "f", "parameters": {"x":'
    assert _next(grammar, _without(b"1"), begun) == {b"n"}
    assert _next(grammar, _without(b"3"), begun) == {b"n", b"["}


def test_arguments_that_are_not_written_in_json() -> None:
    """An object without braces takes none."""
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    grammar = cfgmask.Grammar.from_tools(tools, style="qwen_3_coder", tool_choice="required", reasoning="disabled")
    vocabulary = _vocabulary(*(bytes([byte]) for byte in (*_PRINTABLE, 0x0A) if byte not in b"{}"))
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    assert matcher.advance_bytes(b"<tool_call>") == len(b"<tool_call>")
    assert matcher.completion() is not None
