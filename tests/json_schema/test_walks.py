"""A few of the walks of `walks.py`; run that for many."""

from __future__ import annotations

import random
from typing import Any

import pytest

import cfgmask
import cfgmask.demo
from tests.json_schema import ecma, walks
from tests.tokenizers.real import gguf_path

pytestmark = pytest.mark.skipif(not ecma.IS_INSTALLED, reason="node is not installed")


@pytest.fixture(scope="module")
def small() -> cfgmask.Vocabulary:
    return cfgmask.Vocabulary.from_gguf(cfgmask.demo.model_path())


def test_small_vocabulary(small: cfgmask.Vocabulary) -> None:
    tally = walks.run(small, walks.random_schemas(10, 0), 60, random.Random(0))
    assert tally.judged > 30
    assert tally.failures == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-bpe", "gemma-4"])
def test_real_vocabulary(name: str) -> None:
    vocabulary = cfgmask.Vocabulary.from_gguf(gguf_path(name))
    tally = walks.run(vocabulary, walks.random_schemas(60, 1), 300, random.Random(1))
    assert tally.judged > 150
    assert tally.failures == []


@pytest.mark.slow
@pytest.mark.skipif(not walks.MASKBENCH.exists(), reason="MaskBench is not beside the repository")
def test_maskbench(small: cfgmask.Vocabulary) -> None:
    rng = random.Random(0)
    tally = walks.run(small, walks.maskbench_schemas(rng), 200, rng)
    assert tally.judged >= 200
    assert tally.failures == []


@pytest.mark.parametrize(
    ("schema", "text", "wrong"),
    [
        ({"type": "integer"}, b"12", None),
        ({"type": "integer"}, b"1.5", "invalid"),
        ({"pattern": "b$"}, rb'"b\n"', "invalid"),
        ({"pattern": "^.$"}, '"\u2028"'.encode(), "invalid"),
        ({"patternProperties": {"b$": False}}, rb'{"b\n":1}', None),
        ({"multipleOf": 0.1}, b"100000000000000000000000000000000000000.3", None),
        ({}, b'{"a":1,"a":2}', "repeats a key"),
    ],
)
def test_verdicts(schema: Any, text: bytes, wrong: str | None) -> None:
    assert walks.verdict(schema, text) == wrong


def test_texts_that_are_no_json_are_told() -> None:
    verdict = walks.verdict(True, b"[1,]")
    assert verdict is not None
    assert verdict.startswith("unreadable")


def test_wrong_texts_are_told(small: cfgmask.Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walks, "is_valid", lambda *_: False)
    tally = walks.run(small, iter([{"type": "boolean"}]), 4, random.Random(0))
    written: list[str] = []
    walks.report("booleans", tally, written.append)
    assert tally.failures
    assert any(line.startswith("WRONG (invalid") for line in written)
