"""`matcher(max_tokens=N)`: whichever allowed tokens are taken, the text is complete when N of them are."""

from __future__ import annotations

import json
import pickle
import random
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cfgmask
from cfgmask.demo import model_path
from tests.build import DIGITS, WORD, choice, cls, grammar, many, rep, rule, scope, seq, tokens
from tests.cpu_time import cpu_seconds, hold
from tests.engine import budget_walks
from tests.engine.budget_walks import run as run_walks
from tests.engine.harness import ALL_BYTES, compile_ir, empty_bits, mask_of
from tests.engine.test_completion import SPELLED, discards_large
from tests.engine.test_token_limits import limited_problems
from tests.json_schema.judge import maskbench_schemas
from tests.oracle_completion import fewest_tokens
from tests.strategies import (
    Problem,
    VocabularySpec,
    again_problems,
    composite_problems,
    list_problems,
    object_problems,
    problems,
)
from tests.tokenizers.real import gguf_path

ALL_BYTES_VOCABULARY = cfgmask.Vocabulary.from_bytes(ALL_BYTES.tokens, ALL_BYTES.end_tokens)

LIST = grammar(
    rule("start", seq("[", many(seq("$item", many(seq(",", "$item")))), "]")),
    rule("item", choice(DIGITS, seq("<", WORD, ">"))),
    scopes=(scope(" "),),
)


def needed(matcher: cfgmask.Matcher) -> int:
    way = matcher.completion()
    assert way is not None
    return len(way)


@given(
    st.one_of(
        *(problems(), list_problems(), composite_problems(), again_problems(), object_problems(), limited_problems())
    ),
    st.integers(0, 4),
)
@discards_large
def test_every_token_that_is_allowed_leaves_a_way_to_the_end(problem: Problem, more: int) -> None:
    oracle, state = problem.oracle, problem.oracle.initial
    compiled = compile_ir(problem.ir, problem.vocabulary, max_search_steps=5_000)
    n_vocab = len(oracle.tokens)
    free = compiled.matcher()
    if free.completion() is None:
        with pytest.raises(cfgmask.BudgetTooSmall):
            compiled.matcher(max_tokens=100)
        return
    left = needed(free) + more
    matcher = compiled.matcher(max_tokens=left)
    while not matcher.is_finished:
        assert matcher.tokens_left == left
        mask, plain = mask_of(matcher, n_vocab), mask_of(free, n_vocab)
        assert mask <= plain
        assert {token for token in range(n_vocab) if matcher.try_advance([token], consume=False)} >= mask
        way = matcher.completion()
        assert way is not None
        assert len(way) <= left
        assert set(way[:1]) <= mask
        for token in problem.random.sample(sorted(mask), min(4, len(mask))):
            after = oracle.step_token(state, token)
            # A token that is an end token and a symbol of the grammar ends the text where a symbol no longer fits.
            if after.finished or (token in oracle.end_tokens and oracle.is_accepting(state)):
                continue
            fewest = fewest_tokens(oracle, after, limit=60)
            assert fewest is not None
            assert fewest < left
        if not mask:
            assert left == 0 or way == []
            return
        token = problem.random.choice(sorted(mask))
        for each in (matcher, free):
            each.advance(token)
        state, left = oracle.step_token(state, token), left - 1


@given(st.one_of(problems(), list_problems(), limited_problems()), st.integers(0, 6))
@discards_large
def test_no_token_is_refused_that_has_a_way(problem: Problem, more: int) -> None:
    """A mask holds every token after which the number is small enough."""
    compiled = compile_ir(problem.ir, problem.vocabulary, max_search_steps=5_000)
    n_vocab = len(problem.vocabulary.tokens)
    free = compiled.matcher()
    if free.completion() is None:
        return
    left = needed(free) + more
    matcher = compiled.matcher(max_tokens=left)
    while left and not free.is_finished and (plain := mask_of(free, n_vocab)):
        mask = mask_of(matcher, n_vocab)
        for token in plain:
            # An end token ends the text even where, as a symbol of the grammar, it no longer fits.
            if token in problem.vocabulary.end_tokens and free.is_accepting:
                continue
            after = free.fork()
            after.advance(token)
            way = after.completion()
            assert (token in mask) == (way is not None and (after.is_finished or len(way) < left))
        token = problem.random.choice(sorted(mask))
        matcher.advance(token)
        free.advance(token)
        if matcher.is_finished != free.is_finished:
            return  # it ends the text, as a symbol it has no room
        left -= 1


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("text", [b"", b"[", b"[1,2,<a"])
def test_random_texts_end_in_time(text: bytes, seed: int) -> None:
    rng = random.Random(seed)
    compiled = compile_ir(LIST, SPELLED)
    free = compiled.matcher()
    free.advance_bytes(text)
    budget = needed(free) + 1 + rng.randrange(12)
    matcher = compiled.matcher(max_tokens=budget)
    assert matcher.advance_bytes(text) == len(text)
    for _ in range(budget - 1):
        allowed = mask_of(matcher, len(SPELLED.tokens)) - {256}
        if not allowed:
            break
        matcher.advance(rng.choice(sorted(allowed)))
    assert matcher.is_accepting


