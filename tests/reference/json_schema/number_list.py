"""Sets of listed numbers that a stranger can't make slow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cfgmask.json_schema.values import Number, number_key


class NumberList:
    """An immutable set of numbers, in the order of the first mention.

    Python hashes integers modulo 2**61 - 1, without a seed: a frozenset of 1,000 multiples of it takes seconds. Texts
    have a seed, so the numbers are found by theirs.
    """

    __slots__ = ("_by_key",)

    def __init__(self, numbers: Iterable[Number]) -> None:
        self._by_key = {number_key(number): number for number in numbers}

    def __contains__(self, number: Number) -> bool:
        return number_key(number) in self._by_key

    def __iter__(self) -> Iterator[Number]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    def __and__(self, other: NumberList) -> NumberList:
        return self._of({key: number for key, number in self._by_key.items() if key in other._by_key})

    def __or__(self, other: NumberList) -> NumberList:
        return self._of(self._by_key | other._by_key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberList) and self._by_key.keys() == other._by_key.keys()

    def __hash__(self) -> int:
        return hash(frozenset(self._by_key))

    def __repr__(self) -> str:
        return f"NumberList({list(self)})"

    @classmethod
    def _of(cls, by_key: dict[str, Number]) -> NumberList:
        found = cls(())
        found._by_key = by_key
        return found
