"""Rules in the making: names, bodies, and what must be reported if a rule turns out to be needed."""

from __future__ import annotations

from collections.abc import Iterable

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Expr, RuleRef, SetBounds
from cfgmask.grammar.productive import NOTHING
from cfgmask.json_schema.session import current

# A rule costs as much as the combination of so many members.
_STEPS_PER_RULE = 10


class RuleSet:
    """The rules of one schema while they are made. A name is given first and a body later.

    opening  those that open a set of values, and its bounds
    needs    what must be able to end besides a rule's body for the rule to do so
    """

    def __init__(self, prefix: str) -> None:
        self.opening: dict[str, SetBounds] = {}
        self.needs: dict[str, tuple[Expr, ...]] = {}
        self.bodies: dict[str, Expr] = {}
        self.refusals: dict[str, set[Diagnostic]] = {}
        self._prefix = prefix
        self._names: dict[str, int] = {}

    def name(self, wish: str) -> str:
        """A new name: the wish with the prefix, and a number where it is taken."""
        name = self._prefix + wish
        number = self._names.get(name, 0)
        self._names[name] = number + 1
        current().spend(_STEPS_PER_RULE)
        if number:
            return self.name(f"{wish}~{number + 1}")
        # Rules stand in the order in which they are named: each before those it leads to.
        self.bodies[name] = NOTHING
        return name

    def opened(self, wish: str, body: Expr, bounds: SetBounds) -> RuleRef:
        """A new rule that opens a set of values."""
        name = self.name(wish)
        self.bodies[name] = body
        self.opening[name] = bounds
        return RuleRef(name)

    def refuse(self, rule: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Report these if the rule is part of the grammar in the end."""
        self.refusals.setdefault(rule, set()).update(diagnostics)
