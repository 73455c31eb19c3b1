"""A few of the generations of `generations.py`; run that for many."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from tests.integrations.generations import run
from tests.integrations.random_llama import random_llama, tokenizer_of
from tests.tokenizers.real import gguf_path


def silent(_: str) -> None:
    pass


@pytest.mark.long
def test_small_vocabulary(model_path: Path) -> None:
    assert run(model_path, 36, 0, silent) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["llama-bpe", "gemma-4", "llama-spm"])
def test_real_vocabulary(tmp_path: Path, name: str) -> None:
    model = random_llama(tmp_path / "model.gguf", tokenizer_of(gguf_path(name)))
    assert run(model, 18, 1, silent) == []


@pytest.mark.long
def test_wrong_texts_are_told(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def does_nothing(*_: object) -> None:
        pass

    monkeypatch.setattr("cfgmask.integrations.llama_cpp.processor.LogitsProcessor._mask", does_nothing)
    monkeypatch.setattr("tests.integrations.generations.StoppingCriterion", lambda _: does_nothing)
    reported: list[str] = []
    report: Callable[[str], None] = reported.append
    assert run(model_path, 9, 0, report)
    assert any(line.startswith("WRONG") for line in reported)
