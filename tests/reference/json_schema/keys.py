"""Sets of keys: what patterns of `patternProperties` and the like match and leave."""

from __future__ import annotations

from dataclasses import dataclass, field

from cfgmask.grammar.regex_tree import ANY_TEXT, Complement, Intersection, RegexTree
from cfgmask.json_schema import decide
from cfgmask.json_schema.session import current


@dataclass(frozen=True, eq=False)
class KeyPattern:
    """A regex over decoded keys. Equal only to itself, so that sets of keys are compared without a look into regexes;
    `key_pattern` gives the same one for equal regexes.
    """

    regex: RegexTree
    _verdicts: dict[str, bool] = field(default_factory=dict, repr=False)

    def matches(self, key: str) -> bool:
        """Whether the whole key matches."""
        if key not in self._verdicts:
            self._verdicts[key] = decide.matches(self.regex, key)
        return self._verdicts[key]


def key_pattern(regex: RegexTree) -> KeyPattern:
    """The pattern of a regex, one for each regex of a session."""
    known = current().key_patterns
    if regex not in known:
        known[regex] = KeyPattern(regex)
    found = known[regex]
    assert isinstance(found, KeyPattern)
    return found


@dataclass(frozen=True)
class Keys:
    """The keys that match all of `include` and none of `exclude`."""

    include: tuple[KeyPattern, ...] = ()
    exclude: tuple[KeyPattern, ...] = ()

    def admits(self, key: str) -> bool:
        """Whether the key is one of these."""
        return all(pattern.matches(key) for pattern in self.include) and not any(
            pattern.matches(key) for pattern in self.exclude
        )

    def __and__(self, other: Keys) -> Keys:
        return Keys(_joined(self.include, other.include), _joined(self.exclude, other.exclude))

    def difference(self, other: Keys) -> list[Keys]:
        """The keys that are not in `other`; the sets may overlap."""
        current().spend(COST_OF_A_PIECE * (len(other.include) + len(other.exclude)))
        pieces = [self & Keys(exclude=(pattern,)) for pattern in other.include]
        pieces += [self & Keys(include=(pattern,)) for pattern in other.exclude]
        return [piece for piece in pieces if not piece.is_empty]

    def regex(self) -> RegexTree:
        """The keys as one regex over decoded text."""
        included = tuple(pattern.regex for pattern in self.include)
        parts = (*included, *(Complement(pattern.regex) for pattern in self.exclude))
        if not parts:
            return ANY_TEXT
        return parts[0] if len(parts) == 1 else Intersection(parts)

    @property
    def is_empty(self) -> bool:
        """Whether there is no such key. Raises LimitExceeded where deciding takes too long."""
        if not (self.include or self.exclude):
            return False
        known = current().empty_keys
        if self not in known:
            contradicts = any(pattern in self.exclude for pattern in self.include)
            current().spend(_COST_OF_A_SEARCH * (len(self.include) + len(self.exclude)))
            known[self] = contradicts or decide.is_empty(self.regex())
        return known[self]


def _joined(a: tuple[KeyPattern, ...], b: tuple[KeyPattern, ...]) -> tuple[KeyPattern, ...]:
    return tuple(dict.fromkeys(a + b)) if a and b else a or b


# In members that are combined with others, for each condition on the keys: 100 patterns beside 100 that overlap them
# take half a minute otherwise, until there are found to be too many.
_COST_OF_A_SEARCH = 15
# Likewise to make a set of keys out of two, known to be empty or not: crossed patterns make millions of them.
COST_OF_A_PIECE = 3

ALL_KEYS = Keys()
