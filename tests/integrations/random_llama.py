"""Models of llama's architecture with random weights, over any tokenizer: what they write is noise, at full speed.

python -m tests.integrations.random_llama model.gguf vocabulary.gguf
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from cfgmask.tokenizers.gguf_file import GgufFile
from tests.tokenizers.gguf_writer import Raw, write_gguf

_WIDTH, _HEADS, _LAYERS, _INNER = 32, 2, 2, 64


def random_llama(path: Path, tokenizer: dict[str, Any], *, seed: int = 0, scale: float = 3.0) -> Path:
    """Write a model of two layers.

    tokenizer  fields of a GGUF file, as of `tests.tokenizers.small` or `tokenizer_of`
    scale      how far apart its logits lie: at 1 nothing stands out, at 8 one token nearly always wins
    """
    rng = np.random.default_rng(seed)
    n_vocab = _n_tokens(tokenizer)

    def matrix(rows: int, columns: int, size: float) -> np.ndarray:
        return (rng.standard_normal((rows, columns), dtype=np.float32) * (size / columns**0.5)).astype(np.float16)

    # An output of its own: with the embedding's, a model of random weights says the same token again and again.
    tensors = {
        "token_embd.weight": matrix(n_vocab, _WIDTH, 1.0),
        "output.weight": matrix(n_vocab, _WIDTH, scale),
        "output_norm.weight": _ones(),
    }
    for layer in range(_LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            tensors[f"blk.{layer}.{name}.weight"] = matrix(_WIDTH, _WIDTH, 1.0)
        tensors[f"blk.{layer}.ffn_gate.weight"] = matrix(_INNER, _WIDTH, 1.0)
        tensors[f"blk.{layer}.ffn_up.weight"] = matrix(_INNER, _WIDTH, 1.0)
        tensors[f"blk.{layer}.ffn_down.weight"] = matrix(_WIDTH, _INNER, 1.0)
        tensors[f"blk.{layer}.attn_norm.weight"] = _ones()
        tensors[f"blk.{layer}.ffn_norm.weight"] = _ones()
    fields = {
        "general.architecture": "llama",
        "llama.context_length": 2048,
        "llama.embedding_length": _WIDTH,
        "llama.block_count": _LAYERS,
        "llama.feed_forward_length": _INNER,
        "llama.attention.head_count": _HEADS,
        "llama.attention.head_count_kv": _HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": n_vocab,
    }
    return write_gguf(path, fields | tokenizer, tensors)


def tokenizer_of(path: Path) -> dict[str, Any]:
    """The tokenizer of a GGUF file, byte for byte."""
    with GgufFile(path) as file:
        return {key: Raw(file.raw(key)) for key in file.fields if key.startswith("tokenizer.")}


def _n_tokens(tokenizer: dict[str, Any]) -> int:
    tokens = tokenizer["tokenizer.ggml.tokens"]
    # A raw array: type of the value, type of its elements, their number.
    return int.from_bytes(tokens[8:16], "little") if isinstance(tokens, Raw) else len(tokens)


def _ones() -> np.ndarray:
    return np.ones(_WIDTH, dtype=np.float32)


if __name__ == "__main__":
    model, vocabulary = map(Path, sys.argv[1:])
    random_llama(model, tokenizer_of(vocabulary))
