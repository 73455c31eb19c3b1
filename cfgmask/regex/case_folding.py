"""Which characters the flag i makes equal.

Each dialect has an equivalence over single characters, made from the case mappings of the running Python:

    python  same lower case, or same upper case of that: what `re` does, `İ` and `ı` with `i` included
    simple  same case folding, as the Unicode standard's simple folding (Rust, ECMA with the flag u)
    ecma    same upper case, as long as that is one character and does not turn a non-ASCII one into ASCII
    ascii   A to Z with a to z
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from cfgmask.grammar.regex_tree import CharClass, char_class
from cfgmask.regex.unicode_data import characters

Folding: TypeAlias = Literal["python", "simple", "ecma", "ascii"]

_END_OF_CASED = 0x20000
"""Scripts with case are in the first two planes of Unicode; the others have ideographs, tags and private use."""

_CASED_WITH_ASCII = (*range(0x41, 0x5B), *range(0x61, 0x7B), 0x130, 0x131, 0x17F, 0x212A)
"""The letters of ASCII and those that some mapping turns into one: dotted and dotless i, long s, the Kelvin sign."""


@lru_cache(maxsize=64)
def closure(members: CharClass, folding: Folding) -> CharClass:
    """`members` and every character that equals one of them. Linear in the cased characters among them."""
    is_ascii = not members.ranges or members.ranges[-1][1] < 0x80
    # Most patterns need no other letters, of which there are 3,000.
    cased, equals = _equivalents(folding, _CASED_WITH_ASCII if is_ascii else _cased())
    added: list[tuple[int, int]] = []
    for low, high in members.ranges:
        inside = cased[bisect_left(cased, low) : bisect_right(cased, high)]
        added += [(other, other) for code in inside for other in equals[code] if not low <= other <= high]
    return char_class([*members.ranges, *added]) if added else members


def alike(folding: Folding, only_ascii: bool) -> list[list[int]]:
    """The classes of two or more characters that equal each other; only_ascii: those with a letter of ASCII."""
    _, equals = _equivalents(folding, _CASED_WITH_ASCII if only_ascii else _cased())
    return list({id(peers): peers for peers in equals.values()}.values())


@cache
def _equivalents(folding: Folding, cased: tuple[int, ...]) -> tuple[list[int], dict[int, list[int]]]:
    """Those of the characters that equal another one, sorted, and for each its whole class."""
    keys = _KEYS[folding]
    first: dict[tuple[int, Hashable], int] = {}
    leader: dict[int, int] = {}

    def find(code: int) -> int:
        while leader[code] != code:
            code = leader[code]
        return code

    for code in cased:
        leader[code] = code
        for which, key in enumerate(keys):
            leader[find(code)] = find(first.setdefault((which, key(chr(code))), code))
    classes: dict[int, list[int]] = {}
    for code in leader:
        classes.setdefault(find(code), []).append(code)
    equals = {code: peers for peers in classes.values() if len(peers) > 1 for code in peers}
    return sorted(equals), equals


@cache
def _cased() -> tuple[int, ...]:
    """Every character that some case mapping changes. Whole blocks are compared first: most have none."""
    text = characters(0, _END_OF_CASED)
    found: list[int] = []
    for start in range(0, len(text), 256):
        block = text[start : start + 256]
        if block.lower() != block or block.upper() != block or block.casefold() != block:
            found += (ord(c) for c in block if c.lower() != c or c.upper() != c or c.casefold() != c)
    return tuple(found)


def _lower(character: str) -> str:
    lower = character.lower()
    # One character has a longer lower case, `İ`; the simple mapping, which `re` uses, gives `i`.
    return lower if len(lower) == 1 else lower[0]


def _ecma_upper(character: str) -> str:
    upper = character.upper()
    return upper if len(upper) == 1 and (upper > "\x7f" or character <= "\x7f") else character


def _ascii_lower(character: str) -> str:
    return character.lower() if character <= "\x7f" else character


_KEYS: dict[str, tuple[Callable[[str], Hashable], ...]] = {
    "python": (_lower, lambda c: _lower(c).upper()),
    "simple": (str.casefold,),
    "ecma": (_ecma_upper,),
    "ascii": (_ascii_lower,),
}
