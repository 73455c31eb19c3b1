"""Schemas that lead back to themselves without going into a member or an item, and so say nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cfgmask.diagnostics import Diagnostic
from cfgmask.json_schema.nodes import REFERENCES, Node
from cfgmask.json_schema.problems import reference_loop
from cfgmask.json_schema.resolve import Schemas

_APPLICATORS = ("allOf", "anyOf", "oneOf", "not", "if", "propertyNames")
_MAPS = ("dependentSchemas", "dependencies")


class Loop(NamedTuple):
    """problem    that a schema leads back to itself
    reference  the place of a reference on the way; without it, there is no way
    """

    problem: Diagnostic
    reference: str


def loops(reached: Iterable[Node], schemas: Schemas) -> Iterator[Loop]:
    """Each schema that leads back to itself on some way, once. Linear."""
    done, told = set[Node](), set[Node]()
    for start in reached:
        if start in done:
            continue
        # The way to each schema being looked at: what it leads to still, and the last reference that was followed.
        path: dict[Node, Iterator[tuple[Node, str | None]]] = {start: _led_to(start, schemas)}
        references: list[str | None] = [None]
        while path:
            node, further = next(reversed(path.items()))
            led = next(further, None)
            if led is None:
                done.add(node)
                del path[node]
                references.pop()
                continue
            target, reference = led
            if target in path:
                if target not in told:
                    told.add(target)
                    cut = _last_reference(path, references, target, reference)
                    yield Loop(reference_loop(target.pointer), cut)
            elif target not in done:
                path[target] = _led_to(target, schemas)
                references.append(reference)


def _last_reference(path: Iterable[Node], references: list[str | None], target: Node, reference: str | None) -> str:
    """The last reference on the way from a schema to itself."""
    if reference is not None:
        return reference
    since = list(path).index(target) + 1
    return next(found for found in reversed(references[since:]) if found is not None)


def _led_to(node: Node, schemas: Schemas) -> Iterator[tuple[Node, str | None]]:
    """The schemas that apply to the same value, or to its keys, and the place of the reference, if it is one."""
    for keyword in REFERENCES:
        if node.has(keyword):
            target = schemas.target(node, keyword)
            if isinstance(target, Node):
                yield target, node.at(keyword)
    for keyword in _APPLICATORS if not node.has("if") else (*_APPLICATORS, "then", "else"):
        if not node.has(keyword):
            continue
        if isinstance(node.get(keyword), list):
            for child in schemas.children(node, keyword):
                yield child, None
        else:
            yield schemas.child(node, keyword), None
    for keyword in _MAPS:
        held = node.get(keyword)
        for name, value in held.items() if isinstance(held, dict) else ():
            if isinstance(value, (dict, bool)):
                yield schemas.child(node, keyword, name), None
