"""mlx-lm's own loop over tokens, with a model of random weights."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cfgmask

pytestmark = pytest.mark.engines
mx = pytest.importorskip("mlx.core", reason="make test-engines installs it")
pytest.importorskip("mlx_lm", reason="make test-engines installs it")

VOCABULARY = cfgmask.Vocabulary.from_bytes([*(bytes([b]) for b in range(256)), b""], eos_token_id=256)
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


def test_texts_of_a_random_model() -> None:
    from mlx_lm.generate import generate_step
    from mlx_lm.models import llama

    from cfgmask.integrations.mlx_lm import LogitsProcessor

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "intermediate_size": 32, "num_attention_heads": 2}
    model = llama.Model(llama.ModelArgs(model_type="llama", rms_norm_eps=1e-5, vocab_size=300, **sizes))
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(SCHEMA), VOCABULARY)
    for seed in range(5):
        mx.random.seed(seed)
        hook = LogitsProcessor(compiled, max_new_tokens=40)
        sample = lambda logprobs: mx.random.categorical(logprobs)  # noqa: E731
        written = []
        for token, _ in generate_step(
            mx.array([1, 2, 3]), model, max_tokens=60, sampler=sample, logits_processors=[hook]
        ):
            if token == 256:
                break
            written.append(token)
        assert "a" in json.loads(bytes(written))


def test_masks() -> None:
    from cfgmask.compat.llguidance import mlx as compat
    from cfgmask.integrations.mlx_lm.masking import apply_masks

    words = np.array([[0b101, 1 << 31], [0, 2]], np.uint32)
    for width in (40, 64, 70):
        for dtype in (mx.float32, mx.float16, mx.bfloat16):
            masked = apply_masks(mx.zeros((2, width), dtype=dtype), words)
            assert masked.dtype == dtype
            found = [np.flatnonzero(np.isfinite(row)).tolist() for row in np.array(masked.astype(mx.float32))]
            assert found == [[i for i in (0, 2, 63) if i < width], [33]]
    row = compat.apply_token_bitmask(mx.zeros(64), words.view(np.int32)[1])
    assert np.flatnonzero(np.isfinite(np.array(row[0]))).tolist() == [33]
