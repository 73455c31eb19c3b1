"""`Grammar.from_structural_tag`: each form with valid and invalid texts, tokens, errors and pickles."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import cfgmask
from cfgmask import Grammar, GrammarError, Vocabulary
from cfgmask.cli import main
from tests.tokenizers.real import gguf_path

VOCABULARY = Vocabulary.from_bytes(
    [*(bytes([byte]) for byte in range(256)), b"", b"", b"hello"],
    eos_token_id=256,
    special_tokens={"</s>": 256, "<call>": 257},
)
CALL, HELLO = 257, 258

OBJECT = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
ANY = {"type": "any_text"}
ONE = {"type": "const_string", "value": "1"}


def tag(begin: Any, content: Any, end: Any) -> dict[str, Any]:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def schema(value: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": value, **fields}


def sequence(*elements: Any) -> dict[str, Any]:
    return {"type": "sequence", "elements": list(elements)}


def token(of: int | str) -> dict[str, Any]:
    return {"type": "token", "token": of}


def triggered(triggers: list[str], tags: list[Any], **fields: Any) -> dict[str, Any]:
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, **fields}


class Case(NamedTuple):
    """A format; texts and lists of tokens that it allows, and that it does not."""

    format: dict[str, Any]
    valid: list[Any]
    invalid: list[Any]


# What xgrammar 0.2.9 allows here, but for `any_order`, `excludes` beside other conditions, and limits on tokens.
CASES = {
    "const_string": Case({"type": "const_string", "value": "ab"}, ["ab"], ["a", ""]),
    "json_schema": Case(schema(OBJECT), ['{"a": 1}', '{"a":1,"b":2}'], ['{"b": 1}', '{"b": 1, "a": 1}']),
    "json_schema true": Case(schema(True), ['{"x": [1]}', '"s"'], ["x"]),
    "any_order": Case(
        schema(OBJECT, any_order=True), ['{"b": 1, "a": 1}', '{"a": 2}'], ['{"b": 1}', '{"a": 1, "a": 1}']
    ),
    "white space": Case(schema(OBJECT, max_whitespace_cnt=1), ['{ "a" :\t1}', '{"a":1}'], ['{"a":  1}']),
    "no white space": Case(schema(OBJECT, max_whitespace_cnt=0), ['{"a":1}'], ['{"a": 1}']),
    "excludes and length": Case(
        schema({"type": "string", "maxLength": 3}, excludes=["ab"]), ['"acb"'], ['"abc"', '"aacc"']
    ),
    "excludes and pattern": Case(
        schema({"type": "string", "pattern": "^[a-z]+$"}, excludes=["ab"]), ['"acb"'], ['"abc"', '"1"']
    ),
    "excludes and enum": Case(schema({"enum": ["ab", "cd"]}, excludes=["ab"]), ['"cd"'], ['"ab"']),
    "excludes and names": Case(
        schema({"additionalProperties": {"type": "integer"}, "type": "object"}, excludes=["ab", '"']),
        ['{"b": 1}', '{"a\\u0062": 1}', "{}"],
        ['{"ab": 1}', '{"x": 1, "cab": 1}', '{"\\"": 1}', '{"b": 1, "b": 1}'],
    ),
    "any_text": Case(ANY, ["", "a<b>\n"], [[CALL]]),
    "any_text without": Case({"type": "any_text", "excludes": ["ab", "x"]}, ["ba"], ["ab", "x"]),
    "any_text of characters": Case({"type": "any_text", "max_chars": 2, "excludes": ["b"]}, ["é€"], ["aaa", "ab"]),
    "any_text of tokens": Case(
        sequence({"type": "any_text", "max_tokens": 2}, ONE),
        ["ab1", "1", ["a", HELLO, "1"]],
        ["abc1"],
    ),
    "ebnf": Case({"type": "grammar", "grammar": 'root ::= "x" [0-9]+ y\ny ::= "!" | ""'}, ["x1", "x12!"], ["x"]),
    "lark": Case({"type": "grammar", "grammar": 'start: "x" /[0-9]+/', "syntax": "lark"}, ["x1"], ["x"]),
    "regex": Case({"type": "regex", "pattern": "^[a-z]+\\d?$"}, ["a", "ab1"], ["1", "a12", "a\u0661"]),
    "regex with assertions": Case(sequence({"type": "regex", "pattern": "a+(?!a)"}, ONE), ["aa1"], ["1"]),
    "sequence": Case(
        sequence(ONE, {"type": "regex", "pattern": "[a-z]+"}, {"type": "const_string", "value": "b"}), ["1abb"], ["1b"]
    ),
    "or": Case({"type": "or", "elements": [ONE, {"type": "regex", "pattern": "1a+"}]}, ["1", "1aa"], ["", "a"]),
    "optional": Case({"type": "optional", "content": ONE}, ["", "1"], ["11"]),
    "plus": Case({"type": "plus", "content": ONE}, ["1", "111"], [""]),
    "star": Case({"type": "star", "content": ONE}, ["", "111"], ["2"]),
    "repeat": Case({"type": "repeat", "min": 2, "max": 3, "content": ONE}, ["11", "111"], ["1", "1111"]),
    "repeat without bound": Case({"type": "repeat", "min": 1, "max": -1, "content": ONE}, ["1", "11111"], [""]),
    "tag": Case(tag("<a>", schema(OBJECT), "</a>"), ['<a>{"a": 1}</a>'], ['<a>{"a": 1}', '<a>{"a": 1}</a>x']),
    "tag of text": Case(tag("<a>", ANY, ["</a>", "</b>"]), ["<a></a>", "<a><</b>"], ["<a>x", "<a></a></b>"]),
    "tag of a name of a token": Case(tag("<call>x", ONE, ""), ["<call>x1", [CALL, "x1"]], ["x1"]),
    "nested": Case(
        tag("<a>", sequence(tag("<b>", ANY, "</b>"), ANY), "</a>"), ["<a><b></a></b>q</a>"], ["<a><b>x</b></a>y</a>"]
    ),
    "triggered_tags": Case(
        triggered(["<f="], [tag("<f=x>", schema(OBJECT), "</f>"), tag("<f=y>", ONE, "</f>")]),
        ["", "hi<f=y>1</f>", '<f=x>{"a":1}</f>y<f=y>1</f>', "<f"],
        ["<f=", "<f=z>1</f>", "<f=y>2</f>"],
    ),
    "at_least_one": Case(
        triggered(["<"], [tag("<f>", ONE, "")], at_least_one=True), ["<f>1", "<f>1x<f>1"], ["", "x<f>1"]
    ),
    "stop_after_first": Case(triggered(["<"], [tag("<f>", ONE, "")], stop_after_first=True), ["", "x<f>1"], ["<f>1x"]),
    "text without": Case(
        triggered(["<f"], [tag("<f>", ONE, "")], excludes=["<t>"]), ["<t", "a<f>1b"], ["<t>", "<f>1<t>"]
    ),
    "tags_with_separator": Case(
        {"type": "tags_with_separator", "tags": [tag("<a>", ONE, "")], "separator": ","},
        ["", "<a>1,<a>1"],
        ["<a>1,", "<a>1<a>1"],
    ),
    "dispatch": Case(
        {"type": "dispatch", "rules": [["<a", ONE], ["<ab", ANY]]}, ["x<a1y<a1", "<abx", "<"], ["<a", "<a2"]
    ),
    "dispatch once": Case({"type": "dispatch", "rules": [["<a>", ONE]], "loop": False}, ["", "x<a>1"], ["<a>1x"]),
    "dispatch in a tag": Case(
        tag("{", {"type": "dispatch", "rules": [["<a>", ONE]]}, "}"), ["{}", "{a}}", "{<a>1}"], ["{<a>}"]
    ),
    "token": Case(sequence(token(CALL), token("hello"), token("</s>")), [[CALL, HELLO, 256]], ["<call>hello"]),
    "exclude_token": Case(
        sequence({"type": "exclude_token", "exclude_tokens": [CALL]}, ONE), [[HELLO, "1"], "a1"], [[CALL, "1"]]
    ),
    "any_tokens": Case(
        sequence({"type": "any_tokens", "exclude_tokens": ["hello"], "max_tokens": 2}, ONE),
        ["1", [CALL, CALL, "1"]],
        [[HELLO, "1"], "abc1"],
    ),
    "tag of tokens": Case(
        tag(token("<call>"), {"type": "any_tokens"}, token(HELLO)),
        [[CALL, "x", HELLO], [CALL, CALL, HELLO]],
        [[CALL, HELLO, HELLO], [CALL]],
    ),
    "text up to a token": Case(tag(token(CALL), ANY, token(HELLO)), [[CALL, "a", HELLO]], [[CALL, "ahello", "x"]]),
    "token_triggered_tags": Case(
        {
            "type": "token_triggered_tags",
            "trigger_tokens": [CALL],
            "tags": [tag(token(CALL), ONE, "")],
            "exclude_tokens": ["hello"],
        },
        [[], ["a", CALL, "1b"], [CALL, "1", CALL, "1"]],
        [[CALL], [HELLO], [CALL, "2"]],
    ),
    "token_dispatch": Case(
        {"type": "token_dispatch", "rules": [[CALL, ONE], ["hello", ANY]], "loop": False},
        ["x", [CALL, "1"], [HELLO, "ab"]],
        [[CALL, "1x"], [CALL]],
    ),
}


def fits(grammar: cfgmask.CompiledGrammar, text: Any) -> bool:
    """Whether all of a text, or of a list of texts and tokens, is valid. Texts are written a byte a token."""
    matcher = grammar.matcher()
    for part in [text] if isinstance(text, str) else text:
        ids = list(part.encode()) if isinstance(part, str) else [part]
        if matcher.try_advance(ids) < len(ids):
            return False
    return matcher.is_accepting


@pytest.mark.parametrize("name", CASES)
def test_texts(name: str) -> None:
    form, valid, invalid = CASES[name]
    whole = {"type": "structural_tag", "format": form}
    read = Grammar.from_structural_tag(whole)
    for grammar in (read, Grammar.from_structural_tag(json.dumps(whole)), pickle.loads(pickle.dumps(read))):
        compiled = cfgmask.compile(grammar, VOCABULARY)
        for text in valid:
            assert fits(compiled, text), text
        for text in invalid:
            assert not fits(compiled, text), text


def test_the_older_form() -> None:
    structures = [
        {"begin": "<f=a>", "schema": OBJECT, "end": "</f>"},
        {"begin": "<f=b>", "schema": json.dumps({"type": "integer"}), "end": "</f>"},
    ]
    old = {"type": "structural_tag", "structures": structures, "triggers": ["<f="]}
    compiled = cfgmask.compile(Grammar.from_structural_tag(old), VOCABULARY)
    assert fits(compiled, 'x<f=a>{"a": 1}</f>y<f=b>5</f>')
    assert not fits(compiled, "<f=b>x</f>")
    only = cfgmask.compile(Grammar.from_structural_tag({**old, "at_least_one": True}), VOCABULARY)
    assert not fits(only, "x")


def test_options_are_those_of_every_schema() -> None:
    grammar = Grammar.from_structural_tag({"format": schema({"type": "integer"})}, numbers="any")
    assert fits(cfgmask.compile(grammar, VOCABULARY), "1.0")


def test_changes_of_the_dict_do_not_reach_the_grammar() -> None:
    given = {"format": {"type": "const_string", "value": "a"}}
    grammar = Grammar.from_structural_tag(given)
    given["format"]["value"] = "b"
    assert fits(cfgmask.compile(pickle.loads(pickle.dumps(grammar)), VOCABULARY), "a")


@pytest.mark.parametrize("kind", ["triggered_tags", "tags_with_separator"])
def test_many_tags(kind: str) -> None:
    tags = [tag(f"<f={i}>", schema({"type": "object", "required": [f"k{i}"]}), "</f>") for i in range(40)]
    fields = {"triggers": ["<f="]} if kind == "triggered_tags" else {"separator": "\n"}
    grammar = Grammar.from_structural_tag({"format": {"type": kind, "tags": tags, **fields}})
    assert grammar.ir.lexer == "longest"
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert fits(compiled, '<f=1>{"k1": 1}</f>\n<f=39>{"k39": 2}</f>')
    assert not fits(compiled, '<f=1>{"k2": 1}</f>')


def test_excluded_texts_and_values_that_must_differ() -> None:
    unique = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    compiled = cfgmask.compile(Grammar.from_structural_tag({"format": schema(unique, excludes=["ab"])}), VOCABULARY)
    assert fits(compiled, '["a", "b"]')
    assert not fits(compiled, '["a", "a"]')
    assert not fits(compiled, '["ab"]')


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "tag.json"
    file.write_text(json.dumps({"type": "structural_tag", "format": schema({"type": "integer"})}))
    grammar = Grammar.from_file(file, numbers="any")
    assert fits(cfgmask.compile(pickle.loads(pickle.dumps(grammar)), VOCABULARY), "1.0")
    with pytest.raises(TypeError, match="is a structural tag"):
        Grammar.from_file(file, syntax="yaml")
    checked = CliRunner().invoke(main, ["check", str(file), "--text", "x"])
    assert checked.exit_code == 1
    assert "tag.json" in checked.output
    file.write_text(json.dumps({"type": "structural_tag", "formt": 1}))
    assert "tag-unknown-field" in CliRunner().invoke(main, ["check", str(file)]).output


def test_notes_of_schemas_have_their_places() -> None:
    (note,) = Grammar.from_structural_tag({"format": sequence(schema({"type": "string", "formt": 1}))}).notes
    assert (note.code, note.pointer) == ("schema-misspelt-keyword", "/format/elements/0/json_schema/formt")


WRONG: dict[str, tuple[Any, list[tuple[str, str | None]]]] = {
    "no object": ("[]", [("tag-bad-field", "")]),
    "no JSON": ("{", [("tag-syntax", None)]),
    "a key twice": (
        '{"format": {"type": "const_string", "value": "", "value": ""}}',
        [("tag-duplicate-key", "/format/value")],
    ),
    "no format": ({}, [("tag-missing-field", "")]),
    "another type": ({"type": "json_schema", "format": ONE}, [("tag-unknown-type", "/type")]),
    "an unknown type": ({"format": {"type": "seqence"}}, [("tag-unknown-type", "/format/type")]),
    "no type": ({"format": {"value": "x"}}, [("tag-missing-field", "/format")]),
    "an unknown field": ({"format": {**ONE, "end": 1}}, [("tag-unknown-field", "/format/end")]),
    "a missing field": ({"format": {"type": "regex"}}, [("tag-missing-field", "/format")]),
    "everything": (
        {
            "format": sequence(
                {"type": "any_text", "max_chars": -1, "excludes": [""]},
                schema({"type": "integer", "multipleOf": 1000000000000000003}),
                schema(True, style="xml"),
                {"type": "regex", "pattern": "("},
                {"type": "grammar", "grammar": "root ::= x"},
                tag(1, {"type": "or", "elements": []}, []),
                {"type": "repeat", "min": 2, "max": 1, "content": 7},
                tag("<a>", ANY, ""),
                {"type": "token", "token": True},
            )
        },
        [
            ("tag-bad-field", "/format/elements/0/excludes/0"),
            ("tag-bad-field", "/format/elements/0/max_chars"),
            ("schema-multiple-of", "/format/elements/1/json_schema/multipleOf"),
            ("tag-unknown-style", "/format/elements/2/style"),
            ("regex-unclosed-group", "/format/elements/3/pattern"),
            ("gbnf-unknown-rule", "/format/elements/4/grammar"),
            ("tag-bad-field", "/format/elements/5/begin"),
            ("tag-bad-field", "/format/elements/5/content/elements"),
            ("tag-bad-field", "/format/elements/5/end"),
            ("tag-bad-field", "/format/elements/6/content"),
            ("tag-bad-field", "/format/elements/6/max"),
            ("tag-endless", "/format/elements/7/end"),
            ("tag-bad-field", "/format/elements/8/token"),
        ],
    ),
    "triggers": (
        {
            "format": triggered(
                ["<a", "<", ""],
                [tag("<ab", ONE, ""), tag("b", schema({"multipleOf": 1000000000000000003, "type": "integer"}), "")],
            )
        },
        [
            ("tag-bad-field", "/format/triggers/2"),
            ("schema-multiple-of", "/format/tags/1/content/json_schema/multipleOf"),
        ],
    ),
    "tags and triggers": (
        {"format": triggered(["<a", "<"], [tag("<ab", ONE, ""), tag("b", ONE, "")])},
        [("tag-trigger", "/format/tags/0/begin"), ("tag-trigger", "/format/tags/1/begin")],
    ),
    "excluded texts of another style": (
        {"format": schema(OBJECT, style="qwen_xml", excludes=["x"])},
        [("tag-excludes-style", "/format/excludes")],
    ),
    "nothing left": (
        {"format": schema({"const": "ab"}, excludes=["b"])},
        [("tag-excludes", "/format/json_schema")],
    ),
    "two lexers": (
        {
            "format": sequence(
                {"type": "grammar", "grammar": 'start: A\nA: /a+/ /b+/?\n%ignore " "', "syntax": "lark"},
                {"type": "regex", "pattern": "[a-z]+"},
                {"type": "const_string", "value": "x"},
            )
        },
        [("tag-lexer", "/format/elements/0/grammar")],
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    given, expected = WRONG[name]
    with pytest.raises(GrammarError) as raised:
        Grammar.from_structural_tag(given)
    assert sorted((d.code, d.pointer) for d in raised.value.diagnostics) == sorted(expected)


def test_errors_in_a_text_have_their_lines() -> None:
    text = '{"format": {\n  "type": "const_string",\n  "valeu": "x"\n}}'
    with pytest.raises(GrammarError) as raised:
        Grammar.from_structural_tag(text, name="tag.json")
    assert str(raised.value) == (
        'error[tag-unknown-field]: "const_string" has no field "valeu"\n'
        "  --> tag.json:3:12\n"
        '3 |   "valeu": "x"\n'
        "  |            ^^^\n"
        "  at /format/valeu\n"
        "  help: did you mean `value`?\n"
        'error[tag-missing-field]: "const_string" needs the field "value"\n'
        "  --> tag.json:1:12\n"
        '1 | {"format": {\n'
        "  |            ^\n"
        "  at /format"
    )


def test_deep_content_is_bounded() -> None:
    deep: dict[str, Any] = ONE
    for _ in range(500):
        deep = {"type": "optional", "content": deep}
    with pytest.raises((GrammarError, cfgmask.LimitExceeded)):
        Grammar.from_structural_tag({"format": deep})


@pytest.mark.parametrize("given", [None, 3, b"{}", ["a"]])
def test_types(given: Any) -> None:
    with pytest.raises(TypeError, match="a structural tag must be a dict or a str"):
        Grammar.from_structural_tag(given)


def test_unknown_tokens_are_told_of_when_compiled() -> None:
    for unknown in ("<nope>", 999):
        grammar = Grammar.from_structural_tag({"format": token(unknown)})
        with pytest.raises(GrammarError, match=r"token-unknown|token-beyond-vocabulary"):
            cfgmask.compile(grammar, VOCABULARY)


def test_masks_over_a_real_vocabulary_are_those_of_trying_every_token() -> None:
    vocabulary = Vocabulary.from_gguf(gguf_path("qwen2"))
    thought = tag("", ANY, "</think>")
    calls = triggered(
        ["<|im_start|>call"],
        [tag("<|im_start|>call ", schema({"type": "object"}), ["<|im_end|>", "</x>"])],
        excludes=["<think>"],
    )
    grammar = Grammar.from_structural_tag({"format": sequence(thought, calls)})
    matcher = cfgmask.compile(grammar, vocabulary).matcher()
    begin = [vocabulary.special_tokens["<|im_start|>"]]
    bits = np.zeros((vocabulary.n_vocab + 31) // 32, dtype=np.int32)
    for step in (b"hm <", b"/think>a", begin, b'call {"a": "x', b'"}'):
        matcher.fill_mask(bits)
        allowed = np.unpackbits(bits.view(np.uint8), bitorder="little")[: vocabulary.n_vocab]
        expected = [matcher.fork().try_advance([token]) for token in range(vocabulary.n_vocab)]
        assert allowed.tolist() == expected
        fits_here = matcher.advance_bytes(step) if isinstance(step, bytes) else matcher.try_advance(step)
        assert fits_here == len(step)
