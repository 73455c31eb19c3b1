"""Typical mistakes get an answer: 300 of them at random, and that the generator can tell silence from an answer."""

from __future__ import annotations

import pytest

from cfgmask.json_schema import nodes
from tests.mistakes import keeps_silent

SEEDS = range(300)


def test_mistakes_are_answered() -> None:
    assert [text for seed in SEEDS if (text := keeps_silent(seed)) is not None] == []


def test_silence_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "meant_by", lambda keyword: None)
    assert any(keeps_silent(seed) is not None for seed in SEEDS)
