r"""What translation has to know of a dialect; `cfgmask/core/pattern/dialect.h` has what reading has to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

DialectName: TypeAlias = Literal["python", "rust", "ecma"]
Digits: TypeAlias = Literal["unicode", "ascii"]


@dataclass(frozen=True)
class Dialect:
    r"""What patterns mean.

    name
    line_ends     what the dot does not match without the flag s
    nested_sets   whether classes nest, and `\P{...}` negates last under the flag i
    folding       which characters the flag i makes equal; see `case_folding`
    named_groups  names of groups that mean more than grouping; see `named_groups`
    digits        what `\d` matches: Unicode's digits, if the dialect says so, or those of ASCII
    """

    name: DialectName
    line_ends: str
    nested_sets: bool
    folding: Literal["python", "simple", "ecma"]
    named_groups: frozenset[str] = frozenset()
    digits: Digits = "unicode"


def dialect_of(
    name: DialectName, flags: str, named_groups: frozenset[str] = frozenset(), digits: Digits = "unicode"
) -> Dialect:
    """The dialect of a pattern with these flags. Raises ValueError for an unknown one, and for unknown digits."""
    if digits not in ("unicode", "ascii"):
        raise ValueError(f"unknown digits {digits!r}: they are 'unicode' or 'ascii'")
    if name == "python":
        return Dialect(name, "\n", False, "python", named_groups, digits)
    if name == "rust":
        return Dialect(name, "\n", True, "simple", named_groups, digits)
    if name == "ecma":
        folding: Literal["simple", "ecma"] = "simple" if set("uv") & set(flags) else "ecma"
        return Dialect(name, "\n\r\u2028\u2029", "v" in flags, folding, named_groups)
    raise ValueError(f"unknown dialect {name!r}: it is 'python', 'rust' or 'ecma'")
