r"""Sets of characters by name, as ranges of code points.

Each set is read off the library whose meaning it has, by one search through all characters that may have it (2 to
10 ms), and remembered: `\w`, `\d` and `\s` of Python from `re`, properties from the `regex` package.
Unicode versions are therefore those of the running Python and of the installed `regex`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from cfgmask.grammar.regex_tree import CharClass, char_class

ShorthandLetter: TypeAlias = Literal["d", "w", "s"]

ASCII_DIGITS = char_class([(0x30, 0x39)])
ASCII_WORD = char_class([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
ASCII_SPACE = char_class([(0x09, 0x0D), (0x20, 0x20)])
ASCII_SHORTHANDS: dict[ShorthandLetter, CharClass] = {"d": ASCII_DIGITS, "w": ASCII_WORD, "s": ASCII_SPACE}

# WhiteSpace and LineTerminator of ECMA-262: Zs, tab, vertical tab, form feed, BOM and four line ends.
ECMA_SPACE = char_class(
    [
        *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029)),
        *((0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
    ]
)

# The bracket expressions of POSIX as Rust's `regex` and Perl's /a have them: ASCII only.
POSIX_CLASSES: dict[str, CharClass] = {
    "alnum": char_class([(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)]),
    "alpha": char_class([(0x41, 0x5A), (0x61, 0x7A)]),
    "ascii": char_class([(0x00, 0x7F)]),
    "blank": char_class([(0x09, 0x09), (0x20, 0x20)]),
    "cntrl": char_class([(0x00, 0x1F), (0x7F, 0x7F)]),
    "digit": ASCII_DIGITS,
    "graph": char_class([(0x21, 0x7E)]),
    "lower": char_class([(0x61, 0x7A)]),
    "print": char_class([(0x20, 0x7E)]),
    "punct": char_class([(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)]),
    "space": ASCII_SPACE,
    "upper": char_class([(0x41, 0x5A)]),
    "word": ASCII_WORD,
    "xdigit": char_class([(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)]),
}


# Letters, digits and blanks are in the first four planes of Unicode, and tags at the start of the fifteenth. All else
# is private use or nothing, alike from one end of a plane to its last two characters, which are none.
_END_OF_WORDS = 0x40000
_TAGS, _END_OF_TAGS = 0xE0000, 0xE1000
_END = sys.maxunicode + 1
_FAR = "".join(chr(plane + i) for plane in range(_END_OF_WORDS, _END, 0x10000) for i in (0x8000, 0xFFFD, 0xFFFF))


def all_characters() -> str:
    """Every code point in order, so that an offset in this string is the code point there. 4.5 MB."""
    return characters_below(_END)


# The codes 0 to 255 in UTF-32, as one number, and a one for each of them: a block of characters is a sum of these,
# which takes a fraction of making an array of numbers.
_BLOCK = int.from_bytes(b"".join(bytes([i, 0, 0, 0]) for i in range(256)), "little")
_EACH = int.from_bytes(b"\1\0\0\0" * 256, "little")


@lru_cache(maxsize=8)
def characters_below(end: int, start: int = 0) -> str:
    """Every code point from `start` on and before `end`, both multiples of 256, in order."""
    blocks = [(_BLOCK + first * _EACH).to_bytes(1024, "little") for first in range(start, end, 256)]
    return b"".join(blocks).decode("utf-32-le", "surrogatepass")


@cache
def python_shorthand(letter: ShorthandLetter) -> CharClass:
    r"""What `\d`, `\w` or `\s` matches in `re`."""
    return char_class(_spans(re.finditer(rf"\{letter}+", characters_below(_END_OF_WORDS))))


@cache
def rust_shorthand(letter: ShorthandLetter) -> CharClass:
    r"""What `\d`, `\w` or `\s` matches in Rust's `regex`: the definitions of UTS #18, Annex C."""
    names = {"d": ["Nd"], "s": ["White_Space"], "w": ["Alphabetic", "M", "Nd", "Pc", "Join_Control"]}[letter]
    return char_class([found for name in names for found in unicode_property(name).ranges])


@lru_cache(maxsize=512)
def unicode_property(name: str, value: str = "") -> CharClass:
    r"""What `\p{name}` or `\p{name=value}` matches in the `regex` package.

    Raises KeyError if it knows no such property. Both parts must be made of ASCII letters, digits, `_`, `-` and spaces.
    """
    import regex

    try:
        expression = regex.compile(rf"\p{{{name}={value}}}+" if value else rf"\p{{{name}}}+")
    except regex.error:
        raise KeyError(name) from None
    if expression.search(_FAR):
        return char_class(_spans(expression.finditer(all_characters())))
    words = expression.finditer(characters_below(_END_OF_WORDS))
    tags = expression.finditer(characters_below(_END_OF_TAGS, _TAGS))
    return char_class([*_spans(words), *_spans(tags, _TAGS)])


def _spans(matches: Iterable[Any], start: int = 0) -> list[tuple[int, int]]:
    """The ranges that were found in the characters from `start` on."""
    return [(start + match.start(), start + match.end() - 1) for match in matches]
