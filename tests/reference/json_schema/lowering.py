"""Sets of values to rules: what the rules of a schema have in common, wherever its values stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, RuleRef, SetBounds, Terminal
from cfgmask.grammar.regex_tree import ANY_TEXT
from cfgmask.json_schema import yaml_scalars
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.problems import placed
from tests.reference.json_schema import unique_items
from tests.reference.json_schema.item_kinds import Kind, different_items, has_composites, is_inhabited, kinds_of
from tests.reference.json_schema.lower_any_order import AnyOrderLowering
from tests.reference.json_schema.lower_arrays import ArrayLowering, is_countable
from tests.reference.json_schema.lower_objects import ObjectLowering
from tests.reference.json_schema.lower_repeating import RepeatingLowering
from tests.reference.json_schema.lower_unique import UniqueLowering, horizon
from tests.reference.json_schema.normal_form import ArrayShape, Conjunction, Normal, ObjectShape, pointer_of
from tests.reference.json_schema.normalise import Normaliser
from tests.reference.json_schema.rules import RuleSet
from tests.reference.json_schema.scalars import NumberStyle, refusals_of_scalars, scalars
from tests.reference.json_schema.told_apart import GoesOn
from tests.reference.json_schema.value_counts import ENDLESS, Uncounted, n_scalars


class Later(NamedTuple):
    """An array of which the rule is known and the body waits for what its items come to."""

    lowering: Lowering
    rule: str
    shape: ArrayShape
    name: str
    pointer: str


class DistinctValues(Protocol):
    """What the items of an array without equal items come to."""

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of an item."""

    def n_values(self, conjunction: Conjunction, enough: int) -> int:
        """How many values there are, ENDLESS where it is plain that there are `enough`. Raises Uncounted."""

    def kinds(self, shape: ArrayShape) -> list[Conjunction]:
        """The kinds of items of an array of such values. Raises Uncounted."""


class ItemRules(Protocol):
    """What becomes of items that are told apart by their steps.

    later  arrays that still have no body
    """

    later: list[Later]

    def of(self, shape: ArrayShape) -> DistinctValues:
        """The items of an array that waited. Raises Uncounted."""


