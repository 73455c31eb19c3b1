"""The keys of an object that have no names, sorted by what they contribute."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cfgmask.json_schema import decide, lexemes
from cfgmask.json_schema.keys import Keys
from cfgmask.json_schema.normal_form import Conjunction, ObjectShape


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

    def has(self, least: int) -> bool:
        """Whether it is sure that there are so many such keys."""
        return decide.has_texts(lexemes.other_key_text(self.keys, self.names), least)


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


def _has_only_names(edge: KeyEdge) -> bool:
    """Whether every key of a class is the name of a member."""
    return bool(edge.keys.include) and decide.is_empty(lexemes.other_key_text(edge.keys, edge.names))
