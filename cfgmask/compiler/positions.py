"""Positions of matchers as bytes: `Matcher.to_bytes` and `from_bytes`.

A position is the steps that led to it. They are replayed where it is taken up, so it depends on nothing that either
process has learnt, and on the version of the format alone.
"""

from __future__ import annotations

import json
from array import array

from cfgmask._core import CompiledGrammar, Matcher
from cfgmask.compiler.sources import grammar_fingerprint, source_of
from cfgmask.errors import BudgetTooSmall, VocabularyError

_MAGIC = b"cfgmask position "
_VERSION = 1
_SIZE = 16
_HEADER = len(_MAGIC) + 1


def to_bytes(matcher: Matcher) -> bytes:
    """What `Matcher.to_bytes` gives."""
    compiled = matcher.compiled
    numbers = array("i")
    texts = []
    for step in matcher.steps():
        if isinstance(step, bytes):
            numbers.append(-1 - len(step))
            texts.append(step)
        else:
            numbers.append(step)
    arguments = json.dumps(matcher.arguments, separators=(",", ":")).encode()
    sizes = array("i", [len(arguments), len(numbers)])
    body = b"".join(
        (
            grammar_fingerprint(compiled),
            source_of(compiled).vocabulary.fingerprint,
            _little(sizes),
            arguments,
            _little(numbers),
            *texts,
        )
    )
    return _MAGIC + bytes([_VERSION]) + _checksum(body) + body


def from_bytes(compiled: CompiledGrammar, data: bytes) -> Matcher:
    """What `Matcher.from_bytes` gives. Whatever the bytes are, it raises nothing but ValueError and LimitExceeded."""
    if not isinstance(compiled, CompiledGrammar):
        raise TypeError(f"from_bytes takes a CompiledGrammar, not {type(compiled).__name__}")
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"from_bytes takes bytes, not {type(data).__name__}")
    data = bytes(data)
    if not data.startswith(_MAGIC) or len(data) < _HEADER + 3 * _SIZE + 8:
        raise ValueError("this is no position of a matcher")
    version = data[len(_MAGIC)]
    if version != _VERSION:
        raise ValueError(f"the position has the format {version}, and this version of cfgmask reads {_VERSION}")
    checksum, body = data[_HEADER : _HEADER + _SIZE], data[_HEADER + _SIZE :]
    if checksum != _checksum(body):
        raise _damaged()
    if body[:_SIZE] != grammar_fingerprint(compiled):
        raise ValueError("the position is that of another grammar")
    if body[_SIZE : 2 * _SIZE] != source_of(compiled).vocabulary.fingerprint:
        raise ValueError("the position is that of another vocabulary")
    n_arguments, n_numbers = _numbers(body[2 * _SIZE : 2 * _SIZE + 8])
    start = 2 * _SIZE + 8
    texts = start + n_arguments + 4 * n_numbers
    if n_arguments < 0 or n_numbers < 0 or texts > len(body):
        raise _damaged()
    matcher = _matcher(compiled, body[start : start + n_arguments])
    at = texts
    for number in _numbers(body[start + n_arguments : texts]):
        if number >= 0:
            matcher.advance(number)
            continue
        size = -1 - number
        if size > len(body) - at:
            raise _damaged()
        if matcher.advance_bytes(body[at : at + size]) != size:
            raise ValueError("the position is none of this grammar")
        at += size
    if at != len(body):
        raise _damaged()
    return matcher


def _matcher(compiled: CompiledGrammar, arguments: bytes) -> Matcher:
    try:
        named = json.loads(arguments)
        return compiled.matcher(**named)
    except (BudgetTooSmall, VocabularyError):
        raise
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise _damaged() from None


def _damaged() -> ValueError:
    # Whoever makes such bytes can make a checksum for them.
    return ValueError("the position is damaged")


def _checksum(body: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(body, digest_size=_SIZE).digest()


def _little(numbers: array[int]) -> bytes:
    return b"".join(number.to_bytes(4, "little", signed=True) for number in numbers) if _SWAPS else numbers.tobytes()


def _numbers(data: bytes) -> array[int]:
    numbers = array("i", data)
    if _SWAPS:
        numbers.byteswap()
    return numbers


_SWAPS = array("i", [1]).tobytes() != (1).to_bytes(4, "little")
