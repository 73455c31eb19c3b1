"""Schemas to normal form.

A schema is normalised after the schemas that apply to the same value (`$ref`, `allOf` and the like), in an order found
by a search with an explicit stack: nesting costs no Python recursion, and a schema that leads to itself without going
into a value is found out. Schemas of members and items are left as conjunctions and normalised when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from functools import reduce
from itertools import groupby

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import LimitExceeded
from cfgmask.json_schema.nodes import REFERENCES, Node
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.problems import MAX_PROBLEMS, placed, reference_loop
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.session import current
from cfgmask.json_schema.survey import allowed_types
from cfgmask.json_schema.values import around
from cfgmask.limits import Limits
from tests.reference.json_schema import algebra
from tests.reference.json_schema.algebra import TooManyAlternatives
from tests.reference.json_schema.array_keywords import array_shape
from tests.reference.json_schema.normal_form import (
    ANYTHING,
    EVERYTHING,
    NEVER,
    NOTHING_AT_ALL,
    Conjunction,
    Constant,
    Negation,
    Normal,
    Term,
    pointer_of,
)
from tests.reference.json_schema.object_keywords import (
    dependent_required,
    dependent_schemas,
    having,
    lacking,
    object_shape,
)
from tests.reference.json_schema.probe import InProgress, Prober
from tests.reference.json_schema.scalar_keywords import constants, number_shapes, string_set
from tests.reference.json_schema.writable import Writable

# Keywords whose schemas apply to the same value as the schema they stand in.
_APPLICATORS = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if")
# And all keywords for whose sake others are normalised first.
_LEADING = frozenset([*_APPLICATORS, "propertyNames", "dependentSchemas", "dependencies"])

# What a schema takes by itself, in steps of a session.
_STEPS_PER_SCHEMA = 8

# How many normalisations may wait for the answer of a probe that led to the next one.
_MAX_PROBES = 8
# Up to so many alternatives it costs less to keep empty ones than to look for them.
_MANY_ALTERNATIVES = 4


class Normaliser:
    """The normal forms of the schemas of one document, each computed once.

    problems  errors that no later step could find: references that lead nowhere but to themselves, sets too large
    Not for use by several threads at once.
    """

    def __init__(self, schemas: Schemas, options: JsonSchemaOptions, limits: Limits) -> None:
        self.schemas = schemas
        self.options = options
        self.limits = limits
        self.problems: list[Diagnostic] = []
        self._conjunctions: dict[Node, Conjunction] = {}
        self._ends: dict[Node, Conjunction] = {}
        self._by_content: dict[Hashable, Node] = {}
        # Places that say the same as the one that is their key; nothing inside them is looked at.
        self._alike: dict[str, list[str]] = {}
        self._terms: dict[Term, Normal] = {}
        self._normals: dict[Conjunction, Normal] = {ANYTHING: EVERYTHING}
        # The same without annotations of what was evaluated.
        self._plain: dict[Conjunction, Normal] = {}
        self._active: set[Term] = set()
        self._probes = 0
        self._prober = Prober(self._probed)
        # Where some bytes cannot be written: what is left of the normal forms that are asked for.
        self.writable: Writable | None = None
        self._written: dict[Conjunction, Normal] = {}

    def conjunction(self, node: Node) -> Conjunction:
        """The schema as a conjunction, without schemas that say nothing and references that say nothing themselves.

        Schemas that say the same are one: the first of them that was met stands for all.
        """
        found = self._conjunctions.get(node)
        if found is None:
            found = self._conjunctions[node] = tuple(map(self._first_alike, self._followed(node)))
        return found

    def everywhere(self, diagnostic: Diagnostic) -> set[Diagnostic]:
        """The diagnostic at its own place and at all places that say the same, or at as many as are ever reported."""
        found = {diagnostic.pointer or "": diagnostic}
        todo = list(found)
        while todo:
            pointer = todo.pop()
            for first in around(pointer):
                for other in self._alike.get(first, ()):
                    place = other + pointer[len(first) :]
                    if len(found) > MAX_PROBLEMS:
                        return set(found.values())
                    if place not in found:
                        found[place] = replace(diagnostic, pointer=place)
                        todo.append(place)
        return set(found.values())

    def all_problems(self) -> list[Diagnostic]:
        """The problems so far, each at all places that say the same."""
        return [d for found in self.problems for d in self.everywhere(found)]

    def _first_alike(self, term: Term) -> Term:
        if not isinstance(term, Node):
            return term
        first = self._by_content.setdefault(self.schemas.content(term), term)
        if first is not term:
            self._alike.setdefault(first.pointer, []).append(term.pointer)
        return first

    def normal(self, conjunction: Conjunction) -> Normal:
        """The normal form, of what can be written. Raises InProgress inside of a probe, and LimitExceeded."""
        found = self._normals.get(conjunction)
        if found is None:
            for term in _positive_terms(conjunction):
                self._evaluate(term, self._build)
            found = self._meet(conjunction)
        if self.schemas.annotates:
            if conjunction not in self._plain:
                self._plain[conjunction] = algebra.without_annotations(found)
            found = self._plain[conjunction]
        if self.writable is None:
            return found
        if conjunction not in self._written:
            self._written[conjunction] = self.writable.of(found)
        return self._written[conjunction]

    def find_loops(self, nodes: Iterable[Node]) -> None:
        """Report the references of these that lead nowhere but to themselves, for when normal forms take too long.

        Nothing can be asked for afterwards. Linear.
        """
        for node in nodes:
            for term in _positive_terms(self.conjunction(node)):
                self._evaluate(term, lambda _: EVERYTHING)

    def _probed(self, term: Term) -> Normal:
        """The normal form of a term for a probe, which must not go on for ever nor look at what is being made."""
        if self._probes == _MAX_PROBES:
            raise InProgress
        self._probes += 1
        try:
            self._evaluate(term, self._build)
        finally:
            self._probes -= 1
        return self._terms[term]

    def _followed(self, node: Node) -> Conjunction:
        """What a schema comes to that may be a reference and nothing else.

        All that are passed on the way come to the same; but of those that lead to themselves each is its own.
        """
        passed: dict[Node, None] = {}
        while node not in passed and node not in self._ends:
            passed[node] = None
            reference = _only_reference(node)
            if reference is None:
                break
            node = self._target(node, reference)
        end = self._ends.get(node, _said_by(node))
        in_circle = False
        for other in passed:
            in_circle = in_circle or (other is node and _only_reference(node) is not None)
            self._ends[other] = (other,) if in_circle else end
        return end

    def _target(self, node: Node, keyword: str) -> Node:
        target = self.schemas.target(node, keyword)
        assert isinstance(target, Node), "the survey reports references that lead nowhere"
        return target

    def _evaluate(self, goal: Term, build: Callable[[Term], Normal]) -> None:
        """Normalise a term and, before it, all terms that it needs."""
        stack, own = [goal], set[Term]()
        try:
            while stack:
                term = stack[-1]
                if term in self._terms:
                    stack.pop()
                    continue
                pending = [need for need in self._needs(term) if need not in self._terms] if term not in own else []
                if term not in own:
                    if term in self._active:
                        raise InProgress
                    own.add(term)
                    self._active.add(term)
                if pending:
                    stack.extend(need for need in pending if not self._is_loop(need, own))
                    continue
                self._terms[term] = build(term)
                self._active.discard(term)
                stack.pop()
        finally:
            self._active -= own

    def _is_loop(self, term: Term, own: set[Term]) -> bool:
        """Whether the term is waiting for itself; if so that is reported and the term stands for everything."""
        if term not in self._active:
            return False
        if term not in own:
            raise InProgress
        pointer = term.pointer if isinstance(term, Node) else ""
        self.problems.append(reference_loop(pointer))
        self._terms[term] = EVERYTHING
        return True

    def _needs(self, term: Term) -> list[Term]:
        if not isinstance(term, Node) or _LEADING.isdisjoint(term.keywords):
            return []
        needed = [need for keyword in _APPLICATORS if term.has(keyword) for need in self._applied(term, keyword)]
        if term.has("if"):
            needed += [n for keyword in ("then", "else") if term.has(keyword) for n in self._applied(term, keyword)]
        if term.has("propertyNames"):
            needed += self._applied(term, "propertyNames")
        needed += [need for _name, schema in dependent_schemas(term, self) for need in _positive_terms(schema)]
        return needed

    def _applied(self, node: Node, keyword: str) -> list[Term]:
        return [term for conjunction in self._conjunctions_of(node, keyword) for term in _positive_terms(conjunction)]

    def _conjunctions_of(self, node: Node, keyword: str) -> list[Conjunction]:
        if keyword in REFERENCES:
            return [self.conjunction(self._target(node, keyword))]
        if isinstance(node.get(keyword), list):
            return [self.conjunction(child) for child in self.schemas.children(node, keyword)]
        return [self.conjunction(self.schemas.child(node, keyword))]

    # Everything below finds what it needs in `_terms`.

    def _meet(self, conjunction: Conjunction) -> Normal:
        found = self._normals.get(conjunction)
        if found is not None:
            return found
        positive = [self._terms[term] for term in conjunction if not isinstance(term, Negation)]
        holes = [self._meet(term.body) for term in conjunction if isinstance(term, Negation)]
        try:
            found = self._all(positive)
            if holes:
                found = algebra.difference(found, holes, self._prober)
            self._normals[conjunction] = found
            if len(self._normals) > self.limits.max_rules:
                raise LimitExceeded("max_rules", self.limits.max_rules)
        except TooManyAlternatives as error:
            found = self._normals[conjunction] = self._too_many(pointer_of(conjunction), error)
        except LimitExceeded as error:
            raise placed(error, pointer_of(conjunction)) from None
        return found

    def disjoint(self, normal: Normal) -> Normal | None:
        """The same set with alternatives that share nothing; None where these are too many."""
        try:
            return algebra.disjoint(normal, self._prober)
        except TooManyAlternatives:
            return None

    def _too_many(self, pointer: str, error: TooManyAlternatives) -> Normal:
        """Report a set with too many alternatives; it counts as everything from here on."""
        self.problems.append(
            Diagnostic(
                "schema-too-many-alternatives",
                str(error),
                pointer=pointer,
                help=error.help,
            )
        )
        return EVERYTHING

    def _both(self, a: Normal, b: Normal) -> Normal:
        """The intersection. Where it has many alternatives, those that can be shown to be empty are dropped at once."""
        both = algebra.intersect(a, b)
        many = max(len(both.arrays), len(both.objects)) > _MANY_ALTERNATIVES
        return algebra.without_empty(both, self._prober) if many else both

    def _all(self, parts: list[Normal]) -> Normal:
        """The intersection of all sets, in their order.

        Those of one shape are met two by two: in turn, thousands of members would be copied for each. Where there are
        more, what is empty has to be dropped on the way.
        """
        found = EVERYTHING
        for is_simple, group in groupby(parts, algebra.has_one_shape):
            run = list(group)
            found = reduce(self._both, self._in_pairs(run) if is_simple else run, found)
        return found

    def _in_pairs(self, parts: list[Normal]) -> list[Normal]:
        """The intersection of sets of one shape, as a list of one."""
        while len(parts) > 1:
            met = [self._both(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
            parts = met + parts[len(met) * 2 :]
        return parts

    def _build(self, term: Term) -> Normal:
        if isinstance(term, Constant):
            return constants([term.value])
        assert isinstance(term, Node), "negations are taken apart before"
        try:
            current().spend(_STEPS_PER_SCHEMA)
            return self._schema(term)
        except TooManyAlternatives as error:
            return self._too_many(term.pointer, error)
        except LimitExceeded as error:
            raise placed(error, term.pointer) from None

    def _schema(self, node: Node) -> Normal:
        own = self._own(node)
        own_place_taken = False
        parts = []
        for keyword in node.keywords:
            # The keys of objects are written in the order in which the schema names them, so keywords that name keys
            # are taken in the order in which they stand.
            if keyword == "properties":
                parts.append(own)
                own_place_taken = True
            elif keyword == "oneOf":
                parts.append(self._one_of(node, own, own_place_taken))
            elif keyword in _APPLICATORS and keyword != "not":
                parts.append(self._application(node, keyword))
        if not own_place_taken:
            parts.append(own)
        whole = self._all(parts)
        if node.has("not"):
            whole = algebra.difference(whole, self._operands(node, "not"), self._prober)
        if node.has("unevaluatedItems"):
            whole = algebra.closed_arrays(whole, self.conjunction(self.schemas.child(node, "unevaluatedItems")))
        if node.has("unevaluatedProperties"):
            whole = algebra.closed_objects(whole, self.conjunction(self.schemas.child(node, "unevaluatedProperties")))
        return whole

    def _own(self, node: Node) -> Normal:
        """What the keywords say that look at the value without further schemas for the same value."""
        types = allowed_types(node)
        objects = object_shape(node, self) if "object" in types else None
        arrays = array_shape(node, self) if "array" in types else None
        strings = string_set(node, self.options, self.limits) if "string" in types else NOTHING_AT_ALL.strings
        own = Normal(
            null="null" in types,
            booleans=EVERYTHING.booleans if "boolean" in types else frozenset(),
            numbers=number_shapes(node, types),
            strings=strings,
            arrays=() if arrays is None else (arrays,),
            objects=() if objects is None else (objects,),
        )
        listed = [node.get("enum")] if node.has("enum") else []
        if node.has("const"):
            listed.append([node.get("const")])
        for values in listed:
            assert isinstance(values, list)
            own = algebra.intersect(constants(values), own)
        for alternatives in dependent_required(node):
            own = self._both(own, replace(EVERYTHING, objects=alternatives))
        for name, schema in dependent_schemas(node, self):
            own = self._both(own, self._where_present(name, schema))
        return own

    def _where_present(self, name: str, schema: Conjunction) -> Normal:
        """What a schema says that applies only to objects with a certain key."""
        absent = replace(EVERYTHING, objects=(lacking(name),))
        present = algebra.intersect(replace(NOTHING_AT_ALL, objects=(having(name),)), self._meet(schema))
        return algebra.union([absent, present])

    def _operands(self, node: Node, keyword: str) -> list[Normal]:
        return [self._meet(conjunction) for conjunction in self._conjunctions_of(node, keyword)]

    def _application(self, node: Node, keyword: str) -> Normal:
        """What a keyword says that applies schemas to the same value."""
        found = self._operands(node, keyword)
        if keyword == "anyOf":
            return algebra.any_of(found, self._prober)
        if keyword == "if":
            return self._conditional(node, found[0])
        return self._all(found)

    def _one_of(self, node: Node, own: Normal, own_comes_first: bool) -> Normal:
        """What `oneOf` says, of the values that the keywords beside it allow."""
        found = self._operands(node, "oneOf")
        narrowed = [self._both(own, part) if own_comes_first else self._both(part, own) for part in found]
        return algebra.exactly_one(found, narrowed, self._prober)

    def _conditional(self, node: Node, condition: Normal) -> Normal:
        consequence, alternative = (
            self._operands(node, keyword)[0] if node.has(keyword) else EVERYTHING for keyword in ("then", "else")
        )
        if consequence == alternative and not self.schemas.annotates:
            return consequence
        return algebra.union(
            [self._both(condition, consequence), algebra.difference(alternative, [condition], self._prober)]
        )


def _only_reference(node: Node) -> str | None:
    """The keyword that is all that a schema has, where that is a reference."""
    if len(node.keywords) != 1:
        return None
    (keyword,) = node.keywords
    return keyword if keyword in REFERENCES else None


def _said_by(node: Node) -> Conjunction:
    if isinstance(node.value, bool):
        return ANYTHING if node.value else NEVER
    return (node,) if node.keywords else ANYTHING


def _positive_terms(conjunction: Conjunction) -> list[Term]:
    """The terms that are not negations, those inside of negations included."""
    found: list[Term] = []
    todo = list(reversed(conjunction))
    while todo:
        term = todo.pop()
        if isinstance(term, Negation):
            todo.extend(term.body)
        else:
            found.append(term)
    return found
