"""llguidance's names with what strangers send: every error is one of the interface, and nothing takes long."""

from __future__ import annotations

import random

import pytest

from cfgmask.compat.llguidance import LLMatcher, LLTokenizer, StructTag, grammar_from

TOKENIZER = LLTokenizer("byte")
DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("", "the grammar is empty"),
        ('{"grammars": 5}', "needs the member `grammars`, a list"),
        ('{"grammars": [5]}', "each of `grammars` is an object"),
        ('{"grammars": [{"name": [], "lark_grammar": "start: /a/"}]}', "the `name` of a grammar is a text"),
        ('{"grammars": [{"name": 5, "json_schema": {}}]}', "the `name` of a grammar is a text"),
        ('{"grammars": [{"json_schema": 5}]}', "`json_schema` is an object, true or false"),
        (f'{{"grammars": {DEEP}', "the JSON is nested too deep"),
        ('{"grammars": [{"json_schema": ' + '{"not": ' * 900 + "{}" + "}" * 900 + "}]}", "max_nesting"),
        ('start: "\ud800"', "lark-not-text"),
    ],
)
def test_grammars(grammar: str, message: str) -> None:
    matcher = LLMatcher(TOKENIZER, grammar)
    assert matcher.is_error()
    assert message in matcher.get_error()


def test_json_that_is_nested_too_deep() -> None:
    with pytest.raises(ValueError, match="nested too deep"):
        grammar_from("choice", DEEP)
    with pytest.raises(ValueError, match="nested too deep"):
        LLMatcher.grammar_from_json_schema(DEEP, {"lenient": True})
    with pytest.raises(ValueError, match="nested too deep"):
        StructTag.to_grammar([StructTag(trigger="<x>", begin="<x>", grammar=f'{{"a": {DEEP}', end="")])


def test_many_special_tokens() -> None:
    """However many of them a text names."""
    data = b"<|user|>\xffx" * 20_000
    tokens = TOKENIZER.tokenize_bytes(data, parse_special=True)
    assert len(tokens) == 60_000
    assert tokens[:3] == [TOKENIZER.tokenize_bytes(b"<|user|>", parse_special=True)[0], 0xFF, ord("x")]
    assert TOKENIZER.decode_bytes(tokens) == data


def test_special_tokens_by_the_first_and_longest_name() -> None:
    names = [b"<a>", b"<a><b>", b"<b", b"<b>", b"ab"]
    tokenizer = LLTokenizer.from_llamacpp(
        tokens=[*(bytes([i]) for i in range(256)), *(b"\xff" + name for name in names)], eos_token=256
    )
    chooser = random.Random(7)
    for _ in range(500):
        data = bytes(chooser.choice(b"<ab>") for _ in range(chooser.randrange(12)))
        expected, at = [], 0
        while at < len(data):
            there = [name for name in names if data.startswith(name, at)]
            found = max(there, key=len, default=b"")
            expected.append(256 + names.index(found) if found else data[at])
            at += len(found) or 1
        assert tokenizer.tokenize_bytes(data, parse_special=True) == expected


def test_a_long_text_whose_end_may_change() -> None:
    tokenizer = LLTokenizer.from_llamacpp(
        tokens=[*(bytes([i]) for i in range(256)), b"abc", b"\xff</s>"], eos_token=257
    )
    kept, left = tokenizer.tokenize_partial(b"x" * 200_000 + b"ab")
    assert (len(kept), left) == (200_000, b"ab")
    assert tokenizer.tokenize_partial(b"xabc") == ([ord("x"), 256], b"")
    assert tokenizer.tokenize_partial(b"") == ([], b"")
