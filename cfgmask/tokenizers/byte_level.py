"""Token texts of byte-level BPE: every byte is written as one printable character.

The map is that of GPT-2: printable ASCII and Latin-1 characters stand for their own code,
the other 68 bytes for U+0100 and what follows, in order.
"""

from __future__ import annotations


def _characters() -> list[str]:
    own = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


# For str.translate: each character of the map to the character of its byte's code. A Latin-1 character that stands for
# no byte goes to one outside Latin-1, so that encoding to Latin-1 refuses it as it does every other foreign character.
_TO_BYTE = dict.fromkeys(range(256), "�") | {ord(character): chr(byte) for byte, character in enumerate(_characters())}


def decode(text: str) -> bytes | None:
    """The bytes that a token's text stands for; None if some character of it stands for no byte."""
    try:
        return text.translate(_TO_BYTE).encode("latin-1")
    except UnicodeEncodeError:
        return None