class Lowering(ABC):
    """Rules of one schema: one for each conjunction that describes more than a scalar."""

    # The set of the items of an array in which no two are equal.
    _distinct_items = SetBounds()

    def __init__(self, normaliser: Normaliser, rules: RuleSet, options: JsonSchemaOptions) -> None:
        self.normaliser = normaliser
        self.options = options
        self._objects = _object_lowering(options)
        self.goes_on = GoesOn(normaliser.normal, yaml_scalars.SHORT_TEXT if options.syntax == "yaml" else ANY_TEXT)
        self._scalars: Callable[..., list[Terminal]] = partial(scalars, style=NumberStyle.of(options))
        self.rules = rules
        self._names: dict[Conjunction, str] = {}
        self._inline: dict[Conjunction, Expr] = {}
        self._distinct: dict[tuple[Conjunction, bool], Expr] = {}
        self._todo: list[Conjunction] = []

    @property
    @abstractmethod
    def apart(self) -> Lowering:
        """The rules of values that must not come twice, whatever they are."""

    @property
    @abstractmethod
    def items(self) -> ItemRules:
        """The rules of arrays and objects that are items of arrays without equal items."""

    @property
    def has_todo(self) -> bool:
        """Whether rules were asked for that have no body yet."""
        return bool(self._todo)

    def make_rules(self) -> None:
        """The bodies of all rules that were asked for."""
        while self._todo:
            conjunction = self._todo.pop()
            name = self._names[conjunction]
            try:
                self.rules.bodies[name] = self._body(name, conjunction)
            except LimitExceeded as error:
                raise placed(error, pointer_of(conjunction)) from None

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of a value: in place for scalars, a rule for everything else."""
        if conjunction in self._names:
            return self.rule_of(conjunction)
        found = self._inline.get(conjunction)
        if found is None:
            normal = self.normaliser.normal(conjunction)
            if normal.arrays or normal.objects or refusals_of_scalars(normal):
                return self.rule_of(conjunction)
            found = self._inline[conjunction] = choice_of(self._scalars(normal))
        return found

    def rule_of(self, conjunction: Conjunction) -> RuleRef:
        """The rule of a value."""
        name = self._names.get(conjunction)
        if name is None:
            name = self._names[conjunction] = self.rules.name(wish_of(conjunction))
            self._todo.append(conjunction)
        return RuleRef(name)

    def _body(self, name: str, conjunction: Conjunction) -> Expr:
        return self._alternatives(
            name, self.normaliser.normal(conjunction), wish_of(conjunction), pointer_of(conjunction)
        )

    def _alternatives(self, rule: str, normal: Normal, name: str, pointer: str) -> Expr:
        """The body of a rule, out of the parts of a normal form; `name` is for further rules."""
        choices: list[Expr] = [*self._scalars(normal)]
        self.rules.refuse(rule, refusals_of_scalars(normal))
        for array in normal.arrays:
            choices.append(self._array(array, name, pointer))
        for shape in normal.objects:
            choices.append(self.object(shape, name, pointer))
        return choice_of(choices)

    def object(self, shape: ObjectShape, name: str, pointer: str) -> Expr:
        """The expression of one alternative of a set of objects."""
        return self._objects(shape, self.rules, name, self.value, pointer).lower()

    def _array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        if shape.repeats_at:
            return self._repeating_array(shape, name, pointer)
        if not unique_items.matters(shape):
            return self._plain_array(shape, name, pointer)
        if self._has_composites(shape) and not self._always_go_on(shape):
            rule = self.rules.name(name)
            self.items.later.append(Later(self, rule, shape, name, pointer))
            return RuleRef(rule)
        is_of_values = self.options.syntax == "json" and self._distinct_items.holds == "values"
        are_endless = is_of_values and unique_items.has_endless_strings(shape, self.normaliser.normal)
        try:
            whole = self._unique_array(shape, _Apart(self, are_endless), name, pointer)
        except Uncounted as error:
            return self._with_equal_items(shape, name, pointer, str(error))
        has_others = any(map(unique_items.has_others, map(self.normaliser.normal, different_items(shape))))
        bounds = replace(self._distinct_items, endless=are_endless and not has_others)
        return self.rules.opened(name, whole, bounds)

    def array_of_items(self, later: Later) -> None:
        """The body of the rule of an array whose items are told apart by their steps."""
        _, rule, shape, name, pointer = later
        try:
            whole = self._unique_array(shape, self.items.of(shape), name, pointer)
        except Uncounted as error:
            reason = f"an item may be an array or an object to which nothing can be added, and {error}"
            whole = self._with_equal_items(shape, name, pointer, reason)
        else:
            self.rules.opening[rule] = self._distinct_items
        self.rules.bodies[rule] = whole

    def _has_composites(self, shape: ArrayShape) -> bool:
        return any(has_composites(self.normaliser.normal(items)) for items in different_items(shape))

    def _always_go_on(self, shape: ArrayShape) -> bool:
        """Whether something may always be added to items that are arrays and objects."""
        if unique_items.asks_for_one(shape):
            return self.goes_on.tells_apart(different_items(shape), [witness.value for witness in shape.witnesses])
        try:
            kinds = kinds_of(shape, self.normaliser.normal, has_composites)
        except Uncounted:
            return False
        return all(self.goes_on.tells_apart([kind]) for kind in kinds)

    def _unique_array(self, shape: ArrayShape, values: DistinctValues, name: str, pointer: str) -> Expr:
        """Arrays without equal items, without the set that knows of these. Raises Uncounted."""
        if not is_countable(shape) or unique_items.never_run_out(
            shape, lambda items, n: values.n_values(items, n) >= n
        ):
            return ArrayLowering(shape, self.rules, name, values.value, pointer).lower()
        asked = horizon(shape)
        kinds = [Kind(kind, values.n_values(kind, asked)) for kind in values.kinds(shape)]
        return UniqueLowering(shape, self.rules, name, kinds, values.value).lower()

    def _repeating_array(self, shape: ArrayShape, name: str, pointer: str) -> RuleRef:
        """Arrays with items that must be equal."""
        rule = self.rules.name(name)
        try:
            self.rules.bodies[rule] = self._with_some_equal(shape, name)
            self.rules.opening[rule] = SetBounds()
        except Uncounted as error:
            self.rules.bodies[rule] = self._plain_array(shape, name, pointer)
            self.rules.refuse(rule, unique_items.refusals_of_equal(shape, str(error)))
        return RuleRef(rule)

    def _with_some_equal(self, shape: ArrayShape, name: str) -> Expr:
        """Arrays with items that must be equal, without the set that knows of these. Raises Uncounted."""
        if self._distinct_items.holds != "values":
            raise Uncounted("the array itself is compared with others")
        normal_of = self.normaliser.normal
        has = self.goes_on.has
        kinds = [kind for kind in kinds_of(shape, normal_of, is_inhabited) if not has.none(kind)]
        with_composites = {kind for kind in kinds if has_composites(normal_of(kind))}
        # Of one kind that has no values there is no array at all.
        if with_composites and len(kinds) > 1 and not all(map(has.some, kinds)):
            raise Uncounted("there may be no value of some kind of its items")
        new_values = _Apart(self, are_strings_endless=False)
        return RepeatingLowering(
            shape, self.rules, name, kinds, self.value, new_values.value, with_composites.__contains__
        ).lower()

    def _with_equal_items(self, shape: ArrayShape, name: str, pointer: str, reason: str) -> RuleRef:
        """Arrays with items that may be equal, though they must not be."""
        rule = self.rules.name(name)
        self.rules.bodies[rule] = self._plain_array(shape, name, pointer)
        self.rules.refuse(rule, [unique_items.refusal(shape, reason)])
        return RuleRef(rule)

    def _plain_array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        """Arrays whose items may be equal."""
        return ArrayLowering(shape, self.rules, name, self.value, pointer).lower()

    def distinct_scalar(self, conjunction: Conjunction) -> Expr | None:
        """The expression of the scalars of a conjunction that must not come twice in an array; None: no scalars."""
        has_some = unique_items.has_scalars(self.normaliser.normal(conjunction))
        return self.distinct_value(conjunction, are_strings_endless=False) if has_some else None

    def distinct_value(self, conjunction: Conjunction, *, are_strings_endless: bool) -> Expr:
        """The expression of a scalar that must not come twice in an array."""
        found = self._distinct.get((conjunction, are_strings_endless))
        if found is None:
            normal = self.normaliser.normal(conjunction)
            scalars = self._scalars(normal, exponents=False)
            found = choice_of([unique_items.distinct(scalar, are_strings_endless) for scalar in scalars])
            refusals = refusals_of_scalars(normal)
            if refusals:
                rule = self.rules.name("value")
                self.rules.bodies[rule] = found
                self.rules.refuse(rule, refusals)
                found = RuleRef(rule)
            self._distinct[conjunction, are_strings_endless] = found
        return found


class _Apart:
    """Items that are told apart by their values; to arrays and objects among them something may always be added.

    are_strings_endless  as `unique_items.has_endless_strings` has it
    """

    def __init__(self, lowering: Lowering, are_strings_endless: bool) -> None:
        self._lowering = lowering
        self._are_strings_endless = are_strings_endless
        self._normal_of = lowering.normaliser.normal

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of an item."""
        if has_composites(self._normal_of(conjunction)):
            return self._lowering.apart.value(conjunction)
        return self._lowering.distinct_value(conjunction, are_strings_endless=self._are_strings_endless)

    def n_values(self, conjunction: Conjunction, enough: int) -> int:
        """How many values there are, ENDLESS where it is plain that there are `enough`. Raises Uncounted."""
        normal = self._normal_of(conjunction)
        if has_composites(normal):
            if not self._lowering.goes_on.composites(normal):
                raise Uncounted("arrays and objects of one kind of its items may run out")
            return ENDLESS
        if refusals_of_scalars(normal) or unique_items.has_values(normal, enough):
            return ENDLESS
        return n_scalars(normal, self._lowering.options.max_digits)

    def kinds(self, shape: ArrayShape) -> list[Conjunction]:
        """The kinds of items of an array of such values. Raises Uncounted."""
        return kinds_of(shape, self._normal_of, is_inhabited)


def _object_lowering(options: JsonSchemaOptions) -> Callable[..., AnyOrderLowering | ObjectLowering]:
    if options.syntax == "yaml":
        return partial(ObjectLowering, in_braces=False, possible_keys=yaml_scalars.SHORT_TEXT)
    return AnyOrderLowering if options.property_order == "any" else ObjectLowering


def choice_of(choices: Sequence[Expr]) -> Expr:
    """One of these."""
    return choices[0] if len(choices) == 1 else Choice(tuple(choices))


def wish_of(conjunction: Conjunction) -> str:
    """The name that a rule for this conjunction should have."""
    if not conjunction:
        return "any"
    places = [term.pointer for term in conjunction if isinstance(term, Node)]
    if len(conjunction) == 1 and places:
        return f"#{places[0]}"
    return f"#{places[0]}&" if places else "value"
