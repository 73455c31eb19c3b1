"""Groups whose names stand for more than grouping: `(?P<QUOTED_TEXT>)`, `(?P<SUBSTRING_OF>...)`, `(?P<TEXT_TOKEN>)`.

They follow the regular expressions of Koo, Liu and He, "Automata-based constraints for language model decoding" (2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal as OneOf
from typing import TypeAlias

from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
    Substring,
    char_class,
    negated,
    text,
)

TokenKind: TypeAlias = OneOf["text", "paragraph", "image"]

TOKEN_GROUPS: dict[str, TokenKind] = {"TEXT_TOKEN": "text", "PARAGRAPH_TOKEN": "paragraph", "IMAGE": "image"}
"""Groups without a body that match one token of the vocabulary by its id."""


def _class(characters: str) -> CharClass:
    return char_class([(ord(c), ord(c)) for c in characters])


def _without(*classes: CharClass) -> CharClass:
    return negated(char_class([piece for cls in classes for piece in cls.ranges]))


def _all(*parts: RegexTree) -> RegexTree:
    return Concatenation(parts)


def _any(*parts: RegexTree) -> RegexTree:
    return Alternation(parts)


def _many(body: RegexTree, minimum: int = 0, maximum: int | None = None) -> RegexTree:
    return Repetition(body, minimum, maximum)


_CONTROLS = char_class([(0, 0x1F), (0x7F, 0x9F)])


def _quoted() -> RegexTree:
    """Between double quotes: no control characters, and a backslash goes with any character that is none."""
    plain, escaped = _without(_CONTROLS, _class('"\\')), _all(text("\\"), _without(_CONTROLS))
    return _all(text('"'), _many(_any(plain, escaped)), text('"'))


def _unquoted() -> RegexTree:
    """YAML's plain scalar on one line of a block (YAML 1.2.2, section 7.3.3), without the tabs between its words that
    PyYAML and ruamel.yaml refuse.
    """
    blank = text(" ")
    inside = _without(_CONTROLS, _class(" \x85\ufeff\u2028\u2029"))
    colons = text(":")
    after_colons = _without(negated(inside), _class(":"))
    more = _many(_all(_many(colons), after_colons))
    word_start = _without(negated(inside), _class(":#"))
    first_start = _without(negated(inside), _class("-?:,[]{}#&*!|>'\"%@`"))
    after_mark = _any(_all(_many(colons, 1), after_colons), _all(_class("-?"), _many(colons), after_colons))
    word = _all(_any(word_start, _all(_many(colons, 1), after_colons)), more)
    first = _all(_any(first_start, after_mark), more)
    return _all(first, _many(_all(_many(blank, 1), word)))


TEXT_GROUPS: dict[str, RegexTree] = {"QUOTED_TEXT": _quoted(), "UNQUOTED_TEXT": _unquoted()}
"""Groups without a body that match these texts."""


def text_until(stop: RegexTree) -> RegexTree:
    """Texts that end with `stop` where it occurs first."""
    ended = _all(ANY_TEXT, stop)
    return Intersection((ended, Complement(_all(ended, ANY_CHAR, ANY_TEXT))))


def substring_of(whole: str) -> RegexTree:
    """Consecutive characters, none included."""
    return Substring(tuple(character.encode() for character in whole))


def delimited_list(delimiter: RegexTree, items: Sequence[RegexTree]) -> RegexTree:
    """One item or more, each any of these, with delimiters between them."""
    item = _any(*items)
    return _all(item, _many(_all(delimiter, item)))


def delimited_subsequence(delimiter: RegexTree, items: Sequence[RegexTree]) -> RegexTree:
    """At least one of the items, in order, with delimiters between them. Linear in the items.

    Each item after the first one written is optional, and has a delimiter before it.
    """
    branches: list[RegexTree] = []
    rest: RegexTree | None = None
    for item in reversed(items):
        branches.append(item if rest is None else _all(item, rest))
        optional = _many(_all(delimiter, item), 0, 1)
        rest = optional if rest is None else _all(optional, rest)
    return _any(*reversed(branches))


def named_texts(name: str, trees: Sequence[RegexTree]) -> RegexTree:
    """The texts of a group that is no token and no `SUBSTRING_OF`.

    trees  what is in it; of the others, a delimiter and then the items
    """
    if name in TEXT_GROUPS:
        return TEXT_GROUPS[name]
    if name == "TEXT_UNTIL":
        return text_until(trees[0])
    return (delimited_list if name == "DELIMITED_LIST" else delimited_subsequence)(trees[0], trees[1:])
