"""Keys that collide in hash tables without a seed: what a stranger would write.

`murmur_texts` collide in the hash of libstdc++ (MurmurHash64A with a fixed seed), whatever the size of the table;
`python_integers` in that of Python's integers.
"""

from __future__ import annotations

import itertools
import random
import string

_MULTIPLIER = 0xC6A4A7935BD1E995
_INVERSE = pow(_MULTIPLIER, -1, 2**64)
_MASK = 2**64 - 1
_SEED = 0xC70F6907
_PRINTABLE = frozenset(string.ascii_letters + string.digits + " !#$%&'()*+,-./:;<=>?@[]^_`{|}~")


def murmur_texts(n_bits: int) -> list[str]:
    """2**n_bits texts of printable ASCII, of 16 characters for each bit, with one hash."""
    source = random.Random(1)
    state = _SEED ^ (16 * n_bits * _MULTIPLIER & _MASK)
    pairs = []
    for _ in range(n_bits):
        first = _random_text(source)
        second = _random_text(source)
        after = _mixed(_mixed(state, first), second)
        pairs.append((first + second, _other(source, state, after)))
        state = after
    return ["".join(parts) for parts in itertools.product(*pairs)]


def python_integers(n: int) -> list[int]:
    """Integers with one hash."""
    return [k * (2**61 - 1) for k in range(n)]


def _random_text(source: random.Random) -> str:
    return "".join(source.choices(string.ascii_letters, k=8))


def _other(source: random.Random, state: int, after: int) -> str:
    """Other 16 characters that lead from the one state to the other."""
    while True:
        first = _random_text(source)
        word = _unscrambled(_mixed(state, first) ^ (after * _INVERSE & _MASK))
        second = word.to_bytes(8, "little").decode("latin-1")
        if _PRINTABLE.issuperset(second):
            return first + second


def _mixed(state: int, text: str) -> int:
    word = int.from_bytes(text.encode(), "little") * _MULTIPLIER & _MASK
    word = (word ^ (word >> 47)) * _MULTIPLIER & _MASK
    return (state ^ word) * _MULTIPLIER & _MASK


def _unscrambled(word: int) -> int:
    word = word * _INVERSE & _MASK
    return (word ^ (word >> 47)) * _INVERSE & _MASK
