"""Rules in the making: names, bodies, and what must be reported if a rule turns out to be needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

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

    def __init__(self, prefix: str, beside: RuleSet | None = None) -> None:
        """`beside`: other rules of the grammar, with which no name is shared."""
        self.opening: dict[str, SetBounds] = {}
        self.needs: dict[str, tuple[Expr, ...]] = {}
        self.bodies: dict[str, Expr] = {}
        self.refusals: dict[str, set[Diagnostic]] = {}
        self.prefix = prefix
        self._names: dict[str, int] = {} if beside is None else beside._names

    def name(self, wish: str) -> str:
        """A new name: the wish with the prefix, and a number where it is taken."""
        name = self.prefix + wish
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

    def take(self, other: RuleSet, body: Callable[[Expr], Expr]) -> None:
        """Add rules that were made beside these, each with what `body` makes of its own."""
        self.bodies.update((name, body(found)) for name, found in other.bodies.items())
        self.opening.update(other.opening)
        self.needs.update(other.needs)
        for name, refusals in other.refusals.items():
            self.refuse(name, refusals)

    def refuse(self, rule: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Report these if the rule is part of the grammar in the end."""
        self.refusals.setdefault(rule, set()).update(diagnostics)
