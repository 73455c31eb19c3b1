"""Outlines' own generator, over a transformers model of random weights."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import cfgmask
from tests.integrations.engines.requests import tokenizer

pytestmark = pytest.mark.engines
outlines = pytest.importorskip("outlines", reason="make test-engines installs it")

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}


@pytest.fixture(scope="module")
def model() -> Any:
    import torch
    import transformers

    torch.manual_seed(0)
    made = tokenizer()
    made.pad_token = made.eos_token
    config = transformers.LlamaConfig(
        vocab_size=len(made),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        eos_token_id=made.eos_token_id,
        pad_token_id=made.eos_token_id,
    )
    return outlines.from_transformers(transformers.LlamaForCausalLM(config).eval(), made)


def test_texts_of_a_random_model(model: Any) -> None:
    from cfgmask.integrations.outlines import LogitsProcessor, vocabulary_of

    vocabulary = vocabulary_of(model)
    for grammar, fits in (
        (cfgmask.Grammar.from_json_schema(SCHEMA), lambda text: isinstance(json.loads(text)["a"], int)),
        (cfgmask.Grammar.from_regex(r"[a-f]{3}-\d+"), lambda text: re.fullmatch(r"[a-f]{3}-\d+", text)),
    ):
        hook = LogitsProcessor(model, cfgmask.compile(grammar, vocabulary), max_new_tokens=40)
        generator = outlines.Generator(model, processor=hook)
        for _ in range(3):  # one text after another
            assert fits(generator("Write: ", max_new_tokens=41, do_sample=True))
        texts = generator.batch(["Write: ", "And: "], max_new_tokens=41, do_sample=True)
        assert len(texts) == 2
        assert all(map(fits, texts))


def test_a_limit_in_a_batch_is_raised(model: Any) -> None:
    from cfgmask.integrations.outlines import LogitsProcessor, vocabulary_of

    source = cfgmask.Grammar.from_lark('start: /[athe ]/ start "b" | "c"')
    limits = cfgmask.Limits(max_item_sets=12)
    hook = LogitsProcessor(model, cfgmask.compile(source, vocabulary_of(model), limits), stall_after=None)
    generator = outlines.Generator(model, processor=hook)

    def write_many() -> None:
        for _ in range(30):
            generator.batch(["Write: ", "And: "], max_new_tokens=60, do_sample=True)

    with pytest.raises(cfgmask.LimitExceeded):
        write_many()
