"""A vocabulary from a tekken file (`tekken.json`), the tokenizer of newer Mistral models. Needs no library.

The ids of special tokens come first, and then the ranks of the ordinary ones.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.documents import MAX_TOKENS, expect, load_document
from cfgmask.tokenizers.end_texts import check_ends, known_ends
from cfgmask.tokenizers.parts import VocabularyParts
from cfgmask.tokenizers.ranked_bpe import SHORT_TEXT_SECONDS, RankedBpe
from cfgmask.tokenizers.self_check import check_round_trip

# What files that list no special tokens mean.
_DEFAULT_SPECIAL = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip


def read_tekken(path: str | PathLike[str], eos_token_id: Sequence[int] | None) -> VocabularyParts:
    """Read a tekken file.

    eos_token_id  the ids that end a text; None takes the special tokens whose names are known to end one
    Raises OSError where the file cannot be read; VocabularyError where it is no tekken file, is damaged or too large,
    where no end token is known or one is no id, and where the self-check fails.
    Cost: 0.5 s for 131,072 tokens.
    """
    describe = Path(path).name
    try:
        content = _Content(load_document(Path(path)))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, VocabularyError):
            raise VocabularyError(f"{path}: {error}") from None
        raise VocabularyError(f"{path}: this is no tekken file, or it is damaged ({error!r:.80})") from None
    special = content.special
    ends = known_ends(special) if eos_token_id is None else eos_token_id
    if not ends:
        raise VocabularyError(f"{describe}: no special token is known to end a text; say which with eos_token_id=")
    tokens = [b""] * content.n_special + content.tokens
    check_ends(ends, range(len(tokens)), describe)
    bpe = RankedBpe(content.pattern, {token: content.n_special + rank for rank, token in enumerate(content.tokens)})
    check_round_trip(tokens, lambda text: bpe.encode(text, SHORT_TEXT_SECONDS), describe, skip=lambda _: False)
    return VocabularyParts(tokens, ends, special, bpe.encode, describe)


class _Content:
    """What the file says. Raises KeyError, TypeError and ValueError where it is not as it should be.

    tokens     bytes of the ordinary tokens by rank
    special    ids of the special tokens by name
    """

    def __init__(self, document: Any) -> None:
        config = document["config"]
        self.pattern = expect(config["pattern"], str)
        self.n_special: int = expect(config["default_num_special_tokens"], int)
        n_vocab: int = expect(config["default_vocab_size"], int)
        if not 0 <= self.n_special < n_vocab <= MAX_TOKENS:
            raise VocabularyError(f"{n_vocab} tokens cannot have {self.n_special} special ones")
        self.tokens = _ordinary(expect(document["vocab"], list), n_vocab - self.n_special)
        self.special = _special(document.get("special_tokens"), self.n_special)


def _ordinary(entries: list[Any], n_tokens: int) -> list[bytes]:
    """The bytes of the tokens whose ranks are below `n_tokens`; files may have more."""
    tokens = [b""] * n_tokens
    for entry in entries:
        rank = expect(entry["rank"], int)
        if not 0 <= rank < n_tokens:
            continue
        if tokens[rank]:
            raise VocabularyError(f"rank {rank} is given twice")
        try:
            tokens[rank] = base64.b64decode(expect(entry["token_bytes"], str), validate=True)
        except binascii.Error as error:
            raise VocabularyError(f"the bytes of rank {rank} are not base64: {error}") from None
    if not all(tokens):
        raise VocabularyError(f"rank {tokens.index(b'')} has no bytes")
    missing = {bytes([byte]) for byte in range(256)}.difference(tokens)
    if missing or len(set(tokens)) < n_tokens:
        raise VocabularyError(f"no token is {min(missing)!r}" if missing else "two ranks have the same bytes")
    return tokens


def _special(entries: Any, n_special: int) -> dict[str, int]:
    if entries is None:
        entries = [{"rank": rank, "token_str": name} for rank, name in enumerate(_DEFAULT_SPECIAL[:n_special])]
    special: dict[str, int] = {}
    for entry in expect(entries, list):
        name, rank = expect(entry["token_str"], str), expect(entry["rank"], int)
        if not 0 <= rank < n_special or special.setdefault(name, rank) != rank:
            raise VocabularyError(f"the special token {name!r} cannot have the id {rank}")
    named = set(special.values())
    return special | {f"<SPECIAL_{rank}>": rank for rank in range(n_special) if rank not in named}