@pytest.mark.parametrize("options", [{}, {"item_separator": ", "}, {"item_separator": ", ", "whitespace": "compact"}])
@pytest.mark.parametrize(
    "schema",
    [{}, {"propertyNames": {"pattern": "^a"}}, {"propertyNames": {"pattern": "^a"}, "maxProperties": 2}],
    ids=["free", "names", "two"],
)
def test_no_comma_near_the_end_if_the_shortest_key_is_there(schema: dict[str, Any], options: dict[str, str]) -> None:
    """A token that is a comma, or half of one, is refused where what follows must be a longer key and has no room."""
    tokens = [*(bytes([b]) for b in range(256)), b"true", b"false", b", ", b',"', b'""', b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)
    whole = {"type": "object", "additionalProperties": {"type": "boolean"}} | schema
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(whole, **options), vocabulary)
    begun = b'{"a":true' if schema else b'{"":true'
    for left in range(1, 12):
        matcher = compiled.matcher(max_tokens=left + 1)
        matcher.advance_bytes(begun)
        while matcher.tokens_left:
            mask = mask_of(matcher, len(tokens))
            assert mask == {token for token in range(len(tokens)) if matcher.try_advance([token], consume=False)}
            commas = [token for token in mask if tokens[token].startswith((b",", b" ")) or tokens[token] == b'""']
            matcher.advance(min(commas or mask - {len(tokens) - 1} or mask))
            if matcher.is_finished:
                break
        assert matcher.is_accepting or matcher.is_finished


KEY_TOKENS = [
    b'":',
    b'","',
    b'":1,"',
    b"ab",
    b'b"',
    b'"a"',
    b'a":',
    b'","a":1',
    b"\\u0061",
    b"a\\",
    b"\\u00",
    b"61",
    b'1,"',
]


@pytest.mark.parametrize(
    "schema",
    [
        {"additionalProperties": {"type": "integer"}},
        {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        {"propertyNames": {"minLength": 2, "maxLength": 4}},
        {"patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": {"type": "boolean"}},
        {"additionalProperties": {"type": "object", "minProperties": 1}},
    ],
    ids=str,
)
def test_near_the_end_keys_that_are_there_lengthen_the_way(schema: dict[str, Any]) -> None:
    """Far from the end no key is refused; near it, those after which another must be found."""
    vocabulary = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), *KEY_TOKENS, b""], eos_token_id=269)
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema({"type": "object"} | schema), vocabulary)
    free = compiled.matcher()
    rng, repeated = random.Random(0), 0
    for more in [0, 1, 2, 4, 9, 30] * 3:
        left = needed(free) + more
        matcher, plain = compiled.matcher(max_tokens=left), compiled.matcher()
        for _ in range(left):
            mask = mask_of(matcher, 270)
            fit = {token for token in range(270) if matcher.try_advance([token], consume=False)}
            assert mask <= fit
            # What is refused without need is what a look at each would take too long for; none of this is.
            assert fit - mask <= {269}
            repeated += len(mask_of(plain, 270) - mask)
            likely = [token for token in mask if token >= 256 or chr(token) in '{"ab:,1}']
            token = rng.choice(sorted(likely or mask))
            matcher.advance(token)
            plain.advance(token)
            if matcher.is_finished:
                break
        assert matcher.is_accepting or matcher.is_finished
    assert repeated


def test_the_last_token() -> None:
    matcher = compile_ir(LIST).matcher(max_tokens=2)
    assert mask_of(matcher, 257) == {ord("[")}
    matcher.advance(ord("["))
    assert mask_of(matcher, 257) == {ord("]")}
    with pytest.raises(cfgmask.TokenRejected):
        matcher.advance(ord("1"))
    matcher.advance(ord("]"))
    assert (matcher.tokens_left, mask_of(matcher, 257)) == (0, {256})
    matcher.advance(256)
    assert matcher.is_finished


