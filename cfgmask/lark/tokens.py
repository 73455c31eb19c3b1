"""Tokens of a grammar text, as the core hands over those that it does not make nodes of itself."""

from __future__ import annotations

BYTES_PER_TOKEN = 128
"""One token is allowed for so many bytes of `Limits.max_source_bytes`, since a token costs some 5 microseconds and
half a kilobyte. What is JSON inside braced blocks does not count."""


class Token(str):
    """A piece of a statement; `start` and `end` are its offsets in the text.

    `type` is a terminal of `syntax.lark`; "UNREADABLE" for a character with which none begins, "$END" behind the last.
    """

    __slots__ = ("end", "start", "type")
    type: str
    start: int
    end: int

    @classmethod
    def of(cls, type: str, text: str, start: int, end: int) -> Token:
        """A token of these parts."""
        token = cls(text)
        token.type, token.start, token.end = type, start, end
        return token
