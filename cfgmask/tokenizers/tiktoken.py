"""A vocabulary from a `tiktoken.Encoding`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.documents import MAX_TOKENS
from cfgmask.tokenizers.end_texts import check_ends, known_ends
from cfgmask.tokenizers.parts import VocabularyParts
from cfgmask.tokenizers.self_check import check_round_trip

if TYPE_CHECKING:
    import tiktoken


def read_tiktoken(encoding: tiktoken.Encoding, eos_token_id: Sequence[int] | None) -> VocabularyParts:
    """Read an encoding. tiktoken itself is not imported: the encoding brings all that is needed.

    eos_token_id  the ids that end a text; None takes the special tokens whose names are known to end one
    Raises VocabularyError where there is no such token, where one is an id that no token has, or where the self-check
    fails; TypeError for what is no encoding.
    Cost: 0.1 s for 128,256 tokens.
    """
    if not hasattr(encoding, "special_tokens_set"):
        raise TypeError(f"from_tiktoken takes a tiktoken.Encoding, not {type(encoding).__name__}")
    describe = f"tiktoken {encoding.name}"
    special = {name: encoding.encode_single_token(name) for name in sorted(encoding.special_tokens_set)}
    if encoding.n_vocab > MAX_TOKENS:
        raise VocabularyError(f"{describe}: it has more than {MAX_TOKENS} ids")
    tokens = [b""] * encoding.n_vocab
    special_ids = set(special.values())
    for token_id in range(encoding.n_vocab):
        if token_id not in special_ids:
            tokens[token_id] = _bytes_or_nothing(encoding, token_id)
    ends = known_ends(special) if eos_token_id is None else eos_token_id
    if not ends:
        raise VocabularyError(f"{describe}: no special token is known to end a text; say which with eos_token_id=")
    check_ends(ends, special_ids | {token_id for token_id, token in enumerate(tokens) if token}, describe)
    check_round_trip(tokens, encoding.encode_ordinary, describe, skip=lambda _: False)
    return VocabularyParts(tokens, ends, special, encoding.encode_ordinary, describe)


def _bytes_or_nothing(encoding: tiktoken.Encoding, token_id: int) -> bytes:
    """The bytes of a token; b"" for an id in a gap, of which encodings have some before their special tokens."""
    try:
        data: bytes = encoding.decode_single_token_bytes(token_id)
    except KeyError:
        return b""
    return data