def test_a_budget_that_is_too_small_says_what_it_takes() -> None:
    compiled = compile_ir(grammar(rule("start", "abcdef")), SPELLED)
    with pytest.raises(
        cfgmask.BudgetTooSmall, match="max_tokens is 2, and the shortest completion found takes 4 tokens"
    ) as error:
        compiled.matcher(max_tokens=2)
    assert (error.value.max_tokens, error.value.needed) == (2, 4)
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    assert compiled.matcher(max_tokens=4).tokens_left == 4


_ANY_KEY_IS_SHORTER = {
    "type": "object",
    "properties": {
        "q": {
            "type": "object",
            "properties": {"b": {"type": "string", "pattern": "^a+$"}},
            "minProperties": 1,
            "dependentRequired": {"b": ["b"]},
        },
        "b": {"type": "boolean"},
    },
    "required": ["b", "q"],
}


@pytest.mark.parametrize("texts", [[], [b""], [b'{"q'], [b'{"b":true', b'{"q":{"b":"a"}']], ids=str)
def test_which_budgets_are_too_small_does_not_depend_on_other_texts(texts: list[bytes]) -> None:
    """A key that has no name of its own, `{"q":{"":0},"b":true}`, was found only where texts had been there before."""
    source = cfgmask.Grammar.from_json_schema(_ANY_KEY_IS_SHORTER, property_order="any", whitespace="compact")
    for budget in range(18, 27):
        compiled = cfgmask.compile(source, ALL_BYTES_VOCABULARY)
        for text in texts:
            other = compiled.matcher()
            assert other.advance_bytes(text) == len(text)
            other.completion()
        if budget < 21:
            with pytest.raises(cfgmask.BudgetTooSmall, match="the shortest completion found takes 21 tokens"):
                compiled.matcher(max_tokens=budget)
            continue
        matcher, rng = compiled.matcher(max_tokens=budget), random.Random(budget)
        while mask := mask_of(matcher, 257) - {256}:
            matcher.advance(rng.choice(sorted(mask)))
        assert matcher.is_accepting


def test_where_no_text_ends_no_budget_does() -> None:
    ir = grammar(rule("start", seq(rep(cls("az", "AZ"), 1), "END")))
    with pytest.raises(cfgmask.BudgetTooSmall, match="no text of the grammar can be completed") as error:
        compile_ir(ir, max_search_steps=1000).matcher(max_tokens=50)
    assert error.value.needed is None


def test_a_search_cut_short_is_no_verdict_on_the_grammar() -> None:
    words = {"type": "object", "properties": {}, "required": [f"{a}{b}" for a in "abcd" for b in "abcd"]}
    grammar = cfgmask.Grammar.from_json_schema(words, property_order="any")
    compiled = cfgmask.compile(grammar, ALL_BYTES_VOCABULARY, cfgmask.Limits(max_search_steps=20))
    with pytest.raises(cfgmask.LimitExceeded, match="max_search_steps = 20"):
        compiled.matcher(max_tokens=500)
    with pytest.raises(cfgmask.LimitExceeded, match="max_search_steps = 20"):
        compiled.matcher().completion()


@pytest.mark.parametrize(
    "text", [{"format": "uuid"}, {"pattern": "^[0-9a-f]{24}$"}, {"format": "date-time"}, {"pattern": "^[a-z]{300}$"}]
)
@pytest.mark.parametrize("order", ["schema", "any"])
def test_long_values_of_required_members_are_found(text: dict[str, str], order: str) -> None:
    schema = {"type": "object", "properties": {"u": {"type": "string", **text}}, "required": ["u"]}
    compiled = cfgmask.compile(
        cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact"), ALL_BYTES_VOCABULARY
    )

    def find() -> None:
        way = compiled.matcher().completion()
        assert way is not None
        assert set(json.loads(bytes(way))) == {"u"}
        assert compiled.matcher(max_tokens=len(way)).completion() == way
        with pytest.raises(cfgmask.BudgetTooSmall, match=f"takes {len(way)} tokens"):
            compiled.matcher(max_tokens=len(way) - 1)

    hold(cpu_seconds(find), 1)


