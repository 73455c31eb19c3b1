"""What all questions about one schema share: the regex algebra, its answers, and a budget of work."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from contextvars import ContextVar

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.regex_tree import RegexTree
from cfgmask.limits import Limits
from cfgmask.regex.algebra import RegexAlgebra

# What combining two members counts of the rules: it takes some microseconds, and a second is enough for any schema.
RULES_PER_STEP = 2
# To ask the regex algebra something takes as long as so many steps, what a search takes aside.
STEPS_PER_QUESTION = 64
# A `%json` block in a Lark grammar takes as long as so many steps, however small it is.
STEPS_PER_BLOCK = 100
# So many searches of the longest kind may be made for one schema. A step takes some microseconds.
SEARCHES = 2


class Session:
    """Answers that were given before, and what may still be spent. For one thread.

    empty         trees that were searched, and whether they match nothing
    endless       trees, and whether they are (`decide.is_endless`)
    matching      trees and texts, and whether they match
    key_patterns  the patterns of keys by their regexes (`keys.key_pattern`)
    empty_keys    sets of keys, and whether there is no such key (`keys.Keys`)
    counts        trees, and how many texts match (`value_counts.n_texts`); told once, told again
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._algebra: RegexAlgebra | None = None
        self._spent = 0
        self.empty: dict[RegexTree, bool] = {}
        self.endless: dict[RegexTree, bool] = {}
        self.matching: dict[tuple[RegexTree, str], bool] = {}
        self.key_patterns: dict[RegexTree, object] = {}
        self.empty_keys: dict[Hashable, bool] = {}
        self.counts: dict[RegexTree, int | None] = {}

    @property
    def algebra(self) -> RegexAlgebra:
        """The regex algebra, made when it is first needed. To ask for it counts as a question.

        Raises LimitExceeded: max_search_steps where the questions before took all that they may take together,
        max_rules where they were too many.
        """
        self.spend(STEPS_PER_QUESTION)
        if self._algebra is None:
            self._algebra = RegexAlgebra(self.limits)
        most = SEARCHES * self.limits.max_search_steps
        if self._algebra.search_steps > most:
            raise LimitExceeded("max_search_steps", self.limits.max_search_steps)
        return self._algebra

    @property
    def steps_left(self) -> int:
        """How many steps may still be spent."""
        return max(self.limits.max_rules - self._spent, 0) // RULES_PER_STEP

    def spend(self, steps: int) -> None:
        """Count so many members that were combined with others. Raises LimitExceeded(max_rules).

        Each may become a rule, and it is the number of combinations that a hostile schema makes large.
        """
        self._spent += RULES_PER_STEP * steps
        if self._spent > self.limits.max_rules:
            raise LimitExceeded("max_rules", self.limits.max_rules)


_current: ContextVar[Session | None] = ContextVar("cfgmask.json_schema.session", default=None)


def current() -> Session:
    """The session of the `with` block around this; one of its own outside of any."""
    return _current.get() or Session(Limits())


class _Inside:
    """A `with` block in which a session is the current one.

    Made by `contextlib` it took five times as long, a tenth of a first mask where the processor's caches are cold.
    """

    __slots__ = ("_session", "_token")

    def __init__(self, this: Session) -> None:
        self._session = this

    def __enter__(self) -> None:
        self._token = _current.set(self._session)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def session(limits: Limits) -> AbstractContextManager[None]:
    """Share one session between all that is asked inside of the `with` block.

    Inside of another block with the same limits that is its session, so that what one way to read a schema has spent
    is not there for the next.
    """
    around = _current.get()
    return _Inside(around if around is not None and around.limits == limits else Session(limits))


def inside(this: Session) -> AbstractContextManager[None]:
    """Have all that is asked inside of the `with` block share a session that goes on."""
    return _Inside(this)
