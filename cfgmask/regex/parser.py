"""Patterns to regex trees: the core reads, asks for data of Unicode, and what is wrong is put into words here."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from cfgmask import _core
from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.case_folding import Folding, alike
from cfgmask.regex.dialects import DialectName, Digits
from cfgmask.regex.messages import worded
from cfgmask.regex.named_groups import named_texts
from cfgmask.regex.problems import Problems
from cfgmask.regex.properties import UnknownProperty, resolve_property
from cfgmask.regex.unicode_data import ShorthandLetter, python_shorthand, rust_shorthand

NODES_PER_PART = 2
"""A part takes as long to read and to translate as so many nodes take that the core makes."""

Use: TypeAlias = Literal["text", "search", "lexeme", "extended-text", "extended-lexeme"]

_Ranges: TypeAlias = "tuple[tuple[int, int], ...]"


class PatternData:
    """What the core asks for as it reads patterns. It remembers all but properties and names."""

    def character_named(self, name: str) -> int | None:
        """The code point of a name in the Unicode standard."""
        try:
            # Some names stand for a sequence of characters; `ord` raises TypeError for those, and `re` refuses them.
            return ord(unicodedata.lookup(name))
        except (KeyError, TypeError, UnicodeEncodeError):
            return None

    def shorthand(self, is_rust: bool, letter: ShorthandLetter) -> _Ranges:
        r"""What `\d`, `\w` or `\s` matches."""
        return (rust_shorthand if is_rust else python_shorthand)(letter).ranges

    def alike(self, folding: Folding, only_ascii: bool) -> list[list[int]]:
        """The classes of characters that the flag i makes equal."""
        return alike(folding, only_ascii)

    def property(
        self, name: str, value: str, dialect: DialectName, ignore_case: bool
    ) -> tuple[_Ranges | None, str, str]:
        """The members of a property; if there is no such property, None, a sentence and help."""
        try:
            return resolve_property(name, value, dialect, ignore_case).ranges, "", ""
        except UnknownProperty as unknown:
            return None, str(unknown), unknown.help

    def named_texts(self, name: str, trees: Sequence[RegexTree]) -> RegexTree:
        """The texts of a named group."""
        return named_texts(name, trees)


_READER = _core.PatternReader(PatternData())


def read(
    pattern: str,
    dialect: DialectName,
    flags: str,
    use: Use,
    problems: Problems,
    limits: Limits,
    *,
    named_groups: bool = False,
    digits: Digits = "unicode",
    keep_excluded: bool = False,
) -> Any:
    """What `_core.PatternReader.read` makes of a pattern. What is wrong is reported to `problems`, and raised.

    Raises GrammarError, LimitExceeded (max_nesting, max_regex_nodes).
    """
    made, found, stop = _READER.read(
        pattern,
        dialect,
        flags,
        use,
        named_groups,
        digits == "ascii",
        keep_excluded,
        limits.max_nesting,
        limits.max_regex_nodes // NODES_PER_PART,
    )
    if stop is not None and stop[0] == "max_nesting":
        raise LimitExceeded("max_nesting", limits.max_nesting, f"at character {stop[1] + 1} of a regex")
    if stop is not None and stop[0] == "max_regex_nodes":
        raise LimitExceeded("max_regex_nodes", limits.max_regex_nodes, "in the parts of a regex")
    if stop is not None and stop[0] == "lazy":
        # The rest was not read, and what is wrong before it matters less.
        found = [("lazy-too-many", 0, len(pattern), ())]
    for code, start, end, arguments in found:
        code, message, help = worded(code, arguments)
        problems.report(code, start, end, message, help)
    problems.raise_if_any()
    return made


def has_lazy(pattern: str, flags: str, dialect: DialectName, limits: Limits) -> bool:
    """Whether a pattern has lazy repetitions that leave it a choice. False where it has errors."""
    return _READER.has_lazy(pattern, dialect, flags, limits.max_nesting, limits.max_regex_nodes // NODES_PER_PART)