NULLS = {"type": "object", "properties": {"p": {"type": "null"}, "r": {"type": "null"}}, "additionalProperties": False}


@pytest.mark.parametrize("required", [["p", "r"], ["p"], []])
@pytest.mark.parametrize("order", ["schema", "any"])
def test_a_text_fits_in_exactly_its_bytes(required: list[str], order: str) -> None:
    """Whether its tokens are taken without a mask, of a grammar that no text has used, or with each mask."""
    schema = {**NULLS, "required": required, "minProperties": 2}
    grammar = cfgmask.Grammar.from_json_schema(schema, property_order=order, whitespace="compact")
    for text in (b'{"p":null,"r":null}', *([b'{"r":null,"p":null}'] if order == "any" else [])):
        assert cfgmask.compile(grammar, ALL_BYTES_VOCABULARY).matcher(max_tokens=19).try_advance(list(text)) == 19
        matcher = cfgmask.compile(grammar, ALL_BYTES_VOCABULARY).matcher(max_tokens=19)
        for byte in text:
            assert byte in mask_of(matcher, 257)
            matcher.advance(byte)
        assert matcher.is_accepting


@pytest.mark.parametrize(
    ("schema", "budget", "text"),
    [
        ({"ab": {"const": ""}, "p": {"pattern": "^a+$", "type": "string"}}, 21, b'{"p":"aa","ab":""}'),
        ({"p": {"const": None}, "pq": {"type": "null"}}, 20, b'{"pq":null,"p":null}'),
        ({"a": {"enum": ["a", False]}, "pq": {"type": "null"}}, 19, b'{"pq":null,"a":"a"}'),
    ],
)
def test_keys_that_begin_like_others_are_taken_without_a_mask(schema: dict[str, Any], budget: int, text: bytes) -> None:
    whole = {"type": "object", "properties": schema, "required": [*schema], "additionalProperties": False}
    grammar = cfgmask.Grammar.from_json_schema(whole, property_order="any", whitespace="compact")
    matcher = cfgmask.compile(grammar, ALL_BYTES_VOCABULARY).matcher(max_tokens=budget)
    assert matcher.try_advance(list(text)) == len(text)


_TWO_OBJECTS = {
    "type": "object",
    "properties": {
        "pq": {"type": "string", "maxLength": 2},
        "b": {
            "type": "object",
            "properties": {
                "pq": {"type": "string", "maxLength": 2},
                "p": {"const": "a"},
                "a": {"type": "string", "pattern": "^[01]{3,5}$"},
            },
            "additionalProperties": False,
        },
        "ab": {
            "type": "object",
            "properties": {
                "q": {"type": "string", "pattern": "^[ab]{2}$"},
                "b": {"type": "string", "maxLength": 2},
                "p": {"type": "string", "maxLength": 2},
                "ab": {"type": "string", "pattern": "^[ab]{2}$"},
            },
            "required": ["q", "ab"],
            "additionalProperties": {"enum": ["b", "ab"]},
            "maxProperties": 4,
        },
        "r": {"type": "null"},
    },
    "required": ["ab", "pq"],
    "minProperties": 3,
}


@pytest.mark.parametrize("seed", [0, 2])
def test_masks_do_not_depend_on_what_other_texts_did(seed: int) -> None:
    """The order of slots did, and with it which of several ways to the end was found."""
    pieces = [b'"}', b"},", b"aa", b"[1", b"ab"]
    tokens = [*(bytes([byte]) for byte in range(256)), *pieces, b""]
    options = {"property_order": "any", "whitespace": "compact"}
    subject = budget_walks.Subject(_TWO_OBJECTS, options, tokens, byte_tokens=False)
    used, rng = subject.compiled(), random.Random(seed)
    end = len(tokens) - 1
    graph = budget_walks.Graph(subject.compiled().matcher(), end + 1, {end})
    for _ in range(3):
        assert budget_walks.walk(subject, used, graph, rng, Counter()) is None


def test_walks_with_budgets() -> None:
    """More of them: `python -m tests.engine.budget_walks 5000 0`."""
    faults, counts = run_walks(120, seed=1)
    assert not faults, "\n".join(map(str, faults))
    assert counts["masks that refuse"] > 50


@pytest.mark.parametrize("given", [-1, -(10**12)])
def test_negative_budgets_are_refused(given: int) -> None:
    with pytest.raises(ValueError, match="max_tokens must not be negative"):
        compile_ir(LIST).matcher(max_tokens=given)


