"""The text of a request as all engines' adapters follow it, without an engine."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

import cfgmask
from cfgmask.integrations.engine_requests import RequestKind, request_grammar
from cfgmask.integrations.engine_text import EngineText

WORDS = [*(bytes([b]) for b in range(256)), b"", b""]
VOCABULARY = cfgmask.Vocabulary.from_bytes(WORDS, eos_token_id=256)
TAG = {
    "type": "structural_tag",
    "format": {"type": "tag", "begin": "<f>", "content": {"type": "any_text"}, "end": "</f>"},
}


@pytest.mark.parametrize(
    ("kind", "text", "yes", "no"),
    [
        ("json", '{"type": "integer"}', "12", "1.5"),
        ("json", "true", '{"a": [1, 2]}', "{a"),
        ("json_object", "", "{}", "[]"),
        ("regex", r"\d{2}", "12", "123"),
        ("grammar", 'root ::= "a" | "b" root', "ba", "ab"),
        ("grammar", 'start: "a" | "b" start', "ba", "ab"),
        ("grammar", '%llguidance {}\n\nstart: "a"', "a", "b"),
        ("choice", '["a", "b\\n"]', "b\n", "c"),
        ("structural_tag", json.dumps(TAG), "<f>x</f>", "x"),
    ],
)
def test_kinds_of_requests(kind: RequestKind, text: str, yes: str, no: str) -> None:
    compiled = cfgmask.compile(request_grammar(kind, text), VOCABULARY)
    for written, fits in ((yes, True), (no, False)):
        matcher = compiled.matcher()
        data = written.encode()
        assert (matcher.advance_bytes(data) == len(data) and matcher.is_accepting) == fits


def test_compact_json() -> None:
    compiled = cfgmask.compile(request_grammar("json", "true", compact=True), VOCABULARY)
    assert compiled.matcher().advance_bytes(b"[1, 2]") == 3


def test_wrong_requests() -> None:
    wrong: list[tuple[RequestKind, str]] = [
        ("json", "{"),
        ("regex", "["),
        ("grammar", "x"),
        ("choice", "["),
        ("choice", "[]"),
    ]
    for kind, text in wrong:
        with pytest.raises(ValueError):  # noqa: PT011  # each says what is wrong in its own way
            request_grammar(kind, text)


def test_steps_after_the_end_are_taken_back_first() -> None:
    rng = random.Random(3)
    compiled = cfgmask.compile(cfgmask.Grammar.from_regex("(ab?)*"), VOCABULARY)
    for _ in range(100):
        text = EngineText(compiled.matcher())
        taken: list[int] = []
        for _ in range(20):
            if taken and rng.random() < 0.3:
                n = rng.randrange(1, len(taken) + 1)
                text.fork().rollback(n)
                text.rollback(n)
                del taken[-n:]
            else:
                token = rng.choice([97, 98, 256])
                if text.accept(token):
                    taken.append(token)
            # Up to the first end token they are the matcher's.
            upto = taken.index(256) + 1 if 256 in taken else len(taken)
            assert text.matcher.steps() == taken[:upto]
            assert text.is_over == (256 in taken)
    text.reset()
    assert not text.is_over
    assert text.n_valid([97, 98, 256, 97]) == 3
    assert text.n_valid([98]) == 0


def limited() -> EngineText:
    """A text of many letters `a` meets a limit, by a mask or by a token."""
    source = cfgmask.Grammar.from_lark('start: "a" start "b" | "c"')
    compiled = cfgmask.compile(source, VOCABULARY, cfgmask.Limits(max_item_sets=12))
    return EngineText(compiled.matcher(stop_token_ids=[31]), [31])


def allowed(text: EngineText) -> list[int]:
    row = np.zeros(9, np.int32)
    text.fill(row)
    return np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()


@pytest.mark.parametrize("asks_for_masks", [True, False])
def test_a_limit_leaves_end_tokens_alone(asks_for_masks: bool) -> None:
    text = limited()
    row = np.zeros(9, np.int32)
    met = None
    while met is None:
        met = text.fill(row) if asks_for_masks else None
        try:
            assert text.accept(97)
        except cfgmask.LimitExceeded as error:
            met = error
        assert text.matcher.n_steps < 1000
    assert text.error is met
    assert text.fill(row) is None  # told once
    assert allowed(text) == [31, 256]
    assert not text.is_over
    assert text.n_valid([97]) == 0
    for token in (97, 256):
        with pytest.raises(cfgmask.LimitExceeded):
            text.accept(token)
    text.skip()
    assert text.is_over
    assert allowed(text.fork()) == [31, 256]


def test_a_limit_is_forgotten_when_the_text_is_taken_back() -> None:
    """Drafts may meet a limit that the text itself does not: random walks with steps that are taken back."""
    rng = random.Random(5)
    n_met = 0
    for _ in range(30):
        text = limited()
        taken = 0
        for _ in range(100):
            if taken and rng.random() < 0.3:
                n = rng.randrange(1, min(taken, 3) + 1)
                text.rollback(n)
                taken -= n
                assert text.error is None or taken > text.matcher.n_steps
            elif rng.random() < 0.3:
                row = np.zeros(9, np.int32)
                n_met += text.fill(row) is not None
                assert (allowed(text) == [31, 256]) == (text.error is not None)
            else:
                try:
                    taken += text.accept(97)
                except cfgmask.LimitExceeded:
                    n_met += 1
                    text.skip()
                    taken += 1
            assert text.matcher.n_steps <= taken
        text.rollback(taken)
        assert (text.error, text.is_over, text.matcher.n_steps) == (None, False, 0)
        with pytest.raises(ValueError, match="fewer"):
            text.rollback(1)
    assert n_met > 50
