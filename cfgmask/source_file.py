"""The text of a grammar's file."""

from __future__ import annotations

from pathlib import Path

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.limits import Limits


def read_source(path: Path, limits: Limits) -> str:
    """The whole text, without a byte order mark.

    Errors: OSError; GrammarError (file-encoding) where it is not UTF-8; LimitExceeded (max_source_bytes), of a larger
    file no more than that is read.
    """
    with path.open("rb") as file:
        data = file.read(limits.max_source_bytes + 1)
    if len(data) > limits.max_source_bytes:
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
