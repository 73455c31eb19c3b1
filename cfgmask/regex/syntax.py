"""The syntax tree of a pattern, before flags, dialects and anchors are resolved.

Every node knows its place: `start` and `end` are character offsets in the pattern.
A node that a flag can change carries the flags that hold where it stands.
Constructs that cannot be translated (backreferences, atomic groups, ...) have nodes too: the parser reads them whole,
so that everything inside them is checked, and `translate` refuses them by name.
The core makes these nodes (`cfgmask/core/pattern`), by the order of their fields.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

BoundaryKind: TypeAlias = Literal["boundary", "no-boundary", "start", "end", "start-half", "end-half"]


@dataclass(frozen=True)
class Flags:
    """The flags in force at one place.

    ascii  Python's `(?a)`, Rust's `(?-u)`: shorthands and case mean ASCII
    """

    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    verbose: bool = False
    ascii: bool = False


@dataclass(frozen=True, eq=False)
class Text:
    """One or more characters that stand for themselves."""

    start: int
    end: int
    text: str
    flags: Flags


@dataclass(frozen=True, eq=False)
class Dot:
    """`.`"""

    start: int
    end: int
    flags: Flags


@dataclass(frozen=True, eq=False)
class Shorthand:
    r"""`\d`, `\w`, `\s` (`letter`) or, negated, `\D`, `\W`, `\S`."""

    start: int
    end: int
    letter: Literal["d", "w", "s"]
    negated: bool
    flags: Flags


@dataclass(frozen=True, eq=False)
class Property:
    r"""`\p{name}`, `\p{name=value}` or, negated, `\P{...}`; `value` is "" where there is none."""

    start: int
    end: int
    name: str
    value: str
    negated: bool
    flags: Flags


@dataclass(frozen=True, eq=False)
class PosixClass:
    """`[:name:]` inside a class."""

    start: int
    end: int
    name: str
    negated: bool


@dataclass(frozen=True, eq=False)
class ClassRange:
    """`a-z` inside a class; a single character has `low == high`."""

    start: int
    end: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class SetTerm:
    """The union of `members`, joined to the terms before it: `|` (the first one), `&&`, `--` or `~~`."""

    operator: str
    members: tuple[SetMember, ...]


@dataclass(frozen=True, eq=False)
class CharacterSet:
    """`[...]`; the terms are joined from left to right, then `negated` applies."""

    start: int
    end: int
    negated: bool
    terms: tuple[SetTerm, ...]
    flags: Flags


@dataclass(frozen=True, eq=False)
class Anchor:
    """A place in the text: its start, its end, or its end or just before a line break that ends it."""

    start: int
    end: int
    kind: Literal["start", "end", "end-or-newline"]
    multi_line: bool


@dataclass(frozen=True, eq=False)
class WordBoundary:
    r"""`\b`, negated `\B`, and the places of Rust's `\b{start}`, `\b{end}`, `\b{start-half}` and `\b{end-half}`."""

    start: int
    end: int
    kind: BoundaryKind
    flags: Flags


@dataclass(frozen=True, eq=False)
class Backreference:
    """What a group matched, once more; `name` is that of the group, or its number."""

    start: int
    end: int
    name: str


@dataclass(frozen=True, eq=False)
class Group:
    """A group of any kind that only groups; `name` is that of a named one. `captures`: it has a number."""

    start: int
    end: int
    body: Node
    name: str | None = None
    captures: bool = False


@dataclass(frozen=True, eq=False)
class Lookaround:
    """A condition on the text ahead (or, with `behind`, before): `body` matches there, or with `negated` does not.

    is_guard  it stands for a lazy repetition, see `lazy.py`, and looks no further than the pattern matches
    """

    start: int
    end: int
    body: Node
    behind: bool
    negated: bool
    is_guard: bool = False


@dataclass(frozen=True, eq=False)
class Atomic:
    """`(?>...)`"""

    start: int
    end: int
    body: Node


@dataclass(frozen=True, eq=False)
class Sequence:
    """The parts in order. As an item of a sequence and without parts: flags on their own, `(?i)`."""

    start: int
    end: int
    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """Any of the parts."""

    start: int
    end: int
    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """`maximum` None: without bound."""

    start: int
    end: int
    body: Node
    minimum: int
    maximum: int | None
    mode: Literal["greedy", "lazy", "possessive"]


SetMember: TypeAlias = ClassRange | Shorthand | Property | PosixClass | CharacterSet
Leaf: TypeAlias = Text | Dot | Shorthand | Property | CharacterSet | Anchor | WordBoundary | Backreference
Node: TypeAlias = Leaf | Group | Lookaround | Atomic | Sequence | Choice | Repeat

_N = TypeVar("_N")
_R = TypeVar("_R")


def children(node: Node) -> tuple[Node, ...]:
    """The nodes right below `node`, in order."""
    if isinstance(node, (Sequence, Choice)):
        return node.parts
    if isinstance(node, (Group, Lookaround, Atomic, Repeat)):
        return (node.body,)
    return ()


def fold(root: _N, below: Callable[[_N], SequenceOf[_N]], combine: Callable[[_N, list[_R]], _R]) -> _R:
    """The value of a tree from the values of its parts, left to right and bottom up, without recursion.

    `combine(node, values)` gets the values of `below(node)`. Linear in the tree.
    """
    results: list[_R] = []
    pending: list[tuple[_N, int]] = [(root, -1)]
    while pending:
        node, arity = pending.pop()
        if arity < 0:
            parts = below(node)
            if parts:
                pending.append((node, len(parts)))
                pending.extend([(part, -1) for part in reversed(parts)])
            else:
                # Most nodes are leaves: those need no second look.
                results.append(combine(node, []))
        else:
            values = results[-arity:]
            del results[-arity:]
            results.append(combine(node, values))
    return results[0]
