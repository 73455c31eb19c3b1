"""A few of the texts of `budgets.py`; run that for many."""

from __future__ import annotations

from pathlib import Path

import pytest

import cfgmask
from tests.integrations import budgets


def silent(_: str) -> None:
    pass


def test_llama_cpp(model_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    assert budgets.run(budgets.LlamaEngine(model_path), 40, 0, budgets.SCHEMAS, silent) == []


@pytest.mark.torch
def test_transformers() -> None:
    for library in ("torch", "transformers"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    engine = budgets.TransformersEngine(budgets.byte_vocabulary())
    assert budgets.run(engine, 24, 0, budgets.SCHEMAS, silent) == []


def test_texts_that_are_cut_off_are_told(model_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

    class Cutting(budgets.LlamaEngine):
        def write(
            self, compiled: cfgmask.CompiledGrammar, budget: int, rng: budgets.random.Random
        ) -> tuple[bytes, int]:
            text, n_tokens = super().write(compiled, budget, rng)
            return text[:-1], n_tokens

    reported: list[str] = []
    assert budgets.run(Cutting(model_path), 16, 0, budgets.SCHEMAS, reported.append)
    assert any(line.startswith("WRONG not") for line in reported)
