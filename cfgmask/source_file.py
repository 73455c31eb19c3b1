"""Files from strangers, of which no more is read than is allowed, and the text of a grammar's file."""

from __future__ import annotations

from pathlib import Path

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.limits import Limits

_CHUNK = 1 << 22


def read_at_most(path: Path, n: int) -> bytes | None:
    """The bytes of a file; None if it has more than `n`, of which no more are read. Raises OSError.

    Takes memory for what the file has, not for what is allowed: Python makes room for all that `read` is told.
    """
    chunks = []
    left = n + 1
    with path.open("rb") as file:
        while left > 0 and (chunk := file.read(min(left, _CHUNK))):
            chunks.append(chunk)
            left -= len(chunk)
    return b"".join(chunks) if left > 0 else None


def read_source(path: Path, limits: Limits) -> str:
    """The whole text, without a byte order mark.

    Errors: OSError; GrammarError (file-encoding) where it is not UTF-8; LimitExceeded (max_source_bytes), of a larger
    file no more than that is read.
    """
    data = read_at_most(path, limits.max_source_bytes)
    if data is None:
        raise LimitExceeded("max_source_bytes", limits.max_source_bytes, str(path))
    try:
        # Some editors begin a file with a byte order mark, which JSON has no place for.
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problem = Diagnostic(
            "file-encoding",
            f"{path.name} is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}",
            help="save it as UTF-8",
        )
        raise GrammarError([problem]) from None
