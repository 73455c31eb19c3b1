"""Random schemas of two or three keywords that meet, rare ones as often as common ones, some with parts of real ones.

What a keyword asks for may be without bounds, such as any string, or a small list: what tells values apart often fails
where the one stands beside the other.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.json_schema.test_drafts import URI

NAMES = ["a", "b", "ab", "c", "x1", "é"]
TEXTS = ["", "a", "b", "ab", "aab", "x1", 'q"', "é"]
PATTERNS = ["^a", "b$", "a|b", "^[ab]*$", "1", "^.$", "[^a]", "^[a-c]{1,2}$"]
NUMBERS: list[Any] = [-2, -1, 0, 1, 2, 3, 5, 10, 0.5, -0.5, 1.25]
COMPOSITES: list[Any] = [[], [1], [True], ["a", "a"], {}, {"a": 1}, {"a": 1, "b": "a"}, {"b": []}]
SCALARS: list[Any] = [None, True, False, 0, 1, 2, -1, 0.5, "", "a", "b", "ab"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
# What has no bounds, the widest and strings more often than others.
ALWAYS: list[Any] = [{}, {}, True, *({"type": each} for each in TYPES), *({"type": "string"},) * 3]
ALWAYS += [{"type": ["string", "integer"]}, {"type": ["string", "object"]}, {"type": ["array", "string"]}]
SOMETIMES: list[Any] = [
    {"type": ["null", "integer"]},
    {"type": ["string", "object"]},
    {"type": ["array", "string"]},
    {"const": "a"},
    {"const": "b"},
    {"const": 1},
    {"const": None},
    {"const": [1]},
    {"const": {"a": 1}},
    {"enum": ["a", "b"]},
    {"enum": [1, "a", None]},
    {"enum": [[], {}, "a"]},
    {"type": "string", "pattern": "^[ab]$"},
    {"type": "string", "minLength": 1},
    {"type": "string", "maxLength": 1},
    {"type": "integer", "minimum": 0, "maximum": 2},
    {"type": "number", "exclusiveMinimum": 0},
    {"multipleOf": 2},
    {"type": "array", "maxItems": 1},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    {"type": "array", "uniqueItems": True},
    {"type": "object", "maxProperties": 1},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    {"required": ["a"]},
    {"minItems": 1},
    {"minLength": 2},
    {"not": {"type": "string"}},
    False,
]


class Maker:
    """Makes schemas. With the same state of `rng`, the same.

    cuts  parts of real schemas
    """

    def __init__(self, rng: random.Random, cuts: list[Any]) -> None:
        self._rng = rng
        self._cuts = cuts

    def schema(self) -> Any:
        """A schema with its definitions, in some draft."""
        found = self._combined(depth=0, in_place=True)
        if self._uses(found, "#/$defs/d"):
            found["$defs"] = {"d": self._combined(depth=2, in_place=True, refers=False)}
        draft = self._rng.choice(["2020-12"] * 8 + ["7", "7", "2019-09", "4"])
        return found if draft == "2020-12" else {"$schema": URI[draft], **_in_draft(found, draft)}

    def _uses(self, schema: Any, target: str) -> bool:
        return any(each.get("$ref") == target for each in schemas_in(schema) if isinstance(each, dict))

    def _combined(self, depth: int, *, in_place: bool, refers: bool = True, group: str | None = None) -> dict[str, Any]:
        """Some keywords that meet, mostly of one type of values, which may be given."""
        rng = self._rng
        if group is None or rng.random() < 0.15:
            group = rng.choice([*_GROUPS, "arrays", "objects"])
        every = [*_ANY, *(keyword for keywords in _GROUPS.values() for keyword in keywords)]
        among = rng.choice([_GROUPS[group]] * 4 + [[*_GROUPS[group], *_ANY]] * 3 + [every])
        found: dict[str, Any] = {}
        for keyword in rng.sample(among, min(rng.choice([2, 2, 3, 3, 4, 5]), len(among))):
            inner = _Inner(self, depth + 1, in_place, refers, group)
            found |= _KEYWORDS[keyword](rng, inner)
        if "type" not in found and rng.random() < 0.6:
            found["type"] = _TYPE_OF[group] if rng.random() < 0.8 else _types(rng, inner)
        if group == "arrays" and rng.random() < 0.3:
            found["uniqueItems"] = True
        if self._cuts and rng.random() < 0.1:
            cut = rng.choice(self._cuts)
            found = {**cut, **found} if isinstance(cut, dict) and rng.random() < 0.7 else {**found, "allOf": [cut]}
        return found

    def part(self, depth: int, *, in_place: bool, refers: bool, group: str | None) -> Any:
        """A schema inside of another; in_place: for the same value as that; group: of the type of which values are."""
        rng = self._rng
        chance = rng.random()
        if depth < 3 and chance < 0.4 / depth:
            return self._combined(depth, in_place=in_place, refers=refers, group=group)
        if self._cuts and chance > 0.95:
            return rng.choice(self._cuts)
        if refers and chance > 0.9:
            return {"$ref": "#/$defs/d"} if in_place or rng.random() < 0.6 else {"$ref": "#"}
        leaves = ALWAYS if rng.random() < 0.45 else SOMETIMES
        if group is not None and rng.random() < 0.8:
            leaves = [leaf for leaf in leaves if _may_be(leaf, _TYPE_OF[group])]
        return rng.choice(leaves)


class _Inner:
    """Makes what stands inside of a keyword."""

    def __init__(self, maker: Maker, depth: int, in_place: bool, refers: bool, group: str) -> None:
        self._maker, self._depth, self._in_place, self.refers, self.group = maker, depth, in_place, refers, group

    def same(self) -> Any:
        """A schema for the same value."""
        return self._maker.part(self._depth, in_place=self._in_place, refers=self.refers, group=self.group)

    def value(self) -> Any:
        """A schema for an item or a member."""
        return self._maker.part(self._depth, in_place=False, refers=self.refers, group=None)


_Make = Callable[[random.Random, _Inner], dict[str, Any]]


def _count(keyword: str) -> _Make:
    return lambda rng, _: {keyword: rng.choice([0, 1, 1, 2, 2, 3, 4])}


def _number(keyword: str) -> _Make:
    return lambda rng, _: {keyword: rng.choice(NUMBERS)}


def _in_place(keyword: str) -> _Make:
    return lambda rng, inner: {keyword: [inner.same() for _ in range(rng.choice([1, 2, 2, 3]))]}


def _inside(keyword: str) -> _Make:
    return lambda _, inner: {keyword: inner.value()}


def _values(rng: random.Random, inner: _Inner) -> list[Any]:
    found = rng.sample([*SCALARS, *COMPOSITES], rng.choice([1, 2, 3, 4]))
    fits = [value for value in [*SCALARS, *COMPOSITES] if _is(value, _TYPE_OF[inner.group])]
    return found if rng.random() < 0.25 else [rng.choice(fits), *found[1:]]


def _unlike(values: list[Any]) -> list[Any]:
    """Without those that are equal to one before."""
    return list({json.dumps(value): value for value in values}.values())


def _types(rng: random.Random, inner: _Inner) -> Any:
    if rng.random() < 0.2:
        return rng.choice(TYPES)
    kind = _TYPE_OF[inner.group]
    return rng.sample([kind, rng.choice([other for other in TYPES if other != kind])], 2)


def _is(value: Any, kind: str) -> bool:
    types = {"string": str, "number": (int, float), "array": list, "object": dict}
    return isinstance(value, types[kind]) and not isinstance(value, bool)


def _may_be(leaf: Any, kind: str) -> bool:
    if not isinstance(leaf, dict):
        return bool(leaf)
    if "const" in leaf or "enum" in leaf:
        return any(_is(value, kind) for value in leaf.get("enum", [leaf.get("const")]))
    types = leaf.get("type", kind)
    return kind in types or (kind == "number" and "integer" in types)


def _some_names(rng: random.Random) -> list[str]:
    return rng.sample(NAMES, rng.choice([1, 1, 2]))


def _contains(rng: random.Random, inner: _Inner) -> dict[str, Any]:
    return {"contains": inner.value()} if rng.random() < 0.8 else {}


_ANY: list[str] = ["type", "enum", "const", "not", "allOf", "anyOf", "oneOf", "if", "$ref"]
_GROUPS: dict[str, list[str]] = {
    "strings": ["minLength", "maxLength", "pattern"],
    "numbers": ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    "arrays": [
        *["items", "prefixItems", "contains", "minContains", "maxContains"],
        *["minItems", "maxItems", "uniqueItems", "unevaluatedItems"],
    ],
    "objects": [
        *["properties", "required", "additionalProperties", "patternProperties", "propertyNames"],
        *["minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"],
    ],
}
_TYPE_OF = {"strings": "string", "numbers": "number", "arrays": "array", "objects": "object"}
_KEYWORDS: dict[str, _Make] = {
    "type": lambda rng, inner: {"type": _types(rng, inner)},
    "enum": lambda rng, inner: {"enum": _unlike(_values(rng, inner))},
    "const": lambda rng, inner: {"const": _values(rng, inner)[0]},
    "not": lambda _, inner: {"not": inner.same()},
    "allOf": _in_place("allOf"),
    "anyOf": _in_place("anyOf"),
    "oneOf": _in_place("oneOf"),
    "if": lambda rng, inner: {
        "if": inner.same(),
        **({"then": inner.same()} if rng.random() < 0.8 else {}),
        **({"else": inner.same()} if rng.random() < 0.5 else {}),
    },
    "$ref": lambda _, inner: {"$ref": "#/$defs/d"} if inner.refers else {},
    **{keyword: _count(keyword) for keyword in ("minLength", "maxLength", "minItems", "maxItems")},
    **{keyword: _count(keyword) for keyword in ("minProperties", "maxProperties")},
    **{keyword: _number(keyword) for keyword in _GROUPS["numbers"][:4]},
    "pattern": lambda rng, _: {"pattern": rng.choice(PATTERNS)},
    "multipleOf": lambda rng, _: {"multipleOf": rng.choice([0.5, 1, 2, 3, 5, 0.25])},
    **{keyword: _inside(keyword) for keyword in ("items", "contains", "unevaluatedItems")},
    **{keyword: _inside(keyword) for keyword in ("additionalProperties", "unevaluatedProperties")},
    "prefixItems": lambda rng, inner: {"prefixItems": [inner.value() for _ in range(rng.choice([1, 2, 2, 3]))]},
    "minContains": lambda rng, inner: {**_contains(rng, inner), "minContains": rng.choice([0, 1, 2, 3])},
    "maxContains": lambda rng, inner: {**_contains(rng, inner), "maxContains": rng.choice([0, 1, 1, 2])},
    "uniqueItems": lambda rng, _: {"uniqueItems": rng.random() < 0.9},
    "properties": lambda rng, inner: {
        "properties": {name: inner.value() for name in rng.sample(NAMES, rng.choice([1, 2, 2, 3]))}
    },
    "required": lambda rng, _: {"required": _some_names(rng)},
    "patternProperties": lambda rng, inner: {
        "patternProperties": {pattern: inner.value() for pattern in rng.sample(PATTERNS, rng.choice([1, 1, 2]))}
    },
    # Names are strings: what is said of numbers and objects says nothing of them.
    "propertyNames": lambda rng, inner: {
        "propertyNames": rng.choice(
            [{"pattern": rng.choice(PATTERNS)}, {"maxLength": 1}, {"enum": NAMES[:3]}, inner.value()]
        )
    },
    "dependentRequired": lambda rng, _: {"dependentRequired": {rng.choice(NAMES): _some_names(rng)}},
    "dependentSchemas": lambda rng, inner: {"dependentSchemas": {rng.choice(NAMES): inner.same()}},
}

# What a keyword is called in drafts before 2020-12, None: there is no such keyword.
_BEFORE_2020: dict[str, str | None] = {
    "prefixItems": "items",
    "items": "additionalItems",
    # The judge reads these two otherwise than 2019-09 has them beside `contains` and `additionalProperties`.
    "unevaluatedItems": None,
    "unevaluatedProperties": None,
}
_BEFORE_2019: dict[str, str | None] = {
    "dependentRequired": "dependencies",
    "dependentSchemas": "dependencies",
    "minContains": None,
    "maxContains": None,
}


def _in_draft(schema: Any, draft: str) -> Any:
    """The same in an older draft, as far as that can say it."""
    if isinstance(schema, bool):
        return schema if draft != "4" else {} if schema else {"not": {}}
    found: dict[str, Any] = {}
    names = {**_BEFORE_2020, **(_BEFORE_2019 if draft != "2019-09" else {})}
    if "prefixItems" not in schema:
        names["items"] = "items"
    for keyword, held in schema.items():
        name = names.get(keyword, keyword)
        if name is None or name in found:
            continue
        if draft == "4" and keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            bound = keyword.removeprefix("exclusive").lower()
            found |= {bound: held, keyword: True}
            continue
        found[name] = _with_parts(keyword, held, lambda part: _in_draft(part, draft))
    if draft == "4" and "exclusiveMinimum" in found and "minimum" not in found:
        del found["exclusiveMinimum"]
    return found


_LISTS = ("prefixItems", "allOf", "anyOf", "oneOf")
_NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies")
_SINGLE = ("items", "contains", "unevaluatedItems", "additionalItems", "additionalProperties", "unevaluatedProperties")
_SINGLE_TOO = ("propertyNames", "not", "if", "then", "else")


def _with_parts(keyword: str, held: Any, change: Callable[[Any], Any]) -> Any:
    """What a keyword holds, with other schemas inside."""
    if keyword in _LISTS or (keyword == "items" and isinstance(held, list)):
        return [change(part) for part in held]
    if keyword in _NAMED:
        return {name: part if isinstance(part, list) else change(part) for name, part in held.items()}
    return change(held) if keyword in (*_SINGLE, *_SINGLE_TOO) else held


def schemas_in(schema: Any) -> Iterator[Any]:
    """A schema and all that are inside of it."""
    yield schema
    if not isinstance(schema, dict):
        return
    for keyword, held in schema.items():
        inside: list[Any] = []
        _with_parts(keyword, held, inside.append)
        for part in inside:
            yield from schemas_in(part)


# What depends on where a part stands, or on what the judge leaves out.
_BOUND = {"$ref", "$schema", "$id", "id", "$anchor", "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "definitions"}
_BOUND |= {"$defs", "$recursiveAnchor", "$vocabulary", "format"}


def cuts_of(schema: Any) -> Iterator[Any]:
    """The parts of a real schema that may stand elsewhere and are of a size that can be looked at."""
    try:
        parts = list(schemas_in(schema))
        sizes = [sum(1 for _ in schemas_in(part)) for part in parts]
    except (AttributeError, TypeError, RecursionError):
        return
    for part, size in zip(parts, sizes, strict=True):
        is_fit = isinstance(part, dict) and part and size <= 12 and len(str(part)) < 600
        if is_fit and not any(isinstance(each, dict) and _BOUND & set(each) for each in schemas_in(part)):
            yield {key: held for key, held in part.items() if key not in ("description", "title", "examples")}
