"""Positions that other processes take up, stop tokens of a request, and batches that move together."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import multiprocessing
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cfgmask


def vocabulary(**changes: Any) -> cfgmask.Vocabulary:
    words = [b"ab", b'":', b'{"', b"true", b"12", b", ", b"}}"]
    tokens = [*(bytes([b]) for b in range(256)), b"", b"", *words]
    given = {"eos_token_id": 256, "special_tokens": {"<|tool|>": 257}, "encode": lambda text: list(text.encode())}
    return cfgmask.Vocabulary.from_bytes(tokens, **{**given, **changes})


SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer"},
        "b": {"type": "array", "items": {"enum": ["ab", True]}, "uniqueItems": True},
    },
}
GRAMMARS: dict[str, Callable[[], cfgmask.Grammar]] = {
    "schema": lambda: cfgmask.Grammar.from_json_schema(SCHEMA),
    "any order": lambda: cfgmask.Grammar.from_json_schema(SCHEMA, property_order="any"),
    "lark": lambda: cfgmask.Grammar.from_lark('start: (WORD "," | <|tool|> "x")* "."\nWORD: /[a-z]+/\n%ignore " "'),
    "nested": lambda: cfgmask.Grammar.from_lark("start: @a+", grammars={"a": {"enum": ["x", 12]}}),
    "regex": lambda: cfgmask.Grammar.from_regex("(ab|c)*d?", flags="i"),
    "choices": lambda: cfgmask.Grammar.from_choices(["ab", "abc", "12"]),
    "gbnf": lambda: cfgmask.Grammar.from_gbnf('root ::= "a" root "b" | "12"?'),
    "lookahead": lambda: cfgmask.Grammar.from_regex(r"(?!ab)[a-c]+\b"),
}


def mask(matcher: cfgmask.Matcher) -> list[int]:
    n_vocab = matcher.compiled.vocabulary.n_vocab
    bits = np.zeros(-(-n_vocab // 32), np.uint32)
    matcher.fill_mask(bits)
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little", count=n_vocab)).tolist()


def written(compiled: cfgmask.CompiledGrammar, rng: random.Random, **arguments: Any) -> cfgmask.Matcher:
    """A matcher after some random steps, some of them of bytes."""
    matcher = compiled.matcher(**arguments)
    for _ in range(rng.randrange(12)):
        allowed = mask(matcher)
        if not allowed:
            break
        token = rng.choice(allowed)
        text = compiled.vocabulary.text(token)
        if not (text and rng.random() < 0.2 and matcher.advance_bytes(text) == len(text)):
            matcher.advance(token)
    return matcher


@pytest.mark.parametrize("name", GRAMMARS)
def test_a_position_goes_on_as_it_would_have(name: str) -> None:
    rng = random.Random(name)
    compiled = cfgmask.compile(GRAMMARS[name](), vocabulary())
    # Made anew, as in another process.
    other = cfgmask.compile(GRAMMARS[name](), vocabulary())
    for arguments in ({}, {"max_tokens": 40}, {"stall_after": 3}, {"canonical": True}, {"stop_token_ids": [97, 257]}):
        for _ in range(8):
            matcher = written(compiled, rng, **arguments)
            again = cfgmask.Matcher.from_bytes(other, matcher.to_bytes())
            assert again.compiled is other
            assert again.arguments == matcher.arguments
            assert again.steps() == matcher.steps()
            for back in range(matcher.n_steps + 1):
                assert (mask(again), again.is_finished, again.tokens_left, again.n_stalled) == (
                    mask(matcher),
                    matcher.is_finished,
                    matcher.tokens_left,
                    matcher.n_stalled,
                ), back
                if back < matcher.n_steps:
                    matcher.rollback(1)
                    again.rollback(1)


def test_positions_of_others_are_refused() -> None:
    compiled = cfgmask.compile(GRAMMARS["schema"](), vocabulary())
    matcher = compiled.matcher()
    matcher.advance_bytes(b'{"a": 1')
    data = matcher.to_bytes()
    others = {
        "another grammar": [
            cfgmask.compile(cfgmask.Grammar.from_json_schema({**SCHEMA, "minProperties": 1}), vocabulary()),
            cfgmask.compile(cfgmask.Grammar.from_json_schema(SCHEMA, whitespace="compact"), vocabulary()),
            cfgmask.compile(GRAMMARS["lark"](), vocabulary()),
        ],
        "another vocabulary": [
            cfgmask.compile(GRAMMARS["schema"](), vocabulary(eos_token_id=257)),
            cfgmask.compile(GRAMMARS["schema"](), vocabulary(special_tokens={"<|other|>": 257})),
        ],
    }
    for message, compileds in others.items():
        for other in compileds:
            with pytest.raises(ValueError, match=message):
                cfgmask.Matcher.from_bytes(other, data)
    # The name, the limits and the encoder mean nothing.
    same = cfgmask.Grammar.from_json_schema(SCHEMA, name="other", limits=cfgmask.Limits(max_items=5000))
    assert cfgmask.Matcher.from_bytes(cfgmask.compile(same, vocabulary(encode=None)), data).steps() == matcher.steps()
    for n in (0, 10, 40, len(data) - 1):
        with pytest.raises(ValueError, match=r"no position|damaged"):
            cfgmask.Matcher.from_bytes(compiled, data[:n])
    for i in range(0, len(data), 7):
        with pytest.raises(ValueError, match=r"no position|damaged|format"):
            cfgmask.Matcher.from_bytes(compiled, data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])


def test_pickles_and_copies() -> None:
    made = vocabulary()
    compiled = cfgmask.compile(GRAMMARS["nested"](), made, cfgmask.Limits(max_items=7000), shard=3)
    matcher = compiled.matcher(max_tokens=9)
    matcher.advance_bytes(b'"x')
    first, again, at = pickle.loads(pickle.dumps((made, compiled, matcher)))
    assert at.compiled is again
    assert (first.tokens, first.eos_token_ids, first.special_tokens, first.encode) == (
        made.tokens,
        made.eos_token_ids,
        made.special_tokens,
        None,
    )
    assert repr(first) == repr(made)
    assert first.fingerprint == made.fingerprint
    # What is read twice is one object, which shares what it learns.
    assert pickle.loads(pickle.dumps(made)) is first
    assert pickle.loads(pickle.dumps(first)) is first
    assert (mask(at), at.steps(), at.tokens_left) == (mask(matcher), matcher.steps(), matcher.tokens_left)
    copied = copy.copy(matcher)
    copied.advance_bytes(b'"')
    assert matcher.n_steps == 1
    assert copy.deepcopy(made) is copy.copy(made) is made
    assert mask(copy.deepcopy(matcher)) == mask(matcher)
    ir = cfgmask.compile(GRAMMARS["lark"]().ir, made)
    assert mask(pickle.loads(pickle.dumps(ir)).matcher()) == mask(ir.matcher())


def masks_of(data: bytes) -> list[list[int]]:
    return [mask(matcher) for matcher in pickle.loads(data)]


def masks_of_positions(compiled: bytes, positions: list[bytes]) -> list[list[int]]:
    again = pickle.loads(compiled)
    return [mask(cfgmask.Matcher.from_bytes(again, position)) for position in positions]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_in_another_process(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    rng = random.Random(method)
    compileds = [cfgmask.compile(make(), vocabulary()) for make in GRAMMARS.values()]
    matchers = [written(compiled, rng) for compiled in compileds for _ in range(5)]
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(masks_of, (pickle.dumps(matchers),)) == list(map(mask, matchers))
        positions = [matcher.to_bytes() for matcher in matchers[:5]]
        found = pool.apply(masks_of_positions, (pickle.dumps(compileds[0]), positions))
        assert found == list(map(mask, matchers[:5]))


@pytest.mark.slow
def test_ten_thousand_positions_in_another_process() -> None:
    rng = random.Random(1)
    compiled = cfgmask.compile(GRAMMARS["schema"](), vocabulary())
    matchers = [written(compiled, rng) for _ in range(10_000)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        positions = [matcher.to_bytes() for matcher in matchers]
        found = pool.apply(masks_of_positions, (pickle.dumps(compiled), positions))
    assert found == list(map(mask, matchers))


# ---- stop tokens


@pytest.mark.parametrize("name", GRAMMARS)
def test_stop_tokens_are_end_tokens(name: str) -> None:
    """Masks and steps are those of a vocabulary in which they end texts, and write none."""
    rng = random.Random(name)
    # What they write, other tokens write, too: `compile` leaves out what no token of a vocabulary can write.
    stops = [257, 258, 261, 263]
    plain = vocabulary(encode=None)
    tokens = [b"" if i in stops else token for i, token in enumerate(plain.tokens)]
    ending = cfgmask.Vocabulary.from_bytes(tokens, eos_token_id=[256, *stops])
    source = GRAMMARS[name]() if name != "lark" else cfgmask.Grammar.from_lark('start: (/[a-z]+/ ",")* "."')
    compiled, expected = cfgmask.compile(source, plain), cfgmask.compile(source, ending)
    for _ in range(20):
        matcher, other = compiled.matcher(stop_token_ids=stops), expected.matcher()
        for _ in range(15):
            found = mask(matcher)
            assert found == mask(other)
            rows = np.zeros((1, 9), np.uint32)
            assert cfgmask.fill_masks([matcher], rows) == [None]
            assert np.flatnonzero(np.unpackbits(rows.view(np.uint8), bitorder="little")).tolist() == found
            for token in rng.sample(range(plain.n_vocab), 20):
                assert (matcher.try_advance([token], consume=False) == 1) == (token in found)
                assert (matcher.explain(token).reason == "allowed") == (token in found)
            if not found:
                break
            token = rng.choice(found)
            matcher.advance(token)
            other.advance(token)
            assert matcher.is_finished == other.is_finished
            if matcher.is_finished:
                assert matcher.fork().arguments["stop_token_ids"] == sorted(stops)
                matcher.rollback(1)
                other.rollback(1)


def test_stop_tokens_that_cannot_be() -> None:
    compiled = cfgmask.compile(GRAMMARS["lark"](), vocabulary())
    for wrong in ([-1], [5000]):
        with pytest.raises(ValueError, match="lacks"):
            compiled.matcher(stop_token_ids=wrong)
    for wrong in ([97], [257]):  # text, and what the grammar names
        for bound in ({"max_tokens": 50}, {"stall_after": 5}):
            with pytest.raises(ValueError, match="no text has"):
                compiled.matcher(stop_token_ids=wrong, **bound)
    assert compiled.matcher(max_tokens=50, stop_token_ids=[256]).arguments["stop_token_ids"] == []
    a = cfgmask.compile(cfgmask.Grammar.from_regex("b(a|bb)"), vocabulary())
    with pytest.raises(ValueError, match="stop_token_ids"):
        a.matcher(stop_token_ids=[97, 258]).completion()
    assert a.matcher(stop_token_ids=[257]).completion() is not None


def test_forced_tokens_end_before_a_stop_token() -> None:
    compiled = cfgmask.compile(cfgmask.Grammar.from_choices(["xyzw"]), vocabulary())
    assert compiled.matcher().forced_tokens() == list(b"xyzw")
    matcher = compiled.matcher(stop_token_ids=[ord("z")])
    assert matcher.forced_tokens() == list(b"xy")
    assert matcher.jump() == (0, list(b"xy"))
    assert compiled.matcher(stop_token_ids=[ord("x")], canonical=True).forced_tokens() == []


# ---- batches


def test_a_batch_of_drafts_is_each_of_them() -> None:
    rng = random.Random(5)
    compileds = [cfgmask.compile(make(), vocabulary()) for make in GRAMMARS.values()]
    for _ in range(10):
        matchers = [written(compiled, rng) for compiled in compileds]
        drafts = [
            [
                rng.choice(mask(m) or [0]),
                *(rng.randrange(m.compiled.vocabulary.n_vocab) for _ in range(rng.randrange(3))),
            ]
            if rng.random() < 0.8
            else []
            for m in matchers
        ]
        parents: list[list[int] | None] = [
            None if rng.random() < 0.5 else [rng.randrange(-1, i) for i in range(len(tokens))] for tokens in drafts
        ]
        n_rows = sum(map(len, drafts)) + len(drafts)
        bits = np.full((n_rows + 1, 9), 7, np.uint32)
        steps = [m.n_steps for m in matchers]
        found = cfgmask.fill_draft_masks_many(matchers, drafts, bits, parents)
        assert [m.n_steps for m in matchers] == steps
        row = 0
        for matcher, tokens, its_parents, fits in zip(matchers, drafts, parents, found, strict=True):
            alone = np.zeros((len(tokens) + 1, 9), np.uint32)
            assert fits == cfgmask.fill_draft_masks(matcher, tokens, alone, its_parents)
            assert (bits[row : row + len(alone)] == alone).all()
            row += len(alone)
        assert (bits[row] == 7).all()


def test_an_error_in_a_batch_is_its_rows_own() -> None:
    limits = cfgmask.Limits(max_item_sets=12)
    small = cfgmask.compile(cfgmask.Grammar.from_lark('start: "a" start "b" | "c"'), vocabulary(), limits)
    good, bad = small.matcher(), small.matcher()
    drafts = [97] * 40
    bits = np.zeros((42, 9), np.uint32)
    found = cfgmask.fill_draft_masks_many([bad, good], [drafts, []], bits)
    assert isinstance(found[0], cfgmask.LimitExceeded)
    assert found[1] == []
    assert bits[41].any()
    errors = cfgmask.advance_many([good, bad], [97, 98])
    assert errors[0] is None
    assert isinstance(errors[1], cfgmask.TokenRejected)
    assert (good.n_steps, bad.n_steps) == (1, 0)
    errors = cfgmask.rollback_many([good, bad], [1, 1])
    assert errors[0] is None
    assert isinstance(errors[1], ValueError)
    for wrong in (lambda: cfgmask.advance_many([good], []), lambda: cfgmask.rollback_many([], [1])):
        with pytest.raises(ValueError, match="there are"):
            wrong()
    with pytest.raises(ValueError, match="take 4 rows"):
        cfgmask.fill_draft_masks_many([good, bad], [[1], [2]], bits[:3])
    with pytest.raises(ValueError, match="lists of drafts"):
        cfgmask.fill_draft_masks_many([good], [], bits)


def crafted(data: bytes, body: bytes) -> bytes:
    """Bytes with another body, and the checksum that goes with it."""
    header = len(b"cfgmask position ") + 1
    return data[:header] + hashlib.blake2b(body, digest_size=16).digest() + body


def test_crafted_positions_are_refused() -> None:
    compiled = cfgmask.compile(GRAMMARS["schema"](), vocabulary())
    matcher = compiled.matcher(max_tokens=40)
    matcher.advance(ord("{"))
    matcher.advance_bytes(b'"a": 1')
    data = matcher.to_bytes()
    body = data[len(b"cfgmask position ") + 17 :]
    prints, rest = body[:32], body[40:]
    arguments, texts = rest.index(b"}") + 1, b'"a": 1'

    def with_parts(written: bytes, steps: list[int], texts: bytes, **sizes: int) -> bytes:
        lengths = [sizes.get("arguments", len(written)), sizes.get("numbers", len(steps))]
        return crafted(
            data, prints + np.array(lengths, "<i4").tobytes() + written + np.array(steps, "<i4").tobytes() + texts
        )

    good = [ord("{"), -1 - len(texts)]
    assert with_parts(rest[:arguments], good, texts) == data
    wrong = [
        *(with_parts(written, good, texts) for written in (
            b"", b"[]", b"1", b"null", b'"a"', b"\xff", b"{", b"[" * 100_000, b'{"a":' * 10_000,
            b'{"max_tokens":1e999}',
            b'{"max_tokens":NaN}', b'{"max_tokens":' + b"9" * 5_000 + b"}", b'{"max_tokens":-1}', b'{"max_tokens":"1"}',
            b'{"x":1}', b'{"self":1}', b'{"":1}', b'{"\\ud800":1}', b'{"stop_token_ids":5}', b'{"stop_token_ids":[-1]}',
            b'{"stop_token_ids":[1e99]}', b'{"stop_token_ids":[[]]}', b'{"canonical":[]}', b'{"stall_after":0}', b"{}x",
        )),
        with_parts(rest[:arguments], good, texts + b"x"),
        with_parts(rest[:arguments], [*good, -(2**31)], texts),
        with_parts(rest[:arguments], [2**31 - 1], b""),
        with_parts(rest[:arguments], [-5], b"xxxx"),
        *(with_parts(rest[:arguments], good, texts, arguments=n) for n in (-1, -40, -(2**31), 2**31 - 1, 0)),
        *(with_parts(rest[:arguments], good, texts, numbers=n) for n in (-1, -2, -(2**31), 2**31 - 1, 0, 1)),
        crafted(data, prints),
        crafted(data, b""),
    ]  # fmt: skip
    for position in wrong:
        with pytest.raises(ValueError):  # noqa: PT011, any message is right
            cfgmask.Matcher.from_bytes(compiled, position)
    for value in (None, 5, "text", [1]):
        with pytest.raises(TypeError):
            cfgmask.Matcher.from_bytes(compiled, value)
    rng = random.Random(3)
    for _ in range(2_000):
        changed = bytearray(body)
        for _ in range(rng.randint(1, 4)):
            # The first bytes are fingerprints, and a wrong one is refused before the rest is read.
            at = rng.randrange(32, len(changed))
            changed[at : at + rng.randrange(3)] = rng.choice([b"", b"\xff", b"\x00", b"}", b"[", rng.randbytes(4)])
        with contextlib.suppress(ValueError):
            cfgmask.Matcher.from_bytes(compiled, crafted(data, bytes(changed)))
