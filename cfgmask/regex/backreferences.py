r"""Backreferences to groups with few texts: `(['"])[a-z]*\1` is `'[a-z]*'|"[a-z]*"`.

A pattern with a backreference is no regular language in general. Where a group has finitely many texts, it is: one
alternative for each of them, in which the group and what refers to it are that text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from cfgmask.regex.syntax import (
    Atomic,
    Backreference,
    CharacterSet,
    Choice,
    ClassRange,
    Flags,
    Group,
    Lookaround,
    Node,
    Repeat,
    Sequence,
    Text,
    children,
    fold,
)

# Alternatives of one group, and nodes of all alternatives together.
_MOST_TEXTS = 32
_MOST_NODES = 20_000


def without_backreferences(root: Node) -> Node:
    """The same pattern without the backreferences to groups that have few texts and stand before them in one sequence.

    All others stay, for `translate` to refuse. Linear in the result, which has a bound.
    """
    references = [node for node in _walk(root) if isinstance(node, Backreference)]
    if not references:
        return root
    groups = [node for node in _walk(root) if isinstance(node, Group) and node.captures]
    by_group: dict[int, list[Backreference]] = {}
    for reference in references:
        group = _group_of(reference, groups)
        if group is not None and group.end <= reference.start:
            by_group.setdefault(group.start, []).append(reference)
    # What is further out first: its alternatives then hold what is further in. Of one sequence, the inner group
    # first.
    found = [(_scope(root, start, [r.start for r in its]), start) for start, its in by_group.items()]
    scopes = [(scope, start) for scope, start in found if scope is not None]
    for scope, start in sorted(scopes, key=lambda one: (one[0].start, -one[0].end, -one[1])):
        root = _expanded(root, scope, start, {reference.start for reference in by_group[start]})
    return root


def _group_of(reference: Backreference, groups: list[Group]) -> Group | None:
    name = reference.name
    if name.isdecimal():
        number = int(name)
        in_order = sorted(groups, key=lambda group: group.start)
        return in_order[number - 1] if 0 < number <= len(in_order) else None
    named = [group for group in groups if group.name == name]
    return named[0] if len(named) == 1 else None


def _scope(root: Node, group: int, references: list[int]) -> Sequence | None:
    """The innermost sequence with the group and all that refers to it, if the group is matched whenever that is."""
    wanted = {group, *references}
    node, scope = root, None
    while True:
        if isinstance(node, Sequence):
            scope = node
        inside = [part for part in children(node) if wanted <= {one.start for one in _walk(part) if _is_wanted(one)}]
        if not inside:
            break
        node = inside[0]
    if scope is None or node is not scope:
        return None
    part = next(part for part in scope.parts if any(isinstance(n, Group) and n.start == group for n in _walk(part)))
    while not (isinstance(part, Group) and part.start == group):
        if not isinstance(part, (Sequence, Group)):
            return None
        part = next(p for p in children(part) if any(isinstance(n, Group) and n.start == group for n in _walk(p)))
    return scope


def _is_wanted(node: Node) -> bool:
    return isinstance(node, (Group, Backreference))


def _expanded(root: Node, scope: Sequence, group: int, references: set[int]) -> Node:
    """`root`, in which each copy of the scope is one alternative for each text that the group has there.

    Without a change where these are too many.
    """

    def combine(node: Node, parts: list[Node]) -> Node:
        made = _with_children(node, parts)
        if not isinstance(node, Sequence) or (node.start, node.end) != (scope.start, scope.end):
            return made
        found = next((one for one in _walk(made) if isinstance(one, Group) and one.start == group), None)
        texts = None if found is None else _texts(found.body)
        if not texts or len(texts) * sum(1 for _ in _walk(made)) > _MOST_NODES:
            return made
        ways = tuple(_with_text(made, group, references, text, flags) for text, flags in texts)
        return Choice(node.start, node.end, ways)

    made = fold(root, children, combine)
    return made if sum(1 for _ in _walk(made)) <= _MOST_NODES else root


def _with_text(root: Node, group: int, references: set[int], text: str, flags: Flags) -> Node:
    def combine(node: Node, parts: list[Node]) -> Node:
        if (isinstance(node, Group) and node.start == group) or (
            isinstance(node, Backreference) and node.start in references
        ):
            return Text(node.start, node.end, text, flags) if text else Sequence(node.start, node.end, ())
        return _with_children(node, parts)

    return fold(root, children, combine)


def _with_children(node: Node, parts: list[Node]) -> Node:
    if isinstance(node, (Sequence, Choice)):
        return replace(node, parts=tuple(parts))
    return replace(node, body=parts[0]) if isinstance(node, (Group, Lookaround, Atomic, Repeat)) else node


def _texts(node: Node) -> list[tuple[str, Flags]] | None:
    """The texts of a node, with the flags of their characters; None where they are not few."""
    if isinstance(node, Text):
        return [(node.text, node.flags)]
    if isinstance(node, CharacterSet):
        return _members(node)
    if isinstance(node, Choice):
        found: list[tuple[str, Flags]] = []
        for part in node.parts:
            more = _texts(part)
            if more is None or len(found) + len(more) > _MOST_TEXTS:
                return None
            found += more
        return found
    if isinstance(node, Group):
        return _texts(node.body)
    if isinstance(node, Repeat) and node.maximum is not None and node.mode != "possessive":
        once = _texts(node.body)
        if once is None or node.maximum > _MOST_TEXTS:
            return None
        counts = range(node.minimum, node.maximum + 1)
        return _few(pair for count in counts for pair in _joined([once] * count))
    if isinstance(node, Sequence):
        parts = [_texts(part) for part in node.parts]
        known = [part for part in parts if part is not None]
        return _few(_joined(known)) if len(known) == len(parts) else None
    return None


def _joined(parts: list[list[tuple[str, Flags]]]) -> Iterator[tuple[str, Flags]]:
    for way in product(*parts):
        flags = {flags for text, flags in way if text}
        if len(flags) > 1:
            raise _Mixed
        yield "".join(text for text, _ in way), flags.pop() if flags else Flags()


class _Mixed(Exception):
    """Flags change inside of a group."""


def _few(texts: Iterator[tuple[str, Flags]]) -> list[tuple[str, Flags]] | None:
    found: dict[tuple[str, Flags], None] = {}
    try:
        for text in texts:
            found[text] = None
            if len(found) > _MOST_TEXTS:
                return None
    except _Mixed:
        return None
    return list(found)


def _members(node: CharacterSet) -> list[tuple[str, Flags]] | None:
    if node.negated or len(node.terms) != 1:
        return None
    found: list[tuple[str, Flags]] = []
    for member in node.terms[0].members:
        if not isinstance(member, ClassRange) or len(found) + member.high - member.low >= _MOST_TEXTS:
            return None
        found += ((chr(code), node.flags) for code in range(member.low, member.high + 1))
    return found


def _walk(root: Node) -> Iterator[Node]:
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending += children(node)[::-1]
