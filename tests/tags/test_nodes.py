"""The language of each form of content, with markers as text and as tokens."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

import cfgmask
from cfgmask import Grammar, Vocabulary
from cfgmask.grammar.regex_tree import Repetition, char_class
from cfgmask.tags.nodes import (
    Content,
    Dispatch,
    FreeText,
    Inner,
    Mark,
    Marker,
    Or,
    OtherTokens,
    Regex,
    Repeat,
    Schema,
    Separated,
    Sequence,
    Space,
    Tag,
    Text,
    Token,
    Triggered,
)
from cfgmask.tags.tagged import Tagged

SPECIAL = {"<|end|>": 256, "<call>": 257, "</call>": 258}
ADDED = {259: b"<think>", 260: b"</think>"}
BYTES = [bytes([byte]) for byte in range(256)]
PLAIN = Vocabulary.from_bytes([*BYTES, b""], eos_token_id=256)
WITH_TOKENS = Vocabulary.from_bytes(
    [*BYTES, b"", b"", b"", *ADDED.values()],
    eos_token_id=256,
    special_tokens=SPECIAL,
)
NAMES = {**SPECIAL, **{data.decode(): token for token, data in ADDED.items()}}
MARKERS = re.compile("(" + "|".join(map(re.escape, NAMES)) + ")")

LOWER = Regex(Repetition(char_class([(ord("a"), ord("z"))]), 1, None), "LOWER")
DIGIT = {"type": "integer", "minimum": 0, "maximum": 9}
GBNF = Grammar.from_gbnf('root ::= "<" [a-z]+ ">"').ir
CALL = Tag((Space("\n"), Marker("<call>")), Mark("arguments", Schema(DIGIT)), ((Marker("</call>"), Space("\n")),))
THOUGHT = Tag((), Mark("reasoning", FreeText()), ((Space("\n"), Marker("</think>"), Space("\n")),))
TOOLS = Triggered((CALL.begin,), (CALL,), text=FreeText(excludes=("<think>",)), mark="content")


class Case(NamedTuple):
    """Content, and texts that are of it and are not, with markers in their full spelling."""

    node: Content
    valid: list[str]
    invalid: list[str]


CASES = {
    "text": Case(Text("ab"), ["ab"], ["", "a", "abc"]),
    "empty text": Case(Text(""), [""], ["a"]),
    "schema": Case(Schema(DIGIT), ["3"], ["", "12", "x"]),
    "inner": Case(Inner(GBNF), ["<a>"], ["<>", "a"]),
    "regex": Case(LOWER, ["a", "zz"], ["", "A"]),
    "regex and its like": Case(Sequence((LOWER, Text("ab"))), ["xab", "abab"], ["ab", "xa"]),
    "any text": Case(FreeText(), ["", "a<\n"], []),
    "excludes": Case(FreeText(excludes=("aa", "b")), ["", "a", "aca"], ["aa", "b", "caac"]),
    "characters": Case(FreeText(max_chars=2), ["", "é€"], ["abc"]),
    "no characters": Case(FreeText(max_chars=0), [""], ["a"]),
    "matching": Case(FreeText(("ab",), LOWER.regex), ["a", "ba"], ["", "ab", "1"]),
    "sequence": Case(Sequence((Text("a"), Text("b"))), ["ab"], ["a", "b", "ba"]),
    "empty sequence": Case(Sequence(()), [""], ["a"]),
    "or": Case(Or((Text("a"), Text("ab"))), ["a", "ab"], ["", "b"]),
    "optional": Case(Repeat(Text("a"), 0, 1), ["", "a"], ["aa"]),
    "star": Case(Repeat(Text("ab")), ["", "ab", "abab"], ["aba"]),
    "repeat": Case(Repeat(Text("a"), 2, 3), ["aa", "aaa"], ["a", "aaaa"]),
    "tag": Case(Tag((Text("<"),), LOWER, ((Text(">"),), (Text("/"),))), ["<a>", "<b/"], ["<>", "<a", "a>"]),
    "free text up to an end": Case(
        Sequence((Tag((Text("("),), FreeText(), ((Text("))"),), (Text("]"),))), Text("!"))),
        ["())!", "(a)b))!", "(]!"],
        ["(a)!", "(])!", "(a]b]!"],
    ),
    "an end that overlaps itself": Case(Tag((), FreeText(), ((Text("aba"),),)), ["aba", "caba"], ["ababa", "abacaba"]),
    "ends of which one ends in another": Case(
        Sequence((Tag((), FreeText(), ((Text("--x"),), (Text("x"),))), Text("y"))),
        ["a--xy", "xy", "-xy"],
        ["a--x", "xxy"],
    ),
    "free text inside": Case(
        Tag((Text("<"),), Sequence((FreeText(), Text("="), FreeText())), ((Text(">"),),)),
        ["<a=b>", "<=>", "<a==>"],
        ["<a>", "<>=>"],
    ),
    "an end that may be missing": Case(
        Sequence((Tag((Text("<"),), FreeText(), ((Text(">"),), ())), Text("."))),
        ["<a>.", "<a.", "<.."],
        ["<a>b.", "a."],
    ),
    "triggered": Case(
        Triggered(((Text("<f"),),), (Tag((Text("<f="),), Text("1"), ((Text(">"),),)),)),
        ["", "a<", "<f=1>", "a<f=1>b<f=1><f=1>c", "<<f=1>"],
        ["<f", "<f=2>", "a<f=1", "<f=1><f"],
    ),
    "several tags with a trigger": Case(
        Triggered(((Text("<"),),), (Tag((Text("<a>"),), Text("1")), Tag((Text("<ab>"),), Text("2")))),
        ["x<a>1y<ab>2", "<a>1"],
        ["<a>2", "<", "<ab>1"],
    ),
    "several triggers": Case(
        Triggered(((Text("<"),), (Text("#"),)), (Tag((Text("<a"),), Text("1")), Tag((Text("#b"),), Text("2")))),
        ["<a1#b2", "x#b2y<a1z"],
        ["#a1", "<b2", "x#", "<<a1"],
    ),
    "at least one": Case(
        Triggered(((Text("<"),),), (Tag((Text("<"),), Text("1")),), at_least_one=True), ["<1", "<1a<1b"], ["", "a<1"]
    ),
    "after the first": Case(
        Triggered(((Text("<"),),), (Tag((Text("<"),), Text("1")),), stop_after_first=True),
        ["", "a", "a<1", "<1"],
        ["<1a", "<1<1"],
    ),
    "at most two": Case(
        Triggered(((Text("<"),),), (Tag((Text("<"),), Text("1")),), maximum=2), ["a<1b<1c", "a"], ["<1<1<1"]
    ),
    "exactly one": Case(
        Triggered(((Text("<"),),), (Tag((Text("<"),), Text("1")),), at_least_one=True, stop_after_first=True),
        ["<1"],
        ["", "a<1", "<1a"],
    ),
    "triggered in a tag": Case(
        Tag((Text("{"),), Triggered(((Text("<"),),), (Tag((Text("<"),), Text("}")),)), ((Text("}"),),)),
        ["{}", "{a}", "{a<}b}", "{<}}"],
        ["{<}", "{a}b}", "{<1}"],
    ),
    "separated": Case(Separated((Tag((Text("a"),), Text("1")),), (Text(","),)), ["", "a1", "a1,a1"], ["a1,", "a1a1"]),
    "separated, some": Case(Separated((Tag((Text("a"),), Text("1")),), at_least_one=True), ["a1", "a1a1"], [""]),
    "separated, one": Case(Separated((Tag((Text("a"),), Text("1")),), stop_after_first=True), ["", "a1"], ["a1a1"]),
    "separated, two": Case(Separated((Tag((Text("a"),), Text("1")),), maximum=2), ["", "a1a1"], ["a1a1a1"]),
    "dispatch": Case(
        Dispatch((((Text("<a>"),), Text("1")), ((Text("<b>"),), LOWER))),
        ["", "x<a>1y", "<a>1<b>zz<a>1", "<a"],
        ["<a>", "<a>2", "x<b>"],
    ),
    "dispatch once": Case(Dispatch((((Text("<a>"),), Text("1")),), loop=False), ["", "x<a>1"], ["<a>1x", "<a>1<a>1"]),
    "markers": Case(
        Sequence((THOUGHT, TOOLS)),
        ["</think>", "why\n</think>\nso", "x</think>a\n<call>3</call>\nb<call>1</call>", "</think><call>1</call>\n\n"],
        [
            "a",
            "</think><call>",
            "</think><call>1</call>\n<think>",
            "</think>\n<call>1\n</call>",
            "</think></think><call>x",
        ],
    ),
}


def _feed(text: str, node: Content, vocabulary: Vocabulary) -> cfgmask.Matcher | None:
    """A matcher after the text; names of tokens of the vocabulary are written by id. None: it does not fit."""
    matcher = cfgmask.compile(Grammar._from_tagged(Tagged(node), "<nodes>"), vocabulary).matcher()
    for part in MARKERS.split(text) if vocabulary is WITH_TOKENS else [text]:
        token = NAMES.get(part)
        ids = list(part.encode()) if token is None or vocabulary is PLAIN else [token]
        if matcher.try_advance(ids) < len(ids):
            return None
    return matcher


@pytest.mark.parametrize("vocabulary", [PLAIN, WITH_TOKENS], ids=["text", "tokens"])
@pytest.mark.parametrize("name", CASES)
def test_texts(name: str, vocabulary: Vocabulary) -> None:
    node, valid, invalid = CASES[name]
    for text in valid:
        matcher = _feed(text, node, vocabulary)
        assert matcher is not None, text
        assert matcher.is_accepting, text
    for text in invalid:
        matcher = _feed(text, node, vocabulary)
        assert matcher is None or not matcher.is_accepting, text


def test_markers_are_written_by_id_where_there_is_one() -> None:
    matcher = _feed("hm", THOUGHT, WITH_TOKENS)
    assert matcher is not None
    assert matcher.advance_bytes(b"</think>") < 8, "the text of a marker that is a token is in no free text"
    assert matcher.try_advance([NAMES["</think>"]]) == 1


def test_captures() -> None:
    text = "why\n\n</think>\nso\n<call>3</call>\nb<call>1</call>"
    expected = [
        ("reasoning", b"why"),
        ("content", b"so"),
        ("arguments", b"3"),
        ("content", b"b"),
        ("arguments", b"1"),
    ]
    for vocabulary in (PLAIN, WITH_TOKENS):
        matcher = _feed(text, Sequence((THOUGHT, TOOLS)), vocabulary)
        assert matcher is not None
        assert matcher.captures() == expected


def test_tokens() -> None:
    node = Sequence((Token("<call>"), OtherTokens(("</call>",), 0, 2), Token(258)))
    assert _feed("<call>a</think></call>", node, WITH_TOKENS) is not None
    assert _feed("<call></call></call>", node, WITH_TOKENS) is None
    assert _feed("<call>abc", node, WITH_TOKENS) is None


def test_the_lexer_is_the_fast_one_where_that_is_right() -> None:
    assert Tagged(Sequence((THOUGHT, TOOLS))).ir.lexer == "longest"
    assert Tagged(Sequence((THOUGHT, TOOLS))).for_vocabulary(WITH_TOKENS).lexer == "longest"
    assert Tagged(Sequence((LOWER, Text("ab")))).ir.lexer == "complete"


def test_text_that_begins_like_a_value() -> None:
    """An opening bracket is a lexeme of the value and only a part of the text."""
    schema = {"properties": {"a": {"type": "integer"}}, "additionalProperties": False}
    for written in ('{"b": 1}', "{\n}", "{}"):
        compiled = cfgmask.compile(Grammar(Tagged(Or((Text('{"b": 1}'), Text("{\n}"), Schema(schema)))).ir), PLAIN)
        matcher = compiled.matcher()
        assert matcher.try_advance(list(written.encode())) == len(written)
        matcher = compiled.matcher()
        assert matcher.try_advance(list(b'{"a": 1}')) == 8
        assert matcher.is_accepting


def test_schemas_with_errors_are_told_of_by_their_places() -> None:
    bad = Schema(
        {"properties": {"a": {"multipleOf": 1000000000000000003, "type": "integer"}}}, at="/format/content/json_schema"
    )
    with pytest.raises(cfgmask.GrammarError) as raised:
        Tagged(Sequence((bad, Schema(True, form="xmll", at="/format/other"))))
    assert [(d.code, d.pointer) for d in raised.value.diagnostics] == [
        ("schema-multiple-of", "/format/content/json_schema/properties/a/multipleOf"),
        ("tag-unknown-style", "/format/other"),
    ]
