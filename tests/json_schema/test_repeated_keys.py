"""A key that is there already is refused at its closing quote, however it is spelled and whatever stands around it.

So are strings of arrays in which no item may come twice.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cfgmask
from tests.json_schema.judge import Schema, compiled, vocabulary

NODE = {
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    "$ref": "#/$defs/node",
}
PATTERNS = {
    "type": "object",
    "patternProperties": {"^x": {"type": "integer"}, "y$": {"type": "integer"}},
    "additionalProperties": {"type": "string"},
}
# Of some keys there are only so many: they end in the middle.
LETTERS = {"type": "object", "patternProperties": {"^[ab]$": True}, "additionalProperties": False}
ENDINGS = {"type": "object", "patternProperties": {"^(a|bc?|d+)$": True}, "additionalProperties": False}
SHORT = {"type": "object", "propertyNames": {"enum": ["a", "b"]}}

STRINGS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
WORDS = {"type": "array", "items": {"type": ["string", "null", "integer"]}, "uniqueItems": True}
NESTED = {"type": "object", "additionalProperties": {**WORDS, "minItems": 1}}
MIXED = {"prefixItems": [{"type": "string"}], "items": {"enum": ["a", "b"]}, "type": "array", "uniqueItems": True}
ANY_ORDER = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a"]}

TABLE: list[tuple[Schema, str, str]] = [
    (STRINGS, '["a","a', '"'),
    (STRINGS, '["","', '"'),
    (STRINGS, r'["\u0061","b","a', '"'),
    (STRINGS, r'["a" ,"ab", "\u0061', '"'),
    (STRINGS, '["[","]","{","a","{', '"'),
    ({**STRINGS, "minItems": 1}, "[", "]"),
    ({**STRINGS, "minItems": 3}, '["a","b","b', '"'),
    ({**STRINGS, "maxItems": 2}, '["a","b"', ","),
    ({**STRINGS, "items": {"type": "string", "pattern": "^a+$"}}, '["a","aa","aa', '"'),
    ({**STRINGS, "items": {"type": "string", "maxLength": 1}}, '["a","b","', "a"),
    ({**STRINGS, "items": {"anyOf": [{"type": "string", "pattern": "^a"}, {"enum": ["b"]}]}}, '["b","a","', "b"),
    ({"items": STRINGS}, '[["a"],["a","b"],["b","a","b', '"'),
    ({"type": "object", "properties": {"x": STRINGS}}, '{"x":["a"],"a":["a"],"b":1,"b', '"'),
    ({"type": "object", "properties": {"x": STRINGS}}, '{"x":["a","b"],"b":["a","a"],"y":{"x":["a","a"]},"x', '"'),
    ({"anyOf": [STRINGS, {"type": "array", "items": {"type": "integer"}}]}, '["a","a', '"'),
    ({"anyOf": [STRINGS, {"type": "array", "items": {"pattern": "^b"}}]}, '["b","b","', "a"),
    ({"anyOf": [{**STRINGS, "maxItems": 2}, {"type": "array", "items": {"const": "a"}}]}, '["a","a","', "b"),
    (WORDS, '["a",1,null,"1","null","a', '"'),
    (WORDS, '["a",1,null,', "n"),
    (WORDS, '["a",1,"b",1', ","),
    (NESTED, '{"a":["a",null],"b":["a","b","a', '"'),
    (NESTED, '{"a":["a",null],"b":["a"],"a', '"'),
    (MIXED, '["a","b"', ","),
    (MIXED, '["a","', "a"),
    (ANY_ORDER, '{"c":1,"a":1,"b":2,"c', '"'),
    (ANY_ORDER, '{"b":1,"c":1,"a":2,"d":{"b":1,"a":1},"a', '"'),
    (ANY_ORDER, '{"a":1,"a', '"'),
    ({**ANY_ORDER, "maxProperties": 3}, '{"a":1,"x":1,"x', '"'),
    (True, '{"a":1,"a', '"'),
    (True, r'{"a":1,"\u0061', '"'),
    (True, r'{"\u0061":1,"a', '"'),
    (True, r'{"\u0061":1,"\u0061', '"'),
    (True, r'{"\/":1,"/', '"'),
    (True, r'{"😀":1,"\ud83d\ude00', '"'),
    (True, '{"é":1,"ee":1,"é', '"'),
    (True, '{"":1,"', '"'),
    (True, '{"a":1,"b":1,"ab":1,"aba":', ""),
    (True, '{"a":{"a":{"a":1}},"b":{"a":1},"a', '"'),
    (True, '{"b":{"a":1},"a":{"b":1,"b', '"'),
    (True, '[{"a":1},{"a":1,"a', '"'),
    (True, '{"a" : [{"b":"a"}] , "a', '"'),
    (True, '{"a":"\\",\\"a\\":","b":"a","a', '"'),
    (NODE, '{"next":{"next":{"a":1,"b":1},"a":1},"a":1,"b":1,"a', '"'),
    (NODE, '{"next":{"next":{"b":1},"b":1,"b', '"'),
    (PATTERNS, '{"x":1,"y":1,"a":"x","xy":1,"x', '"'),
    (PATTERNS, '{"x":1,"y":1,"a":"x","a', '"'),
    (PATTERNS, '{"y":1,"xy":1,"a":"x","xy', '"'),
    ({**PATTERNS, "minProperties": 3}, '{"x":1,"y":1,"x', '"'),
    ({"type": "object", "minProperties": 1}, '{"x":1,"x', '"'),
    ({"type": "object", "properties": {"a": True}, "maxProperties": 3}, '{"a":1,"x":1,"x', '"'),
    ({"type": "object", "properties": {"a": True}, "required": ["a"]}, '{"a":1,"x":1,"a', '"'),
    ({"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["b"]}]}, '{"a":1,"c":1,"c', '"'),
    (
        {"anyOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"c": {"type": "string"}}}]},
        '{"a":1,"a',
        '"',
    ),
    ({"type": "object", "unevaluatedProperties": {"type": "integer"}}, '{"a":1,"a', '"'),
    ({"not": {"type": "array"}}, '{"a":1,"a', '"'),
    (LETTERS, '{"a":1,"', 'a":1}'),
    (LETTERS, '{"b":1,"a":1', ","),
    (LETTERS, r'{"a":1,"\u006', "1"),
    (ENDINGS, '{"a":1,"', "a"),
    (ENDINGS, '{"b":1,"bc":1,"', "b"),
    (ENDINGS, '{"b":1,"b', '"'),
    (ENDINGS, '{"bc":1,"b', "c"),
    (ENDINGS, '{"d":1,"dd":1,"dd', '"'),
    (SHORT, '{"a":1,"b":1', ","),
]


@pytest.mark.parametrize("order", ["schema", "any"])
@pytest.mark.parametrize(("schema", "taken", "refused"), TABLE)
def test_how_far_an_object_goes(schema: Schema, taken: str, refused: str, order: str) -> None:
    if order == "any" and schema == {**PATTERNS, "minProperties": 3}:
        pytest.skip("refused in any order")
    if order == "schema" and '"c":1,"a":' in taken:
        pytest.skip("another order")
    matcher = compiled(schema, whitespace="bounded", property_order=order).matcher()
    assert matcher.advance_bytes((taken + refused).encode()) == len(taken.encode())


@pytest.mark.parametrize("options", [{"indent": 1}, {"whitespace": "compact"}, {"whitespace": "unbounded"}])
def test_however_it_is_laid_out(options: dict[str, Any]) -> None:
    matcher = compiled({"type": "object"}, **options).matcher()
    line = "\n " if "indent" in options else ""
    space = " " if "indent" in options else ""
    taken = f'{{{line}"a":{space}1,{line}"a'
    assert matcher.advance_bytes(f'{taken}":'.encode()) == len(taken)


@pytest.mark.parametrize(
    "lark",
    [
        "start: %json {}",
        'start: "x"? obj\nobj[capture]: %json {}',
        '%cfgmask {"lexer": "complete"}\nstart: %json {}',
        "start: %json {} X?\nX: /(?<=})x/",
        'start: %json {} | "{" A ":" "1" "," A ":" "2" "]"\nA: "\\"a\\""',
    ],
)
def test_in_lark_grammars(lark: str) -> None:
    grammar = cfgmask.compile(cfgmask.Grammar.from_lark(lark), vocabulary())
    assert not complete(grammar, b'{"a":1,"a":2}')
    assert complete(grammar, b'{"a":1,"b":{"a":1}}')
    assert complete(grammar, b'{"a":1,"a":2]') == ('"]"' in lark)


def complete(grammar: cfgmask.CompiledGrammar, text: bytes) -> bool:
    matcher = grammar.matcher()
    return matcher.advance_bytes(text) == len(text) and matcher.is_accepting


# Pieces of objects: keys that end, keys as a whole, several of them, and escapes that are cut.
PIECES = [
    *(bytes([byte]) for byte in range(256)),
    *(b'"a"', b'a"', b'a":', b'":', b'":1,"', b'":1,"a"', b'{"a":1', b',"a":1', b',"a":1,"a":2', b'"a":1,"b":2', b'""'),
    *(b'{"a":1,"a":2', b'{"a":1,"b":2', b'[{"":1,"":1}', b'":1,"":1', b'}},"a":1', b',"a":{"a"'),
    *(
        rb"\u00",
        rb"\u0061",
        rb'\u0061"',
        rb'61"',
        rb'u0061":',
        b"}}",
        b'},"a',
        b'},"a":',
        b'{"":{"":{',
        b"ab",
        b"b",
        b'b"',
    ),
    *(rb"\ud83d", rb'\ude00"', "😀".encode(), '😀"'.encode(), '1,"', "é"),
]
TOKENS = [piece if isinstance(piece, bytes) else piece.encode() for piece in PIECES]


def fitting(matcher: cfgmask.Matcher) -> set[int]:
    return {token for token in range(len(TOKENS)) if matcher.try_advance([token], consume=False)}


def mask_of(matcher: cfgmask.Matcher) -> set[int]:
    bits = np.full((len(TOKENS) + 32) // 32, -1, dtype=np.int32)
    matcher.fill_mask(bits)
    allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
    return set(allowed) - {len(TOKENS)}


def repeats(text: bytes, in_arrays: bool = False) -> bool:
    """Whether one of the objects in the beginning of a JSON text ends a key that it has already.

    in_arrays  or one of the arrays such a string
    """
    keys: list[set[str] | None] = []
    start, at, is_key = 0, 0, False
    while at < len(text):
        byte = text[at : at + 1]
        at += 1
        if byte in b"{[":
            is_key = byte == b"{" or in_arrays
            keys.append(set() if is_key else None)
        elif byte in b"}]":
            keys.pop()
            is_key = False
        elif byte == b",":
            is_key = keys[-1] is not None
        elif byte == b'"':
            start = at - 1
            while at < len(text) and text[at : at + 1] != b'"':
                at += 2 if text[at : at + 1] == b"\\" else 1
            if at >= len(text):
                return False
            at += 1
            if is_key:
                key, seen = json.loads(text[start:at]), keys[-1]
                assert seen is not None
                if key in seen:
                    return True
                seen.add(key)
                is_key = False
    return False


@pytest.mark.parametrize("seed", range(25))
def test_masks_are_those_of_trying_every_token(seed: int) -> None:
    """Against a grammar in which keys may repeat and a reader of texts, not only against the engine itself."""
    rng = random.Random(seed)
    pieces = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], eos_token_id=len(TOKENS))
    grammar = cfgmask.Grammar.from_json_schema({"type": "object"}, whitespace="compact", numbers="any")
    free = cfgmask.Grammar.from_lark(FREE)
    matcher, loose = cfgmask.compile(grammar, pieces).matcher(), cfgmask.compile(free, pieces).matcher()
    texts = [b""]
    for _ in range(40):
        allowed = {token for token in fitting(loose) if not repeats(texts[-1] + TOKENS[token])}
        assert mask_of(matcher) == fitting(matcher) == allowed
        back = rng.randrange(4) if rng.random() < 0.2 else 0
        if back < len(texts):
            matcher.rollback(back)
            loose.rollback(back)
            del texts[len(texts) - back :]
        allowed = mask_of(matcher)
        if not allowed:
            return
        liked = [token for token in allowed if token >= 256 or TOKENS[token] in b'{}",:1ab\\']
        token = rng.choice(sorted(liked or allowed))
        matcher.advance(token)
        loose.advance(token)
        texts.append(texts[-1] + TOKENS[token])


# Values that may come twice in all that is between brackets.
FREE_STRINGS = r"""
start: "{" (member ("," member)*)? "}"
member: STRING ":" ("[" (item ("," item)*)? "]" | "null")
item: STRING | "null"
"""
ARRAYS = {"type": "array", "items": {"type": ["string", "null"]}, "uniqueItems": True}
IN_OBJECTS: Schema = {"type": "object", "additionalProperties": {"anyOf": [ARRAYS, {"type": "null"}]}}


@pytest.mark.parametrize("way", ["plain", "rules"])
@pytest.mark.parametrize("options", [{}, {"property_order": "any"}])
@pytest.mark.parametrize("named", [[], ["a"], ["a", "ab"]])
@pytest.mark.parametrize("seed", range(6))
def test_masks_of_arrays_are_those_of_trying_every_token(
    seed: int, named: list[str], options: dict[str, Any], way: str
) -> None:
    """Against a grammar in which strings may repeat, whose words the test tells apart by itself."""
    rng = random.Random(seed)
    words = [b'"a","', b'["a",', b'","a"', b'","', b'"],"', b'["', b"null", b",null", b"nu", b'"],"a":["', b':["a","a"']
    tokens = [*TOKENS, *words]
    pieces = cfgmask.Vocabulary.from_bytes([*tokens, b""], eos_token_id=len(tokens))
    schema: Schema = {**IN_OBJECTS, "properties": dict.fromkeys(named, IN_OBJECTS["additionalProperties"])}
    grammar = cfgmask.Grammar.from_json_schema(schema, whitespace="compact", **options)
    free = cfgmask.Grammar.from_lark(FREE_STRINGS + FREE[FREE.index("STRING:") :])
    matcher = cfgmask.compile(grammar.ir if way == "rules" else grammar, pieces).matcher()
    loose = cfgmask.compile(free, pieces).matcher()

    def fits(text: bytes) -> bool:
        return not repeats(text, in_arrays=True) and not re.search(rb"\[[^\]]*null[^\]]*nu", text)

    def tried(of: cfgmask.Matcher) -> set[int]:
        return {token for token in range(len(tokens)) if of.try_advance([token], consume=False)}

    text = b""
    for _ in range(30):
        bits = np.full((len(tokens) + 32) // 32, -1, dtype=np.int32)
        matcher.fill_mask(bits)
        allowed = set(np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()) - {len(tokens)}
        assert allowed == tried(matcher)
        if not named:  # those are not spelled with escapes
            assert allowed == {token for token in tried(loose) if fits(text + tokens[token])}
        liked = [token for token in sorted(allowed) if token >= 256 or tokens[token] in b'{}[]",:nul1ab\\']
        if not liked:
            return
        token = rng.choice(liked)
        matcher.advance(token)
        loose.advance(token)
        text += tokens[token]


@pytest.mark.parametrize("n_keys", [1, 15, 16, 17, 32, 47, 48, 100])
def test_masks_after_many_keys(n_keys: int) -> None:
    """Keys are indexed as they grow more; all of them, and those of an object inside, are found."""
    rng = random.Random(n_keys)
    names = sorted({"".join(rng.choices(["a", "b", "é", "😀", "\\", '"'], k=rng.randint(0, 5))) for _ in range(400)})
    names = rng.sample(names, n_keys)
    pieces = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], eos_token_id=len(TOKENS))
    matcher = cfgmask.compile(cfgmask.Grammar.from_json_schema({}, whitespace="compact"), pieces).matcher()
    loose = cfgmask.compile(cfgmask.Grammar.from_lark(FREE), pieces).matcher()
    written = [json.dumps(name, ensure_ascii=rng.random() < 0.5) for name in names]
    text = ("{" + ",".join(f'{key}:{{"a":1}}' if rng.random() < 0.1 else f"{key}:1" for key in written) + ",").encode()
    assert matcher.advance_bytes(text) == loose.advance_bytes(text) == len(text)
    for _ in range(8):
        key = rng.choice(written)
        begun = key[: rng.randint(0, len(key) - 1)].encode()
        assert matcher.advance_bytes(begun) == loose.advance_bytes(begun) == len(begun)
        whole = text + begun
        expected = {token for token in fitting(loose) if not repeats(whole + TOKENS[token])}
        assert mask_of(matcher) == fitting(matcher) == expected
        matcher.rollback(matcher.n_steps - 1)
        loose.rollback(loose.n_steps - 1)
    for key in written:
        assert matcher.advance_bytes(key.encode()) == len(key.encode()) - 1


def test_a_long_key_is_kept_once() -> None:
    matcher = compiled({"type": "object"}).matcher()
    matcher.advance_bytes(b'{"')
    for _ in range(30_000):
        matcher.advance(ord("a"))
    matcher.rollback(20_000)
    key = b"a" * 10_000
    assert matcher.advance_bytes(b'":1,"' + key) == len(key) + 5
    assert matcher.advance_bytes(b'"') == 0
    assert matcher.advance_bytes(b'a"') == 2


def test_numbers_of_states_are_bounded() -> None:
    grammar = cfgmask.Grammar.from_json_schema({"type": "object"})
    matcher = cfgmask.compile(grammar, vocabulary(), limits=cfgmask.Limits(max_item_sets=2_000)).matcher()
    matcher.advance_bytes(b'{"')
    assert matcher.state
    matcher.advance_bytes(b"a" * 20_000)
    with pytest.raises(cfgmask.LimitExceeded, match="max_item_sets"):
        _ = matcher.state


FREE = r"""
start: object
value: object | "[" (value ("," value)*)? "]" | STRING | NUMBER | "true" | "false" | "null"
object: "{" (member ("," member)*)? "}"
member: STRING ":" value
NUMBER: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/
STRING: "\"" CHAR* "\""
CHAR: /[^"\\\x00-\x1f]|\\["\\\/bfnrt]/ | UNIT | /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/
UNIT: /\\u([0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})/
"""


def test_rollback_is_replay_and_forks_have_their_own_keys() -> None:
    matcher = compiled({"type": "object"}).matcher()
    for byte in b'{"a":1,"b":{"a":1},"':
        matcher.advance(byte)
    fork = matcher.fork()
    assert matcher.try_advance(list(b'b"'), consume=False) == 1
    matcher.rollback(len(b'"b":{"a":1},"'))
    assert matcher.try_advance(list(b'"b":'), consume=True) == 4
    assert fork.try_advance(list(b'c":1,"c"'), consume=False) == 7
    assert matcher.try_advance(list(b'1,"c":2,"b"'), consume=False) == 10
    matcher.reset()
    assert matcher.advance_bytes(b'{"a":1,"b') == 9


def test_states_tell_keys_apart_and_not_their_order() -> None:
    grammar = compiled({"type": "object"})

    def state(text: bytes) -> int:
        matcher = grammar.matcher()
        matcher.advance_bytes(text)
        return matcher.state

    assert state(b'{"a":1,"b":1') == state(b'{"b":1,"a":1')
    assert state(b'{"a":1,"b":1') != state(b'{"a":1,"c":1')
    assert state(b'{"a":1,"b') != state(b'{"a":1,"c')
    assert state(b'{"a":{"b":1}') != state(b'{"a":1,"b":{}')


@pytest.mark.parametrize(
    ("schema", "options", "member"),
    [
        ({"type": "object"}, {}, '{{"{}":{}'),
        (ANY_ORDER, {"property_order": "any"}, '{{"{}":{}'),
        (STRINGS, {}, '["{}"'),
        ({**WORDS, "items": {"type": ["string", "null"]}}, {}, '["{}"'),
    ],
)
def test_what_was_written_is_not_kept_by_the_grammar(schema: Schema, options: dict[str, Any], member: str) -> None:
    grammar = compiled(schema, whitespace="compact", **options)

    def write(number: int) -> None:
        matcher = grammar.matcher()
        for key in range(20):
            text = member.format(f"{number}.{key}", key % 3)
            for byte in (f",{text[1:]}" if key else text).encode():
                matcher.fill_mask(np.zeros(9, dtype=np.int32))
                matcher.advance(byte)

    write(0)
    before = grammar.stats()
    for number in range(1, 20):
        write(number)
    assert {key: grammar.stats()[key] for key in ("states", "item_sets", "masks")} == {
        key: before[key] for key in ("states", "item_sets", "masks")
    }


@pytest.mark.parametrize("text", [b'{"":0,', b'{"":0,"', b'{"":0,"a":0,"', b'{"a":0,"', b'{"x":{"":0,"'])
@pytest.mark.parametrize("more", range(6))
def test_budgets_are_kept_around_keys_that_are_there(text: bytes, more: int) -> None:
    rng = random.Random(more)
    grammar = compiled({"type": "object"}, whitespace="compact")
    free = grammar.matcher()
    for byte in text:
        free.advance(byte)
    way = free.completion()
    assert way is not None
    matcher = grammar.matcher(max_tokens=len(text) + len(way) + more)
    for byte in text:
        matcher.advance(byte)
    while not matcher.is_accepting:
        bits = np.zeros(9, dtype=np.int32)
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
        matcher.advance(rng.choice([token for token in allowed if token != 256]))
    assert matcher.tokens_left is not None


@pytest.mark.parametrize("text", [b"", b"{", b'{"b":1', b'{"b":{'])
@pytest.mark.parametrize("budget", range(14, 40))
def test_a_token_that_repeats_a_key_of_its_own_is_in_no_mask(text: bytes, budget: int) -> None:
    pieces = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], eos_token_id=len(TOKENS))
    grammar = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "object"}, whitespace="compact"), pieces)
    matcher = grammar.matcher(max_tokens=budget)
    assert matcher.advance_bytes(text) == len(text)
    allowed = mask_of(matcher)
    assert allowed
    assert allowed <= fitting(matcher)
    assert not any(repeats(text + TOKENS[token]) for token in allowed)


def test_a_completion_repeats_no_key() -> None:
    matcher = compiled({"type": "object"}, whitespace="compact").matcher()
    for byte in b'{"":0,':
        matcher.advance(byte)
    way = matcher.completion()
    assert way is not None
    assert matcher.try_advance(way, consume=True) == len(way)
    assert matcher.is_accepting


def test_what_is_forced_where_a_key_is_there() -> None:
    schema = {"type": "object", "patternProperties": {"^ab*$": True}, "additionalProperties": False}
    matcher = compiled(schema, whitespace="compact", escapes="canonical").matcher()
    matcher.advance_bytes(b'{"a":0,')
    assert matcher.forced_bytes() == b'"ab'


LONG = b'{"' + b"k" * 300 + b'":{"a":1,"b":{"a":1}}'
STEPS = [
    b"{",
    b'{"a',
    b'{"a":1',
    b'{"b":"',
    b'"',
    b'":',
    b"1",
    b",",
    b',"a":1',
    b',"a',
    b'a"',
    b"a",
    b"b",
    b"}",
    b"},",
    LONG,
    b"{}",
    b"\\",
    b"n",
    "é".encode(),
    b"\xc3",
    b"\xa9",
    b"\xa9a",
]


@pytest.mark.parametrize("values", ["integer", "string"])
@settings(max_examples=60)
@given(texts=st.lists(st.lists(st.sampled_from(range(len(STEPS))), max_size=12), min_size=2, max_size=6))
def test_a_step_is_that_of_its_bytes_whether_or_not_it_was_taken_before(texts: list[list[int]], values: str) -> None:
    pieces = cfgmask.Vocabulary.from_bytes([*STEPS, b""], eos_token_id=len(STEPS))
    schema: Schema = {"type": "object", "properties": {"b": {"type": values}}}
    grammar = cfgmask.Grammar.from_json_schema(schema, whitespace="compact")
    one = cfgmask.compile(grammar, pieces)
    for text in texts:
        matcher, read = one.matcher(), b""
        for token in text:
            # Bytes are taken one by one, whatever tokens were.
            other = cfgmask.compile(grammar, pieces).matcher()
            assert other.advance_bytes(read) == len(read)
            fits = other.advance_bytes(STEPS[token]) == len(STEPS[token])
            assert matcher.try_advance([token], consume=True) == fits
            read += STEPS[token] if fits else b""
        again = one.matcher()
        assert again.advance_bytes(read) == len(read)
        assert again.state == matcher.state


@pytest.mark.parametrize("n", range(251, 259))
def test_steps_of_long_tokens_are_known_with_their_keys(n: int) -> None:
    """What a step does to the keys is kept in bytes, where the last numbers mean something else."""
    opens, inside, closes = b'{"' + b"k" * (n - 2), b"k" * n, b"k" * (n - 1) + b'"'
    whole = b'"' + b"k" * (n - 2) + b'"'
    texts = [opens, inside, closes, whole, b'"', b":1", b",", b":{", b"}"]
    pieces = cfgmask.Vocabulary.from_bytes([*texts, b""], eos_token_id=len(texts))
    grammar = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "object"}), pieces)
    ways = [
        ([opens, inside, b'"', b":1", b",", b'"', inside, closes, b":1", b","], [b'"', inside, closes]),
        ([opens, b'"', b":1", b","], [whole]),
        ([opens, b'"', b":{", whole, b":1", b","], [whole]),
        ([opens, b'"', b":{", whole, b":1", b"}", b","], [whole]),
    ]
    for written, again in ways * 3:
        matcher = grammar.matcher()
        for text in written:
            matcher.advance(texts.index(text))
        taken = [texts.index(text) for text in again]
        assert matcher.try_advance(taken) == len(taken) - 1
