"""The names of dialects; `cfgmask/core/pattern/dialect.h` and `rules.h` have what they mean."""

from __future__ import annotations

from typing import Literal, TypeAlias

DialectName: TypeAlias = Literal["python", "rust", "ecma"]
Digits: TypeAlias = Literal["unicode", "ascii"]


def check_dialect(name: str, digits: str) -> None:
    """Raises ValueError for an unknown dialect, and for unknown digits."""
    if digits not in ("unicode", "ascii"):
        raise ValueError(f"unknown digits {digits!r}: they are 'unicode' or 'ascii'")
    if name not in ("python", "rust", "ecma"):
        raise ValueError(f"unknown dialect {name!r}: it is 'python', 'rust' or 'ecma'")
