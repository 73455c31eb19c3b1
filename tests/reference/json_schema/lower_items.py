"""The rules of what must not come twice in an array: arrays and objects among its items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Rule, RuleRef, Sequence, SetBounds, Step, Terminal
from cfgmask.grammar.productive import NOTHING, productive_rules
from cfgmask.json_schema.session import current
from tests.reference.json_schema import lexemes, object_algebra, unique_items
from tests.reference.json_schema.item_kinds import Kind, has_composites, is_inhabited, is_within, kinds_of
from tests.reference.json_schema.key_edges import KeyEdge, key_edges
from tests.reference.json_schema.kind_states import KindStates, State, Ways, ways_from
from tests.reference.json_schema.lower_arrays import ArrayLowering, is_countable
from tests.reference.json_schema.lower_lists import KindListEnds, KindListLowering, ListEnds, ListLowering
from tests.reference.json_schema.lower_members import Members
from tests.reference.json_schema.lower_unique import horizon
from tests.reference.json_schema.lowering import DistinctValues, ItemRules, Later, Lowering, choice_of, wish_of
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Member, Normal, ObjectShape, pointer_of
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.scalars import NumberStyle, scalars
from tests.reference.json_schema.steps import Steps
from tests.reference.json_schema.told_apart import told_apart
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted, n_keys, n_scalars

# To make the rule of an item takes as long as so many steps of a session.
_STEPS_PER_BODY = 64


class ToldApart(Lowering):
    """The rules of values that are told from others by all that is in them; see `told_apart`."""

    _distinct_items = SetBounds(holds="distinct array")

    def __init__(self, main: Lowering) -> None:
        super().__init__(main.normaliser, RuleSet(main.rules.prefix, main.rules), main.options)
        self._scalars = partial(scalars, style=NumberStyle.of(self.options), exponents=False)
        self._main = main

    @property
    def apart(self) -> Lowering:
        """The rules of values that must not come twice, whatever they are."""
        return self

    @property
    def items(self) -> ItemRules:
        """The rules of arrays and objects that are items of arrays without equal items."""
        return self._main.items

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of a value."""
        return told_apart(super().value(conjunction))

    def object(self, shape: ObjectShape, name: str, pointer: str) -> RuleRef:
        """A rule of objects, with a set of their own."""
        whole = super().object(shape, name, pointer)
        if not isinstance(whole, RuleRef):
            return self.rules.opened(name, whole, SetBounds(holds="object"))
        bounds = self.rules.opening[whole.name]
        self.rules.opening[whole.name] = replace(bounds, holds="object", endless=False)
        return whole

    def _plain_array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        return self.rules.opened(name, super()._plain_array(shape, name, pointer), SetBounds(holds="array"))


