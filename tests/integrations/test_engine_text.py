"""What all engines' adapters are made of, without an engine."""

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


def test_steps_behind_the_end_are_taken_back_first() -> None:
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


def test_a_limit_leaves_end_tokens_alone() -> None:
    source = cfgmask.Grammar.from_lark('start: "a" start "b" | "c"')
    compiled = cfgmask.compile(source, VOCABULARY, cfgmask.Limits(max_item_sets=12))
    text = EngineText(compiled.matcher(stop_token_ids=[31]), [31])
    row = np.zeros(9, np.int32)
    n = 0
    while text.error is None:
        text.fill(row)
        n += text.accept(97)
        assert n < 1000
    assert text.is_over
    text.fill(row)
    allowed = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
    assert allowed == [31, 256]
    text.rollback(n)
    assert text.error is None
    assert text.matcher.n_steps == 0
