"""What requests may ask for, and the state of each while its answer is written."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest

import cfgmask
from cfgmask.integrations.errors import IntegrationError
from cfgmask.integrations.requests import CompiledFormats, RequestError, RequestState, ResponseFormat
from cfgmask.integrations.sampling import SamplingParams, keep_top_p, sample_token

VOCABULARY = cfgmask.Vocabulary.from_bytes(
    [*(bytes([byte]) for byte in range(256)), b'"}', b'{"a": ', b"ab", b"", b""], eos_token_id=(259, 260)
)
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
NAMED = {"name": "thing", "schema": SCHEMA}


def accepts(wanted: ResponseFormat | None, text: str) -> bool:
    assert wanted is not None
    state = CompiledFormats(VOCABULARY).start(wanted)
    return state.matcher.advance_bytes(text.encode()) == len(text.encode()) and state.is_complete


@pytest.mark.parametrize(
    ("value", "good", "bad"),
    [
        ({"type": "json_object"}, '{"b": [1]}', "[1]"),
        ({"type": "json_schema", "json_schema": NAMED}, '{"a": 1}', '{"a": "x"}'),
        ({"type": "json_schema", "json_schema": {**NAMED, "strict": True, "description": "x"}}, '{"a": 1}', "{}"),
        ({"type": "json_schema", "json_schema": {**NAMED, "strict": None, "description": None}}, '{"a": 1}', "{}"),
        ({"type": "json_schema", "schema": SCHEMA}, '{"a": 1}', "{}"),
        ({"type": "json_schema", "schema": True}, "[1, null]", "[1,, 2]"),
        ({"type": "regex", "pattern": "[0-9]{3}"}, "123", "12"),
        ({"type": "lark", "grammar": 'start: "a" start "b" | "c"'}, "aacbb", "aacb"),
        ({"type": "choice", "choices": ["yes", "nö"]}, "nö", "maybe"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)
def test_formats(value: Any, good: str, bad: str) -> None:
    wanted = ResponseFormat.from_json(value)
    assert accepts(wanted, good)
    assert not accepts(wanted, bad)
    assert wanted == ResponseFormat.from_json(json.loads(json.dumps(value)))


@pytest.mark.parametrize("value", [None, {"type": "text"}])
def test_nothing_is_asked_for(value: Any) -> None:
    assert ResponseFormat.from_json(value) is None


@pytest.mark.parametrize(
    ("value", "param", "message"),
    [
        ("json", "", "must be an object, not 'json'"),
        ([], "", "must be an object"),
        ({}, ".type", "must be one of text, json_object, json_schema, regex, lark, choice, not None"),
        ({"type": "xml"}, ".type", "not 'xml'"),
        ({"type": ["regex"]}, ".type", "not ['regex']"),
        ({"type": {}}, ".type", "not {}"),
        ({"type": "text", "pattern": "a"}, ".pattern", "unknown key"),
        ({"type": "json_object", "schema": {}}, ".schema", "unknown key"),
        ({"type": "regex"}, "", "the key 'pattern' is missing"),
        ({"type": "regex", "patern": "a"}, ".patern", "did you mean 'pattern'"),
        ({"type": "regex", "pattern": "a", "flags": "i"}, ".flags", "there may be type, pattern"),
        ({"type": "regex", "pattern": 3}, ".pattern", "must be a text, not 3"),
        ({"type": "lark", "grammar": None}, ".grammar", "must be a text"),
        ({"type": "choice", "choices": []}, ".choices", "at least one text"),
        ({"type": "choice", "choices": "yes"}, ".choices", "must be a list"),
        ({"type": "choice", "choices": ["yes", 1]}, ".choices[1]", "must be a text, not 1"),
        ({"type": "json_schema"}, "", "either 'json_schema' or 'schema'"),
        ({"type": "json_schema", "schema": {}, "json_schema": NAMED}, "", "either"),
        ({"type": "json_schema", "schema": "{}"}, ".schema", "must be an object, true or false, not '{}'"),
        ({"type": "json_schema", "schema": {"const": float("nan")}}, ".schema", "is not JSON"),
        ({"type": "json_schema", "json_schema": SCHEMA}, ".json_schema.type", "unknown key"),
        ({"type": "json_schema", "json_schema": {"schema": {}}}, ".json_schema", "the key 'name' is missing"),
        ({"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}, ".json_schema.name", "letters"),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, ".json_schema", "the key 'schema' is missing"),
        ({"type": "json_schema", "json_schema": {**NAMED, "strict": "yes"}}, ".json_schema.strict", "true or false"),
        ({"type": "json_schema", "json_schema": {**NAMED, "description": 1}}, ".json_schema.description", "a text"),
    ],
    ids=repr,
)
def test_what_is_wrong_is_named(value: Any, param: str, message: str) -> None:
    with pytest.raises(RequestError) as caught:
        ResponseFormat.from_json(value, "f")
    assert caught.value.param == "f" + param
    assert message in caught.value.message
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.param, str(again)) == (caught.value.param, str(caught.value))


def test_a_schema_nested_too_deeply() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(RequestError, match="nested too deeply"):
        ResponseFormat.from_json({"type": "json_schema", "schema": schema})


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"type": "json_schema", "schema": {"type": "strin"}}, cfgmask.GrammarError),
        ({"type": "regex", "pattern": "("}, cfgmask.GrammarError),
        ({"type": "lark", "grammar": "start: x"}, cfgmask.GrammarError),
        ({"type": "regex", "pattern": "a" * 2_000}, cfgmask.LimitExceeded),
    ],
)
def test_bad_grammars(value: Any, error: type[Exception]) -> None:
    wanted = ResponseFormat.from_json(value)
    assert wanted is not None
    with pytest.raises(error):
        CompiledFormats(VOCABULARY, limits=cfgmask.Limits(max_source_bytes=1_000)).start(wanted)


def test_formats_are_compiled_once_and_so_many_are_kept() -> None:
    formats = CompiledFormats(VOCABULARY, n_kept=2)
    one, two, three = (ResponseFormat("regex", pattern) for pattern in ("a", "b", "c"))
    first = formats.compile(one)
    assert formats.compile(ResponseFormat("regex", "a")) is first
    formats.compile(two)
    assert formats.compile(one) is first
    second = formats.compile(two)
    formats.compile(three)
    assert formats.compile(two) is second
    assert formats.compile(one) is not first


# The state.


def state_of(pattern: str) -> Any:
    return CompiledFormats(VOCABULARY).start(ResponseFormat("regex", pattern))


def test_an_answer_is_written_to_its_end() -> None:
    state, rng, text = state_of(r"\{\"a\": [0-9]{2}(ab)?\}"), np.random.default_rng(0), b""
    while not state.must_stop:
        token = sample_token(rng.normal(size=VOCABULARY.n_vocab), SamplingParams(), rng, state=state)
        state.advance(token)
        text += VOCABULARY.tokens[token]
    assert json.loads(text.replace(b"ab", b""))["a"] >= 0
    assert state.is_complete


def test_must_stop_only_where_nothing_can_follow() -> None:
    state = state_of("ab(c)?")
    seen = []
    for token in b"abc":
        seen.append((state.is_complete, state.must_stop))
        state.advance(token)
    assert seen == [(False, False), (False, False), (True, False)]
    assert (state.is_complete, state.must_stop) == (True, True)
    assert state.allowed_tokens().tolist() == [259, 260]
    state.advance(260)
    assert (state.is_complete, state.must_stop) == (True, True)


@pytest.mark.parametrize("max_tokens", [3, 4, 9])
def test_an_answer_is_complete_within_max_tokens(max_tokens: int) -> None:
    state = CompiledFormats(VOCABULARY).start(ResponseFormat("regex", "(ab)*c(d+e)?f*"), max_tokens)
    rng, taken = np.random.default_rng(max_tokens), 0
    while not state.must_stop:
        state.advance(int(rng.choice([token for token in state.allowed_tokens() if token < 256])))
        taken += 1
    assert state.is_complete
    assert taken <= max_tokens


def test_max_tokens_that_hold_no_answer() -> None:
    with pytest.raises(cfgmask.BudgetTooSmall, match="the shortest completion found takes 4 tokens"):
        CompiledFormats(VOCABULARY).start(ResponseFormat("regex", "wxyz"), 3)


def test_a_token_that_is_not_allowed() -> None:
    state = state_of("ab")
    with pytest.raises(cfgmask.TokenRejected):
        state.advance(ord("b"))
    assert state.allowed_tokens().tolist() == [ord("a"), 258]


# Sampling.


def test_the_mask_comes_first() -> None:
    """The model likes what the grammar forbids; each filter alone would leave none of the rest."""
    logits = np.zeros(VOCABULARY.n_vocab, np.float32)
    logits[[ord("x"), ord("y")]] = 50
    rng = np.random.default_rng(0)
    for params in (SamplingParams(top_p=0.9), SamplingParams(top_k=2), SamplingParams(temperature=0)):
        free = {sample_token(logits, params, rng) for _ in range(20)}
        assert free <= {ord("x"), ord("y")}
        assert {sample_token(logits, params, rng, state=state_of("[ab]")) for _ in range(20)} <= {ord("a"), ord("b")}


def test_without_a_state_nothing_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestState, "mask", None)
    logits = np.zeros(VOCABULARY.n_vocab, np.float32)
    logits[ord("x")] = 50
    assert sample_token(logits, SamplingParams(), np.random.default_rng(0)) == ord("x")


def test_top_p_before_the_mask_leaves_nothing() -> None:
    logits = np.zeros(VOCABULARY.n_vocab, np.float32)
    logits[ord("x")] = 50
    keep_top_p(logits, 0.9)
    with pytest.raises(IntegrationError, match="no token is left"):
        sample_token(logits, SamplingParams(), np.random.default_rng(0), state=state_of("[ab]"))


def test_the_penalty_comes_after_the_mask() -> None:
    logits = np.zeros(VOCABULARY.n_vocab, np.float32)
    logits[ord("a")] = 3
    params = SamplingParams(temperature=0, repetition_penalty=1e9)
    rng = np.random.default_rng(0)
    assert sample_token(logits, params, rng, context=[ord("a"), ord("x")], state=state_of("[ab]")) == ord("a")
    logits[ord("a")] = -1
    assert sample_token(logits, params, rng, context=[ord("a"), ord("x")], state=state_of("[ab]")) == ord("b")


@pytest.mark.parametrize(
    ("p", "left"), [(0.4, {0}), (0.5, {0}), (0.51, {0, 1}), (0.85, {0, 1, 2}), (1.0, {0, 1, 2, 3})]
)
def test_top_p(p: float, left: set[int]) -> None:
    scores = np.log(np.array([0.5, 0.25, 0.125, 0.125]))
    keep_top_p(scores, p)
    assert set(np.flatnonzero(np.isfinite(scores)).tolist()) == left


def test_the_logits_stay_as_they_are() -> None:
    logits = np.zeros(VOCABULARY.n_vocab, np.float16)
    sample_token(logits, SamplingParams(top_k=3), np.random.default_rng(0), context=[1], state=state_of("a"))
    assert not logits.any()


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"temperature": np.nan}, {"top_k": -1}, {"top_p": 0}, {"repetition_penalty": 0}]
)
def test_params_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SamplingParams(**wrong)
