"""Sets of strings: the union of some given texts and of a regex over decoded text.

The given texts are kept apart because they are spelled literally in the output, and since deciding whether a given
text meets a further condition is cheap while intersecting regexes is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.regex_tree import (
    ANY_CHAR,
    ANY_TEXT,
    NOTHING,
    Alternation,
    Complement,
    Intersection,
    KeySet,
    RegexTree,
    Repetition,
)
from cfgmask.json_schema import decide
from cfgmask.json_schema.session import current

# One more condition or unwanted text is combined with all before it: so many of these take a step of a session.
PARTS_PER_STEP = 4
TEXTS_PER_STEP = 32


@dataclass(frozen=True)
class StringSet:
    """The texts in `values` and those that `pattern` matches.

    values    in the order in which the schema gives them, without repetition
    pattern   over decoded text; NOTHING where there is none
    possible  a regex that is sure to match all that `pattern` should, where that is narrower than what the schema
              means (a format, say); None where `pattern` is exact. It is what a complement has to leave out
    refusals  conditions that could not be read; the set may be smaller than the rest says
    """

    values: tuple[str, ...] = ()
    pattern: RegexTree = NOTHING
    refusals: frozenset[Diagnostic] = frozenset()
    possible: RegexTree | None = None

    @property
    def is_plainly_empty(self) -> bool:
        """Whether there is nothing in the set; `pattern` is NOTHING where nothing matches it."""
        return not self.values and self.pattern == NOTHING

    @property
    def is_everything(self) -> bool:
        """Whether there is no condition at all."""
        return self.pattern == ANY_TEXT and not self.refusals

    @property
    def widest(self) -> StringSet:
        """The same set with everything that may belong to it."""
        return self if self.possible is None else replace(self, pattern=self.possible, possible=None)

    @property
    def is_list(self) -> bool:
        """Whether the set contains only the listed values."""
        return self.pattern == NOTHING and self.possible is None and not self.refusals

    def admits(self, text: str) -> bool:
        """Whether the text is in the set."""
        return text in self.values or decide.matches(self.pattern, text)

    def as_regex(self) -> RegexTree:
        """The whole set over decoded text."""
        if not self.values:
            return self.pattern
        listed = KeySet(tuple(value.encode() for value in self.values))
        return listed if self.pattern == NOTHING else Alternation((listed, self.pattern))


NO_STRINGS = StringSet()
ALL_STRINGS = StringSet(pattern=ANY_TEXT)


def of_lengths(minimum: int, maximum: int | None) -> RegexTree:
    """The texts of so many characters."""
    if maximum is not None and minimum > maximum:
        return NOTHING
    return Repetition(ANY_CHAR, minimum, maximum)


def intersect(a: StringSet, b: StringSet) -> StringSet:
    """The strings of both sets."""
    if a.is_everything:
        return b
    if b.is_everything:
        return a
    in_a, in_b = frozenset(a.values), frozenset(b.values)
    values = [v for v in a.values if v in in_b or decide.matches(b.pattern, v)]
    values += [v for v in b.values if v not in in_a and decide.matches(a.pattern, v)]
    doubtful = a.possible is not None or b.possible is not None
    possible = _both(a.widest.pattern, b.widest.pattern) if doubtful else None
    return StringSet(tuple(values), _live(_both(a.pattern, b.pattern)), a.refusals | b.refusals, possible)


def listed_once(sets: Iterable[StringSet]) -> tuple[frozenset[str], StringSet]:
    """The strings that one list among the sets has alone, and those of all lists. Linear."""
    counts = Counter(value for found in sets if found.is_list for value in found.values)
    return frozenset(value for value, n in counts.items() if n == 1), StringSet(tuple(counts))


def only_listed(a: StringSet, texts: Container[str]) -> StringSet:
    """The set without the values that are not among the texts."""
    return replace(a, values=tuple(value for value in a.values if value in texts))


def without_listed(a: StringSet, texts: Iterable[str]) -> StringSet:
    """The strings of a list but these. Linear: as a pattern, all texts would be compared with each value."""
    unwanted = frozenset(texts)
    return replace(a, values=tuple(value for value in a.values if value not in unwanted))


def union(sets: Iterable[StringSet]) -> StringSet:
    """The strings of any of the sets. Linear in their parts."""
    found = list(sets)
    refusals = frozenset().union(*(each.refusals for each in found))
    if any(each.pattern == ANY_TEXT for each in found):
        return StringSet(pattern=ANY_TEXT, refusals=refusals)
    values = tuple(dict.fromkeys(value for each in found for value in each.values))
    pattern = _either(each.pattern for each in found)
    if all(each.possible is None for each in found):
        return StringSet(values, pattern, refusals)
    return StringSet(values, pattern, refusals, _either(each.widest.pattern for each in found))


def listed_together(sets: Iterable[StringSet]) -> list[StringSet]:
    """The same union, with all sets that are only lists of texts as one."""
    values: dict[str, None] = {}
    others = []
    for found in sets:
        if found.is_list:
            values.update(dict.fromkeys(found.values))
        else:
            others.append(found)
    return [StringSet(tuple(values)), *others] if values else others


def complement(a: StringSet) -> StringSet:
    """The texts that are not in the set (all of them, marked as refused, where it has refusals)."""
    if a.refusals:
        return StringSet(pattern=ANY_TEXT, refusals=a.refusals)
    unlisted: RegexTree = ANY_TEXT
    if a.values:
        unlisted = Complement(KeySet(tuple(value.encode() for value in a.values)))
    if a.possible is None:
        return StringSet(pattern=_live(_both(unlisted, _opposite(a.pattern))))
    return StringSet(
        pattern=_live(_both(unlisted, _opposite(a.possible))), possible=_both(unlisted, _opposite(a.pattern))
    )


def _either(trees: Iterable[RegexTree]) -> RegexTree:
    parts = _without_repetition(trees, Alternation)
    return parts[0] if len(parts) == 1 else Alternation(parts)


def _opposite(tree: RegexTree) -> RegexTree:
    if tree == NOTHING:
        return ANY_TEXT
    if tree == ANY_TEXT:
        return NOTHING
    if isinstance(tree, Repetition) and tree.body == ANY_CHAR and tree.maximum is not None and tree.minimum == 0:
        return of_lengths(tree.maximum + 1, None)
    if isinstance(tree, Repetition) and tree.body == ANY_CHAR and tree.maximum is None:
        return of_lengths(0, tree.minimum - 1)
    return tree.body if isinstance(tree, Complement) else Complement(tree)


def _both(a: RegexTree, b: RegexTree) -> RegexTree:
    """The texts of both; bounds on the length and lists of unwanted texts are joined into one each."""
    if NOTHING in (a, b):
        return NOTHING
    lengths: tuple[int, int | None] = (0, None)
    parts: list[RegexTree] = []
    unwanted: dict[bytes, None] = {}
    for part in _without_repetition((a, b), Intersection):
        if isinstance(part, Repetition) and part.body == ANY_CHAR:
            lengths = _shared(lengths, (part.minimum, part.maximum))
        elif isinstance(part, Complement) and isinstance(part.body, KeySet):
            unwanted.update(dict.fromkeys(part.body.keys))
        else:
            parts.append(part)
    # Each more is combined with all before it.
    current().spend(len(parts) // PARTS_PER_STEP + len(unwanted) // TEXTS_PER_STEP)
    if unwanted:
        parts.append(Complement(KeySet(tuple(unwanted))))
    length = of_lengths(*lengths)
    if length == NOTHING:
        return NOTHING
    if length != ANY_TEXT or not parts:
        parts.append(length)
    return parts[0] if len(parts) == 1 else Intersection(tuple(parts))


def _shared(a: tuple[int, int | None], b: tuple[int, int | None]) -> tuple[int, int | None]:
    highs = [high for high in (a[1], b[1]) if high is not None]
    return max(a[0], b[0]), min(highs, default=None)


def _without_repetition(trees: Iterable[RegexTree], kind: type[Alternation | Intersection]) -> tuple[RegexTree, ...]:
    """The parts of the trees, those of the given kind taken apart, each of them once."""
    found: dict[RegexTree, None] = {}
    for tree in trees:
        found.update(dict.fromkeys(tree.parts if isinstance(tree, kind) else (tree,)))
    return tuple(found)


def _live(tree: RegexTree) -> RegexTree:
    """The tree, or NOTHING if no text matches it."""
    return NOTHING if decide.is_empty(tree) else tree
