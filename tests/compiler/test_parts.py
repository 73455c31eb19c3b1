"""Schemas as parts of any grammar: the same masks as with all their rules at once, and as trying every token."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask import Limits
from cfgmask.grammar.parts import expanded, parts_of, with_lazy_parts

# Every byte, some tokens that cross lexemes and parts, and two that token sets name: one without text, one with.
TOKENS = [
    *(bytes([i]) for i in range(256)),
    *(b'{"', b'"}', b'":', b'": ', b'","', b'", "', b"[]", b'{"a', b'a":', b'"a"', b'"b"', b"}}", b"}{", b"tr", b"ue"),
    *(b"1,", b"\n  ", b"x{", b"};", b"]]", b"null", b'\\"', b'x"', b"]x", b"10", b'{}{"a"', b"<a>"),
]
WITH_TEXT = len(TOKENS) - 1
WITHOUT_TEXT = len(TOKENS)
END = len(TOKENS) + 1
TOKENS += [b"", b""]
LIMITS = Limits(max_items=20_000, max_item_sets=20_000, max_rules=100_000)

SCHEMAS: dict[str, Any] = {
    "anything": {},
    "integer": {"type": "integer"},
    "open object": {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
    "closed object": {"properties": {"a": {"enum": ["x", 1]}}, "required": ["a"], "additionalProperties": False},
    "counted keys": {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 2,
        "additionalProperties": {"type": "null"},
    },
    "keys with a pattern": {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "required": ["ab"]},
    "unequal values": {"type": "array", "items": {"enum": ["a", "b", 1, None]}, "uniqueItems": True},
    "unequal strings": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 1},
    "recursive": {"properties": {"a": {"$ref": "#"}}, "additionalProperties": False, "type": "object"},
    "many objects": {"anyOf": [{"type": "object", "properties": {"a": {"const": n}, "b": {}}} for n in range(24)]},
    "many closed objects": {
        "anyOf": [
            {"type": "object", "properties": {"a": {"const": n}, "b": {}}, "additionalProperties": False}
            for n in range(24)
        ]
    },
    "many arrays": {"anyOf": [{"type": "array", "prefixItems": [{"const": n}, {}]} for n in range(20)]},
    "many members": {"properties": {f"{a}{b}": {"type": "integer"} for a in "abcdef" for b in "abcd"}},
}

GRAMMARS = {
    "alone": "start: @@",
    "a token without text": 'start: ("x" | <call>) @@',
    "a token with text": f"start: TEXT? <[{WITH_TEXT}]> @@\nTEXT: /[a-z<>]+/",
    "a token with text behind": f'start: @@ <[{WITH_TEXT}]> @@ | @@ "<a>" "!"',
    "any token": "start: @@ | <[*]> @@",
    "a token limit before": 'start: t "}" @@\nt[max_tokens=3]: /[^}]*/',
    "a token limit behind": "start: @@ t?\nt[max_tokens=2]: /[a-z{]+/",
    "a token limit beside": 'start: @@ | t\nt[max_tokens=2]: /[{\\[]"?a*/ "}"',
    "a token limit around": 'start: t "!"\nt[max_tokens=12]: @@',
    "a limited terminal": "start: t @@ | @@ t\nt[max_tokens=2]: T\nT: /[a-z<>]+/",
    "characters counted": "start: t @@\nt[max_chars=3]: /[a-z]*/",
    "lookbehind": 'start: @@ /(?<=[}\\]])x/? "y"?',
    "lookahead": "start: /x(?=\\{)/ @@ | /y/ @@",
    "parameters": 'start: a::0\na::_: "x" a::incr(_) %if lt(_, 3) | @@',
    "complete": '%cfgmask {"lexer": "complete"}\nstart: T @@ T?\nT: /[a-z{]+/',
    "an indenter": """\
