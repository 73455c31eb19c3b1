"""A small llama.cpp model of random weights over bytes, loaded as often as a test likes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.random_llama import random_llama
from tests.tokenizers.small import CONTROL, NORMAL, byte_level_fields

# Two end tokens, a control token, and tokens longer than what llama-cpp-python's detokenizer can hold.
ADDED = {"<|end_of_text|>": CONTROL, "<|im_end|>": CONTROL, "<|start|>x": CONTROL, "-" * 40: NORMAL, "a" * 33: NORMAL}
END_TOKENS = (259, 260)


@pytest.fixture(scope="session")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_llama(tmp_path_factory.mktemp("models") / "bytes.gguf", byte_level_fields(ADDED))


@pytest.fixture
def load(model_path: Path) -> Iterator[Callable[..., Any]]:
    """Loads the model; options are those of `llama_cpp.Llama`."""
    llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")
    loaded = []

    def load_one(**options: Any) -> Any:
        options = {"n_ctx": 256, "n_threads": 1, "verbose": False, "seed": 1} | options
        loaded.append(llama_cpp.Llama(str(model_path), **options))
        return loaded[-1]

    yield load_one
    for llm in loaded:
        llm.close()


@pytest.fixture
def llm(load: Callable[..., Any]) -> Any:
    return load()
