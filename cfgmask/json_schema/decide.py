"""The questions about regexes that a schema raises, answered by the regex algebra where looking is not enough."""

from __future__ import annotations

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    KeySet,
    Literal,
    RegexTree,
    Repetition,
)
from cfgmask.json_schema import session
from cfgmask.regex.trees import fold_tree, parts_of

# Texts are counted one by one up to this many.
MAX_COUNTED = 64


def is_empty(tree: RegexTree) -> bool:
    """Whether no text matches. Raises LimitExceeded where a search takes too long."""
    if isinstance(tree, Complement) and isinstance(tree.body, KeySet):
        return False
    if not _needs_search(tree):
        return _is_plainly_empty(tree)
    here = session.current()
    if tree not in here.empty:
        here.empty[tree] = here.algebra.is_empty(tree)
    return here.empty[tree]


def is_infinite(tree: RegexTree) -> bool:
    """Whether it is sure that infinitely many texts match: False as well where a search takes too long."""
    if tree == ANY_TEXT:
        return True
    try:
        return session.current().algebra.is_infinite(tree)
    except LimitExceeded:
        return False


def is_endless(tree: RegexTree) -> bool:
    """Whether it is sure that whatever begins a matching text begins infinitely many of them."""
    if tree == ANY_TEXT:
        return True
    here = session.current()
    if tree not in here.endless:
        try:
            here.endless[tree] = here.algebra.is_endless(tree)
        except LimitExceeded:
            here.endless[tree] = False
    return here.endless[tree]


def has_texts(tree: RegexTree, least: int) -> bool:
    """Whether it is sure that so many texts match."""
    return count_texts(tree, least) >= least


def count_texts(tree: RegexTree, most: int) -> int:
    """How many texts match, `most` if there are more. They are found one by one, up to `MAX_COUNTED`.

    Beyond that it is known of infinitely many only; of others the answer is `MAX_COUNTED`.
    """
    if tree == ANY_TEXT:
        return most
    found: list[bytes] = []
    while len(found) < min(most, MAX_COUNTED):
        text = session.current().algebra.shortest(Intersection((tree, Complement(KeySet(tuple(found))))))
        if text is None:
            return len(found)
        found.append(text)
    return most if most <= MAX_COUNTED or is_infinite(tree) else MAX_COUNTED


def matches(tree: RegexTree, text: str) -> bool:
    """Whether the whole text is in the language of the tree."""
    if isinstance(tree, Literal):
        return tree.data == text.encode()
    if isinstance(tree, KeySet):
        return text.encode() in tree.keys
    if isinstance(tree, Alternation):
        return any(matches(part, text) for part in tree.parts)
    if isinstance(tree, Intersection):
        return all(matches(part, text) for part in tree.parts)
    if isinstance(tree, Complement):
        return not matches(tree.body, text)
    if isinstance(tree, Repetition) and tree.body == ANY_CHAR:
        return tree.minimum <= len(text) and (tree.maximum is None or len(text) <= tree.maximum)
    here = session.current()
    if (tree, text) not in here.matching:
        here.matching[tree, text] = here.algebra.matches(tree, text.encode())
    return here.matching[tree, text]


def _needs_search(tree: RegexTree) -> bool:
    """Whether emptiness is more than a matter of form: only intersections and complements hide it."""
    todo: list[RegexTree] = [tree]
    seen: set[int] = set()
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, (Intersection, Complement)):
            return True
        todo.extend(parts_of(part))
    return False


def _is_plainly_empty(tree: RegexTree) -> bool:
    """Emptiness of a tree without intersections and complements, bottom up without recursion."""
    return fold_tree(tree, {}, _combine)


def _combine(tree: RegexTree, children: list[bool]) -> bool:
    if isinstance(tree, Concatenation):
        return any(children)
    if isinstance(tree, Alternation):
        return all(children)
    if isinstance(tree, Repetition):
        return tree.minimum > 0 and children[0]
    if isinstance(tree, CharClass):
        return not tree.ranges
    return isinstance(tree, KeySet) and not tree.keys
