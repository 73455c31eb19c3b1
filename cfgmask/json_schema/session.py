"""What all questions about one schema share: the regex algebra, its answers, and a budget of work."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra


class Session:
    """Answers that were given before, and what may still be spent. For one thread.

    empty         trees that were searched, and whether they match nothing
    endless       trees, and whether they are (`decide.is_endless`)
    matching      trees and texts, and whether they match
    key_patterns  the patterns of keys by their regexes (`keys.key_pattern`)
    empty_keys    sets of keys, and whether there is no such key (`keys.Keys`)
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._algebra: RegexAlgebra | None = None
        self._spent = 0
        self.empty: dict[RegexTree, bool] = {}
        self.endless: dict[RegexTree, bool] = {}
        self.matching: dict[tuple[RegexTree, str], bool] = {}
        self.key_patterns: dict[RegexTree, object] = {}
        self.empty_keys: dict[Hashable, bool] = {}

    @property
    def algebra(self) -> RegexAlgebra:
        """The regex algebra, made when it is first needed."""
        if self._algebra is None:
            self._algebra = RegexAlgebra(self._limits)
        return self._algebra

    def spend(self, steps: int) -> None:
        """Count so many members that were combined with others. Raises LimitExceeded(max_rules).

        Each may become a rule, and it is the number of combinations that a hostile schema makes large.
        """
        self._spent += steps
        if self._spent > self._limits.max_rules:
            raise LimitExceeded("max_rules", self._limits.max_rules, "combinations of the parts of a JSON Schema")


_current: ContextVar[Session | None] = ContextVar("cfgmask.json_schema.session", default=None)


def current() -> Session:
    """The session of the `with` block around this; one of its own outside of any."""
    return _current.get() or Session(Limits())


@contextmanager
def session(limits: Limits) -> Iterator[None]:
    """Share one session between all that is asked inside of the `with` block."""
    token = _current.set(Session(limits))
    try:
        yield
    finally:
        _current.reset(token)