class Items(Lowering):
    """The rules of arrays and objects that are items of arrays without equal items; see `steps`.

    later  arrays that still have no body
    """

    def __init__(self, main: Lowering) -> None:
        super().__init__(main.normaliser, RuleSet(main.rules.prefix, main.rules), main.options)
        self._main = main
        self._scalars = self._scalars_with_counts
        self._counts: dict[Terminal, Callable[[], int]] = {}
        self._n_values_of: dict[Terminal, int] = {}
        self._beyond: dict[str, str] = {}  # rules of what is not counted, and why
        self._lists: dict[str, _List] = {}  # rules of arrays without equal items, and those
        self._members: dict[str, Members] = {}  # rules of what is in objects with keys in any order, and that
        self._n_members: dict[str, int] = {}
        self._n_in_lists: dict[str, int] = {}
        self._member_values: dict[Conjunction, RuleRef] = {}
        self._composites: dict[Normal, str] = {}
        self._made: dict[str, str] = {}  # rules of composites, and those of items that are copies
        self._values: set[str] = set()
        self._steps = Steps(
            self.rules.bodies,
            main.rules,
            self._n_values,
            self._beyond,
            self._n_nested,
            self._copied,
            self._values if self.options.syntax == "yaml" else None,
        )
        self.later: list[Later] = []

    @property
    def apart(self) -> Lowering:
        """The rules of values that must not come twice, whatever they are."""
        return self._main.apart

    @property
    def items(self) -> ItemRules:
        """The rules of arrays and objects that are items of arrays without equal items."""
        return self

    def rule_of(self, conjunction: Conjunction) -> RuleRef:
        """The rule of a value."""
        found = super().rule_of(conjunction)
        self._values.add(found.name)
        return found

    def make_items(self) -> None:
        """The bodies of all arrays that wait for them, and the items in these."""
        self._make_all()
        while self.later:
            waiting, self.later = self.later, []
            for later in waiting:
                with suppress(Uncounted):  # in which case it is refused below
                    for kind in self._kinds_of(later.shape):
                        self._make_composites(kind)
            self._make_all()
            self._find_live()
            for later in waiting:
                later.lowering.array_of_items(later)
            self._make_all()
        self._find_live()
        for rule, name in self._made.items():
            try:
                has_values = self._steps.ways(rule) > 0
            except Uncounted:
                continue  # what it is in is refused
            if has_values:
                self._steps.item(rule, name)

    def of(self, shape: ArrayShape) -> DistinctValues:
        """The items of an array that waited. Raises Uncounted."""
        return _OfKinds(self, self._kinds_of(shape))

    def _kinds_of(self, shape: ArrayShape) -> list[Conjunction]:
        """The kinds of items, of scalars as well where these are not too many. Raises Uncounted."""
        try:
            return kinds_of(shape, self.normaliser.normal, is_inhabited)
        except Uncounted:
            return kinds_of(shape, self.normaliser.normal, has_composites)

    def _make_all(self) -> None:
        lowerings = (self._main, self, self.apart)
        while any(lowering.has_todo for lowering in lowerings):
            for lowering in lowerings:
                lowering.make_rules()

    def _find_live(self) -> None:
        """Which rules can end."""
        bodies = {**self.apart.rules.bodies, **self.rules.bodies}
        for name, members in self._members.items():
            bodies[name] = members.needs(self.value)
        for name, array in self._lists.items():
            bodies.update(array.needs(name, self._composites_in_list))
        for name in self._made.values():
            bodies[name] = lexemes.NULL  # at the least those that are not reached must not count as dead
        start = next(iter(bodies), "")
        grammar = GrammarIR(tuple(Rule(name, body) for name, body in bodies.items()), start)
        self._steps.live = productive_rules(grammar, {**self.apart.rules.needs, **self.rules.needs})

    def _composites_in_list(self, conjunction: Conjunction) -> Expr:
        """The arrays and objects in an array without equal items in an item."""
        composites = self._rule_of_composites(conjunction)
        return NOTHING if composites is None else RuleRef(composites)

    def _make_composites(self, conjunction: Conjunction) -> None:
        """Ask for the rules of arrays and objects."""
        if self._go_on(conjunction):
            self.apart.value(conjunction)
        else:
            self._rule_of_composites(conjunction)

    def _rule_of_composites(self, conjunction: Conjunction) -> str | None:
        """The rule of the arrays and objects of a conjunction; None if there are none."""
        normal = self.normaliser.normal(conjunction)
        only = Normal(arrays=normal.arrays, objects=normal.objects)
        if only.is_plainly_empty:
            return None
        rule = self._composites.get(only)
        if rule is None:
            rule = self._composites[only] = self.rules.name("item")
            self.rules.bodies[rule] = self._alternatives(rule, only, wish_of(conjunction), pointer_of(conjunction))
        return rule

    def composites(self, conjunction: Conjunction) -> Expr:
        """The expression of the arrays and objects among some items, of which there are some."""
        if self._go_on(conjunction):
            return self.apart.value(conjunction)
        rule = self._rule_of_composites(conjunction)
        assert rule is not None, "only those of some kinds are asked for"
        if rule not in self._made:
            self._made[rule] = self._main.rules.name("item")
        return RuleRef(self._made[rule])

    def _go_on(self, conjunction: Conjunction) -> bool:
        """Whether something may always be added to all arrays and objects, so that their values tell them apart."""
        has_some = has_composites(self.normaliser.normal(conjunction))
        return has_some and self.goes_on.tells_apart([conjunction])

    def scalar(self, conjunction: Conjunction) -> Expr | None:
        """The expression of the scalars among them; None if there are none."""
        return self._main.distinct_scalar(conjunction)

    def n_composites(self, conjunction: Conjunction) -> int:
        """How many arrays and objects there are among some items. Raises Uncounted."""
        if self._go_on(conjunction):
            return ENDLESS
        rule = self._rule_of_composites(conjunction)
        return 0 if rule is None else self._steps.ways(rule)

    def n_scalars(self, conjunction: Conjunction) -> int:
        """The number of scalars among the items. Raises Uncounted."""
        return self._n_scalars(self.normaliser.normal(conjunction))

    def _clear_scalars(self, conjunction: Conjunction) -> int:
        """The same, ENDLESS where that is not clear."""
        try:
            return self.n_scalars(conjunction)
        except Uncounted:
            return ENDLESS

    def _n_scalars(self, normal: Normal) -> int:
        return n_scalars(normal, self.options.max_digits)

    def _body(self, name: str, conjunction: Conjunction) -> Expr:
        current().spend(_STEPS_PER_BODY)
        return self._alternatives(
            name, self.normaliser.normal(conjunction), wish_of(conjunction), pointer_of(conjunction)
        )

    def _alternatives(self, rule: str, normal: Normal, name: str, pointer: str) -> Expr:
        parts = self.normaliser.disjoint(normal)
        if parts is None:
            return self._not_counted("too many of its alternatives have values in common")
        return super()._alternatives(rule, parts, name, pointer)

    def _array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        if shape.repeats_at or not is_countable(shape):
            return self._not_counted("in it are arrays that cannot be enforced")
        if not unique_items.matters(shape):
            return ArrayLowering(shape, self.rules, name, self.value, pointer, in_one_way=True).lower()
        try:
            kinds = kinds_of(shape, self.normaliser.normal, is_inhabited)
            found = _List.of(shape, {kind: self._clear_scalars(kind) for kind in kinds})
        except Uncounted as error:
            return self._not_counted(str(error))
        for kind in found.n_scalars:
            self._rule_of_composites(kind)  # must be made before there is anything to count
        items = RuleRef(self.apart.rules.name(name))
        self._lists[items.name] = found
        return items

    def object(self, shape: ObjectShape, name: str, pointer: str) -> Expr:
        """One alternative; a rule with a set where keys may come in several orders."""
        if shape.witnesses and not shape.others:
            found = [self.object(part, name, pointer) for part in object_algebra.by_first_to_meet(shape)]
            return choice_of(found)
        if self.goes_on.object(shape):
            return self.apart.object(shape, name, pointer)
        if shape.witnesses or shape.refusals:
            return self._not_counted("in it is a condition on keys without names")
        try:
            if self.options.property_order == "any":
                members = self._members_in_any_order(
                    shape.members, key_edges(shape), shape.minimum, shape.maximum, True
                )
                return Sequence((lexemes.OPEN_OBJECT, members))
            return self._objects(
                shape, self.rules, name, self.value, pointer, others_of=partial(self._members_in_any_order, ())
            ).lower()
        except Uncounted as error:
            return self._not_counted(str(error))

    def _members_in_any_order(
        self, named: tuple[Member, ...], edges: list[KeyEdge], minimum: int, maximum: int | None, is_first: bool
    ) -> RuleRef:
        members = Members.of(named, edges, minimum, maximum, is_first)
        rule = RuleRef(self.apart.rules.name("members"))
        self._members[rule.name] = members
        for value in members.values:
            self.value(value)  # its rule must be made before there is anything to count
        return rule

    def _not_counted(self, reason: str) -> RuleRef:
        rule = self.rules.name("item")
        self.rules.bodies[rule] = lexemes.NULL
        self._beyond[rule] = reason
        return RuleRef(rule)

    def _scalars_with_counts(self, normal: Normal) -> list[Terminal]:
        found = scalars(normal, NumberStyle.of(self.options), exponents=False)
        only_numbers, only_strings = Normal(numbers=normal.numbers), Normal(strings=normal.strings)
        if normal.numbers:
            self._counts[found[int(normal.null) + len(normal.booleans)]] = partial(self._n_scalars, only_numbers)
        if not normal.strings.is_plainly_empty:
            self._counts[found[-1]] = partial(self._n_scalars, only_strings)
        return found

    def _n_values(self, terminal: Terminal) -> int:
        found = self._n_values_of.get(terminal)
        if found is None:
            count = self._counts.get(terminal)
            found = self._n_values_of[terminal] = n_keys(terminal) if count is None else count()
        return found

    def _n_nested(self, rule: str) -> int:
        """How many values of a nested set there are; ENDLESS if there always are more, however far one is written."""
        if rule in self._members:
            if rule not in self._n_members:
                self._n_members[rule] = self._members[rule].count(self._n_of)
            return self._n_members[rule]
        if rule not in self._lists:
            return ENDLESS
        if rule not in self._n_in_lists:
            self._n_in_lists[rule] = self._ends_of(self._lists[rule]).of_all
        return self._n_in_lists[rule]

    def _ends_of(self, array: _List) -> ListEnds | KindListEnds:
        kinds = [Kind(kind, self._n_in_list(kind)) for kind in array.n_scalars]
        if array.ways is None:
            n_values = kinds[0].n_values if kinds else 0
            return ListEnds.of(n_values, array.shape.minimum, array.shape.maximum)
        return KindListEnds(array.shape, kinds)

    def _n_in_list(self, conjunction: Conjunction) -> int:
        """How many values of a kind there are, while others are asked for."""
        composites = self._rule_of_composites(conjunction)
        n_composites = 0 if composites is None else self._steps.asked(RuleRef(composites))
        return min(n_composites + self._n_scalars(self.normaliser.normal(conjunction)), ENDLESS)

    def _n_of(self, conjunction: Conjunction) -> int:
        """How many values there are, while others are asked for."""
        return self._steps.asked(self.value(conjunction))

    def _copied(self, rule: str, step: Step) -> RuleRef:
        if rule in self._members:
            body, bounds = self._members[rule].lower(self._n_of, self._member_value, step)
            return self._main.rules.opened("members", body, bounds)
        if rule in self._lists:
            return self._list_copy(self._lists[rule], step)
        apart = self.apart.rules
        bounds = replace(apart.opening[rule], step=step)
        return self._main.rules.opened("item", told_apart(apart.bodies[rule]), bounds)

    def _list_copy(self, array: _List, step: Step) -> RuleRef:
        """An array without equal items for a step."""
        ends, rules = self._ends_of(array), self._main.rules
        if isinstance(ends, ListEnds):
            element = partial(self._element, array.shape.rest)
            whole = ListLowering(ends, rules, self._steps.step, element).lower()
        else:
            whole = KindListLowering(ends, rules, self._steps.step, self._element).lower()
        return rules.opened("list", whole, SetBounds(holds="list", step=step))

    def _element(self, conjunction: Conjunction, n_ends: int) -> Expr:
        """A value in such an array, with so many ends of the array behind it."""
        choices: list[Expr] = [
            replace(scalar, distinct=True, step=self._steps.step(n_ends))
            for scalar in self._scalars(self.normaliser.normal(conjunction))
        ]
        composites = self._rule_of_composites(conjunction)
        if composites is not None and self._steps.asked(RuleRef(composites)):
            choices.append(self._steps.item_in_item(composites, n_ends))
        return choice_of(choices)

    def _member_value(self, conjunction: Conjunction) -> RuleRef:
        """The rule of a value in such an object, an item by itself."""
        found = self._member_values.get(conjunction)
        if found is None:
            found = self._member_values[conjunction] = self._main.rules.opened(
                "value", NOTHING, SetBounds(holds="item")
            )
            self._main.rules.bodies[found.name] = self._steps.part(self.value(conjunction))
        return found


