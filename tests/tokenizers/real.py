"""Real tokenizers, where the reference data folder lies beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "vocab"
NAMES = ("gemma-4", "gpt-2", "llama-bpe", "llama-spm", "phi-3", "qwen2")


def gguf_path(name: str) -> Path:
    """The vocabulary file of that name; skips the test where it is missing."""
    return _existing(FOLDER / f"ggml-vocab-{name}.gguf")


def llama3_ranks_path() -> Path:
    """Llama-3's tiktoken ranks; skips the test where they are missing."""
    return _existing(FOLDER / "llama3-tokenizer.model")


def _existing(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"the reference data file {path.name} is missing")
    return path
