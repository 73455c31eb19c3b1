"""Whether a vocabulary's bytes are those that its own tokenizer means."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from cfgmask.errors import VocabularyError
from cfgmask.tokenizers.parts import Encode

# In Unicode normal form C, since some tokenizers bring their input into it, and without U+2581, which sentencepiece
# cannot tell from a space; otherwise as varied as the texts that a model may be asked for. Each is encoded alone, so
# that the first-token rule is tried on all of them.
SAMPLES: tuple[str, ...] = (
    "Hello, world",
    " leading and trailing space ",
    "x",
    " ",
    '{"name": "get_weather", "arguments": {"city": "Zürich", "days": [1, 2.5e-3, -7]}}',
    "def f(x):\n\tif x >= 10:\n\t\treturn x ** 2  # \u2190 twice\n\n\nprint(f(3))\r\n",
    "two  three   four    eight        sixteen                end",
    "\n\n\n\t\t\t \n \n",
    "Größe, naïve, Ελληνικά, русский, हिन्दी, ไทย, עברית, العربية, 한국어, 日本語, 中文字",
    "😀👍🏽👩‍👩‍👧‍👦🇨🇭 ∑∫√≠ ₿ \u00a0\u2003\u3000",
    "\x01\x02\x1b[0m\x7f\x0b\x0c",
    "SELECT * FROM t WHERE a<>'b''c';--0123456789 1234567890123456",
    "\U0001f9ff\U00013000\u0f3b\u0120",
)


def check_round_trip(tokens: Sequence[bytes], encode: Encode, describe: str, skip: Callable[[int], bool]) -> None:
    """Encode each sample, join the bytes of its ids, compare.

    skip  whether an id says that the tokenizer cannot write the text (an unknown token); such samples prove nothing
    Raises VocabularyError on the first sample that comes back different, or if every one was skipped.
    Cost: some hundred tokens to encode; under 10 ms.
    """
    proved = 0
    for text in SAMPLES:
        ids = _ids(encode(text), describe)
        if any(skip(token_id) for token_id in ids):
            continue
        check_sample(tokens, text, ids, describe)
        proved += 1
    if not proved:
        raise VocabularyError(f"{describe}: its encoder writes none of the sample texts, so it could not be checked")


def _ids(encoded: Any, describe: str) -> list[int]:
    try:
        return [operator.index(token_id) for token_id in encoded]
    except TypeError as error:
        raise VocabularyError(f"{describe}: its encoder gave {encoded!r:.60}, not a list of ids") from error


def check_sample(tokens: Sequence[bytes], text: str, ids: Sequence[int], describe: str) -> None:
    """Raises VocabularyError unless the bytes of `ids` are `text`."""
    outside = [token_id for token_id in ids if not 0 <= token_id < len(tokens)]
    if outside:
        raise VocabularyError(f"{describe}: its encoder gave token {outside[0]} of {len(tokens)} for {text!r}")
    joined = b"".join(tokens[token_id] for token_id in ids)
    if joined != text.encode():
        raise VocabularyError(
            f"{describe}: the bytes of its tokens are not what its encoder means: {text!r} became {list(ids)}, "
            f"and these tokens make {joined!r}"
        )
