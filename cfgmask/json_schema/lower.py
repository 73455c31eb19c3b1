"""JSON Schema to grammar: the whole way.

The schema is read (`values`), surveyed (`survey`), brought to normal form place by place (`normalise`) and lowered to
rules (`lower_objects`, `lower_arrays`); rules that no value can satisfy are taken out. How values are written is up to
passes over these rules (`spelled`, `indented`, `in_blocks` for YAML). Whatever cannot be enforced is a refusal in the
normal form; it is an error if the part that carries it is left in the grammar in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

from cfgmask.diagnostics import Diagnostic, Span
from cfgmask.errors import GrammarError, LimitExceeded
from cfgmask.grammar.ir import Choice, Expr, GrammarIR, Rule, RuleRef, SetBounds, Step, Terminal
from cfgmask.grammar.productive import NOTHING, productive_rules, without_nonproductive
from cfgmask.grammar.reachable import without_unreachable
from cfgmask.json_schema import lexemes, object_algebra, unique_items, yaml_scalars
from cfgmask.json_schema.finite_values import few_composites
from cfgmask.json_schema.guidance import POINTER as GUIDANCE
from cfgmask.json_schema.guidance import guided
from cfgmask.json_schema.indent import indented
from cfgmask.json_schema.liveness import all_live, needs_of
from cfgmask.json_schema.lower_any_order import AnyOrderLowering
from cfgmask.json_schema.lower_arrays import ArrayLowering
from cfgmask.json_schema.lower_objects import ObjectLowering
from cfgmask.json_schema.lower_unique import UniqueLowering
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.normal_form import ArrayShape, Conjunction, Constant, Normal, ObjectShape, pointer_of
from cfgmask.json_schema.normalise import Normaliser
from cfgmask.json_schema.options import DEFAULTS, JsonSchemaOptions
from cfgmask.json_schema.problems import first_errors, ordered, placed
from cfgmask.json_schema.resolve import Retriever, Schemas
from cfgmask.json_schema.rules import RuleSet
from cfgmask.json_schema.scalars import refusals_of_scalars, scalars
from cfgmask.json_schema.session import session
from cfgmask.json_schema.spelling import spelled
from cfgmask.json_schema.steps import RUNS_OUT, Steps
from cfgmask.json_schema.survey import Survey, survey
from cfgmask.json_schema.told_apart import object_goes_on, told_apart
from cfgmask.json_schema.value_counts import ENDLESS, Uncounted, n_keys, n_numbers, n_strings
from cfgmask.json_schema.values import Document, around, read_object, read_text
from cfgmask.json_schema.yaml_blocks import DEFAULT_INDENT, in_blocks
from cfgmask.limits import Limits


def lower_schema(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions = DEFAULTS,
    prefix: str = "",
    span: Span | None = None,
    limits: Limits = Limits(),  # noqa: B008  # immutable
    retrieve: Retriever | None = None,
) -> GrammarIR:
    """The grammar of the texts, of JSON or YAML, whose value the schema allows.

    schema  a JSON Schema as JSON text or as Python objects. Text keeps numbers exact and gives diagnostics their places
    prefix  of the names of all rules, for grammars with several schemas
    span    where the text stands in a larger source; given to the rules
    retrieve  gives the schema with a URI, as Python objects, where a reference leads out of this one; what it raises
            becomes an error at the reference

    The draft is what `$schema` names, otherwise 2020-12, with the keywords of earlier drafts that it dropped.
    Notes: keywords and formats that restrict nothing.
    Errors: GrammarError with every place that is malformed or cannot be enforced, or where no value satisfies the
    schema (codes `schema-...`, and `regex-...` for patterns); LimitExceeded (max_source_bytes, max_nesting, max_rules
    and what patterns cross).
    Cost: linear in the schema but for combinations of alternatives (`allOf` of `anyOf`, overlapping `oneOf`), whose
    number is bounded.
    """
    tried = attempt(schema, options=options, prefix=prefix, span=span, limits=limits, retrieve=retrieve)
    return tried.result()


@dataclass(frozen=True)
class Attempt:
    """What became of a schema.

    grammar      may be used only if there are no errors; None where it could not be made
    errors       all of them, without the places of the text
    is_complete  whether the errors and relaxations are all that there are: False where too many errors or a crossed
                 limit ended the search, and where errors hid what would have been relaxed
    """

    document: Document
    schemas: Schemas
    survey: Survey
    grammar: GrammarIR | None
    errors: list[Diagnostic]
    is_complete: bool

    @property
    def relaxations(self) -> tuple[Diagnostic, ...]:
        """Warnings of what is allowed that the schema does not allow."""
        return () if self.grammar is None else self.grammar.notes

    def result(self) -> GrammarIR:
        """The grammar with its notes. Raises GrammarError with every error, placed in the text."""
        if self.grammar is None or self.errors:
            raise GrammarError(self.document.placed(first_errors(self.errors)))
        notes = [note for note in (*self.survey.notes, *self.relaxations) if note.pointer != GUIDANCE]
        return replace(self.grammar, notes=tuple(self.document.placed(ordered(notes))))


def attempt(
    schema: dict[str, Any] | list[Any] | bool | str,
    *,
    options: JsonSchemaOptions,
    limits: Limits,
    prefix: str = "",
    span: Span | None = None,
    retrieve: Retriever | None = None,
) -> Attempt:
    """Do what `lower_schema` does, and tell of errors instead of raising them.

    Raises GrammarError for a text that is not JSON, and LimitExceeded where there are no errors besides.
    """
    document = read_text(schema, span, limits) if isinstance(schema, str) else read_object(schema, limits)
    options, misguided = guided(document.value, options)
    schemas = Schemas(document.value, limits, retrieve)
    found = _surveyed(schemas, document, options)
    errors = [*document.problems, *misguided, *found.errors]
    grammar, is_complete = None, found.complete
    if found.complete:
        try:
            grammar = _lowered(schemas, options, prefix, span, limits)
        except GrammarError as error:
            # That nothing satisfies the schema may come of what is disregarded in it.
            errors += [d for d in error.diagnostics if not errors or d.code != "schema-unsatisfiable"]
            is_complete = options.on_unsupported == "error"
        except LimitExceeded:
            if not errors:
                raise
            is_complete = False
    return Attempt(document, schemas, found, grammar, errors, is_complete)


def _surveyed(schemas: Schemas, document: Document, options: JsonSchemaOptions) -> Survey:
    """What the survey finds beside the problems of reading; what it finds wrong is disregarded from then on."""
    schemas.disregard(document.unread)
    found = survey(schemas, options)
    # The value of a keyword that holds something unread is no worse than that.
    known = {outer for pointer in document.unread for outer in around(pointer) if outer}
    found.errors = [error for error in found.errors if error.pointer not in known]
    schemas.disregard(error.pointer for error in found.errors if error.pointer is not None)
    schemas.disregard(found.idle)
    return found


def _lowered(schemas: Schemas, options: JsonSchemaOptions, prefix: str, span: Span | None, limits: Limits) -> GrammarIR:
    try:
        with session(limits):
            return _grammar(schemas, options, prefix, span, limits)
    except RecursionError:
        # Nothing here recurses over the schema, but comparing and hashing the trees of deeply nested patterns does.
        raise LimitExceeded("max_nesting", limits.max_nesting, "a pattern in a JSON Schema") from None


def _grammar(schemas: Schemas, options: JsonSchemaOptions, prefix: str, span: Span | None, limits: Limits) -> GrammarIR:
    """The grammar of a schema that the survey found well formed. Raises GrammarError."""
    lowering = _Lowering(Normaliser(schemas, options, limits), RuleSet(prefix), options)
    bodies, start = lowering.rules_of(schemas.root)
    grammar = GrammarIR(
        tuple(Rule(name, body, span=span, opens_set=lowering.opening.get(name)) for name, body in bodies.items()),
        start,
        (lexemes.scope(f"{prefix}json", options),),
        ignore_initial=False,
        ignore_final=False,
    )
    live = frozenset(bodies)
    if not lowering.has_only_live_rules:
        live = productive_rules(grammar, lowering.needs)
        if len(live) < len(bodies) or lowering.may_have_loose_rules:
            grammar = without_unreachable(without_nonproductive(grammar, live))
    problems, refusals = lowering.problems, lowering.refusals(grammar)
    if options.on_unsupported == "relax":
        grammar = replace(grammar, notes=tuple(replace(refusal, severity="warning") for refusal in refusals))
    else:
        problems += refusals
    if not problems and start not in live:
        problems.append(lowering.unsatisfiable(schemas.root, live))
    if problems:
        raise GrammarError(problems)
    if options.syntax == "yaml":
        return in_blocks(grammar, DEFAULT_INDENT if options.indent is None else options.indent)
    return spelled(grammar if options.indent is None else indented(grammar, options.indent, limits), options)


class _Lowering:
    """The rules of one schema: one for each conjunction that describes more than a scalar."""

    # The set of the items of an array in which no two are equal.
    _distinct_items = SetBounds()

    def __init__(self, normaliser: Normaliser, rules: RuleSet, options: JsonSchemaOptions) -> None:
        self.normaliser = normaliser
        self.options = options
        self._objects = _object_lowering(options)
        self._scalars: Callable[..., list[Terminal]] = partial(scalars, max_digits=options.max_digits)
        self.rules = rules
        self._names: dict[Conjunction, str] = {}
        self._inline: dict[Conjunction, Expr] = {}
        self._distinct: dict[Conjunction, Expr] = {}
        self._todo: list[Conjunction] = []
        self._told_apart: _ToldApart | None = None
        self._items: _Items | None = None

    def rules_of(self, root: Node) -> tuple[dict[str, Expr], str]:
        """The rules by name, and which of them is the start. Some may match nothing."""
        start = self._rule_of(self.normaliser.conjunction(root)).name
        self.make_rules()
        if self._told_apart is not None:
            self._told_apart.make_rules()
        if self._items is not None:
            self._items.make_items()
        if self._told_apart is not None:
            self.rules.take(self._told_apart.rules, told_apart)
        return self.rules.bodies, start

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

    @property
    def opening(self) -> dict[str, SetBounds]:
        """The rules that open a set of values."""
        return self.rules.opening

    @property
    def needs(self) -> dict[str, tuple[Expr, ...]]:
        """What rules need besides their bodies."""
        return self.rules.needs

    @property
    def has_only_live_rules(self) -> bool:
        """Whether it is plain that every rule matches some text, which saves a search of the whole grammar."""
        if any(isinstance(inline, Choice) and not inline.parts for inline in self._inline.values()):
            return False
        if self._told_apart is not None or self._items is not None:
            return False
        return all_live({conjunction: self.normaliser.normal(conjunction) for conjunction in self._names})

    @property
    def may_have_loose_rules(self) -> bool:
        """Whether some rules may have only been made to be copied."""
        return self._items is not None

    @property
    def problems(self) -> list[Diagnostic]:
        """What could not be brought to normal form."""
        return [d for found in self.normaliser.problems for d in self.normaliser.everywhere(found)]

    def refusals(self, grammar: GrammarIR) -> list[Diagnostic]:
        """What cannot be enforced in the rules that are left in a grammar: they allow more than the schema does."""
        refused = {d for rule in grammar.rules for d in self.rules.refusals.get(rule.name, ())}
        return [d for found in refused for d in self.normaliser.everywhere(found)]

    def unsatisfiable(self, root: Node, live: frozenset[str]) -> Diagnostic:
        """Why no value satisfies the schema: the innermost part that is needed and allows nothing.

        live  the rules that some text can complete
        """
        conjunction, seen = self.normaliser.conjunction(root), set[Conjunction]()
        while True:
            seen.add(conjunction)
            needed = [part for parts in needs_of(self.normaliser.normal(conjunction)) for part in parts]
            dead = [part for part in needed if part not in seen and not self._is_live(part, live)]
            if not dead:
                break
            conjunction = dead[0]
        places = [term.pointer for term in conjunction if isinstance(term, Node) and term.pointer]
        reason = "look for types, bounds or required properties that contradict each other"
        if places:
            reason = f"nothing satisfies {' together with '.join(places)}, which is required"
        return Diagnostic("schema-unsatisfiable", "no value satisfies this schema", pointer="", help=reason)

    def _is_live(self, conjunction: Conjunction, live: frozenset[str]) -> bool:
        name = self._names.get(conjunction)
        return name in live if name is not None else not self.normaliser.normal(conjunction).is_plainly_empty

    def value(self, conjunction: Conjunction) -> Expr:
        """The expression of a value: in place for scalars, a rule for everything else."""
        if conjunction in self._names:
            return self._rule_of(conjunction)
        found = self._inline.get(conjunction)
        if found is None:
            normal = self.normaliser.normal(conjunction)
            if normal.arrays or normal.objects or refusals_of_scalars(normal):
                return self._rule_of(conjunction)
            found = self._inline[conjunction] = _choice(self._scalars(normal))
        return found

    def _rule_of(self, conjunction: Conjunction) -> RuleRef:
        name = self._names.get(conjunction)
        if name is None:
            name = self._names[conjunction] = self.rules.name(_wish(conjunction))
            self._todo.append(conjunction)
        return RuleRef(name)

    def _body(self, name: str, conjunction: Conjunction) -> Expr:
        return self._alternatives(
            name, self.normaliser.normal(conjunction), _wish(conjunction), pointer_of(conjunction)
        )

    def _alternatives(self, rule: str, normal: Normal, name: str, pointer: str) -> Expr:
        """The body of a rule, out of the parts of a normal form; `name` is for further rules."""
        choices: list[Expr] = [*self._scalars(normal)]
        self.rules.refuse(rule, refusals_of_scalars(normal))
        for array in normal.arrays:
            choices.append(self._array(array, name, pointer))
        for shape in normal.objects:
            choices.append(self.object(shape, name, pointer))
        return _choice(choices)

    def object(self, shape: ObjectShape, name: str, pointer: str) -> Expr:
        """The expression of one alternative of a set of objects."""
        return self._objects(shape, self.rules, name, self.value, pointer).lower()

    def _array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        normal_of = self.normaliser.normal
        if not unique_items.matters(shape):
            return self._plain_array(shape, name, pointer)
        if not unique_items.composites(shape, normal_of):
            return self._unique_array(shape, name, pointer)
        if self.options.property_order != "schema":
            return self._unique_array(shape, name, pointer, "its keys may come in any order")
        if not self._has_brackets_alone or unique_items.may_go_on(shape, normal_of):
            return self._unique_array(shape, name, pointer)
        rule = self.rules.name(name)
        self.items.later.append(_Later(self, rule, shape, name, pointer))
        return RuleRef(rule)

    @property
    def _has_brackets_alone(self) -> bool:
        """Whether nothing has to stand before a bracket that closes something."""
        return self.options.syntax == "json" and self.options.indent is None

    def array_of_items(self, later: _Later) -> None:
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
        refusal = unique_items.refusal(shape, normal_of, self._has_brackets_alone, uncounted)
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

    @property
    def apart(self) -> _ToldApart:
        """The rules of values that must not come twice, whatever they are."""
        if self._told_apart is None:
            self._told_apart = _ToldApart(self)
        return self._told_apart

    @property
    def items(self) -> _Items:
        """The rules of arrays and objects that are items of arrays without equal items."""
        if self._items is None:
            self._items = _Items(self)
        return self._items

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
            found = _choice([unique_items.distinct(scalar) for scalar in self._scalars(normal, exponents=False)])
            refusals = refusals_of_scalars(normal)
            if refusals:
                rule = self.rules.name("value")
                self.rules.bodies[rule] = found
                self.rules.refuse(rule, refusals)
                found = RuleRef(rule)
            self._distinct[conjunction] = found
        return found


class _ToldApart(_Lowering):
    """The rules of values that are told from others by all that is in them; see `told_apart`."""

    _distinct_items = SetBounds(holds="distinct array")

    def __init__(self, main: _Lowering) -> None:
        super().__init__(main.normaliser, RuleSet(main.rules.prefix, main.rules), main.options)
        self._scalars = partial(scalars, max_digits=self.options.max_digits, exponents=False)
        self._told_apart = self
        self._main = main

    @property
    def items(self) -> _Items:
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


class _Later(NamedTuple):
    """An array of which the rule is known and the body waits for what its items come to."""

    lowering: _Lowering
    rule: str
    shape: ArrayShape
    name: str
    pointer: str


class _Items(_Lowering):
    """The rules of arrays and objects that are items of arrays without equal items; see `steps`.

    later  arrays that still have no body
    """

    def __init__(self, main: _Lowering) -> None:
        super().__init__(main.normaliser, RuleSet(main.rules.prefix, main.rules), main.options)
        self._main = main
        self._scalars = self._scalars_with_counts
        self._counts: dict[Terminal, Callable[[], int]] = {}
        self._beyond: dict[str, str] = {}  # rules of what is not counted, and why
        self._lists: dict[str, Conjunction] = {}  # rules of arrays without equal items, and what those are
        self._composites: dict[Normal, str] = {}
        self._made: dict[str, str] = {}  # rules of composites, and those of items that are copies
        self._steps = Steps(self.rules.bodies, main.rules, self._n_values, self._beyond, self._never_ends, self._copied)
        self.later: list[_Later] = []

    def make_items(self) -> None:
        """The bodies of all arrays that wait for them, and the items in these."""
        self._make_all()
        while self.later:
            waiting, self.later = self.later, []
            for later in waiting:
                for item in unique_items.items(later.shape):
                    self._rule_of_composites(item)
            self._make_all()
            self._find_live()
            for later in waiting:
                later.lowering.array_of_items(later)
            self._make_all()
        self._find_live()
        for rule, name in self._made.items():
            try:
                self._steps.ways(rule)
            except Uncounted:
                continue  # what it is in is refused
            self._steps.item(rule, name)

    def value_of(self, shape: ArrayShape) -> Callable[[Conjunction], Expr]:
        """The expressions of the items of an array. Raises Uncounted where it cannot be made sure that they suffice."""
        items = unique_items.items(shape)
        if shape.witnesses:
            raise Uncounted("contains beside it looks at these")
        needed = {item: (least, self._n_items(item)) for item, least in unique_items.needed(shape).items()}
        if any(n_items == 0 for _, n_items in needed.values()):
            return lambda _: NOTHING
        for least, n_items in needed.values():
            if n_items < least:
                raise Uncounted(f"one that is required has fewer than {least} values")
        rules = {rule for item in items if (rule := self._rule_of_composites(item)) is not None}
        possible = [rule for rule in rules if self._steps.ways(rule)]
        if len(possible) > 1:
            raise Uncounted("these differ by position")
        return self._item

    def _make_all(self) -> None:
        for lowering in (self._main, self, self._main.apart):
            lowering.make_rules()
        if any(lowering.has_todo for lowering in (self._main, self, self._main.apart)):
            self._make_all()

    def _find_live(self) -> None:
        """Which rules can end."""
        bodies = {**self._main.apart.rules.bodies, **self.rules.bodies}
        for name in self._made.values():
            bodies[name] = lexemes.NULL  # at the least those that are not reached must not count as dead
        start = next(iter(bodies), "")
        grammar = GrammarIR(tuple(Rule(name, body) for name, body in bodies.items()), start)
        self._steps.live = productive_rules(grammar)

    def _rule_of_composites(self, conjunction: Conjunction) -> str | None:
        """The rule of the arrays and objects of a conjunction; None if there are none."""
        normal = self.normaliser.normal(conjunction)
        only = Normal(arrays=normal.arrays, objects=normal.objects)
        if only.is_plainly_empty:
            return None
        rule = self._composites.get(only)
        if rule is None:
            rule = self._composites[only] = self.rules.name("item")
            self.rules.bodies[rule] = self._alternatives(rule, only, _wish(conjunction), pointer_of(conjunction))
        return rule

    def _item(self, conjunction: Conjunction) -> Expr:
        """The expression of an item."""
        choices: list[Expr] = []
        scalar = self._main.distinct_scalar(conjunction)
        if scalar is not None:
            choices.append(scalar)
        rule = self._rule_of_composites(conjunction)
        if rule is not None:
            if rule not in self._made:
                self._made[rule] = self._main.rules.name("item")
            choices.append(RuleRef(self._made[rule]))
        return _choice(choices)

    def _n_items(self, conjunction: Conjunction) -> int:
        normal = self.normaliser.normal(conjunction)
        rule = self._rule_of_composites(conjunction)
        composites = 0 if rule is None else self._steps.ways(rule)
        return composites + self._n_scalars(normal)

    def _n_scalars(self, normal: Normal) -> int:
        if refusals_of_scalars(normal):
            raise Uncounted("in it are scalars that cannot be enforced")
        found = int(normal.null) + len(normal.booleans)
        if normal.numbers:
            found += n_numbers(normal.numbers, self.options.max_digits)
        return found if normal.strings.is_plainly_empty else found + n_strings(normal.strings)

    def _body(self, name: str, conjunction: Conjunction) -> Expr:
        return self._alternatives(
            name, self.normaliser.normal(conjunction), _wish(conjunction), pointer_of(conjunction)
        )

    def _alternatives(self, rule: str, normal: Normal, name: str, pointer: str) -> Expr:
        parts = self.normaliser.disjoint(normal)
        if parts is None:
            return self._not_counted("too many of its alternatives have values in common")
        return super()._alternatives(rule, parts, name, pointer)

    def _array(self, shape: ArrayShape, name: str, pointer: str) -> Expr:
        if shape.witnesses or shape.refusals:
            return self._not_counted("in it is contains")
        if not unique_items.matters(shape):
            return ArrayLowering(shape, self.rules, name, self.value, pointer).lower()
        if shape.prefix or shape.maximum is not None:
            return self._not_counted(RUNS_OUT)
        apart = self._main.apart
        item = self._item(shape.rest)
        whole = ArrayLowering(shape, apart.rules, name, lambda _: item, pointer).lower()
        rule = apart.rules.opened(name, whole, SetBounds(holds="distinct array"))
        self._lists[rule.name] = shape.rest
        return rule

    def object(self, shape: ObjectShape, name: str, pointer: str) -> Expr:
        """One alternative; a rule with a set where keys may come in several orders."""
        if shape.witnesses and not shape.others:
            found = [self.object(part, name, pointer) for part in object_algebra.by_first_to_meet(shape)]
            return _choice(found)
        if shape.witnesses or shape.refusals:
            return self._not_counted("in it is a condition on keys without names")
        lowering = ObjectLowering(shape, self.rules, name, self.value, pointer)
        if not lowering.may_repeat:
            return lowering.lower()
        if not object_goes_on(shape, self.normaliser.normal):
            return self._not_counted("in it is an object that may run out of keys without names")
        return self._main.apart.object(shape, name, pointer)

    def _not_counted(self, reason: str) -> RuleRef:
        rule = self.rules.name("item")
        self.rules.bodies[rule] = lexemes.NULL
        self._beyond[rule] = reason
        return RuleRef(rule)

    def _scalars_with_counts(self, normal: Normal) -> list[Terminal]:
        found = scalars(normal, max_digits=self.options.max_digits, exponents=False)
        only_numbers, only_strings = Normal(numbers=normal.numbers), Normal(strings=normal.strings)
        if normal.numbers:
            self._counts[found[int(normal.null) + len(normal.booleans)]] = partial(self._n_scalars, only_numbers)
        if not normal.strings.is_plainly_empty:
            self._counts[found[-1]] = partial(self._n_scalars, only_strings)
        return found

    @cache  # noqa: B019  # no longer than one schema is lowered
    def _n_values(self, terminal: Terminal) -> int:
        count = self._counts.get(terminal)
        return n_keys(terminal) if count is None else count()

    def _never_ends(self, rule: str) -> bool:
        """Whether there are endlessly many values of a nested set, however far one is written."""
        if rule not in self._lists:
            return True
        conjunction = self._lists[rule]
        composites = self._rule_of_composites(conjunction)
        n_composites = 0 if composites is None else self._steps.asked(composites)
        return n_composites + self._n_scalars(self.normaliser.normal(conjunction)) >= ENDLESS

    def _copied(self, rule: str, step: Step) -> RuleRef:
        apart = self._main.apart.rules
        bounds = replace(apart.opening[rule], step=step)
        return self._main.rules.opened("item", told_apart(apart.bodies[rule]), bounds)


def _object_lowering(options: JsonSchemaOptions) -> Callable[..., AnyOrderLowering | ObjectLowering]:
    if options.syntax == "yaml":
        return partial(ObjectLowering, in_braces=False, possible_keys=yaml_scalars.SHORT_TEXT)
    return AnyOrderLowering if options.property_order == "any" else ObjectLowering


def _choice(choices: Sequence[Expr]) -> Expr:
    return choices[0] if len(choices) == 1 else Choice(tuple(choices))


def _wish(conjunction: Conjunction) -> str:
    """The name that a rule for this conjunction should have."""
    if not conjunction:
        return "any"
    places = [term.pointer for term in conjunction if isinstance(term, Node)]
    if len(conjunction) == 1 and places:
        return f"#{places[0]}"
    return f"#{places[0]}&" if places else "value"
