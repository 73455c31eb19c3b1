"""llguidance's names over tensors of torch, and over tokenizers of transformers, tiktoken and llama.cpp."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cfgmask
import cfgmask.compat.llguidance as ours

pytest.importorskip("llguidance", reason="make bench installs it")
from tests.compat.test_llguidance import bits

pytestmark = pytest.mark.torch
DEMO = Path(cfgmask.__file__).parent / "demo" / "model.gguf"
SCHEMA = {"type": "object", "properties": {"a": {"enum": ["x", "yes"]}}, "additionalProperties": False}


def tokenizer_in_json() -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|endoftext|>", "<|tool|>"], initial_alphabet=alphabet
    )
    tokenizer.train_from_iterator(['{"a": "yes"} the cat sat on the mat, yes yes'] * 9, trainer)
    return tokenizer.to_str()


def modules() -> list[Any]:
    return [importlib.import_module("llguidance"), ours]


def test_tokenizers_of_transformers() -> None:
    pytest.importorskip("llguidance")
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    text = tokenizer_in_json()
    fast = PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(text), eos_token="<|endoftext|>")
    masks = []
    for module in modules():
        hf = importlib.import_module(f"{module.__name__}.hf")
        for tokenizer in (module.LLTokenizer(text, n_vocab=450), hf.from_tokenizer(fast, n_vocab=450)):
            assert (tokenizer.vocab_size, tokenizer.eos_token) == (450, 0)
            assert tokenizer.is_special_token(1)
            assert tokenizer.tokenize_str("the cat<|tool|>", parse_special=True) == fast.encode("the cat<|tool|>")
            assert tokenizer.decode_str(fast.encode("the cat<|tool|>")) == "the cat<|tool|>"
            grammar = module.LLMatcher.grammar_from_json_schema(SCHEMA, {"whitespace_flexible": False})
            matcher = module.LLMatcher(tokenizer, grammar, log_level=0)
            assert matcher.consume_tokens(fast.encode('{"a":"'))
            masks.append(bits(matcher, 450))
    assert masks[0]
    assert all(mask == masks[0] for mask in masks)


def test_masks_of_tensors() -> None:
    import torch

    functions = importlib.import_module("cfgmask.compat.llguidance.torch")
    theirs = importlib.import_module("llguidance.torch") if importlib.util.find_spec("llguidance") else functions
    assert {n for n in dir(theirs) if "bitmask" in n or "consume" in n} <= set(dir(functions))
    tokenizer = ours.LLTokenizer("byte")
    m = ours.LLMatcher(tokenizer, 'start: "ab"')
    masks = functions.allocate_token_bitmask(4, tokenizer.vocab_size)
    functions.fill_next_token_bitmask(m, masks, 3)
    functions.fill_next_token_bitmask_par(ours.LLExecutor(), [(m, 0)], masks)
    functions.fill_next_token_bitmask_par_with_draft_tokens(ours.LLExecutor(), [(m, 1, [97])], masks)
    logits = torch.zeros(4, tokenizer.vocab_size + 50)
    functions.apply_token_bitmask_inplace(logits, masks)
    assert [np.flatnonzero(np.isfinite(row)).tolist() for row in logits.numpy()] == [[97], [97], [98], [97]]
    one = torch.zeros(tokenizer.vocab_size)
    functions.apply_token_bitmask_inplace(one, masks[2])
    assert torch.isfinite(one).nonzero().flatten().tolist() == [98]
    with pytest.raises(AssertionError, match="int32"):
        functions.fill_next_token_bitmask(m, masks.to(torch.int64))


def test_tokenizers_of_tiktoken() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    encoding = tiktoken.Encoding(
        "bytes",
        pat_str=r"(?s).+",
        mergeable_ranks={bytes([b]): b for b in range(256)} | {b"ab": 256},
        special_tokens={"<|endoftext|>": 257},
    )
    for module in modules() if importlib.util.find_spec("llguidance") else [ours]:
        functions = importlib.import_module(f"{module.__name__}.tiktoken")
        tokenizer = functions.lltokenizer_from_encoding(encoding, n_vocab=300)
        assert (tokenizer.vocab_size, tokenizer.eos_token) == (300, 257)
        assert tokenizer.tokenize_str("xab") == [120, 256]


def test_vocabularies_of_llama() -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    llm = llama_cpp.Llama(str(DEMO), vocab_only=True, verbose=False)
    vocab = llama_cpp.llama_model_get_vocab(llm.model)
    found = []
    for module in modules() if importlib.util.find_spec("llguidance") else [ours]:
        functions = importlib.import_module(f"{module.__name__}.llamacpp")
        tokenizer = functions.lltokenizer_from_vocab(vocab)
        grammar = module.LLMatcher.grammar_from_json_schema(SCHEMA, {"whitespace_flexible": False})
        matcher = module.LLMatcher(tokenizer, grammar, log_level=0)
        assert matcher.consume_tokens(tokenizer.tokenize_str('{"a":"'))
        found.append((tokenizer.vocab_size, tokenizer.eos_token, bits(matcher, tokenizer.vocab_size)))
    assert all(one == found[0] for one in found)
