"""Token texts of sentencepiece and of what follows its conventions: U+2581 is a space, `<0xHH>` is a byte."""

from __future__ import annotations

_SPACE = "\u2581"
_SPACE_BYTES = _SPACE.encode()


def decode(text: bytes) -> bytes:
    """The bytes of an ordinary token. The space that starts a word stays: only a whole text's first is dropped."""
    return text.replace(_SPACE_BYTES, b" ")


def decode_byte(text: bytes) -> bytes | None:
    """The byte that `<0xHH>` stands for; None for any other text."""
    if len(text) != 6 or not text.startswith(b"<0x") or not text.endswith(b">"):
        return None
    try:
        return bytes.fromhex(text[3:5].decode("ascii"))
    except ValueError:
        return None
