"""Files that are one JSON document, read without trusting them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from cfgmask.errors import VocabularyError
from cfgmask.source_file import read_at_most

# A tekken file has 15 MB. JSON takes thirty times its size as Python's objects, if it is made for that.
MAX_BYTES = 1 << 25
MAX_TOKENS = 1 << 22

Kind = TypeVar("Kind")


def load_document(path: Path) -> Any:
    """The document. Raises OSError where the file cannot be read, ValueError where it is not JSON, VocabularyError
    where it is larger than `MAX_BYTES` or nested too deeply.
    """
    data = read_at_most(path, MAX_BYTES)
    if data is None:
        raise VocabularyError(f"the file is larger than {MAX_BYTES} bytes")
    try:
        return json.loads(data)
    except RecursionError:
        raise VocabularyError("the file is nested too deeply") from None


def expect(value: Any, kind: type[Kind]) -> Kind:
    """The value. Raises TypeError where it is not of that type; True is no int."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{kind.__name__} expected, not {type(value).__name__}")
    return value