%cfgmask {"indenter": {"NL_type": "_NL"}}
start: ("a" @@ _NL (_INDENT @@ _NL _DEDENT)?)+
_NL: /\\n */
%declare _INDENT _DEDENT""",
    "a capture": 'start: "x"? v ";"?\nv[capture="value"]: @@',
    "lazy": "start: t @@\nt[lazy]: /[a-z]*x/",
    "a stop": 'start: t @@\nt[stop="x"]: /[^{}]*/',
    "a suffix": 'start: t @@\nt[suffix="x"]: /[a-z]*/',
    "a template": 'start: pair{v, "-"}\npair{a, b}: a b a | b a\nv: @@',
    "inside of a grammar": 'start: "<" %lark { start: "(" @@ ")" | @@ } ">"',
    "priorities": 'start: @@ | WORD "?"\nWORD.2: /\\{[a-z"]*/',
    "ignored text": 'start: "x" @@+ "y"?\n%ignore / +|\\{\\}/',
    "repeated": 'start: (@@ ";"){2,3}',
    "twice": 'start: v v | "x" v\nv: @@',
    "left recursion": 'start: @@ | start "," @@',
    "a temperature": 'start: v "."?\nv[temperature=0.5]: @@',
    "a budget and a token with text": f"start: t <[{WITH_TEXT}]> @@\nt[max_tokens=4]: /[a-z]*/",
}
NOT_LAZY = {"parameters"}

# Liked bytes and tokens get a random text into the schema and out of it again.
LIKED = {i for i, token in enumerate(TOKENS) if set(token) & set(b'{}[]":,ax;-!') or len(token) > 1}


def grammar(name: str, schema: Any) -> cfgmask.Grammar:
    return cfgmask.Grammar.from_lark(GRAMMARS[name].replace("@@", f"%json {json.dumps(schema)}"), limits=LIMITS)


def compiled(what: cfgmask.Grammar) -> cfgmask.CompiledGrammar:
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=END, special_tokens={"<call>": WITHOUT_TEXT})
    return cfgmask.compile(what, vocabulary, LIMITS)


def allowed(matcher: cfgmask.Matcher) -> list[int]:
    bits = np.zeros((len(TOKENS) + 31) // 32, np.int32)
    matcher.fill_mask(bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


def compare(name: str, schema: Any, seed: int, n_walks: int, n_steps: int) -> int:
    """Walk by the masks of both, hold them against each other and, now and then, against each token by itself.

    Returns how many walks came to a place where the text may end.
    """
    one = grammar(name, schema)
    both = [compiled(one), compiled(cfgmask.Grammar(one.ir))]
    choose = random.Random(seed)
    n_ended = 0
    for _ in range(n_walks):
        matchers = [made.matcher() for made in both]
        for step in range(n_steps):
            masks = [allowed(matcher) for matcher in matchers]
            assert masks[0] == masks[1], (name, schema, step)
            if choose.random() < 0.1:
                fits = [token for token in range(len(TOKENS)) if matchers[0].try_advance([token], consume=False)]
                assert fits == masks[0], (name, schema, step)
            assert matchers[0].is_accepting == matchers[1].is_accepting
            assert matchers[0].forced_bytes() == matchers[1].forced_bytes()
            if not masks[0] or matchers[0].is_finished:
                break
            liked = [token for token in masks[0] if token in LIKED]
            token = choose.choice(liked if liked and choose.random() < 0.8 else masks[0])
            for matcher in matchers:
                matcher.advance(token)
        ends = [matcher.completion() for matcher in matchers] if not matchers[0].is_finished else []
        if ends:
            assert (ends[0] is None) == (ends[1] is None)
            assert ends[0] is None or len(ends[0]) == len(ends[1]), (name, schema)
        n_ended += bool(ends and ends[0] is not None) or matchers[0].is_finished
    return n_ended


@pytest.mark.parametrize("name", GRAMMARS)
def test_masks(name: str) -> None:
    n_ended = sum(compare(name, schema, seed, 2, 14) for seed, schema in enumerate(SCHEMAS.values()))
    assert n_ended


@pytest.mark.parametrize("name", GRAMMARS)
def test_where_parts_stay(name: str) -> None:
    """Elsewhere the core has all rules at once."""
    one = grammar(name, SCHEMAS["closed object"])
    form = one.parted_ir
    assert parts_of(form)
    assert bool(parts_of(with_lazy_parts(form))) == (name not in NOT_LAZY)
    assert not parts_of(expanded(form))
    assert not parts_of(one.ir)


@pytest.mark.parametrize("name", ["a token with text", "a capture", "inside of a grammar", "a token limit before"])
def test_pickles_notes_and_places(name: str) -> None:
    schema = {"type": "object", "propertis": {}, "required": ["a"]}
    one = grammar(name, schema)
    assert {note.code for note in one.notes} == {note.code for note in cfgmask.Grammar.from_json_schema(schema).notes}
    again = pickle.loads(pickle.dumps(one))
    first, second = compiled(one).matcher(), compiled(again).matcher()
    assert allowed(first) == allowed(second)
    told = first.explain(ord("%"))
    assert {rule.span is not None for expected in told.expected for rule in expected.rules} == {True}


NOTED = {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}}


@pytest.mark.parametrize(
    "make",
    [
        lambda: cfgmask.Grammar.from_lark(f'start: a | "x" %json {{"nullable": true}}\na: %json {json.dumps(NOTED)}'),
        lambda: cfgmask.Grammar.from_structural_tag(
            {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": NOTED}}
        ),
        lambda: cfgmask.Grammar.from_tools([{"name": "f", "parameters": NOTED}], style="hermes"),
    ],
    ids=["blocks", "structural tag", "tools"],
)
def test_notes_of_parts_are_those_of_their_rules(make: Callable[[], cfgmask.Grammar]) -> None:
    grammar = make()
    before = grammar.notes
    assert {note.code for note in before} == {"schema-unknown-keyword"}
    assert grammar.ir.notes == before == grammar.notes
