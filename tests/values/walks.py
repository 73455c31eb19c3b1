"""Random texts of a grammar, written token by token."""

from __future__ import annotations

import random

import numpy as np

import cfgmask

# Single bytes, and pieces that cut markers, keys and characters at unusual places.
PIECES = [
    '"name"',
    '": ',
    '{"',
    '"}',
    "}}",
    "</",
    "<tool",
    "_call>",
    "call>\n",
    "lo",
    "rem ip",
    "é",
    "😀",
    "\n\n",
    ", ",
]
PIECES += ["</thin", "think>", "> <", "tool_call>", '{"a": 1', "true", "null", "1.5", "\\n", "\\u00e9", "name", "yes"]
TOKENS = [*(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in PIECES), "漢".encode()[:2]]
END = len(TOKENS)
VOCABULARY = cfgmask.Vocabulary.from_bytes([*TOKENS, b""], eos_token_id=END)
_LIKELY = np.array([1.0 if len(t) > 1 else 0.6 if t.isascii() and t.isalnum() else 0.15 for t in [*TOKENS, b"  "]])
_LIKELY[END] = 0.5


def walk(compiled: cfgmask.CompiledGrammar, rng: random.Random, n_free: int) -> list[int]:
    """Tokens of a text of the grammar, the end left out: some free ones, then a short way to the end."""
    matcher = compiled.matcher()
    bits = np.zeros((len(TOKENS) + 32) // 32, dtype=np.uint32)
    tokens: list[int] = []
    for _ in range(rng.randrange(n_free)):
        matcher.fill_mask(bits)
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")[: END + 1])
        token = rng.choices(allowed.tolist(), _LIKELY[allowed].tolist())[0]
        if token == END:
            return tokens
        matcher.advance(token)
        tokens.append(token)
    return tokens + (matcher.completion() or [])


def text_of(tokens: list[int]) -> bytes:
    return b"".join(TOKENS[token] for token in tokens)
