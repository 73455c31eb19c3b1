"""Which rules can end, and a grammar without those that cannot.

A rule is productive if some text can complete it. `e: e "+" e` is not: whatever is written, an `e` is still to come.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Guarded, Repeat, Rule, RuleRef, Sequence, Terminal
from cfgmask.grammar.regex_tree import Alternation, CharClass
from cfgmask.grammar.walk import children, fold, inside, walk

NOTHING = Choice(())
"""What no text is."""


@dataclass(frozen=True)
class Several(Choice):
    """What can end if so many of its parts can. Only for asking that: no grammar has it."""

    count: int = 1


_MAX_ROUNDS = 4
_MAX_DEPTH = 50


def productive_rules(grammar: GrammarIR, needs: Mapping[str, tuple[Expr, ...]] = {}) -> frozenset[str]:
    """The names of the rules that can end. Linear in the grammar.

    needs  by the names of rules, what must be able to end for them to do so besides their bodies

    Every condition on a parameter counts as if it held: what then cannot end never can.
    A terminal counts as productive unless it is `NOTHING` or a class without characters; whether a regex of
    intersections is empty is for the compiler to find out.
    """
    bodies = {rule.name: rule.body for rule in grammar.rules}
    for name, parts in needs.items():
        bodies[name] = Sequence((bodies[name], *parts))
    plain = _plainly_productive(bodies)
    return frozenset(plain if len(plain) == len(bodies) else _Productivity(bodies, plain).rules)


def without_nonproductive(grammar: GrammarIR, productive: frozenset[str]) -> GrammarIR:
    """The same language without what can never end: alternatives, optional parts and rules. Linear.

    productive  what `productive_rules` gave for this grammar
    The start rule stays, with a body that matches nothing if it cannot end.
    """
    if len(productive) == len(grammar.rules):
        return grammar
    rules = [
        _without_dead_parts(rule, productive) if rule.name in productive else replace(rule, body=NOTHING)
        for rule in grammar.rules
        if rule.name in productive or rule.name == grammar.start
    ]
    return replace(grammar, rules=tuple(rules))


def empty_terminals(rule: Rule) -> Iterator[Terminal]:
    """The terminals in a rule's body that are seen to match nothing, as `productive_rules` sees it. Linear."""
    return (expr for expr in inside(rule) if isinstance(expr, Terminal) and _matches_nothing(expr))


def without_nothing(body: Expr) -> Expr:
    """The same texts without the alternatives and optional parts that need `NOTHING`. Linear."""
    return _pruned(body, None)


def _plainly_productive(bodies: Mapping[str, Expr]) -> set[str]:
    """Rules of which a few rounds over the grammar show that they can end: nearly always all that can.

    Front ends name rules before those they lead to, so a round goes from the last to the first. It takes a fifth of
    the time of counting what is missing of every expression.
    """
    found: set[str] = set()
    rest = list(bodies.items())[::-1]
    for _ in range(_MAX_ROUNDS):
        ends: dict[int, bool] = {}
        left = []
        for name, body in rest:
            if _plainly_ends(body, found, ends, 0):
                found.add(name)
            else:
                left.append((name, body))
        if not left or len(left) == len(rest):
            break
        rest = left
    return found


def _plainly_ends(expr: Expr, rules: set[str], known: dict[int, bool], depth: int) -> bool:
    """Whether an expression can end given that these rules can. What is deep counts as if it could not.

    known  the answers for sequences and choices by identity, so that shared ones are looked at once
    """
    if isinstance(expr, RuleRef):
        return expr.name in rules
    if isinstance(expr, Terminal):
        return not _matches_nothing(expr)
    if isinstance(expr, Repeat):
        return not expr.minimum or (depth < _MAX_DEPTH and _plainly_ends(expr.body, rules, known, depth + 1))
    if isinstance(expr, Guarded):
        return depth < _MAX_DEPTH and _plainly_ends(expr.body, rules, known, depth + 1)
    if not isinstance(expr, (Sequence, Choice)):
        return True
    answer = known.get(id(expr))
    if answer is None and isinstance(expr, Several):
        n_ends = sum(_plainly_ends(part, rules, known, depth + 1) for part in expr.parts) if depth < _MAX_DEPTH else 0
        answer = known[id(expr)] = n_ends >= expr.count
    if answer is None:
        # A sequence is decided by the first part that cannot end, a choice by the first that can.
        decisive = isinstance(expr, Choice)
        answer = not decisive and depth < _MAX_DEPTH
        for part in expr.parts if depth < _MAX_DEPTH else ():
            if _plainly_ends(part, rules, known, depth + 1) is decisive:
                answer = decisive
                break
        known[id(expr)] = answer
    return answer


