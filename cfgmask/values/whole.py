"""The value of a whole text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cfgmask.errors import ParseError
from cfgmask.values.parser import Parser


def parse(parser: Parser, text: str | bytes | Iterable[int], has_vocabulary: bool) -> Any:
    """What a new parser makes of a text, or of its tokens. Errors: as of `Grammar.parse`."""
    if isinstance(text, str):
        parser.feed_text(_encoded(text))
    elif isinstance(text, (bytes, bytearray)):
        parser.feed_text(bytes(text))
    elif has_vocabulary:
        parser.feed(text)
    else:
        raise TypeError("tokens say nothing without their vocabulary: pass it to parse")
    parser.finish()
    return parser.value


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ParseError(len(text[: error.start].encode())) from None
