"""The vocabulary that all engines of one run share, and how texts become its tokens."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cfgmask

# What Llama 3's tokenizer adds to the ranks in its file: the pattern that splits text, and 256 special tokens.
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_SPECIAL = ("<|begin_of_text|>", "<|end_of_text|>")


@dataclass(frozen=True)
class BenchVocabulary:
    """
    name        for the report
    vocabulary  cfgmask's view of it
    encode      text to ids, the tokenizer's own choice
    tiktoken    the encoding where the vocabulary is one; some peers take it as it is
    """

    name: str
    vocabulary: cfgmask.Vocabulary
    encode: Callable[[str], list[int]]
    tiktoken: Any = None


def load(path: Path) -> BenchVocabulary:
    """A `.gguf` file, or a file of tiktoken ranks (`.model` or `.tiktoken`), which is read as Llama 3's."""
    if path.suffix == ".gguf":
        return _gguf(path)
    encoding = _llama3(path)
    vocabulary = cfgmask.Vocabulary.from_tiktoken(encoding, eos_token_id=encoding.eot_token)
    return BenchVocabulary(path.name, vocabulary, encoding.encode_ordinary, tiktoken=encoding)


def anew(vocabulary: BenchVocabulary) -> BenchVocabulary:
    """The same tokens, of which nothing is known."""
    ours = vocabulary.vocabulary
    core = cfgmask.Vocabulary.from_bytes(
        ours.tokens, eos_token_id=ours.eos_token_ids, special_tokens=ours.special_tokens
    )
    return replace(vocabulary, vocabulary=core)


def _gguf(path: Path) -> BenchVocabulary:
    import llama_cpp

    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    vocabulary = cfgmask.Vocabulary.from_llama(model)

    def encode(text: str, _model: llama_cpp.Llama = model) -> list[int]:
        """Holds the model, since its tokenizer goes with it."""
        assert vocabulary.encode is not None
        return list(vocabulary.encode(text))

    return BenchVocabulary(path.name, vocabulary, encode)


def _llama3(path: Path) -> Any:
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe

    ranks = load_tiktoken_bpe(str(path))
    names = (*LLAMA3_SPECIAL, *(f"<|reserved_special_token_{i}|>" for i in range(256 - len(LLAMA3_SPECIAL))))
    special = {name: len(ranks) + i for i, name in enumerate(names)}
    # tiktoken calls the end of a text <|endoftext|>; it is an alias here, not a 257th token.
    special["<|endoftext|>"] = special["<|end_of_text|>"]
    return tiktoken.Encoding(path.name, pat_str=LLAMA3_PATTERN, mergeable_ranks=ranks, special_tokens=special)


# The end token of `bytewise`.
BYTEWISE_END = 256


def bytewise() -> BenchVocabulary:
    """A token for each byte, and an end token after them."""
    tokens = [*(bytes([byte]) for byte in range(BYTEWISE_END)), b""]

    def encode(text: str) -> list[int]:
        return list(text.encode())

    vocabulary = cfgmask.Vocabulary.from_bytes(
        tokens, BYTEWISE_END, special_tokens={"<end>": BYTEWISE_END}, encode=encode
    )
    return BenchVocabulary("bytes", vocabulary, encode)


def synthetic(n_vocab: int, seed: int = 0) -> BenchVocabulary:
    """A vocabulary of any size: all bytes, then words of random letters, half of them after a space, and an end token.

    `encode` takes the longest token each time, so a text becomes fewer tokens the larger the vocabulary is.
    """
    rng = random.Random(seed)
    words: dict[bytes, None] = dict.fromkeys(bytes([byte]) for byte in range(256))
    while len(words) < n_vocab - 1:
        letters = "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 8)))
        words[(" " * rng.randint(0, 1) + letters).encode()] = None
    end = len(words)
    ids = {word: i for i, word in enumerate(words)}
    vocabulary = cfgmask.Vocabulary.from_bytes([*words, b""], eos_token_id=end, special_tokens={"<end>": end})
    return BenchVocabulary(f"synthetic {n_vocab:,}", vocabulary, lambda text: _longest(ids, text.encode()))


def _longest(ids: dict[bytes, int], text: bytes) -> list[int]:
    longest = max(map(len, ids))
    tokens, at = [], 0
    while at < len(text):
        end = next(end for end in range(min(at + longest, len(text)), at, -1) if text[at:end] in ids)
        tokens.append(ids[text[at:end]])
        at = end
    return tokens