def test_none_and_plenty_are_no_bound() -> None:
    compiled = compile_ir(LIST)
    assert compiled.matcher().tokens_left is None
    assert compiled.matcher(max_tokens=None).tokens_left is None
    plenty = compiled.matcher(max_tokens=10**12)
    assert mask_of(plenty, 257) == mask_of(compiled.matcher(), 257)


def test_rollback_gives_back_and_forks_have_their_own() -> None:
    matcher = compile_ir(LIST).matcher(max_tokens=6)
    seen = []
    for byte in b"[1,2":
        seen.append(mask_of(matcher, 257))
        matcher.advance(byte)
    fork = matcher.fork()
    fork.advance(ord("]"))
    assert (matcher.tokens_left, fork.tokens_left) == (2, 1)
    for mask in reversed(seen):
        matcher.rollback(1)
        assert mask_of(matcher, 257) == mask
    matcher.reset()
    assert matcher.tokens_left == 6


def test_bytes_are_one_token_of_the_budget() -> None:
    matcher = compile_ir(LIST).matcher(max_tokens=3)
    assert matcher.advance_bytes(b"[1,<") == 3
    assert matcher.tokens_left == 3
    assert matcher.advance_bytes(b"[1") == 2
    assert matcher.tokens_left == 2
    assert mask_of(matcher, 257) == {*b"0123456789] "}


def test_tokens_by_id_count() -> None:
    spec = VocabularySpec([*ALL_BYTES.tokens[:256], b"", b""], [256], {})
    ir = grammar(rule("start", seq(many(tokens(257)), choice("a", "bcd"))))
    matcher = compile_ir(ir, spec).matcher(max_tokens=2)
    assert mask_of(matcher, 258) == {257, ord("a")}
    matcher.advance(257)
    assert mask_of(matcher, 258) == {ord("a")}


def test_masks_of_a_remembered_state_depend_on_what_is_left() -> None:
    compiled = compile_ir(LIST)
    masks = [mask_of(compiled.matcher(max_tokens=n), 257) for n in (2, 20, 2, 3)]
    assert masks[0] == masks[2]
    assert masks[1] == mask_of(compiled.matcher(), 257)


# Real vocabularies and schemas.


@cache
def vocabulary(name: str) -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_gguf(gguf_path(name))


@cache
def schemas() -> list[Any]:
    found = maskbench_schemas()
    if not found:
        pytest.skip("MaskBench is not beside the repository")
    return found


def finishes_in_time(compiled: cfgmask.CompiledGrammar, tokens: tuple[bytes, ...], rng: random.Random) -> bytes:
    """A random text within a random budget; a model of random weights writes no better."""
    number = needed(compiled.matcher())
    budget = number + rng.choice([0, 1, 2, 5, 20, 60])
    matcher = compiled.matcher(max_tokens=budget)
    bits, text = empty_bits(len(tokens)), b""
    for _ in range(budget):
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        if not len(allowed):
            break
        token = int(allowed[rng.randrange(len(allowed))])
        matcher.advance(token)
        if matcher.is_finished:
            break
        text += tokens[token]
    assert matcher.is_accepting
    return text


