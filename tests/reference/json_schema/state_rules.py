"""The states of an automaton as rules: one for each state that something leads to."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from cfgmask.grammar.ir import Expr, RuleRef
from tests.reference.json_schema.rules import RuleSet

State = TypeVar("State", bound=Hashable)


class StateRules(Generic[State]):
    """Rules of states. A state gets its rule when it is first called, and the rule its body from `fill`.

    wish  the name that is wished for the rule of a state
    """

    def __init__(self, rules: RuleSet, wish: Callable[[State], str]) -> None:
        self._rules = rules
        self._wish = wish
        self._names: dict[State, str] = {}
        self._todo: list[State] = []

    def call(self, state: State) -> RuleRef:
        """What comes from a state on."""
        name = self._names.get(state)
        if name is None:
            name = self._names[state] = self._rules.name(self._wish(state))
            self._todo.append(state)
        return RuleRef(name)

    def fill(self, body: Callable[[State], Expr]) -> None:
        """Add the rules of all states that were called, and of those that their bodies call."""
        while self._todo:
            state = self._todo.pop()
            self._rules.bodies[self._names[state]] = body(state)
