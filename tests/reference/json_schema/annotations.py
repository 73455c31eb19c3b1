"""Which keys of an object a schema has looked at: the annotation that `unevaluatedProperties` goes by."""

from __future__ import annotations

from dataclasses import dataclass

from tests.reference.json_schema.keys import KeyPattern, Keys


@dataclass(frozen=True)
class EvaluatedKeys:
    """The keys with these names and those that match a pattern, or all keys."""

    names: frozenset[str] = frozenset()
    patterns: tuple[KeyPattern, ...] = ()
    all: bool = False

    def __or__(self, other: EvaluatedKeys) -> EvaluatedKeys:
        if other <= self:
            return self
        if self <= other:
            return other
        return EvaluatedKeys(self.names | other.names, tuple(dict.fromkeys(self.patterns + other.patterns)))

    def __le__(self, other: EvaluatedKeys) -> bool:
        """Whether it is plain that all of these keys are among the others."""
        return other.all or (
            not self.all and self.names <= other.names and all(pattern in other.patterns for pattern in self.patterns)
        )

    def covers(self, name: str) -> bool:
        """Whether the key is one of these."""
        return self.all or name in self.names or any(pattern.matches(name) for pattern in self.patterns)

    def split(self, keys: Keys) -> tuple[list[Keys], list[Keys]]:
        """Keys other than the names, as disjoint sets: those that are among these, and those that are not."""
        if self.all:
            return [keys], []
        inside, outside = [], [keys]
        for pattern in self.patterns:
            matching = Keys(include=(pattern,))
            inside += [both for piece in outside if not (both := piece & matching).is_empty]
            outside = [rest for piece in outside for rest in piece.difference(matching)]
        return inside, outside


NO_KEYS = EvaluatedKeys()
EVERY_KEY = EvaluatedKeys(all=True)