TEXT = {"type": "string"}
UNIQUE = {"type": "array", "items": TEXT, "uniqueItems": True}
PAIR = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"], "additionalProperties": False}
MUST_DIFFER: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "object", "minProperties": 3}, {}),
    ({"type": "object", "required": ["alpha", "beta"], "minProperties": 4}, {"property_order": "any"}),
    ({"type": "object", "minProperties": 2}, {"syntax": "yaml"}),
    ({"type": "object", "propertyNames": {"pattern": "^[ab]{1,2}$"}, "minProperties": 4}, {}),
    ({"type": "array", "not": {"uniqueItems": True}, "minItems": 3, "items": {"type": ["string", "integer"]}}, {}),
    ({"type": "array", "not": {"uniqueItems": True}, "items": {"type": "array", "items": TEXT}}, {}),
    ({"type": "array", "items": {"type": "array", "items": UNIQUE, "not": {"uniqueItems": True}}}, {}),
    *(
        ({"type": "array", "uniqueItems": True, "minItems": 3, "items": items}, options)
        for items, options in [
            (TEXT, {}),
            (TEXT, {"syntax": "yaml"}),
            ({"type": "number"}, {}),
            ({"enum": ["a", "ab", 1, 12, None]}, {}),
            (PAIR, {}),
            (PAIR, {"property_order": "any"}),
            ({"type": "array", "items": TEXT, "uniqueItems": True, "minItems": 1}, {}),
            ({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer"}}, {}),
        ]
    ),
]


@pytest.mark.parametrize(("schema", "options"), MUST_DIFFER, ids=str)
def test_where_values_must_differ(schema: dict[str, Any], options: dict[str, Any]) -> None:
    """Each text ends in time, whatever was learnt for others before it, and little is made for a mask."""
    spec = cfgmask.Vocabulary.from_gguf(model_path())
    grammar = cfgmask.Grammar.from_json_schema(schema, **options)
    compiled, apart = cfgmask.compile(grammar, spec), cfgmask.compile(grammar, spec)
    rng, n_masks = random.Random(0), 0
    tokens = spec.tokens
    for more in [0, 1, 2, 5, 12, 30]:
        matcher = compiled.matcher(max_tokens=needed(apart.matcher()) + more)
        free, text = apart.matcher(), b""
        while matcher.tokens_left and not matcher.is_finished:
            mask, n_masks = mask_of(matcher, len(tokens)), n_masks + 1
            assert mask <= mask_of(free, len(tokens))
            allowed = sorted(mask - set(spec.eos_token_ids))
            if not allowed:
                break
            for token in rng.sample(allowed, min(8, len(allowed))):
                assert matcher.try_advance([token], consume=False) == 1
            short = [token for token in allowed if len(tokens[token]) <= rng.choice([1, 2, 20])] or allowed
            marks = [token for token in short if set(tokens[token]) & set(b'",:{}[]\n')]
            token = rng.choice(marks if marks and rng.random() < 0.6 else short)
            matcher.advance(token)
            free.advance(token)
            text += tokens[token]
        assert matcher.is_accepting or matcher.is_finished, text
        assert free.is_accepting or free.is_finished
    assert compiled.stats()["item_sets"] < 100 * n_masks


# Tokens that end values, of which those around them may be the same again, and begin others.
PIECES = [b'"],["a"]', b'","a"', b'","a",', b"1],[[", b"],[", b'"a"]', b'",},}', b'":{},"', b"\n- ", b'"\n- "a']


@pytest.mark.parametrize(
    ("schema", "options", "begun"),
    [
        ({}, {}, b'[["'),
        ({}, {}, b'[["id"],[],"]{1[,x[["," '),
        ({"items": {"type": "array"}}, {}, b"[[],["),
        ({"items": {"type": "array"}, "prefixItems": [{"type": "object"}]}, {"property_order": "any"}, b"[{},["),
        ({"items": UNIQUE}, {}, b'[["a"],["'),
        ({"items": {"type": "array", "items": UNIQUE}}, {}, b'[[["a"]],[["'),
        ({"items": PAIR}, {"property_order": "any"}, b'[{"b":"x","a":"'),
        ({}, {"syntax": "yaml"}, b"- "),
        ({}, {"syntax": "yaml"}, b'- ""'),
        ({"items": {"type": ["array", "string"], "items": TEXT, "maxItems": 2}}, {"syntax": "yaml"}, b'- "]'),
    ],
    ids=str,
)
def test_where_values_must_come_again(schema: dict[str, Any], options: dict[str, Any], begun: bytes) -> None:
    """Each token of a mask is taken, and leaves a way to the end, however much is left."""
    tokens = [*ALL_BYTES.tokens[:256], *PIECES, b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)
    equal = {"type": "array", **schema, "not": {"uniqueItems": True}}
    whitespace = {} if options.get("syntax") else {"whitespace": "compact"}
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(equal, **whitespace, **options), vocabulary)
    least = needed(compiled.matcher())
    n_tokens = 0
    for budget in range(least, least + 12):
        matcher = compiled.matcher(max_tokens=budget)
        if matcher.advance_bytes(begun) < len(begun):
            continue
        for token in mask_of(matcher, len(tokens)) - {len(tokens) - 1}:
            after = matcher.fork()
            after.advance(token)
            assert mask_of(after, len(tokens)), (budget, tokens[token])
            n_tokens += 1
    assert n_tokens > 20


