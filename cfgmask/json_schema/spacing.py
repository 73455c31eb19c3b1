"""White space as the caller chooses it: what may stand between lexemes, and how separators are written."""

from __future__ import annotations

from functools import cache

from cfgmask.errors import GrammarError
from cfgmask.grammar.regex_tree import Complement, Concatenation, Intersection, RegexTree, Repetition, text
from cfgmask.grammar.white_space import ANY_SPACE, UNBOUNDED
from cfgmask.regex.algebra import is_empty

_SOME_OR_NONE = Repetition(ANY_SPACE, 0, None)


@cache
def whitespace(pattern: str) -> RegexTree:
    """The texts of a regex but the empty one.

    Raises ValueError where it is no regex, or matches what is not white space.
    """
    tree = _read(pattern)
    if not is_empty(Intersection((tree, Complement(_SOME_OR_NONE)))):
        raise ValueError(
            'is not "natural", "bounded", "compact" or "unbounded", nor a regex of nothing but white space of JSON'
        )
    return Intersection((tree, UNBOUNDED))


@cache
def separator(pattern: str, mark: str) -> RegexTree:
    """The texts of a regex.

    Raises ValueError where it is no regex, or one of the texts is not the mark with white space around it.
    """
    if pattern == mark:
        return text(mark)
    tree = _read(pattern)
    if not is_empty(Intersection((tree, Complement(Concatenation((_SOME_OR_NONE, text(mark), _SOME_OR_NONE)))))):
        raise ValueError(f'matches more than "{mark}" with white space of JSON around it')
    return tree


def _read(pattern: str) -> RegexTree:
    from cfgmask.regex import parse_regex

    try:
        tree = parse_regex(pattern)
    except GrammarError as error:
        raise ValueError(f"is no regex: {error.diagnostics[0].message}") from None
    if is_empty(tree):
        raise ValueError("matches nothing")
    return tree
