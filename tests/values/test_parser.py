"""Values of texts, against parsers that know nothing of the grammar: `json`, and patterns written by hand."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterable
from typing import Any

import pytest

import cfgmask
from cfgmask.values import (
    ArgumentsDelta,
    CallBegun,
    CallDone,
    Capture,
    CaptureDelta,
    CaptureDone,
    ContentDelta,
    Event,
    JsonReader,
    Message,
    Parser,
    ReasoningDelta,
    Retracted,
    TextDelta,
    ToolCall,
    ValueDone,
)
from tests.values.walks import END, TOKENS, VOCABULARY, text_of, walk

WALKS = 2_000

SCHEMAS: list[Any] = [
    {"type": "object"},
    {"type": "array", "items": {"type": ["string", "number", "null"]}},
    {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["lorem", "yes"]}}},
        "required": ["name"],
        "additionalProperties": {"type": "boolean"},
    },
    {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
    {"type": "string", "maxLength": 9},
    {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]},
]

# Thinking, free text and calls, in the way of Hermes. Free text and the marker behind it are one terminal, as the
# lowering of tools makes it.
HERMES = r"""
start: thought? (said call)* last
thought: "<think>" reasoning
reasoning[capture, suffix="</think>"]: /([^<]|<[^\/<])*/
said: said_text
said_text[capture="content", suffix=/\s*<tool_call>/]: /([^<\s]|<[^t\s<]|\s+([^<\s]|<[^t\s<]))*/
last[capture="content"]: /([^<\s]|<[^t\s<]|\s+([^<\s]|<[^t\s<]))*/
call[capture="tool_call"]: /\n?/ "{\"name\": \"" name "\", \"arguments\": " arguments "}" /\n?/ "</tool_call>"
name[capture]: /[a-z_]{1,8}/
arguments[capture]: %json {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}
"""
# Arguments before the name, no capture around the call, and another form.
OTHER = r"""
start: (call ";")+
call: "f(" first ")" | "g " args
first: arguments " by " tool_name
arguments[capture]: %json {"type": "array", "items": {"type": "integer"}}
tool_name[capture]: /[a-z]{1,5}/
args: named "=" plain
named[capture="tool_name"]: /[A-Z]{1,3}/
plain[capture="arguments"]: %json {"type": "string", "maxLength": 5}
"""


def hermes(text: str) -> Message:
    """What a text in the way of Hermes says, by patterns."""
    message = Message()
    if thought := re.match(r"<think>(.*?)</think>", text, re.DOTALL):
        message.reasoning = thought[1]
        text = text[thought.end() :]
    # Strings of the arguments may hold markers: where these end is for JSON to say.
    message.content = ""
    while begun := re.search(r'\s*<tool_call>\n?\{"name": "([a-z_]+)", "arguments": ', text):
        arguments, end = json.JSONDecoder().raw_decode(text, begun.end())
        closed = re.compile(r"\}\n?</tool_call>").match(text, end)
        assert closed, text
        message.content += text[: begun.start()]
        message.tool_calls.append(ToolCall(begun[1], arguments, text[begun.end() : end]))
        text = text[closed.end() :]
    message.content += text
    return message


def deltas(events: Iterable[Event]) -> Message:
    """What the events of a message add up to."""
    message = Message()
    begun: dict[int, str] = {}
    arguments: dict[int, str] = {}
    for event in events:
        if isinstance(event, ReasoningDelta):
            message.reasoning = (message.reasoning or "") + event.text
        elif isinstance(event, ContentDelta):
            message.content = (message.content or "") + event.text
        elif isinstance(event, CallBegun):
            assert event.index == len(begun)
            begun[event.index] = event.name
            arguments[event.index] = ""
        elif isinstance(event, ArgumentsDelta):
            arguments[event.index] += event.text
        elif isinstance(event, CallDone):
            assert event.call.name == begun[event.index]
            assert event.call.text == arguments[event.index]
            message.tool_calls.append(event.call)
        else:
            assert isinstance(event, ValueDone)
    return message


def in_pieces(rng: random.Random, data: bytes) -> Iterable[bytes]:
    at = 0
    while at < len(data):
        size = rng.choice([1, 1, 2, 5, 17])
        yield data[at : at + size]
        at += size


@pytest.mark.parametrize("schema", SCHEMAS, ids=json.dumps)
def test_schemas(schema: Any) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(1)
    for _ in range(WALKS // len(SCHEMAS)):
        tokens = walk(compiled, rng, 25)
        text = text_of(tokens)
        value = json.loads(text)
        assert grammar.parse(text) == grammar.parse(text.decode()) == value
        assert grammar.parse([*tokens, END], compiled) == value
        parser, reader = grammar.parser(compiled), JsonReader()
        told = ""
        for token in tokens:
            for event in parser.feed(token):
                assert isinstance(event, TextDelta)
                told += event.text
            reader.feed(TOKENS[token])
            assert (parser.value, parser.open) == (reader.value, reader.open)
        assert parser.may_end
        assert parser.feed(END)[-1] == ValueDone(value)
        assert told == text.decode()
        assert parser.open is None


def test_calls() -> None:
    grammar = cfgmask.Grammar.from_lark(HERMES)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(2)
    n_calls = 0
    for _ in range(WALKS):
        tokens = walk(compiled, rng, 60)
        text = text_of(tokens)
        expected = hermes(text.decode())
        assert replace_none(grammar.parse(text)) == replace_none(expected), text
        n_calls += len(expected.tool_calls)
        events = []
        parser = grammar.parser(compiled)
        for token in tokens:
            events += parser.feed(token)
            so_far = deltas([e for e in events if not isinstance(e, CallDone)])
            assert (expected.content or "").startswith(so_far.content or "")
            assert (expected.reasoning or "").startswith(so_far.reasoning or "")
            assert len(parser.value.tool_calls) <= len(expected.tool_calls)
        events += parser.finish()
        assert events[-1] == ValueDone(grammar.parse(text))
        assert replace_none(deltas(events)) == replace_none(expected)
        by_bytes = grammar.parser()
        in_bytes = [event for piece in in_pieces(rng, text) for event in by_bytes.feed(piece)]
        assert replace_none(deltas([*in_bytes, *by_bytes.finish()])) == replace_none(expected)
    assert n_calls > WALKS / 10


def replace_none(message: Message) -> Message:
    """An empty text is told by no delta."""
    return Message(message.reasoning or "", message.content or "", message.tool_calls, message.value)


def test_calls_without_a_rule_around_them() -> None:
    """Where nothing stands around a call it begins with its name, and arguments end it."""
    grammar = cfgmask.Grammar.from_lark(OTHER.replace("first: arguments", 'first[capture="tool_call"]: arguments'))
    message = grammar.parse('f([1, 2] by abc);g XY="é";')
    assert message.tool_calls == [ToolCall("abc", [1, 2], "[1, 2]"), ToolCall("XY", "é", '"é"')]
    parser = grammar.parser()
    assert parser.feed("f([1, 2] by a") == []
    assert parser.value.tool_calls == [ToolCall("", [1, 2], "[1, 2]", is_open=True)]
    assert parser.open == ("tool_calls", 0, "tool_name")
    assert parser.feed(")") == [
        CallBegun(0, "a"),
        ArgumentsDelta(0, "[1, 2]"),
        CallDone(0, ToolCall("a", [1, 2], "[1, 2]")),
    ]


def test_a_marker_is_not_told_before_it_is_certain() -> None:
    parser = cfgmask.Grammar.from_lark(HERMES).parser()
    assert parser.feed("Hi <") == [ContentDelta("Hi")]
    assert parser.feed("b> there\n<tool_") == [ContentDelta(" <b> there")]
    assert parser.feed('call>\n{"name": "f') == []
    assert parser.feed('", "arguments": {"a": "x\\u00') == [CallBegun(0, "f"), ArgumentsDelta(0, '{"a": "x\\u00')]
    assert parser.value.tool_calls[0].arguments == {"a": "x"}
    assert parser.open == ("tool_calls", 0, "arguments", "a")
    call = ToolCall("f", {"a": "xé"}, '{"a": "x\\u00e9"}')
    assert parser.feed('e9"}}</tool_call>') == [ArgumentsDelta(0, 'e9"}'), CallDone(0, call)]
    assert parser.feed("é".encode()[:1]) == []
    assert parser.feed("é".encode()[1:]) == [ContentDelta("é")]


CAPTURES = 'start: (pair ",")* pair\npair[capture]: key "=" value\nkey[capture]: /[a-z]+/\nvalue: /[0-9]+/ | pair'


def test_captures() -> None:
    grammar = cfgmask.Grammar.from_lark(CAPTURES)
    inner = Capture("pair", "b=1", 2, 5, (Capture("key", "b", 2, 3),))
    first = Capture("pair", "a=b=1", 0, 5, (Capture("key", "a", 0, 1), inner))
    second = Capture("pair", "c=22", 6, 10, (Capture("key", "c", 6, 7),))
    assert grammar.parse("a=b=1,c=22") == (first, second)
    parser = grammar.parser()
    events = parser.feed("a=b")
    assert events[:2] == [CaptureDelta("key", "a"), CaptureDone(first.captures[0])]
    assert events[2:] == [CaptureDelta("pair", "="), CaptureDelta("key", "b")]
    assert parser.open == ("pair", "pair", "key")
    assert parser.feed("=1") == [
        CaptureDone(inner.captures[0]),
        CaptureDelta("pair", "=1"),
    ]
    assert parser.feed(",") == [CaptureDone(inner), CaptureDone(first)]
    assert parser.value == (first,)


def test_texts() -> None:
    assert cfgmask.Grammar.from_choices(["yes", "no"]).parse("no") == "no"
    assert cfgmask.Grammar.from_regex("[a-zé]+").parse("aé".encode()) == "aé"
    assert cfgmask.Grammar.from_gbnf('root ::= "a" [0-9]').parse("a1") == "a1"
    parser = cfgmask.Grammar.from_choices(["yes", "yet"]).parser()
    assert parser.feed("ye") == [TextDelta("ye")]
    assert (parser.value, parser.open, parser.may_end) == ("ye", (), False)


ERRORS = [
    ('{"a" 1}', 4, False),
    ('{"a": 1', 7, True),
    ("", 0, True),
    ("nul", 0, False),
    ('{"a": é}', 6, False),
]


@pytest.mark.parametrize(("text", "offset", "is_prefix"), ERRORS)
def test_errors_have_a_place(text: str, offset: int, is_prefix: bool) -> None:
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "required": ["a"]})
    with pytest.raises(cfgmask.ParseError) as error:
        grammar.parse(text)
    assert (error.value.offset, error.value.is_prefix) == (offset, is_prefix)
    assert error.value.expected
    assert f"byte {offset}" in str(error.value)


def test_an_error_leaves_the_parser_as_it_was() -> None:
    parser = cfgmask.Grammar.from_json_schema({"type": "array"}).parser(VOCABULARY)
    parser.feed("[1, ")
    for wrong in ("]", "x", [300_000], b"\xff"):
        with pytest.raises(cfgmask.ParseError) as error:
            parser.feed(wrong)
        assert error.value.offset == 4
        assert not error.value.may_end
    parser.feed("2]")
    assert parser.finish() == [ValueDone([1, 2])]
    with pytest.raises(cfgmask.ParseError):
        parser.feed("x")
    assert parser.finish() == []


def test_surrogates_are_no_text() -> None:
    with pytest.raises(cfgmask.ParseError) as error:
        cfgmask.Grammar.from_regex(".*").parse("é\ud800")
    assert error.value.offset == 2


def test_tokens_need_a_vocabulary() -> None:
    with pytest.raises(TypeError, match="vocabulary"):
        cfgmask.Grammar.from_regex("a").parse([97])


def test_special_tokens_are_read_in_texts() -> None:
    grammar = cfgmask.Grammar.from_lark('start: <|tool|> name <|end|>?\nname[capture="tool_name"]: /[a-z<|>]+/')
    vocabulary = cfgmask.Vocabulary.from_bytes([*TOKENS, b"", b""], END, {"<|tool|>": END + 1})
    assert grammar.parse("<|tool|>abc").tool_calls == [ToolCall("abc")]
    assert grammar.parse("<|tool|>abc<|end|>").tool_calls == [ToolCall("abc")]
    with pytest.raises(cfgmask.ParseError) as error:
        grammar.parse("<|tool|>ab1")
    assert error.value.offset == 10
    tool = cfgmask.Grammar.from_lark('start: <|tool|> name\nname[capture="tool_name"]: /[a-z<|>]+/')
    assert tool.parse([END + 1, 97, END], vocabulary).tool_calls == [ToolCall("a")]
    assert tool.parse("<|tool|>abc<|tool|>", vocabulary).tool_calls == [ToolCall("abc<|tool|>")]


# ---- rollback, forks, jumps


def snapshot(parser: Parser) -> tuple[Any, Any, bytes, bool]:
    return copy.deepcopy(parser.value), parser.open, parser.text, parser.may_end


@pytest.mark.parametrize("source", [HERMES, CAPTURES, "json"])
def test_rollbacks_and_forks(source: str) -> None:
    """After any of them, all is as if the text had been read at once; and the events add up to the text."""
    if source == "json":
        grammar = cfgmask.Grammar.from_json_schema({"type": "object"})
    else:
        grammar = cfgmask.Grammar.from_lark(source)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(3)
    for _ in range(150):
        tokens, other = walk(compiled, rng, 40), walk(compiled, rng, 40)
        parser = grammar.parser(compiled)
        taken: list[int] = []
        for _ in range(25):
            kind = rng.random()
            if kind < 0.25 and taken:
                n = rng.randrange(1, len(taken) + 1)
                parser.rollback(n)
                del taken[-n:]
            elif kind < 0.35:
                parser = parser.fork()
            else:
                if taken == other[: len(taken)] and rng.random() < 0.5:
                    tokens, other = other, tokens
                more = tokens[len(taken) :][: rng.randrange(1, 6)] if taken == tokens[: len(taken)] else []
                parser.feed(more)
                taken += more
            if rng.random() < 0.6:
                plain = grammar.parser(compiled)
                for token in taken:
                    plain.feed(token)
                assert snapshot(parser) == snapshot(plain)


def test_what_was_told_is_not_told_again() -> None:
    grammar = cfgmask.Grammar.from_lark(HERMES)
    compiled = cfgmask.compile(grammar, VOCABULARY)
    rng = random.Random(4)
    for _ in range(200):
        tokens = walk(compiled, rng, 40)
        parser = grammar.parser(compiled)
        events: list[Event] = []
        for token in tokens:
            events += parser.feed(token)
            if rng.random() < 0.3:
                # The same text in other tokens: single bytes.
                n = rng.randrange(1, 4)
                before = parser.text
                n = min(n, len(parser._steps))
                parser.rollback(n)
                if rng.random() < 0.5:
                    parser.value  # noqa: B018, whoever asks in between changes nothing
                for byte in before[len(parser.text) :]:
                    events += parser.feed(byte)
        events += parser.finish()
        assert replace_none(deltas(events)) == replace_none(grammar.parse(text_of(tokens)))


def test_what_goes_on_in_another_way_is_retracted() -> None:
    parser = cfgmask.Grammar.from_lark(HERMES).parser()
    assert parser.feed("Hello") == [ContentDelta("Hello")]
    assert parser.feed(" World") == [ContentDelta(" World")]
    parser.rollback(1)
    assert parser.value == Message(content="Hello")
    assert parser.feed(" Wo") == []
    assert parser.feed("men") == [Retracted(8)]
    assert parser.value == Message(content="Hello Women")
    assert parser.feed("!") == [ContentDelta("!")]
    parser.finish()
    parser.rollback(1)
    assert parser.feed("?") == [Retracted(12)]
    assert parser.value == Message(content="Hello Women!?")
    with pytest.raises(ValueError, match="steps to take back"):
        parser.rollback(100)


def test_a_rollback_goes_with_the_matcher() -> None:
    """Jumps, as a loop makes them."""
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "properties": {"name": {"const": "lorem"}}})
    vocabulary = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], END, encode=lambda text: list(text.encode()))
    compiled = cfgmask.compile(grammar, vocabulary)
    matcher, parser = compiled.matcher(), grammar.parser(compiled)
    told = ""
    for token in [TOKENS.index(b'{"'), TOKENS.index(b"name")]:
        matcher.advance(token)
        told += "".join(event.text for event in parser.feed(token) if isinstance(event, TextDelta))
        n_back, tokens = matcher.jump()
        matcher.rollback(n_back)
        parser.rollback(n_back)
        assert matcher.try_advance(tokens) == len(tokens)
        told += "".join(event.text for event in parser.feed(tokens) if isinstance(event, TextDelta))
    assert told == parser.text.decode()
    assert told.startswith('{"name')
