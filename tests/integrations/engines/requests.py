"""Requests of mixed kinds, with the tokenizer that they are written in, and a model that writes at random."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import numpy as np

import cfgmask
from cfgmask.integrations.engine_requests import RequestKind, request_grammar

SCHEMAS: list[dict[str, Any]] = [
    {"type": "integer"},
    {"enum": ["red", "green", None]},
    {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"enum": ["x", "yes"]}}, "required": ["a"],
     "additionalProperties": False},
    {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 1},
]  # fmt: skip
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "tag",
        "begin": "<f>",
        "content": {"type": "json_schema", "json_schema": SCHEMAS[1]},
        "end": "</f>",
    },
}
REQUESTS: list[tuple[RequestKind, str]] = [
    *(("json", json.dumps(schema)) for schema in SCHEMAS),
    ("regex", r"[a-c]{2,5}( the cat)?"),
    ("regex", r"\d{4}-\d\d"),
    ("grammar", 'root ::= "yes" | "no" (" " root)?'),
    ("grammar", 'start: ("cat" | "mat") ("," start)?'),
    ("choice", '["yes", "yes sir", "no"]'),
    ("structural_tag", json.dumps(TAG)),
]


@cache
def tokenizer() -> Any:
    """A small tokenizer of transformers."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|eot|>", "<|tool|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    made.train_from_iterator(['{"a": true, "b": "yes"} the cat sat on the mat, yes yes [1, 2, 3] 2024-05'] * 9, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<|endoftext|>")


def plain_matcher(kind: RequestKind, text: str, stops: list[int] | None = None) -> cfgmask.Matcher:
    """What each request is held against."""
    vocabulary = cfgmask.Vocabulary.from_transformers(tokenizer())
    return cfgmask.compile(request_grammar(kind, text), vocabulary).matcher(stop_token_ids=stops)


def allowed(row: Any) -> list[int]:
    words = np.asarray(row).view(np.uint8)
    return np.flatnonzero(np.unpackbits(words, bitorder="little")).tolist()


def mask(matcher: cfgmask.Matcher) -> list[int]:
    row = np.zeros(-(-matcher.compiled.vocabulary.n_vocab // 32), np.int32)
    matcher.fill_mask(row)
    return allowed(row)


def choose(rng: random.Random, tokens: list[int], matcher: cfgmask.Matcher, step: int) -> int:
    """A token at random; after some steps, of a way to the end."""
    if step < 12:
        return rng.choice(tokens)
    way = matcher.completion()
    return way[0] if way else rng.choice([t for t in tokens if matcher.fork().try_advance([t])])