def test_a_value_that_begins_in_a_token_differs_from_one_that_ends_in_it() -> None:
    tokens = [*ALL_BYTES.tokens[:256], b'[["', b'"],["', b'"]', b"]", b" ", b""]
    vocabulary = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=len(tokens) - 1)
    grammar = cfgmask.Grammar.from_json_schema({"type": "array", "uniqueItems": True}, whitespace="compact")
    for budget in (3, 4, 5, 6, 7, 200):
        matcher = cfgmask.compile(grammar, vocabulary).matcher(max_tokens=budget)
        matcher.advance(tokens.index(b'[["'))
        mask = mask_of(matcher, len(tokens))
        if budget < 5:  # [["  "],["  another character  "]  ]
            assert tokens.index(b'"],["') not in mask
        if budget == 200:
            assert tokens.index(b'"],["') in mask
        for token in mask:
            matcher.fork().advance(token)


LONG = "x" + "qz" * 200


@pytest.mark.parametrize(
    ("schema", "begun"),
    [
        ({"type": "array", "uniqueItems": True, "items": {"enum": ["a", LONG]}, "minItems": 1}, b'["'),
        ({"type": "array", "uniqueItems": True, "items": {"enum": ["a", LONG, 1]}, "minItems": 1}, b"["),
        (
            {"type": "object", "properties": {"a": {}, LONG: {}}, "additionalProperties": False, "minProperties": 1},
            b'{"',
        ),
    ],
    ids=["begun", "list", "keys"],
)
@pytest.mark.parametrize("more", [30, 70, 150, 500])
def test_a_value_that_must_differ_may_be_long(schema: dict[str, Any], begun: bytes, more: int) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, property_order="any")
    spec = cfgmask.Vocabulary.from_gguf(model_path())
    compiled = cfgmask.compile(grammar, spec)
    matcher = compiled.matcher(max_tokens=needed(compiled.matcher()) + more)
    assert matcher.advance_bytes(begun) == len(begun)
    for _ in range(4):
        mask = mask_of(matcher, spec.n_vocab)
        assert all(matcher.try_advance([token], consume=False) for token in mask)
        matcher.advance(max(mask, key=lambda token: (b"x" in spec.tokens[token], token not in spec.eos_token_ids)))


# Twenty and seventy letters, each one of two.
TWENTY, SEVENTY = ("".join(f"[{'abcdefg'[i % 7]}{'hijklmn'[i % 7]}]" for i in range(n)) for n in (20, 70))


@pytest.mark.parametrize(
    "pattern",
    ["(ab)*", f"({TWENTY})*", f"({SEVENTY})*", f"x({TWENTY}|é{TWENTY})*", "[aé]*"],
    ids=["two", "twenty", "seventy", "either", "characters"],
)
@pytest.mark.parametrize("more", [0, 1, 2, 5, 19, 20, 21, 24, 40, 69, 70, 71, 72, 90, 150])
def test_loops_of_several_characters_end_in_time(pattern: str, more: int) -> None:
    """What stands between two rounds of them is no end, and within one it is as far as the rest of it."""
    vocabulary = cfgmask.Vocabulary.from_bytes([*SPELLED.tokens, "é".encode(), b"ab", b'ab"', b"ccc"], 256)
    compiled = cfgmask.compile(
        cfgmask.Grammar.from_json_schema({"type": "string", "pattern": f"^({pattern})$"}), vocabulary
    )
    free = compiled.matcher()
    left = needed(free) + more
    matcher, rng = compiled.matcher(max_tokens=left), random.Random(more)
    while left and not free.is_finished:
        mask, has_way = mask_of(matcher, vocabulary.n_vocab), set()
        for token in mask_of(free, vocabulary.n_vocab):
            after = free.fork()
            after.advance(token)
            if after.is_finished or needed(after) < left:
                has_way.add(token)
        assert mask == has_way
        token = rng.choice(
            [token for token in sorted(mask) if vocabulary.tokens[token][-1:] not in b'"\\'] or sorted(mask)
        )
        matcher.advance(token)
        free.advance(token)
        left -= 1
    assert matcher.is_accepting


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-bpe", "llama-spm"])
def test_real_schemas_end_in_time(name: str) -> None:
    from tests.json_schema.judge import is_beyond_judge, is_valid

    rng, spec = random.Random(5), vocabulary(name)
    done = 0
    for schema in rng.sample(schemas(), 330):
        try:
            compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), spec)
        except cfgmask.CfgmaskError:
            continue
        text = finishes_in_time(compiled, spec.tokens, rng)
        assert is_beyond_judge(text) or is_valid(schema, text.decode()), (schema, text)
        done += 1
    assert done >= 250
