"""The keys of an object that have no names, sorted by what they contribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cfgmask.grammar.ir import Choice, Expr
from cfgmask.grammar.productive import Several
from cfgmask.grammar.regex_tree import ANY_TEXT, Alternation, RegexTree
from cfgmask.json_schema import decide
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.keys import Keys, key_pattern
from tests.reference.json_schema.normal_form import ANYTHING, Conjunction, ObjectShape, Witness, conjoin


@dataclass(frozen=True)
class KeyEdge:
    """Keys that no member names, what their values must be, and the numbers of the witnesses that they can meet.

    names  those of the members
    """

    keys: Keys
    value: Conjunction
    meets: frozenset[int]
    names: tuple[str, ...]

    @property
    def is_infinite(self) -> bool:
        """Whether there are always more such keys."""
        return decide.is_infinite(lexemes.other_key_text(self.keys, self.names))

    def count(self, most: int) -> int:
        """How many such keys there are, as far as it is known, up to `most`; see `decide.count_texts`."""
        return decide.count_texts(lexemes.other_key_text(self.keys, self.names), most)


def of_keys(shape: ObjectShape, possible: RegexTree) -> ObjectShape:
    """The objects of which all keys without names are possible."""
    if possible == ANY_TEXT:
        return shape
    keys = Keys(include=(key_pattern(possible),))
    return replace(shape, others=tuple(replace(other, keys=other.keys & keys) for other in shape.others))


def key_edges(shape: ObjectShape) -> list[KeyEdge]:
    """The classes of other keys, split so that all keys of an edge can meet the same witnesses. None is empty."""
    names = tuple(member.name for member in shape.members)
    edges = [KeyEdge(other.keys, other.value, frozenset(), names) for other in shape.others]
    for number, witness in enumerate(shape.witnesses):
        split = []
        for edge in edges:
            split.append(replace(edge, keys=edge.keys & witness.keys, meets=edge.meets | {number}))
            split += [replace(edge, keys=rest) for rest in edge.keys.difference(witness.keys)]
        edges = [edge for edge in split if not edge.keys.is_empty]
    return [edge for edge in edges if not _has_only_names(edge)]


def enough_keys(
    counts: Iterable[tuple[KeyEdge, int]],
    needed: int,
    members: Iterable[Conjunction],
    value_of: Callable[[Conjunction], Expr],
) -> Expr:
    """What there must be for so many keys: those whose values nothing satisfies cannot be written.

    counts   the classes of keys, and how many keys there are of each, up to `needed` at least
    members  what the values of further keys must be, which have names
    """
    values = list(map(value_of, members))
    enough: list[Expr] = []
    for edge, n_keys in counts if needed > 0 else ():
        value = value_of(edge.value)
        if n_keys >= min(needed, decide.MAX_COUNTED):
            enough.append(value)
        else:
            values += [value] * n_keys
    return Choice((Several(tuple(values), max(needed, 0)), *enough))


def may_run_out(counts: Iterable[tuple[KeyEdge, int]], needed: int, are_counted: bool) -> bool:
    """Whether so many keys may not be there though `enough_keys` says so.

    are_counted  whether what matters is how many keys there are, whichever of them were written before
    """
    found = [n_keys for _, n_keys in counts]
    return bool(found) and max(found) < needed and not (are_counted and max(found) < decide.MAX_COUNTED)


def never_run_out(edges: Sequence[KeyEdge]) -> bool:
    """Whether it is sure that whatever begins such a key begins infinitely many, whichever of them have values."""
    of_anything = [edge.keys.regex() for edge in edges if edge.value == ANYTHING]
    each = [[edge.keys.regex()] for edge in edges if edge.value != ANYTHING]
    return all(_is_endless(keys) for keys in (of_anything, *each) if keys)


def meeting(
    witnesses: tuple[Witness, ...], value: Conjunction, missing: frozenset[int], possible: Iterable[int]
) -> list[tuple[Conjunction, frozenset[int]]]:
    """What the value of a key may be, with the witnesses that are still missing after it.

    possible  the numbers of the missing ones that the key can meet
    """
    numbers = sorted(possible)
    # Each that asks for a certain value doubles the ways, which are paid for before there are any.
    current().spend(2 ** sum(witnesses[number].value != ANYTHING for number in numbers) * len(missing))
    found = [(value, missing)]
    for number in numbers:
        wanted = witnesses[number].value
        met = [(conjoin(allowed, wanted), rest - {number}) for allowed, rest in found]
        # A value that meets the witness may be written by the other way as well; that does no harm.
        found = met if wanted == ANYTHING else found + met
    return found


def _is_endless(keys: list[RegexTree]) -> bool:
    # Finitely many names fewer make no difference.
    return ANY_TEXT in keys or decide.is_endless(keys[0] if len(keys) == 1 else Alternation(tuple(keys)))


def _has_only_names(edge: KeyEdge) -> bool:
    """Whether every key of a class is the name of a member."""
    return bool(edge.keys.include) and decide.is_empty(lexemes.other_key_text(edge.keys, edge.names))
