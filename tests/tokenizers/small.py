"""Small vocabularies of each scheme, as fields of a GGUF file."""

from __future__ import annotations

from typing import Any

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def byte_characters() -> list[str]:
    """The character of each byte in byte-level BPE, written down apart from the package's own table."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    table = {byte: chr(byte) for byte in visible}
    for byte in range(256):
        table.setdefault(byte, chr(0x100 + len(table) - len(visible)))
    return [table[byte] for byte in range(256)]


def byte_level_fields(
    added: dict[str, int] | None = None, words: tuple[str, ...] = ("he", "ll", "Ġhe"), **roles: int
) -> dict[str, Any]:
    """A byte-level BPE tokenizer: 256 bytes, some words of two known parts, then added tokens with their types.

    roles  ids that the file names: eos=…, fim_pad=…; eos is the first added token if it is not given
    """
    added = {"<|end_of_text|>": CONTROL} if added is None else added
    tokens = [*byte_characters(), *words, *added]
    roles.setdefault("eos", 256 + len(words))
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [NORMAL] * (256 + len(words)) + list(added.values()),
        "tokenizer.ggml.merges": [f"{word[:-1]} {word[-1]}" for word in words],
        "tokenizer.ggml.add_bos_token": False,
    } | {f"tokenizer.ggml.{role}_token_id": token_id for role, token_id in roles.items()}


def sentencepiece_fields(added: dict[str, int] | None = None, *, space_first: bool | None = None) -> dict[str, Any]:
    """A sentencepiece tokenizer with byte fallback: `<unk>`, `<s>`, `</s>`, 256 bytes, pieces, added tokens."""
    pieces = ["▁", *"helowrd", "▁h", "he", "ll", "▁he", "llo", "▁hello"]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *pieces, *(added or {})]
    types = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(pieces), *(added or {}).values()]
    fields: dict[str, Any] = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": [-float(token_id) for token_id in range(len(tokens))],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }
    if space_first is not None:
        fields["tokenizer.ggml.add_space_prefix"] = space_first
    return fields
