"""The value of a whole text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cfgmask.values.parser import Parser, as_bytes


def parse(parser: Parser, text: str | bytes | Iterable[int], has_vocabulary: bool) -> Any:
    """What a new parser makes of a text, or of its tokens. Errors: as of `Grammar.parse`."""
    if isinstance(text, (str, bytes, bytearray, memoryview)):
        parser.feed_text(as_bytes(text))
    elif not isinstance(text, Iterable):
        raise TypeError(f"parse takes a str, bytes or token ids, not {type(text).__name__}")
    elif has_vocabulary:
        parser.feed(text)
    else:
        raise TypeError("tokens say nothing without their vocabulary: pass it to parse")
    parser.finish()
    return parser.value
