"""Sets of objects to rules.

An object is written by an automaton over its keys: a state is how many of the named members are passed, how many keys
were written (counted only as far as a bound on their number needs it) and which witnesses are still missing. Each
state is a rule whose calls stand in tail position, so that the rules are linear in the members and the parser's state
does not grow with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence, SetBounds, Terminal
from cfgmask.grammar.productive import NOTHING
from cfgmask.grammar.regex_tree import ANY_TEXT, RegexTree
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.key_edges import (
    KeyEdge,
    enough_keys,
    key_edges,
    may_run_out,
    meeting,
    never_run_out,
    of_keys,
)
from tests.reference.json_schema.keys import Keys
from tests.reference.json_schema.normal_form import ANYTHING, Conjunction, Member, ObjectShape
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules

ValueOf = Callable[[Conjunction], Expr]
OthersOf = Callable[[list[KeyEdge], int, int | None, bool], Expr]

# A key without a name and its value cost as much as the combination of so many members.
_STEPS_PER_EDGE = 16
# And to go from one state to another by such a key.
_STEPS_PER_WAY = 8


class _State(NamedTuple):
    """position  how many members are passed
    written   how many keys are written, at most `_Automaton.counted_to`
    missing   the numbers of the witnesses that are not met yet
    """

    position: int
    written: int
    missing: frozenset[int]


class ObjectLowering:
    """Lowers one alternative of a set of objects.

    value_of  the expression for a conjunction
    pointer   the place to name in refusals that only show here
    in_braces  whether what is made stays between braces that are lexemes
    possible_keys  what other keys can be written
    others_of  makes what follows the members, out of the classes of other keys, how many must and may come, and whether
               they come first; None: no key twice, by a set of the object's own
    """

    def __init__(
        self,
        shape: ObjectShape,
        rules: RuleSet,
        name: str,
        value_of: ValueOf,
        pointer: str,
        *,
        in_braces: bool = True,
        possible_keys: RegexTree = ANY_TEXT,
        others_of: OthersOf | None = None,
    ) -> None:
        self._others_of = others_of
        self._rules = rules
        self._name = name
        self._value_of = value_of
        self._pointer = pointer
        self._shape = shape = _without_idle_bounds(of_keys(shape, possible_keys))
        self._edges = key_edges(shape)
        # What keys without names must come to depends on no key being written twice.
        self._needed = shape.minimum - sum(member.required for member in shape.members)
        self._needs_others = bool(self._edges) and self._needed > 1
        self._counts = [(edge, edge.count(self._needed)) for edge in self._edges if self._needs_others]
        met = frozenset(n for edge in self._edges for n in edge.meets)
        self._valued = frozenset(n for n in met if shape.witnesses[n].value != ANYTHING)
        # Without bounds that are checked by the way, they only must not be written twice.
        is_counted = self._needs_others or bool(self._valued)
        self._endless = in_braces and not is_counted and bool(self._edges) and never_run_out(self._edges)
        self._counted_to = max(1, shape.minimum, shape.maximum or 0)
        self._states = StateRules[_State](rules, lambda state: f"{name}.{state.position}")
        self._others: dict[tuple[Keys, Conjunction], Expr] = {}

    def lower(self) -> Expr:
        """The expression of the whole object. Adds a rule for each state."""
        refusals = set(self._shape.refusals)
        refusals.update(self._inexact())
        start = self._states.call(_State(0, 0, frozenset(range(len(self._shape.witnesses)))))
        self._rules.refuse(start.name, refusals)
        self._states.fill(self._body)
        whole = Sequence((lexemes.OPEN_OBJECT, start))
        if self._others_of is not None or not self.may_repeat:
            return whole
        return self._rules.opened(self._name, whole, SetBounds(endless=self._endless))

    @property
    def may_repeat(self) -> bool:
        """Whether the grammar has to know which other keys were written."""
        required = sum(member.required for member in self._shape.members)
        return bool(self._edges) and (self._shape.maximum is None or self._shape.maximum > required + 1)

    def _body(self, state: _State) -> Expr:
        if state.position == len(self._shape.members):
            return self._rest(state)
        member = self._shape.members[state.position]
        choices = self._taken(member, state)
        if not member.required:
            choices.append(self._states.call(_State(state.position + 1, state.written, state.missing)))
        return Choice(tuple(choices))

    def _taken(self, member: Member, state: _State) -> list[Expr]:
        """The ways to write a member."""
        if self._is_full(state):
            return []
        choices: list[Expr] = []
        start = (*_comma(state), lexemes.key(member.name), lexemes.COLON)
        for value, missing in self._values(member, state.missing):
            after = _State(state.position + 1, self._more(state), missing)
            choices.append(Sequence((*start, self._value_of(value), self._states.call(after))))
        return choices

    def _values(self, member: Member, missing: frozenset[int]) -> list[tuple[Conjunction, frozenset[int]]]:
        """What the value of a member may be, with the witnesses that are still missing after it."""
        if not missing:
            return [(member.value, missing)]
        possible = [n for n in missing if self._shape.witnesses[n].admits(member.name)]
        return meeting(self._shape.witnesses, member.value, missing, possible)

    def _rest(self, state: _State) -> Expr:
        """What follows the members: other keys and the closing brace."""
        if state.missing:
            return self._rest_with_witnesses(state)
        least, most = self._shape.minimum - state.written, None
        if self._shape.maximum is not None:
            most = self._shape.maximum - state.written
        other = self._member_of(self._edges)
        if other is None or most == 0:
            close = lexemes.CLOSE_OBJECT if state.written else lexemes.CLOSE_EMPTY_OBJECT
            return close if least <= 0 else NOTHING
        if least > 1:
            needs = enough_keys(self._counts, least, (), self._value_of)
            self._rules.needs[self._states.call(state).name] = (needs,)
        if self._others_of is not None and self.may_repeat:
            return self._others_of(self._edges, max(least, 0), most, not state.written)
        if state.written:
            more = Repeat(Sequence((lexemes.COMMA, other)), max(least, 0), most)
            return Sequence((more, lexemes.CLOSE_OBJECT))
        more = Repeat(Sequence((lexemes.COMMA, other)), max(least - 1, 0), None if most is None else most - 1)
        some = Sequence((other, more, lexemes.CLOSE_OBJECT))
        return some if least > 0 else Choice((lexemes.CLOSE_EMPTY_OBJECT, some))

    def _rest_with_witnesses(self, state: _State) -> Expr:
        if self._is_full(state):
            return NOTHING
        by_missing: dict[frozenset[int], list[KeyEdge]] = {}
        for edge in self._edges:
            met = edge.meets & state.missing
            for value, missing in meeting(self._shape.witnesses, edge.value, state.missing, met):
                by_missing.setdefault(missing, []).append(replace(edge, value=value))
        choices: list[Expr] = []
        for missing, edges in by_missing.items():
            other = self._member_of(edges)
            assert other is not None, "there is an edge for each of them"
            current().spend(_STEPS_PER_WAY)
            choices.append(
                Sequence((*_comma(state), other, self._states.call(_State(state.position, self._more(state), missing))))
            )
        return Choice(tuple(choices))

    def _member_of(self, edges: list[KeyEdge]) -> Expr | None:
        """A key out of these with its value; None if there is no such key."""
        current().spend(len(edges))
        choices = [self._other_member(edge) for edge in edges]
        if not choices:
            return None
        return choices[0] if len(choices) == 1 else Choice(tuple(choices))

    def _other_member(self, edge: KeyEdge) -> Expr:
        """A key of an edge with its value: the same expression in every state."""
        known = edge.keys, edge.value
        if known not in self._others:
            current().spend(_STEPS_PER_EDGE)
            self._others[known] = Sequence((self._other_key(edge), lexemes.COLON, self._value_of(edge.value)))
        return self._others[known]

    def _other_key(self, edge: KeyEdge) -> Terminal:
        key = lexemes.other_key(edge.keys, edge.names)
        return replace(key, distinct=True, endless="keys" if self._endless else "") if self.may_repeat else key

    def _inexact(self) -> Iterator[Diagnostic]:
        """Conditions under which an object could be begun that nothing completes."""
        if may_run_out(self._counts, self._needed, not self._shape.witnesses):
            yield Diagnostic(
                "schema-min-properties",
                "minProperties cannot be enforced where keys without names are needed and may run out",
                pointer=self._pointer,
                help="require some keys by name, or allow all other keys",
            )
        for number in sorted(self._valued):
            if not any(number in edge.meets and edge.is_infinite for edge in self._edges):
                yield Diagnostic(
                    "schema-negated-values",
                    "that some key out of a few without names has a value of a certain kind cannot be enforced",
                    pointer=self._pointer,
                    help="close the object with additionalProperties: false, or name the keys",
                )
                return

    def _is_full(self, state: _State) -> bool:
        return self._shape.maximum is not None and state.written >= self._shape.maximum

    def _more(self, state: _State) -> int:
        return min(state.written + 1, self._counted_to)


def _comma(state: _State) -> tuple[Expr, ...]:
    return (lexemes.COMMA,) if state.written else ()


def _without_idle_bounds(shape: ObjectShape) -> ObjectShape:
    """The same set without bounds on the number of keys that hold anyway, so that nothing is counted for them."""
    required = sum(member.required for member in shape.members)
    maximum = shape.maximum
    if maximum is not None and not shape.others and maximum >= len(shape.members):
        maximum = None
    return replace(shape, minimum=shape.minimum if shape.minimum > required else 0, maximum=maximum)
