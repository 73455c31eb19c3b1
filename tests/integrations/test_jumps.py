"""A few of the texts of `jumps.py`; run that for many."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
from cfgmask.integrations.llama_cpp.decoder import Decoder
from tests.integrations import jumps
from tests.integrations.budgets import SCHEMAS
from tests.integrations.random_llama import random_llama, tokenizer_of
from tests.tokenizers.real import gguf_path


def silent(_: str) -> None:
    pass


def test_a_small_vocabulary(model_path: Path) -> None:
    assert jumps.run(model_path, 12, 0, SCHEMAS, silent) == 0


def test_a_real_vocabulary(tmp_path: Path) -> None:
    model = random_llama(tmp_path / "model.gguf", tokenizer_of(gguf_path("gpt-2")))
    assert jumps.run(model, 6, 0, SCHEMAS, silent) == 0


def test_a_context_that_holds_something_else_is_told(model_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that forgets what it was to take back of the context."""

    def replace(self: Decoder, n: int, ids: list[int]) -> None:
        self._length -= n
        self._ids[self._length : self._length + len(ids)] = ids[::-1]
        self._length += len(ids)

    monkeypatch.setattr(Decoder, "replace", replace)
    reported: list[str] = []
    assert jumps.run(model_path, 12, 0, SCHEMAS, reported.append)
    assert any(line.startswith("WRONG") for line in reported)
