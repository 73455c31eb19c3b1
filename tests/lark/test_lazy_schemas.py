"""`%json` blocks, whose rules come when texts come to them, against grammars with all of their rules from the start."""

from __future__ import annotations

import json
import pickle
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import cfgmask
from cfgmask import LimitExceeded, Limits
from tests.lark.engine import allowed_by_all

SHIPPED = Path(__file__).resolve().parents[2] / "grammars"
# Every byte, and some tokens that cross lexemes and blocks.
TOKENS = [
    *(bytes([i]) for i in range(256)),
    *(b'{"', b'"}', b'":', b'": ', b'","', b'", "', b"[]", b"[[", b'{"a', b'a":', b'"a"', b'"b"', b"}}", b"}{"),
    *(b"tr", b"ue", b"10", b"1,", b"\n  ", b"x{", b"};", b"]]", b"null", b'\\"', b"\\u00", b'"kind'),
    b"",
]
LIMITS = Limits(max_items=10_000, max_item_sets=5_000, max_rules=100_000)
TOOL = {
    "type": "object",
    "properties": {"name": {"const": "a"}, "b": {"type": "integer", "minimum": 3}},
    "required": ["name"],
    "additionalProperties": False,
}
UNEQUAL = {"type": "array", "items": {"enum": ["a", "b", 1, None]}, "uniqueItems": True}
TREE = {"properties": {"left": {"$ref": "#"}, "v": {"type": "string", "maxLength": 2}}, "additionalProperties": False}
SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "string", "maxLength": 3},
    {"type": "integer"},
    {"enum": ["a", "ab", 1, 10, None]},
    TOOL,
    TOOL | {"properties": {"name": {"const": "b"}, "ab": {"type": "boolean"}}},
    TREE,
    UNEQUAL,
    {"type": "array", "items": {"type": "object"}, "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "null"}},
    {"type": "object", "minProperties": 1, "properties": {"a": True, "b": {"type": "null"}}},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}}, "required": ["ab"]},
    {"type": "object", "properties": {letter: {"type": "integer"} for letter in "abcdefghij"}},
    {"oneOf": [TOOL | {"properties": {"name": {"const": letter}}} for letter in "abcdefghijklmnopqrstuvw"]},
    {"anyOf": [{"type": "array", "prefixItems": [{"const": n}, {}]} for n in range(20)]},
    {"properties": {"date": {"type": "string", "format": "date"}}, "required": ["date"]},
    {"type": "string", "pattern": "^a+b?$"},
]


def block(schema: dict[str, Any]) -> str:
    return f"%json {json.dumps(schema)}"


TOOLS = "\n".join(f"t{n}: {block(TOOL | {'properties': {'name': {'const': name}}})}" for n, name in enumerate("abc"))
GRAMMARS = {
    "a limit around a schema": 'start: a "!"\na[max_tokens=9]: b\nb: "x"? %json {}',
    "a schema": f"start: {block(TOOL)}",
    "any value": "start: %json {}",
    "a schema of a scalar": f'start: "x" {block({"type": "integer"})} "y"',
    "schemas side by side": f"start: t0 | t1 | t2\n{TOOLS}",
    "schemas one behind the other": f'start: t0 ";" t1 t2?\n{TOOLS}\n%ignore / +/',
    "a schema several times": f'start: v ("," v)* | "x" v\nv: {block(UNEQUAL)}',
    "equal schemas": f'start: {block(TREE)} | "x" {block(TREE)} | {block(TREE)} "y"',
    "a schema beside rules": f'start: {block({"type": "object"})} | "{{" start "}}" | /\\{{a+/',
    "a schema beside words": f'start: {block({"type": "string"})} | /"[a-z]*"/ "!" | STRING "?"\nSTRING: /"[^"]*"x/',
    "keys that must not repeat beside words": f'start: {block({"type": "object"})} | "{{" "\\"a\\"" ":" "{{" "x"',
    "keys that must not repeat in one of two": f"start: {block({'type': 'object'})} | {block(TOOL)} | {block(UNEQUAL)}",
    "left recursion around a schema": f'start: start {block(TREE)} | "x"',
    "right recursion around a schema": f'start: {block(TREE)} start | "x"',
    "groups": f'start: ({block(SCHEMAS[3])} | "x"){{2}} [{block(SCHEMAS[1])}] ("y" | "z" {block(UNEQUAL)})+',
    "another place for blanks": f'start: "x" {block(UNEQUAL)} "y"\n%ignore "_"',
    "options": f'start: "x" {block(TREE)}\n%ignore " "\n%cfgmask {{"ignore_once": true, "ignore_initial": false}}',
    "a token before a schema": f'start: <[97]>? {block(TREE)} <[125]> | <[123,273]> "x"',
    "any token before a schema": f"start: <[*]> {block(TOOL)} | {block(UNEQUAL)}",
    "a limit beside a schema": f'start: t "x" {block(TREE)} | {block(TOOL)} t\nt[max_tokens=3]: /[a-z{{]*/',
    "a limit of rules beside a schema": f'start: t {block(TREE)} t?\nt[max_tokens=3]: "<" (t | /[a-z]/)* ">"',
    "a thought before a schema": f"start: <[60]> t <[62]> {block(TOOL)}\nt[max_tokens=4]: /(.|\\n)*/",
    "priorities": f'start: A | {block(SCHEMAS[3])}\nA.2: /"a"|[0-9]+/',
    "large unions": "start: " + " | ".join(block(schema) for schema in SCHEMAS[14:16]),
    "all": "start: " + " | ".join(f'"{n}=" {block(schema)}' for n, schema in enumerate(SCHEMAS)),
    "all at once": "start: " + " | ".join(block(schema) for schema in SCHEMAS),
}


