"""Sets of objects to rules in which the keys come in any order.

All keys of an object are members of one list, and the grammar's register of seen values knows which were written: no
key comes twice, the brace closes only after the required ones, and bounds on the number of keys are bounds of the
register. It knows those without names only where they may run out, or count. Only witnesses, keys that must be there
though they have no name, need states of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from cfgmask.diagnostics import Diagnostic
from cfgmask.grammar.ir import Choice, Expr, Repeat, Sequence, SetBounds, Terminal
from cfgmask.grammar.productive import NOTHING
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes
from tests.reference.json_schema.key_edges import KeyEdge, enough_keys, key_edges, may_run_out, meeting, never_run_out
from tests.reference.json_schema.lower_objects import ValueOf
from tests.reference.json_schema.normal_form import ANYTHING, NEVER, Conjunction, ObjectShape
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.state_rules import StateRules

# To write a key takes as long as so many steps of a session.
_STEPS_PER_WAY = 8


class AnyOrderLowering:
    """Lowers one alternative of a set of objects. Arguments as those of `ObjectLowering`."""

    def __init__(self, shape: ObjectShape, rules: RuleSet, name: str, value_of: ValueOf, pointer: str) -> None:
        self._rules = rules
        self._name = name
        self._value_of = value_of
        self._pointer = pointer
        self._edges = key_edges(shape)
        # A key whose value nothing satisfies can be written by nobody.
        members = tuple(member for member in shape.members if member.required or member.value != NEVER)
        self._shape = replace(shape, members=members)
        self._needed = shape.minimum - sum(member.required for member in members)
        self._counts = [(edge, edge.count(self._needed)) for edge in self._edges if self._needed > 0]
        is_counted = self._needed > 0 or shape.maximum is not None
        self._endless = not is_counted and not shape.witnesses and never_run_out(self._edges)
        self._states = StateRules[frozenset[int]](rules, lambda _: f"{name}.members")
        self._named = [(member, replace(lexemes.key(member.name), distinct=True)) for member in members]
        self._unnamed = [(edge, self._key_of(edge)) for edge in self._edges]
        self._ways: dict[tuple[int, Conjunction], Expr] = {}

    def lower(self) -> Expr:
        """The expression of the whole object, a rule of its own that opens a set."""
        required = [member for member in self._shape.members if member.required]
        every = frozenset(range(len(self._shape.witnesses)))
        possible = bool(self._edges) or self._shape.minimum <= len(self._shape.members)
        whole = Sequence((lexemes.OPEN_OBJECT, self._members(every, first=True) if possible else NOTHING))
        names = tuple(member.name for member in required)
        minimum = 0 if self._endless else self._shape.minimum
        rule = self._rules.opened(self._name, whole, SetBounds(names, minimum, self._shape.maximum))
        self._rules.needs[rule.name] = (*(self._value_of(member.value) for member in required), self._enough_others())
        self._rules.refuse(rule.name, {*self._shape.refusals, *self._refusals()})
        self._states.fill(partial(self._members, first=False))
        return rule

    def _enough_others(self) -> Expr:
        """An expression for at least the required number of keys. Keys without any valid value do not count."""
        optional = [member.value for member in self._shape.members if not member.required]
        return enough_keys(self._counts, self._needed, optional, self._value_of)

    def _members(self, missing: frozenset[int], *, first: bool) -> Expr:
        """The members that still come, and the closing brace, where these witnesses are missing."""
        if missing:
            comma = () if first else (lexemes.COMMA,)
            return Choice(
                tuple(Sequence((*comma, member, self._states.call(rest))) for member, rest in self._meeting(missing))
            )
        member = Choice(tuple(member for member, _ in self._meeting(missing)))
        more = Sequence((Repeat(Sequence((lexemes.COMMA, member)), 0, None), lexemes.CLOSE_SET))
        return Choice((lexemes.CLOSE_EMPTY_SET, Sequence((member, more)))) if first else more

    def _meeting(self, missing: frozenset[int]) -> Iterator[tuple[Expr, frozenset[int]]]:
        """Each way to write one member, with the witnesses that are missing after it."""
        for member, key in self._named:
            met = frozenset(n for n in missing if self._shape.witnesses[n].admits(member.name))
            yield from self._values(key, member.value, missing, met)
        for edge, key in self._unnamed:
            yield from self._values(key, edge.value, missing, edge.meets)

    def _key_of(self, edge: KeyEdge) -> Terminal:
        key = lexemes.other_key(edge.keys, edge.names)
        return replace(key, distinct=True, endless="keys" if self._endless else "")

    def _values(
        self, key: Terminal, value: Conjunction, missing: frozenset[int], possible: frozenset[int]
    ) -> Iterator[tuple[Expr, frozenset[int]]]:
        found = meeting(self._shape.witnesses, value, missing, possible & missing)
        current().spend(_STEPS_PER_WAY * (1 + len(found)))
        for allowed, rest in found:
            # The same expression in every state. The keys of one object stay, so that their ids are their own.
            known = id(key), allowed
            if known not in self._ways:
                self._ways[known] = Sequence((key, lexemes.COLON, self._value_of(allowed)))
            yield self._ways[known], rest

    def _refusals(self) -> Iterator[Diagnostic]:
        """Conditions under which a text could be begun that no text ends."""
        infinite = [edge for edge in self._edges if edge.is_infinite]
        if may_run_out(self._counts, self._shape.minimum - len(self._shape.members), not self._shape.witnesses):
            yield self._refusal("schema-min-properties", "the object may run out of keys before it has minProperties")
        for number, witness in enumerate(self._shape.witnesses):
            certain = witness.value == ANYTHING or any(number in edge.meets for edge in infinite)
            if self._shape.maximum is not None or not certain:
                message = "that some key must be there cannot be enforced beside other conditions in any order"
                yield self._refusal("schema-any-order", message)
                return

    def _refusal(self, code: str, message: str) -> Diagnostic:
        return Diagnostic(code, message, pointer=self._pointer, help='use property_order="schema"')
