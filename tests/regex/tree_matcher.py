"""A slow and obvious matcher over regex trees: Brzozowski derivatives, a character at a time.

It knows the trees that `parse_regex` makes, no more: no JSON strings. Whether a prefix can go on it knows where there
are no intersections and complements.
"""

from __future__ import annotations

from cfgmask.grammar.regex_tree import (
    EMPTY_TEXT,
    NOTHING,
    Alternation,
    CharClass,
    Complement,
    Concatenation,
    Intersection,
    Literal,
    RegexTree,
    Repetition,
)


def matches(tree: RegexTree, text: str) -> bool:
    """Whether the whole text is in the tree's language."""
    return is_nullable(_after(tree, text))


def is_prefix(tree: RegexTree, text: str) -> bool:
    """Whether some text of the tree's language begins with `text`."""
    return matches_something(_after(tree, text))


def is_nullable(tree: RegexTree) -> bool:
    match tree:
        case Literal(data):
            return not data
        case CharClass():
            return False
        case Concatenation(parts):
            return all(is_nullable(part) for part in parts)
        case Alternation(parts):
            return any(is_nullable(part) for part in parts)
        case Repetition(body, minimum, _):
            return minimum == 0 or is_nullable(body)
        case Intersection(parts):
            return all(is_nullable(part) for part in parts)
        case Complement(body):
            return not is_nullable(body)
    raise AssertionError(tree)


def matches_something(tree: RegexTree) -> bool:
    match tree:
        case Literal():
            return True
        case CharClass(ranges):
            return bool(ranges)
        case Concatenation(parts):
            return all(matches_something(part) for part in parts)
        case Alternation(parts):
            return any(matches_something(part) for part in parts)
        case Repetition(body, minimum, _):
            return minimum == 0 or matches_something(body)
    raise AssertionError(tree)


def derivative(tree: RegexTree, character: str) -> RegexTree:
    """The tree of what may follow `character`."""
    match tree:
        case Literal(data):
            first = character.encode()
            return Literal(data[len(first) :]) if data.startswith(first) else NOTHING
        case CharClass(ranges):
            return EMPTY_TEXT if any(low <= ord(character) <= high for low, high in ranges) else NOTHING
        case Alternation(parts):
            return _either([derivative(part, character) for part in parts])
        case Intersection(parts):
            return Intersection(tuple(derivative(part, character) for part in parts))
        case Complement(body):
            return Complement(derivative(body, character))
        case Concatenation(parts):
            ways = []
            for place, part in enumerate(parts):
                ways.append(_sequence([derivative(part, character), *parts[place + 1 :]]))
                if not is_nullable(part):
                    break
            return _either(ways)
        case Repetition(body, minimum, maximum):
            if maximum == 0:
                return NOTHING
            fewer = Repetition(body, max(minimum - 1, 0), None if maximum is None else maximum - 1)
            return _sequence([derivative(body, character), fewer])
    raise AssertionError(tree)


def _after(tree: RegexTree, text: str) -> RegexTree:
    for character in text:
        tree = derivative(tree, character)
    return tree


def _sequence(parts: list[RegexTree]) -> RegexTree:
    if NOTHING in parts:
        return NOTHING
    kept = tuple(part for part in parts if part != EMPTY_TEXT)
    return kept[0] if len(kept) == 1 else Concatenation(kept) if kept else EMPTY_TEXT


def _either(parts: list[RegexTree]) -> RegexTree:
    kept: list[RegexTree] = []
    for part in parts:
        if part != NOTHING and part not in kept:
            kept.append(part)
    return kept[0] if len(kept) == 1 else Alternation(tuple(kept))
