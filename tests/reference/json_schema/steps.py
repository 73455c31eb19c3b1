"""Items of arrays in which no two are equal, as rules in which each place knows how many ends may follow.

An item must not be begun that could only become equal to one before it. So the grammar's register knows what was
written of an item and which items came before (`Holds::kItem` of the core), and each terminal how many different ends
of the item may follow: if as many items came that begin alike, it is not taken. What follows depends on where a rule
is used, so rules are copied, one for each number of ends that may follow a use. Numbers are counted up to `ENDLESS`,
what has more is taken to have no end; so there are few of them, and rules that lead back to themselves have endlessly
many.

The rules have one derivation for each value. A lexeme that nothing else may stand in place of needs no number.

In the blocks of YAML neither commas nor brackets are written. So what follows a comma has the number, and a value in an
item is an item by itself: it is over where the text goes on outside of it, and may be if it did not come too often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import replace

from cfgmask.grammar.ir import Choice, Expr, Repeat, RuleRef, Sequence, SetBounds, Step, Terminal
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted, product

# Repetitions are unrolled as far as it matters how many items are still to come.
_MAX_UNROLLED = 1_000
_MAX_COPIES = 10_000

_NOTHING_MORE = Sequence(())
_UNWRITTEN_IN_BLOCKS = (*lexemes.OPEN, lexemes.COMMA)


class _Missing(Exception):
    """What some rules come to is not known yet."""

    def __init__(self, keys: list[tuple[str, int]]) -> None:
        super().__init__()
        self.keys = keys


class Steps:
    """Copies of rules with the ends that may follow.

    bodies    the rules; those that are added later are seen
    live      those that can end, before anything is asked
    rules     where copies go
    n_values  how many values a terminal has
    beyond    why the texts of a rule cannot be counted
    n_nested  how many texts the rule of a set in an item has. Raises Uncounted
    copied    makes a copy of such a rule for a step
    values    the rules of values, of which those in an item are items by themselves; None where brackets are written
    """

    def __init__(
        self,
        bodies: Mapping[str, Expr],
        rules: RuleSet,
        n_values: Callable[[Terminal], int],
        beyond: Mapping[str, str],
        n_nested: Callable[[str], int],
        copied: Callable[[str, Step], RuleRef],
        values: Container[str] | None,
    ) -> None:
        self._bodies = bodies
        self._rules = rules
        self._n_values = n_values
        self._beyond = beyond
        self._n_nested = n_nested
        self._copied = copied
        self._values = values
        self._ways: dict[tuple[str, int], int] = {}
        self._open: set[tuple[str, int]] = set()
        self._names: dict[tuple[str, int], str] = {}
        self._todo: list[tuple[str, int]] = []
        self._n_places = 0
        self.live: Collection[str] = ()

    def ways(self, rule: str) -> int:
        """How many texts a rule has. Raises Uncounted."""
        if rule not in self.live:
            return 0
        pending = [(rule, 1)]
        try:
            while pending:
                key = pending[-1]
                if key in self._ways:
                    pending.pop()
                    continue
                self._open.add(key)
                try:
                    self._ways[key] = self._of(self._bodies[key[0]], key[1])
                except _Missing as missing:
                    pending += missing.keys
                    if len(self._ways) > _MAX_COPIES:
                        raise Uncounted("too many rules come of it") from None
                    continue
                self._open.discard(key)
                pending.pop()
        finally:
            self._open.clear()
        return self._ways[rule, 1]

    def item(self, rule: str, name: str) -> None:
        """Give the rule `name` the texts of `rule`, of which `ways` was asked, as items that are told apart."""
        self._rules.bodies[name] = self._call(rule, 1)
        self._rules.opening[name] = SetBounds(holds="item")
        while self._todo:
            key = self._todo.pop()
            self._rules.bodies[self._names[key]] = self._copy(self._bodies[key[0]], key[1], is_only=False)

    def asked(self, expr: Expr) -> int:
        """How many texts an expression has, while others are asked for."""
        return self._of(expr, 1)

    def part(self, expr: Expr) -> Expr:
        """A copy of what is an item by itself in another, while that is made."""
        return self._copy(expr, 1, is_only=False)

    def step(self, after: int) -> Step:
        """A place of its own, with so many ends behind it."""
        self._n_places += 1
        return Step(self._n_places, None if after == ENDLESS else after)

    def item_in_item(self, rule: str, after: int) -> RuleRef:
        """The texts of a rule as items by themselves in another, with so many ends behind them."""
        return self._rules.opened("item", self._call(rule, 1), SetBounds(holds="item", step=self.step(after)))

    def _of(self, expr: Expr, after: int) -> int:
        """How many ends there are from an expression on, if there are `after` behind it."""
        if after == 0:
            return 0
        if isinstance(expr, Terminal):
            return product(self._n_values(expr), after)
        if isinstance(expr, RuleRef):
            return self._of_rule(expr.name, after)
        if isinstance(expr, Sequence):
            for part in reversed(expr.parts):
                after = self._of(part, after)
            return after
        if isinstance(expr, Choice):
            return self._of_any(expr, after)
        assert isinstance(expr, Repeat), "rules of values have nothing else"
        return self._unrolled(expr, after)[1][0]

    def _of_any(self, choice: Choice, after: int) -> int:
        """All parts that are not known are asked for together: there may be thousands."""
        found = 0
        missing: list[tuple[str, int]] = []
        for part in choice.parts:
            try:
                found += self._of(part, after)
            except _Missing as more:
                missing += more.keys
        if missing:
            raise _Missing(missing)
        return min(found, ENDLESS)

    def _of_rule(self, name: str, after: int) -> int:
        if name in self._beyond:
            raise Uncounted(self._beyond[name])
        if name not in self._bodies:
            return product(self._n_nested(name), after)
        if name not in self.live:
            return 0
        return product(self._known((name, 1)), after) if self._is_apart(name) else self._known((name, after))

    def _is_apart(self, rule: str) -> bool:
        """Whether its texts are items by themselves."""
        return self._values is not None and rule in self._values

    def _known(self, key: tuple[str, int]) -> int:
        """A rule that leads back to itself has endlessly many texts."""
        if key in self._ways:
            return self._ways[key]
        if key in self._open:
            return ENDLESS
        raise _Missing([key])

    def _unrolled(self, repeat: Repeat, after: int) -> tuple[int, list[int]]:
        """How many ends there are after so many times, from a number of times on; before that they are endless."""
        if not self._of(repeat.body, 1):
            return 0, [0 if repeat.minimum else after]
        if repeat.maximum is None:
            self._of(repeat.body, ENDLESS)
            return 0, [ENDLESS]
        found = [after]
        times = repeat.maximum
        while times and found[-1] < ENDLESS:
            times -= 1
            if len(found) > _MAX_UNROLLED:
                raise Uncounted(f"in it may be more than {_MAX_UNROLLED:,} items in a row out of few")
            ends_here = after if times >= repeat.minimum else 0
            found.append(min(ends_here + self._of(repeat.body, found[-1]), ENDLESS))
        if times:
            self._of(repeat.body, ENDLESS)
        return times, found[::-1]

    # ---- copies

    def _call(self, rule: str, after: int) -> RuleRef:
        key = rule, after
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = self._rules.name(f"{rule.removeprefix(self._rules.prefix)}*")
            self._todo.append(key)
        return RuleRef(name)

    def _copy(self, expr: Expr, after: int, *, is_only: bool) -> Expr:
        """is_only  whether nothing else may stand where the expression begins"""
        if isinstance(expr, Terminal):
            if self._is_unwritten(expr):
                return expr
            if self._n_values(expr) > 1:
                return replace(expr, distinct=True, endless="", step=self.step(after))
            return expr if is_only else replace(expr, step=self.step(after))
        if isinstance(expr, RuleRef):
            return self._copied_rule(expr.name, after)
        if isinstance(expr, Sequence):
            return self._copied_sequence(expr, after, is_only)
        if isinstance(expr, Choice):
            live = [part for part in expr.parts if self._of(part, after)]
            return Choice(tuple(self._copy(part, after, is_only=False) for part in live))
        assert isinstance(expr, Repeat), "rules of values have nothing else"
        return self._copied_repeat(expr, after)

    def _is_unwritten(self, terminal: Terminal) -> bool:
        return self._values is not None and lexemes.mark(terminal) in _UNWRITTEN_IN_BLOCKS

    def _copied_rule(self, rule: str, after: int) -> RuleRef:
        if rule not in self._bodies:
            return self._copied(rule, self.step(after))
        return self.item_in_item(rule, after) if self._is_apart(rule) else self._call(rule, after)

    def _copied_sequence(self, expr: Sequence, after: int, is_only: bool) -> Expr:
        copies: list[Expr] = []
        for i in range(len(expr.parts) - 1, -1, -1):
            follows = self._is_followed(expr.parts[i - 1]) if i else is_only
            copies.append(self._copy(expr.parts[i], after, is_only=follows))
            after = self._of(expr.parts[i], after)
        return Sequence(tuple(reversed(copies)))

    def _is_followed(self, expr: Expr) -> bool:
        """Whether a lexeme that stands behind an expression must come there."""
        return not isinstance(expr, Repeat) and not (isinstance(expr, Terminal) and self._is_unwritten(expr))

    def _copied_repeat(self, repeat: Repeat, after: int) -> Expr:
        if repeat.maximum == 0 or not self._of(repeat.body, 1):
            return _NOTHING_MORE
        n_endless, ends = self._unrolled(repeat, after)
        most = repeat.maximum
        if most is None or n_endless == most:
            return replace(repeat, body=self._copy(repeat.body, ENDLESS, is_only=False))
        rest: Expr = _NOTHING_MORE
        for times in range(most - 1, n_endless - 1, -1):
            once = Sequence((self._copy(repeat.body, ends[times + 1 - n_endless], is_only=False), rest))
            rest = RuleRef(self._rules.name("items*"))
            self._rules.bodies[rest.name] = Choice((_NOTHING_MORE, once)) if times >= repeat.minimum else once
        if not n_endless:
            return rest
        # As long as there are endlessly many ends it does not matter how many items are still to come.
        body = self._copy(repeat.body, ENDLESS, is_only=False)
        more = Sequence((Repeat(body, n_endless, n_endless), rest))
        if repeat.minimum >= n_endless:
            return more
        return Choice((Repeat(body, repeat.minimum, n_endless - 1), more))
