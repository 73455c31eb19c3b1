"""What the core refuses of a schema, in words.

The core says of what kind a refusal is and where it stands; of equal schemas it reads one, and each is told of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.contradictions import contradictions
from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.problems import MAX_PROBLEMS, TOO_DEEP, reference_loop
from cfgmask.json_schema.resolve import Schemas
from cfgmask.json_schema.values import Number, around, plain_decimal
from cfgmask.json_schema.yaml_scalars import MAX_WRITTEN_KEY

# The longest number that a message repeats.
_MAX_SHOWN = 40
_MOST_PARTS = 100
_CHECK = "take it out and check the finished value"


class Refusals:
    """Puts the refusals of one schema into words.

    reached  the schemas that the root reaches
    """

    def __init__(self, schemas: Schemas, reached: Iterable[Node]) -> None:
        self._schemas = schemas
        self._nodes: dict[str, Node] = {}
        self._alike: dict[str, list[str]] = {}
        first: dict[object, Node] = {}
        for node in reached:
            if self._nodes.setdefault(node.pointer, node) is not node or not isinstance(node.value, dict):
                continue
            other = first.setdefault(schemas.content(node), node)
            if other is not node and not _is_inside(other.pointer, node.pointer):
                self._alike.setdefault(other.pointer, []).append(node.pointer)
                self._alike.setdefault(node.pointer, []).append(other.pointer)

    def told(self, refusals: Iterable[tuple[int, str]]) -> Iterator[Diagnostic]:
        """The diagnostics of what `SchemaReader.read_leniently` refuses, each at all places that say the same."""
        unsatisfied = []
        for number, pointer in refusals:
            if REFUSALS[number] is _unsatisfiable:
                unsatisfied.append(pointer)
            else:
                yield from self._everywhere(REFUSALS[number](self._nodes.get(pointer), pointer))
        if unsatisfied:
            yield self._unsatisfiable(unsatisfied)

    def _everywhere(self, diagnostic: Diagnostic) -> list[Diagnostic]:
        """The diagnostic at its own place and at all places that say the same, or at as many as are ever reported."""
        found = {diagnostic.pointer or "": diagnostic}
        todo = list(found)
        while todo and len(found) <= MAX_PROBLEMS:
            pointer = todo.pop()
            for outer in around(pointer):
                for other in self._alike.get(outer, ()):
                    place = other + pointer[len(outer) :]
                    if place not in found and len(found) <= MAX_PROBLEMS:
                        found[place] = replace(diagnostic, pointer=place)
                        todo.append(place)
        return list(found.values())

    def _unsatisfiable(self, pointers: list[str]) -> Diagnostic:
        """Why no value satisfies the schema: the innermost part that is needed and allows nothing."""
        places = [pointer for pointer in pointers if pointer and pointer in self._nodes]
        nodes = [self._nodes[pointer] for pointer in pointers if pointer in self._nodes]
        reason = "look for types, bounds or required properties that contradict each other"
        if places:
            is_one = len(places) == 1
            reason = f"nothing satisfies {' together with '.join(places)}{', which is required' if is_one else ''}"
        message, plain = "no value satisfies this schema", next(contradictions(self._with_parts(nodes)), None)
        if plain is None:
            return Diagnostic("schema-unsatisfiable", message, pointer="", help=reason)
        help = reason if places else "change one of the two"
        return Diagnostic("schema-unsatisfiable", f"{message}: {plain.message}", pointer=plain.pointer, help=help)

    def _with_parts(self, nodes: list[Node]) -> list[Node]:
        """The schemas with those that all of them hold to: their `allOf` and `$ref`. Bounded."""
        found = dict.fromkeys(nodes)
        pending = list(found)
        for node in pending:
            parts = self._schemas.children(node, "allOf")
            target = self._schemas.target(node, "$ref") if node.has("$ref") else None
            for part in [*parts, target] if isinstance(target, Node) else parts:
                if part not in found and len(found) < _MOST_PARTS:
                    found[part] = None
                    pending.append(part)
        return list(found)


def _is_inside(pointer: str, other: str) -> bool:
    """Whether one of two places is inside of the other."""
    return f"{pointer}/".startswith(f"{other}/") or f"{other}/".startswith(f"{pointer}/")


_Words = Callable[["Node | None", str], Diagnostic]


def _said(code: str, message: str, help: str) -> _Words:
    return lambda _node, pointer: Diagnostic(code, message, pointer=pointer, help=help)


def _multiple_of(node: Node | None, pointer: str) -> Diagnostic:
    step = None if node is None else node.get("multipleOf")
    at = pointer if node is None or step is None else node.at("multipleOf")
    of = f"multipleOf {_shown(step)}" if isinstance(step, (int, Fraction)) else "multipleOf"
    reason = "whether a long number is a multiple of it takes too large a regex to tell"
    help = "bound the number with minimum and maximum, so that its values can be listed"
    return Diagnostic("schema-multiple-of", f"{of} cannot be enforced here: {reason}", pointer=at, help=help)


def _shown(number: Number) -> str:
    text = plain_decimal(number)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _unsatisfiable(_node: Node | None, pointer: str) -> Diagnostic:
    return Diagnostic("schema-unsatisfiable", "no value satisfies this schema", pointer=pointer)


REFUSALS: list[_Words] = [
    _said(
        "schema-unread", "this is more than can be read", "take it apart, or tell of it as a fault: the limit is ours"
    ),
    _multiple_of,
    _said(
        "schema-unique-items",
        "uniqueItems cannot be enforced here: its items may run out, and are too many to count",
        _CHECK,
    ),
    _said(
        "schema-unique-items",
        "that an array has two equal items cannot be enforced here: the last item would have to be an array or an "
        "object that came before",
        _CHECK,
    ),
    _said(
        "schema-contains-size",
        "contains can be enforced where the bounds beside it are at most 1000",
        "make the bounds smaller",
    ),
    _said(
        "schema-min-properties",
        "minProperties cannot be enforced where keys without names are needed and may run out",
        "require some keys by name, or allow all other keys",
    ),
    _said(
        "schema-negated-values",
        "that some key out of a few without names has a value of a certain kind cannot be enforced",
        "close the object with additionalProperties: false, or name the keys",
    ),
    _said(
        "schema-any-order",
        "that some key must be there cannot be enforced beside other conditions in any order",
        'use property_order="schema"',
    ),
    _said(
        "schema-too-many-alternatives",
        "the combinations of this schema's parts are more than 1000 alternatives",
        "make the alternatives differ in the value of a required property",
    ),
    lambda _node, pointer: reference_loop(pointer),
    _said(
        "schema-too-deep",
        "schemas that apply to one value are nested more than 60 deep here",
        "let one of them refer to a member or an item, or write fewer of them in each other",
    ),
    _said("schema-indent-depth", TOO_DEEP, "leave indent out"),
    _said(
        "schema-yaml-key",
        "YAML has no way to write some key of this object: it is too long",
        f"a key, with its quotes and escapes, may have {MAX_WRITTEN_KEY} characters",
    ),
    _unsatisfiable,
    _said(
        "schema-too-many-alternatives",
        "the patterns of keys overlap, and sort the keys into more than 128 classes",
        "write fewer patterns, or patterns of which no key meets two",
    ),
]
"""By the numbers of `SchemaRefusal::Kind` in the core."""
