"""Schemas to normal form.

A schema is normalised after the schemas that apply to the same value (`$ref`, `allOf` and the like), in an order found
by a search with an explicit stack: nesting costs no Python recursion, and a schema that leads to itself without going
into a value is found out. Schemas of members and items are left as conjunctions and normalised when asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from cfgmask.diagnostics import Diagnostic
from cfgmask.errors import LimitExceeded
from cfgmask.json_schema import algebra
from cfgmask.json_schema.algebra import TooManyAlternatives
from cfgmask.json_schema.array_keywords import array_shape
from cfgmask.json_schema.drafts import ASSERTIONS
from cfgmask.json_schema.exactly_one import exactly_one
from cfgmask.json_schema.normal_form import (
    ANYTHING,
    EVERYTHING,
    NEVER,
    NOTHING_AT_ALL,
    Conjunction,
    Constant,
    Negation,
    Normal,
    ObjectShape,
    Term,
)
from cfgmask.json_schema.object_keywords import dependent_required, dependent_schemas, having, lacking, object_shape
from cfgmask.json_schema.options import JsonSchemaOptions
from cfgmask.json_schema.resolve import Node, Schemas
from cfgmask.json_schema.scalar_keywords import allowed_types, constants, number_shapes, string_set
from cfgmask.limits import Limits

# Keywords whose schemas apply to the same value as the schema they stand in.
_APPLICATORS = ("$ref", "allOf", "anyOf", "oneOf", "not", "if")

# How many levels a probe for emptiness goes down, and how many items of an array it looks at.
_MAX_PROBES = 8
_PROBED_ITEMS = 16


class InProgress(Exception):
    """A question about a schema that is being normalised right now; only probes ask such (`is_provably_empty`)."""


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
        self._terms: dict[Term, Normal] = {}
        self._normals: dict[Conjunction, Normal] = {ANYTHING: EVERYTHING}
        self._active: set[Term] = set()
        self._probes = 0

    def conjunction(self, node: Node) -> Conjunction:
        """The schema as a conjunction, without schemas that say nothing and references that say nothing themselves."""
        found = self._conjunctions.get(node)
        if found is None:
            found = self._conjunctions[node] = self._followed(node)
        return found

    def normal(self, conjunction: Conjunction) -> Normal:
        """The normal form. Raises InProgress inside of a probe, and LimitExceeded."""
        found = self._normals.get(conjunction)
        if found is None:
            for term in conjunction:
                self._evaluate(term)
            found = self._normals[conjunction] = self._meet(conjunction)
            if len(self._normals) > self.limits.max_rules:
                raise LimitExceeded("max_rules", self.limits.max_rules, "combinations of schemas")
        return found

    def is_provably_empty(self, normal: Normal) -> bool:
        """Whether a look a few levels deep shows that no value is in the set. False does not mean that there is one."""
        others = normal.null or normal.booleans or normal.numbers or not normal.strings.widest.is_plainly_empty
        if others or any(not shape.minimum for shape in normal.arrays):
            return False
        return all(
            any(self._conjunction_is_provably_empty(shape.item(i)) for i in range(min(shape.minimum, _PROBED_ITEMS)))
            for shape in normal.arrays
        ) and all(self.object_is_provably_empty(shape) for shape in normal.objects)

    def object_is_provably_empty(self, shape: ObjectShape) -> bool:
        """The same question about one alternative of a set of objects."""
        return any(member.required and self._conjunction_is_provably_empty(member.value) for member in shape.members)

    def _conjunction_is_provably_empty(self, conjunction: Conjunction) -> bool:
        if not conjunction:
            return False
        if self._probes >= _MAX_PROBES:
            return False
        self._probes += 1
        try:
            return self.is_provably_empty(self.normal(conjunction))
        except InProgress:
            return False
        finally:
            self._probes -= 1

    def _followed(self, node: Node) -> Conjunction:
        passed = set()
        while node not in passed:
            passed.add(node)
            if isinstance(node.value, bool):
                return ANYTHING if node.value else NEVER
            assert isinstance(node.value, dict)
            said = [keyword for keyword in node.value if keyword in ASSERTIONS and node.has(keyword)]
            if not said:
                return ANYTHING
            if said != ["$ref"]:
                break
            node = self._target(node)
        return (node,)

    def _target(self, node: Node) -> Node:
        target = self.schemas.target(node)
        assert isinstance(target, Node), "the survey reports references that lead nowhere"
        return target

    def _evaluate(self, goal: Term) -> None:
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
                self._terms[term] = self._build(term)
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
        self.problems.append(
            Diagnostic(
                "schema-reference-loop",
                "this schema refers to itself without going into a member or an item, so it says nothing",
                pointer=pointer,
                help="take the reference out, or put it inside properties or items",
            )
        )
        self._terms[term] = EVERYTHING
        return True

    def _needs(self, term: Term) -> list[Term]:
        if isinstance(term, Negation):
            return list(term.body)
        if isinstance(term, Constant):
            return []
        needed = [need for keyword in _APPLICATORS if term.has(keyword) for need in self._applied(term, keyword)]
        if term.has("if"):
            needed += [n for keyword in ("then", "else") if term.has(keyword) for n in self._applied(term, keyword)]
        if term.has("propertyNames"):
            needed += self._applied(term, "propertyNames")
        needed += [need for _name, schema in dependent_schemas(term, self) for need in schema]
        return needed

    def _applied(self, node: Node, keyword: str) -> list[Term]:
        return [term for conjunction in self._conjunctions_of(node, keyword) for term in conjunction]

    def _conjunctions_of(self, node: Node, keyword: str) -> list[Conjunction]:
        if keyword == "$ref":
            return [self.conjunction(self._target(node))]
        if isinstance(node.get(keyword), list):
            return [self.conjunction(child) for child in self.schemas.children(node, keyword)]
        return [self.conjunction(self.schemas.child(node, keyword))]

    # Everything below finds what it needs in `_terms`.

    def _meet(self, conjunction: Conjunction) -> Normal:
        return reduce(algebra.intersect, (self._terms[term] for term in conjunction), EVERYTHING)

    def _build(self, term: Term) -> Normal:
        try:
            if isinstance(term, Constant):
                return constants([term.value])
            if isinstance(term, Negation):
                return algebra.complement(self._meet(term.body))
            return self._schema(term)
        except TooManyAlternatives:
            self.problems.append(
                Diagnostic(
                    "schema-too-many-alternatives",
                    f"the combinations of this schema's parts are more than {algebra.MAX_ALTERNATIVES} alternatives",
                    pointer=term.pointer if isinstance(term, Node) else "",
                    help="write the alternatives that are meant as one anyOf",
                )
            )
            return EVERYTHING

    def _schema(self, node: Node) -> Normal:
        parts = []
        own_place_taken = False
        assert isinstance(node.value, dict)
        for keyword in node.value:
            if not node.has(keyword):
                continue
            # The keys of objects are written in the order in which the schema names them, so keywords that name keys
            # are taken in the order in which they stand.
            if keyword == "properties":
                parts.append(self._own(node))
                own_place_taken = True
            elif keyword in _APPLICATORS:
                parts.append(self._application(node, keyword))
        if not own_place_taken:
            parts.append(self._own(node))
        return reduce(algebra.intersect, parts)

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
            own = algebra.intersect(own, replace(EVERYTHING, objects=alternatives))
        for name, schema in dependent_schemas(node, self):
            own = algebra.intersect(own, self._where_present(name, schema))
        return own

    def _where_present(self, name: str, schema: Conjunction) -> Normal:
        """What a schema says that applies only to objects with a certain key."""
        absent = replace(EVERYTHING, objects=(lacking(name),))
        present = algebra.intersect(replace(NOTHING_AT_ALL, objects=(having(name),)), self._meet(schema))
        return algebra.union([absent, present])

    def _application(self, node: Node, keyword: str) -> Normal:
        """What a keyword says that applies schemas to the same value."""
        found = [self._meet(conjunction) for conjunction in self._conjunctions_of(node, keyword)]
        if keyword == "anyOf":
            return algebra.union(found)
        if keyword == "oneOf":
            return exactly_one(found, self)
        if keyword == "not":
            return algebra.complement(found[0])
        if keyword == "if":
            return self._conditional(node, found[0])
        return reduce(algebra.intersect, found)

    def _conditional(self, node: Node, condition: Normal) -> Normal:
        if not (node.has("then") or node.has("else")):
            return EVERYTHING
        branches = []
        for keyword, met in (("then", True), ("else", False)):
            where = condition if met else algebra.complement(condition)
            consequence = self._conjunctions_of(node, keyword) if node.has(keyword) else [ANYTHING]
            branches.append(algebra.intersect(where, self._meet(consequence[0])))
        return algebra.union(branches)