class _Productivity:
    """Propagates productivity from leaves to the rules that they make productive; each edge is followed once.

    `missing` holds, for each expression that is not known to be productive, how many of its parts must still become
    so: all of a sequence, one of a choice, so many of several.

    plain  rules that are known to be productive
    """

    def __init__(self, bodies: Mapping[str, Expr], plain: set[str]) -> None:
        self.rules = set(plain)
        self._missing: dict[int, int] = {}
        self._parents: dict[int, list[Expr]] = {}
        self._uses: dict[str, list[Expr]] = {}
        self._heads: dict[int, list[str]] = {}
        ready: list[Expr] = []
        for name, body in bodies.items():
            if name in plain:
                continue
            self._heads.setdefault(id(body), []).append(name)
            for expr in walk(body):
                if id(expr) not in self._missing:
                    self._enter(expr, ready)
        self._propagate(ready)

    def _enter(self, expr: Expr, ready: list[Expr]) -> None:
        for part in children(expr):
            self._parents.setdefault(id(part), []).append(expr)
        if isinstance(expr, RuleRef):
            self._uses.setdefault(expr.name, []).append(expr)
        is_plain = isinstance(expr, RuleRef) and expr.name in self.rules
        self._missing[id(expr)] = 0 if is_plain else _needed(expr)
        if not self._missing[id(expr)]:
            ready.append(expr)

    def _propagate(self, ready: list[Expr]) -> None:
        while ready:
            expr = ready.pop()
            for name in self._heads.get(id(expr), ()):
                if name not in self.rules:
                    self.rules.add(name)
                    self._satisfy(self._uses.get(name, ()), ready)
            self._satisfy(self._parents.get(id(expr), ()), ready)

    def _satisfy(self, waiting: Iterable[Expr], ready: list[Expr]) -> None:
        for expr in waiting:
            self._missing[id(expr)] -= 1
            if self._missing[id(expr)] == 0:
                ready.append(expr)


def _needed(expr: Expr) -> int:
    """How many parts of an expression must be productive for it to be so; for a rule's name, that rule."""
    if isinstance(expr, Sequence):
        return len(expr.parts)
    if isinstance(expr, Several):
        return expr.count
    if isinstance(expr, (Choice, RuleRef, Guarded)):
        return 1
    if isinstance(expr, Repeat):
        return 1 if expr.minimum else 0
    return 1 if isinstance(expr, Terminal) and _matches_nothing(expr) else 0


def _matches_nothing(terminal: Terminal) -> bool:
    tree = terminal.regex
    return (isinstance(tree, Alternation) and not tree.parts) or (isinstance(tree, CharClass) and not tree.ranges)


def _without_dead_parts(rule: Rule, productive: frozenset[str]) -> Rule:
    # Most rules have none, and looking takes a third of the time of making an expression anew.
    if not any(_is_dead(expr, productive) for expr in inside(rule)):
        return rule
    return replace(rule, body=_pruned(rule.body, productive))


def _is_dead(expr: Expr, productive: frozenset[str]) -> bool:
    if isinstance(expr, RuleRef):
        return expr.name not in productive
    return _matches_nothing(expr) if isinstance(expr, Terminal) else _is_nothing(expr)


def _pruned(body: Expr, productive: Collection[str] | None) -> Expr:
    """`body` without the alternatives and optional parts that cannot end; None: as if every rule could."""

    def combine(expr: Expr, parts: list[Expr]) -> Expr:
        if isinstance(expr, RuleRef):
            return expr if productive is None or expr.name in productive else NOTHING
        if isinstance(expr, Terminal):
            return NOTHING if _matches_nothing(expr) else expr
        if isinstance(expr, Sequence):
            return NOTHING if any(map(_is_nothing, parts)) else Sequence(tuple(parts))
        if isinstance(expr, Choice):
            return Choice(tuple(part for part in parts if not _is_nothing(part)))
        if isinstance(expr, Repeat):
            if not _is_nothing(parts[0]):
                return replace(expr, body=parts[0])
            return NOTHING if expr.minimum else Sequence(())
        if isinstance(expr, Guarded):
            return NOTHING if _is_nothing(parts[0]) else replace(expr, body=parts[0])
        return expr

    return fold(body, combine)


def _is_nothing(expr: Expr) -> bool:
    return isinstance(expr, Choice) and not expr.parts