class _List(NamedTuple):
    """An array without equal items in an item.

    n_scalars  the kinds of its items, and how many scalars there are of each; ENDLESS where that is not clear
    arrays     its states
    ways       how these lead to where it may be closed: by scalars, None, or an array or object of a kind; None if it
               is the same what stands in which place
    """

    shape: ArrayShape
    n_scalars: dict[Conjunction, int]
    arrays: KindStates
    ways: Ways[State, Conjunction | None] | None

    @classmethod
    def of(cls, shape: ArrayShape, n_scalars: dict[Conjunction, int]) -> _List:
        """Raises Uncounted where it has too many states."""
        scalars = [Kind(*pair) for pair in n_scalars.items()]
        composites = [Kind(kind, ENDLESS) for kind in n_scalars]
        counted = [kind for kind in scalars if kind.n_values < horizon(shape)]
        arrays = KindStates(shape, (*scalars, *composites), counted)
        if not shape.prefix and not shape.witnesses:
            return cls(shape, n_scalars, arrays, None)

        def steps(state: State) -> Iterator[tuple[State, Conjunction | None]]:
            if arrays.may_end(state):
                return
            for kind in scalars:
                if after := arrays.after(state, kind):
                    yield after, None
            for kind in composites:
                if after := arrays.after(state, kind):
                    yield after, kind.items

        return cls(shape, n_scalars, arrays, ways_from(arrays.start, steps))

    def needs(self, name: str, composites_of: Callable[[Conjunction], Expr]) -> dict[str, Expr]:
        """Rules of which `name` ends if there are such arrays, where there are enough arrays and objects if any."""
        if self.ways is None:
            is_enough = self.n_scalars.get(self.shape.rest, 0) >= self.shape.minimum
            return {name: lexemes.NULL if is_enough else composites_of(self.shape.rest)}
        composites = {kind: composites_of(kind) for kind in self.n_scalars}
        names = {state: f"{name} {i}" if i else name for i, state in enumerate(self.ways)}
        needs: dict[str, Expr] = {}
        for state, found in self.ways.items():
            items = [
                (lexemes.NULL if kind is None else composites[kind], after) for after in found for kind in found[after]
            ]
            further = [Sequence((item, RuleRef(names[after]))) for item, after in items]
            needs[names[state]] = lexemes.NULL if self.arrays.may_end(state) else Choice(tuple(further))
        return needs


class _OfKinds:
    """Items of which arrays and objects are told apart by their steps, each of one kind. Raises Uncounted."""

    def __init__(self, items: Items, kinds: list[Conjunction]) -> None:
        self._items = items
        self._n_composites = {kind: n for kind in kinds if (n := items.n_composites(kind))}

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of an item."""
        scalar = self._items.scalar(conjunction)
        composites = [self._items.composites(kind) for kind in self._kinds_in(conjunction)]
        return choice_of(composites if scalar is None else [scalar, *composites])

    def n_values(self, conjunction: Conjunction, enough: int) -> int:
        """How many values there are, ENDLESS where it is plain that there are `enough`. Raises Uncounted."""
        n = sum(self._n_composites[kind] for kind in self._kinds_in(conjunction))
        return ENDLESS if n >= enough else min(n + self._items.n_scalars(conjunction), ENDLESS)

    def kinds(self, shape: ArrayShape) -> list[Conjunction]:
        """The kinds of items of an array of such values. Raises Uncounted."""
        return kinds_of(shape, self._items.normaliser.normal, is_inhabited)

    def _kinds_in(self, conjunction: Conjunction) -> list[Conjunction]:
        return [kind for kind in self._n_composites if is_within(kind, conjunction)]
