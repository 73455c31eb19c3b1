"""The space that sentencepiece tokenizers put before a text, left out."""

from __future__ import annotations

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.parts import Encode

# A text whose tokens never join with what follows.
_ANCHOR = "\n"


def without_first_space(tokenize: Encode) -> Encode:
    """An encoder whose ids make exactly the text, from one that may read the text as if it began with a space.

    What comes after a prompt begins no text, so no space belongs before it. It is left out by encoding after a line
    break and dropping that line break's ids. The encoder raises VocabularyError where they cannot be told apart.
    Cost: a few characters more to encode; none where the tokenizer has no such rule.
    """
    anchor = list(tokenize(_ANCHOR))
    if list(tokenize("x")) == list(tokenize(_ANCHOR + "x"))[len(anchor) :]:
        return tokenize

    def encode(text: str) -> list[int]:
        ids = list(tokenize(_ANCHOR + text))
        if ids[: len(anchor)] != anchor:
            raise VocabularyError(f"the tokenizer joins a line break with what follows it, {text[:40]!r}")
        return ids[len(anchor) :]

    return encode
