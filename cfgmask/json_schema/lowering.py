"""Sets of values to rules: what the rules of a schema have in common, wherever its values stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from cfgmask.errors import LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, RuleRef, SetBounds, Terminal
from cfgmask.grammar.regex_tree import ANY_TEXT
from cfgmask.json_schema import unique_items, yaml_scalars
from cfgmask.json_schema.finite_values import few_composites
from cfgmask.json_schema.lower_any_order import AnyOrderLowering
from cfgmask.json_schema.lower_arrays import ArrayLowering
from cfgmask.json_schema.lower_objects import ObjectLowering
from cfgmask.json_schema.lower_unique import UniqueLowering
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Constant, Normal, ObjectShape, pointer_of
from cfgmask.json_schema.normalise import Normaliser
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.problems import placed
from cfgmask.json_schema.rules import RuleSet
from cfgmask.json_schema.scalars import refusals_of_scalars, scalars
from cfgmask.json_schema.told_apart import GoesOn
from cfgmask.json_schema.value_counts import Uncounted


class Later(NamedTuple):
    """An array of which the rule is known and the body waits for what its items come to."""

    lowering: Lowering
    rule: str
    shape: ArrayShape
    name: str
    pointer: str


class ItemRules(Protocol):
    """What becomes of items that are told apart by their steps.

    later  arrays that still have no body
    """

    later: list[Later]

    def value_of(self, shape: ArrayShape) -> Callable[[Conjunction], Expr]:
        """The expressions of the items of an array. Raises Uncounted where it cannot be made sure that they suffice."""


class Lowering(ABC):
    """Rules of one schema: one for each conjunction that describes more than a scalar."""

    # The set of the items of an array in which no two are equal.
    _distinct_items = SetBounds()

    def __init__(self, normaliser: Normaliser, rules: RuleSet, options: JsonSchemaOptions) -> None:
        self.normaliser = normaliser
        self.options = options
        self._objects = _object_lowering(options)
        self._goes_on = GoesOn(normaliser.normal, yaml_scalars.SHORT_TEXT if options.syntax == "yaml" else ANY_TEXT)
        self._scalars: Callable[..., list[Terminal]] = partial(scalars, max_digits=options.max_digits)
        self.rules = rules
        self._names: dict[Conjunction, str] = {}
        self._inline: dict[Conjunction, Expr] = {}
        self._distinct: dict[Conjunction, Expr] = {}
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
        normal_of = self.normaliser.normal
        if not unique_items.matters(shape):
            return self._plain_array(shape, name, pointer)
        if not unique_items.composites(shape, normal_of):
            return self._unique_array(shape, name, pointer)
        if unique_items.may_go_on(shape, normal_of, self._goes_on):
            return self._unique_array(shape, name, pointer)
        rule = self.rules.name(name)
        self.items.later.append(Later(self, rule, shape, name, pointer))
        return RuleRef(rule)

    def array_of_items(self, later: Later) -> None:
        """The body of the rule of an array whose items are told apart by their steps, or by other means."""
        try:
            value_of = self.items.value_of(later.shape)
        except Uncounted as error:
            self.rules.bodies[later.rule] = self._unique_array(later.shape, later.name, later.pointer, str(error))
            return
        self.rules.bodies[later.rule] = ArrayLowering(
            later.shape, self.rules, later.name, value_of, later.pointer
        ).lower()
        self.rules.opening[later.rule] = self._distinct_items

    def _unique_array(self, shape: ArrayShape, name: str, pointer: str, uncounted: str = "") -> Expr:
        """Arrays without equal items that need no steps.

        uncounted  why it cannot be said how many arrays and objects there are among the items
        """
        normal_of = self.normaliser.normal
        refusal = unique_items.refusal(shape, normal_of, self._goes_on, uncounted)
        if refusal:
            rule = self.rules.name(name)
            self.rules.bodies[rule] = self._plain_array(shape, name, pointer)
            self.rules.refuse(rule, [refusal])
            return RuleRef(rule)
        if unique_items.has_many_composites(shape, normal_of):
            whole = ArrayLowering(shape, self.rules, name, self.apart.value, pointer).lower()
        elif unique_items.composites(shape, normal_of):
            whole = UniqueLowering(
                shape, self.rules, name, self.distinct_scalar, self._few_composites, self.value
            ).lower()
        else:
            whole = ArrayLowering(shape, self.rules, name, self._distinct_value, pointer).lower()
        return self.rules.opened(name, whole, self._distinct_items)

    def _plain_array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        """Arrays whose items may be equal."""
        return ArrayLowering(shape, self.rules, name, self.value, pointer).lower()

    def _few_composites(self, conjunction: Conjunction) -> tuple[Constant, ...]:
        found = few_composites(self.normaliser.normal(conjunction), self.normaliser.normal)
        assert found is not None, "more of them are refused"
        return found

    def distinct_scalar(self, conjunction: Conjunction) -> Expr | None:
        """The expression of the scalars of a conjunction that must not come twice in an array; None: no scalars."""
        has_some = unique_items.has_scalars(self.normaliser.normal(conjunction))
        return self._distinct_value(conjunction) if has_some else None

    def _distinct_value(self, conjunction: Conjunction) -> Expr:
        """The expression of a scalar that must not come twice in an array."""
        found = self._distinct.get(conjunction)
        if found is None:
            normal = self.normaliser.normal(conjunction)
            found = choice_of([unique_items.distinct(scalar) for scalar in self._scalars(normal, exponents=False)])
            refusals = refusals_of_scalars(normal)
            if refusals:
                rule = self.rules.name("value")
                self.rules.bodies[rule] = found
                self.rules.refuse(rule, refusals)
                found = RuleRef(rule)
            self._distinct[conjunction] = found
        return found


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
