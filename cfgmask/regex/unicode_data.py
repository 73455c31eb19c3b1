r"""Sets of characters by name, as ranges of code points.

Each set is read off the library whose meaning it has, by one search through the characters that may have it (1 to 3
ms), and remembered: `\w`, `\d` and `\s` of Python from `re`, properties from the `regex` package.
Unicode versions are therefore those of the running Python and of the installed `regex`.
"""

from __future__ import annotations

import re
import sys
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


# Where letters, digits and blanks are: two planes, two more for ideographs, where of the general categories there are
# only `Lo` and `Cn`, and tags. All else is private use or nothing, alike from one end of a plane to its last two
# characters, both of which are none.
_WORDS = (0, 0x20000)
_IDEOGRAPHS = (0x20000, 0x40000)
_LO_AND_CN = "\U00020000\U0002ffff"
_TAGS = (0xE0000, 0xE1000)


# The codes 0 to 255 in UTF-32, as one number, and a one for each of them: a block of characters is a sum of these,
# which takes a fraction of making an array of numbers.
_BLOCK = int.from_bytes(b"".join(bytes([i, 0, 0, 0]) for i in range(256)), "little")
_EACH = int.from_bytes(b"\1\0\0\0" * 256, "little")


@cache
def characters(start: int, end: int) -> str:
    """Every code point from `start` on and before `end`, both multiples of 256, in order. All surrogates are U+D800."""
    if start < 0xD800 < end:
        return characters(start, 0xD800) + "\ud800" * 0x800 + characters(0xE000, end)
    blocks = [(_BLOCK + first * _EACH).to_bytes(1024, "little") for first in range(start, end, 256)]
    return b"".join(blocks).decode("utf-32-le")


@cache
def python_shorthand(letter: ShorthandLetter) -> CharClass:
    r"""What `\d`, `\w` or `\s` matches in `re`."""
    return char_class(_found(re.compile(rf"\{letter}+"), _WORDS, _IDEOGRAPHS))


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
    if name == "gc" and not expression.search(_LO_AND_CN):
        return char_class(_found(expression, _WORDS, _TAGS) + _far(expression))
    return char_class(_found(expression, _WORDS, _IDEOGRAPHS, _TAGS) + _far(expression))


def _found(expression: Any, *parts: tuple[int, int]) -> list[tuple[int, int]]:
    """The ranges that an expression of one character, followed by a plus sign, finds in some parts of Unicode."""
    return [
        (start + match.start(), start + match.end() - 1)
        for start, end in parts
        for match in expression.finditer(characters(start, end))
    ]


def _far(expression: Any) -> list[tuple[int, int]]:
    """Those in all other parts: what one of the characters that are alike is, all of them are."""
    spans = [
        span
        for plane in range(_IDEOGRAPHS[1], sys.maxunicode, 0x10000)
        for span in (
            (_TAGS[1] if plane == _TAGS[0] else plane, plane + 0xFFFD),
            (plane + 0xFFFE, plane + 0xFFFF),
        )
    ]
    return [(low, high) for low, high in spans if expression.match(chr(high))]