# Tokens of which a random text gets more than its share: others lead into long strings.
LIKED = {number for number, token in enumerate(TOKENS) if set(token) & set(b'{}[]":,ax;') or len(token) > 1}


def compare(text: str, seed: int, n_walks: int = 6, n_steps: int = 40) -> None:
    """Random walks by the masks: these are the same, and so is where a token fails, and in which rules."""
    grammar = cfgmask.Grammar.from_lark(text, limits=LIMITS)
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    lazy, whole = (cfgmask.compile(one, vocabulary, LIMITS) for one in (grammar, grammar.ir))
    choose = random.Random(seed)
    for _ in range(n_walks):
        matchers = [lazy.matcher(), whole.matcher()]
        for _ in range(n_steps):
            may_come = allowed_by_all(matchers, text)
            asked = choose.randrange(len(TOKENS))
            told = [matcher.explain(asked) for matcher in matchers]
            assert len({(one.reason, one.offset, one.may_end) for one in told}) == 1, text
            assert rules_of(told[0]) == rules_of(told[1]), text
            if not may_come or matchers[0].is_finished:
                break
            liked = [token for token in may_come if token in LIKED]
            token = choose.choice(liked if liked and choose.random() < 0.8 else may_come)
            for matcher in matchers:
                matcher.advance(token)
        assert matchers[0].is_accepting == matchers[1].is_accepting


def rules_of(told: cfgmask.Explanation) -> set[tuple[str, int | None]]:
    """The rules that go on, with the places of their names. Those of a schema stand for all of it."""
    found = set()
    for expected in told.expected:
        for rule in expected.rules:
            name = rule.name.partition(":")[0] if rule.name.startswith("%json#") else rule.name
            found.add((name, None if rule.span is None else rule.span.start))
    return found


@pytest.mark.parametrize("text", GRAMMARS.values(), ids=GRAMMARS)
def test_it_is_the_same_grammar(text: str) -> None:
    compare(text, seed=len(text))


def test_the_shipped_grammar_of_tools() -> None:
    compare((SHIPPED / "tool_call.lark").read_text(encoding="utf-8"), seed=3, n_walks=12, n_steps=80)


PARTS = [
    "<[97]>",
    "<[123-125]>",
    "t",
    "V",
    '"x"',
    '"{"',
    '"["',
    "a",
    "a?",
    '"\\"a\\""',
    "STRING",
    "V?",
    "V*",
    '("," V)*',
    '(V | "y")+',
]


@given(
    st.lists(st.lists(st.sampled_from(PARTS), min_size=1, max_size=3), min_size=1, max_size=4),
    st.lists(st.sampled_from(SCHEMAS), min_size=1, max_size=4),
    st.sampled_from(["", '%ignore " "', '%ignore " "\n%cfgmask {"ignore_final": false}']),
    st.integers(0, 2**16),
)
def test_random_grammars(alternatives: list[list[str]], schemas: list[Any], more: str, seed: int) -> None:
    rest = iter(schemas)
    body = " | ".join(" ".join(parts) for parts in alternatives)
    pieces = body.split("V")
    start = pieces[0] + "".join(block(next(rest, schemas[-1])) + piece for piece in pieces[1:])
    text = f'start: {start} | STRING a\na: "z" | t {block(schemas[0])}\nSTRING: /"[a-c]*"/\n{more}\n'
    text += 't[max_tokens=2]: /[a-z"{]+/ "}"?\n'
    event(f"schemas: {body.count('V') + 1}")
    with suppress(LimitExceeded):
        compare(text, seed, n_walks=2, n_steps=25)


def test_what_all_blocks_take_is_bounded() -> None:
    """Blocks share what may be spent."""
    text = "start: " + " ".join([block(SCHEMAS[14])] * 100)
    limits = Limits(max_rules=3_000)
    with pytest.raises(LimitExceeded, match="max_rules"):
        cfgmask.Grammar.from_lark(text, limits=limits)


def test_rules_of_all_blocks_are_counted_together() -> None:
    union = {"anyOf": [{"type": "array", "items": {"const": n}, "minItems": 1} for n in range(60)]}
    text = "start: " + " | ".join(f'"{n}" {block(union)}' for n in range(8))
    limits = Limits(max_rules=9_000)
    grammar = cfgmask.Grammar.from_lark(text, limits=limits)
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    tight = cfgmask.compile(grammar, vocabulary, Limits(max_rules=260))

    def enter(numbers: range) -> None:
        for number in numbers:
            tight.matcher().advance_bytes(f"{number}[0]".encode())

    enter(range(1))
    with pytest.raises(LimitExceeded, match="max_rules"):
        enter(range(1, 8))


def test_a_pickled_grammar_is_the_same() -> None:
    grammar = cfgmask.Grammar.from_lark(GRAMMARS["schemas side by side"])
    again = pickle.loads(pickle.dumps(grammar))  # ours
    vocabulary = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
    allowed_by_all([cfgmask.compile(one, vocabulary).matcher() for one in (grammar, again)], "")
