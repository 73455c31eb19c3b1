"""Patterns that are useful as they are, as texts for `Grammar.from_regex` and any other regex engine."""

from __future__ import annotations

_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SPACE = r"[ \t\n\r]*"

# Each level of nesting stands four times in the next: a pattern of depth 5 has 260 KB.
_MAX_DEPTH = 5


def json_regex(depth: int = 3) -> str:
    r"""The JSON values with at most `depth` arrays and objects inside each other, as a regex.

    It means the same in the syntaxes of Python, Rust and ECMA-262, and is meant to match a whole text. White space
    stands wherever JSON has it, but not around the value. Keys may repeat, as JSON allows.
    Errors: ValueError unless `depth` is from 0 (only scalars) to 5; TypeError for anything but an int.
    Cost: the pattern has 900 characters at depth 1 and four times as many at each further depth; for JSON of any depth
    take `Grammar.from_json_schema(True)`.

    >>> grammar = Grammar.from_regex(json_regex(depth=1))
    """
    if not isinstance(depth, int) or isinstance(depth, bool):
        raise TypeError(f"depth must be an int, not {type(depth).__name__}")
    if not 0 <= depth <= _MAX_DEPTH:
        raise ValueError(f"depth must be from 0 to {_MAX_DEPTH}")
    scalar = f"null|true|false|{_NUMBER}|{_STRING}"
    value = f"(?:{scalar})"
    for _ in range(depth):
        member = f"{_STRING}{_SPACE}:{_SPACE}{value}"
        value = f"(?:{scalar}|{_listed('[', value, ']')}|{_listed('{', member, '}')})"
    return value


def _listed(opening: str, item: str, closing: str) -> str:
    """Items between brackets, with commas between them."""
    items = rf"(?:{item}{_SPACE}(?:,{_SPACE}{item}{_SPACE})*)?"
    return rf"\{opening}{_SPACE}{items}\{closing}"
