"""White space as the caller chooses it: what may stand between lexemes, and how separators are written."""

from __future__ import annotations

from functools import cache

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import (
    Alternation,
    Complement,
    Concatenation,
    Intersection,
    RegexTree,
    Repetition,
    char_class,
    text,
)
from cfgmask.regex import parse_regex
from cfgmask.regex.algebra import is_empty

_BLANK = char_class([(0x20, 0x20), (0x09, 0x09)])
_ANY_SPACE = char_class([(0x20, 0x20), (0x09, 0x0A), (0x0D, 0x0D)])
_LINE_BREAK = Concatenation((Repetition(text("\r"), 0, 1), text("\n")))

_NEW_LINE = Concatenation((_LINE_BREAK, Repetition(_BLANK, 0, 64)))
# What is left of it behind blanks is one sequence, not one that ends there beside one that goes on.
BOUNDED = Alternation((Concatenation((Repetition(_BLANK, 1, 8), Repetition(_NEW_LINE, 0, 1))), _NEW_LINE))
UNBOUNDED = Repetition(_ANY_SPACE, 1, None)
_SOME_OR_NONE = Repetition(_ANY_SPACE, 0, None)


@cache
def whitespace(pattern: str) -> RegexTree:
    """The texts of a regex but the empty one.

    Raises ValueError where it is no regex, or matches what is not white space.
    """
    tree = _read(pattern)
    if not is_empty(Intersection((tree, Complement(_SOME_OR_NONE)))):
        raise ValueError('is not "bounded", "compact" or "unbounded", nor a regex of nothing but white space of JSON')
    return Intersection((tree, UNBOUNDED))


@cache
def separator(pattern: str, mark: str) -> RegexTree:
    """The texts of a regex.

    Raises ValueError where it is no regex, or one of the texts is not the mark with white space around it.
    """
    tree = _read(pattern)
    if not is_empty(Intersection((tree, Complement(Concatenation((_SOME_OR_NONE, text(mark), _SOME_OR_NONE)))))):
        raise ValueError(f'matches more than "{mark}" with white space of JSON around it')
    return tree


def _read(pattern: str) -> RegexTree:
    try:
        tree = parse_regex(pattern)
    except GrammarError as error:
        raise ValueError(f"is no regex: {error.diagnostics[0].message}") from None
    if is_empty(tree):
        raise ValueError("matches nothing")
    return tree
