"""How a text can be completed, slowly and obviously: by trying every byte, and every token."""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracle import Oracle, State


class TooLarge(Exception):
    """More states than this engine looks at."""


def closing_text(oracle: Oracle, state: State, alphabet: Sequence[int], limit: int = 300) -> bytes | None:
    """The shortest completion over some bytes, the smallest of the shortest; None if there is none."""
    seen, level = {state}, [(b"", state)]
    while level:
        for text, at in level:
            if oracle.is_accepting(at):
                return text
        longer = []
        for text, at in level:
            for byte in sorted(alphabet):
                after = oracle.step_byte(at, byte)
                if after and after not in seen:
                    seen.add(after)
                    longer.append((text + bytes([byte]), after))
        if len(seen) > limit:
            raise TooLarge
        level = longer
    return None


def fewest_spelling(tokens: Sequence[bytes], text: bytes) -> int:
    """The fewest tokens whose bytes are the text; every single byte must be one."""
    fewest = [0]
    for end in range(1, len(text) + 1):
        fewest.append(1 + min(fewest[end - len(t)] for t in tokens if t and text[:end].endswith(t)))
    return fewest[-1]


def fewest_tokens(oracle: Oracle, state: State, limit: int = 300) -> int | None:
    """The fewest tokens after which the text is complete, end tokens not counted; None if there is no way."""
    seen, level, n = {state}, [state], 0
    while level:
        if any(oracle.is_accepting(at) for at in level):
            return n
        after = {oracle.step_token(at, token) for at in level for token in oracle.mask(at)}
        level = [at for at in after if at not in seen and not at.finished]
        seen.update(level)
        if len(seen) > limit:
            raise TooLarge
        n += 1
    return None
