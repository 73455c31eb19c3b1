r"""Patterns to regex trees.

`parse_regex` and `parse_lexeme` are the whole interface. The core reads patterns (`cfgmask/core/pattern`); it asks
`parser` for data of Unicode (`unicode_data`, `properties`, `case_folding`) and for the texts of `named_groups`. What is
wrong is worded in `messages`. What a pattern asks of the text around a lexeme is in `lexemes` and `excluded_words`.
`algebra` answers questions about trees.

All of this is imported when a pattern is first read here: most patterns are read by the core, and it takes half as long
as importing all the rest of the package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cfgmask.regex.reading import (
        Context,
        DialectName,
        Digits,
        Lexeme,
        LexemeCase,
        has_lazy,
        parse_extended,
        parse_lexeme,
        parse_regex,
    )

__all__ = [
    "Context",
    "DialectName",
    "Digits",
    "Lexeme",
    "LexemeCase",
    "has_lazy",
    "parse_extended",
    "parse_lexeme",
    "parse_regex",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Found without this function from now on.
    return globals().setdefault(name, getattr(import_module(f"{__name__}.reading"), name))
