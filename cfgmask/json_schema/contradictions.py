"""Keywords that plainly contradict each other: bounds with nothing between them, types that exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from cfgmask.json_schema.nodes import Node
from cfgmask.json_schema.values import JsonValue, Number, kind, plain_decimal

_BOUNDS = (
    (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"), "number", "no number"),
    (("minLength",), ("maxLength",), "string", "no string"),
    (("minItems",), ("maxItems",), "array", "no array"),
    (("minContains",), ("maxContains",), "array", "no array"),
    (("minProperties",), ("maxProperties",), "object", "no object"),
)
_KEYWORDS = frozenset(["type", "enum", "const", *(k for lower, upper, *_ in _BOUNDS for k in (*lower, *upper))])
_SHOWN_DIGITS = 40


@dataclass(frozen=True)
class Contradiction:
    """What contradicts what.

    message  `minimum 10 is above maximum 5`
    leaves   what satisfies neither: `no number`
    pointer  the place of one of the two
    kind     the type of the values that the keywords are about; "" where they are about all
    """

    message: str
    leaves: str
    pointer: str
    kind: str


def contradictions(nodes: Sequence[Node]) -> Iterator[Contradiction]:
    """Contradictions in what schemas that apply to one value say together, the plainest first."""
    yield from _types(nodes)
    for lower, upper, of, leaves in _BOUNDS:
        least = _strictest(nodes, lower, above=True)
        most = _strictest(nodes, upper, above=False)
        if least is None or most is None:
            continue
        is_strict = "exclusive" in least.keyword or "exclusive" in most.keyword
        if least.value > most.value or (least.value == most.value and is_strict):
            relation = "is above" if least.value > most.value else "excludes"
            message = (
                f"{least.keyword} {plain_decimal(least.value)} {relation} {most.keyword} {plain_decimal(most.value)}"
            )
            if len(message) < 4 * _SHOWN_DIGITS:
                yield Contradiction(message, leaves, least.pointer, of)
    yield from _values(nodes)


def plain_contradictions(node: Node) -> Iterator[Contradiction]:
    """Those in one schema by itself."""
    if not isinstance(node.value, dict) or len(_KEYWORDS.intersection(node.value)) < 2:
        return iter(())
    return contradictions([node])


@dataclass(frozen=True)
class _Bound:
    keyword: str
    value: Number
    pointer: str


def _strictest(nodes: Iterable[Node], keywords: Sequence[str], *, above: bool) -> _Bound | None:
    found = [
        _Bound(keyword, value, node.at(keyword))
        for node in nodes
        for keyword in keywords
        if isinstance(value := node.get(keyword), (int, Fraction)) and not isinstance(value, bool)
    ]
    if not found:
        return None
    # Of equal bounds the one that excludes its value is stricter.
    return max(found, key=lambda b: (b.value if above else -b.value, "exclusive" in b.keyword))


def _types(nodes: Iterable[Node]) -> Iterator[Contradiction]:
    seen: list[tuple[Node, tuple[str, ...]]] = []
    for node in nodes:
        types = _names(node.get("type"))
        if types is None:
            continue
        for _, others in seen:
            if not _common(types, others):
                message = f"type {_listed(others)} and type {_listed(types)} exclude each other"
                yield Contradiction(message, "no value", node.at("type"), "")
                return
        seen.append((node, types))


def _values(nodes: Sequence[Node]) -> Iterator[Contradiction]:
    """Listed values none of which has the type."""
    typed = [(node, types) for node in nodes if (types := _names(node.get("type"))) is not None]
    for node in nodes:
        for keyword in ("const", "enum"):
            listed = _listed_values(node, keyword)
            for _, types in typed if listed else ():
                if not any(_has_type(value, types) for value in listed):
                    what = "const is" if keyword == "const" else "no value of enum is"
                    is_not = "not " if keyword == "const" else ""
                    message = f"{what} {is_not}of type {_listed(types)}"
                    yield Contradiction(message, "no value", node.at(keyword), "")
                    return


def _listed_values(node: Node, keyword: str) -> list[JsonValue]:
    if keyword == "const":
        return [node.get("const")] if node.has("const") else []
    listed = node.get("enum")
    return listed if isinstance(listed, list) else []


def _names(value: JsonValue) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return tuple(str(name) for name in value)
    return None


def _common(left: Sequence[str], right: Sequence[str]) -> bool:
    return any(a == b or {a, b} == {"integer", "number"} for a in left for b in right)


def _has_type(value: JsonValue, types: Sequence[str]) -> bool:
    name = kind(value)
    if name in types:
        return True
    return "integer" in types and name == "number" and isinstance(value, int)


def _listed(types: Sequence[str]) -> str:
    return " or ".join(types) if types else "[]"
