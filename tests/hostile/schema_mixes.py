"""JSON Schemas that are made to take long: every applicator inside of every other, and sets of values that cross.

`mixes(n, seed)` yields (name, schema, options): first the families below, in some sizes, then random mixes of their
parts. The same seed gives the same schemas.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.collisions import murmur_texts, python_integers

Schema = Any
Options = dict[str, Any]
ORDERS: tuple[Options, ...] = ({}, {"property_order": "any"})

PATTERNS = (
    "^a", "b$", "^[ab]*$", "(a|b)c", "^.{2,5}$", "a.*b", "^(a|b)*a(a|b){9}$", "^a.*b$", "c.*d", "^[a-f]+[0-9]{2,5}$",
    "foo|bar", "^.{3,20}x", "[0-9]+-[0-9]+", "^(ab|cd)*$", "z.{4}y", "^\\p{L}{1,40}$", "(?=a)", "^(?!ab)", "\\bx\\b",
)  # fmt: skip
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def mixes(n: int, seed: int = 0) -> Iterator[tuple[str, Schema, Options]]:
    """The families, then `n` random mixes; each in both orders of properties."""
    source = random.Random(seed)
    random_ones = ((f"mix {seed}.{i}", Mixer(source).schema(4)) for i in range(n))
    for name, schema in itertools.chain(families(), random_ones):
        for options in ORDERS:
            yield f"{name}{', any order' if options else ''}", schema, options


def families() -> Iterator[tuple[str, Schema]]:
    """Each kind of harm, in some sizes."""
    for make in (nests, ladders, crossed, lists, references, bounds, patterns, arrays, dependent, unevaluated):
        yield from make()


# Nests and ladders

Wrap = Callable[[Schema, int], Schema]
APPLICATORS: dict[str, Wrap] = {
    "not": lambda s, _: {"not": s},
    "items": lambda s, _: {"items": s},
    "prefixItems": lambda s, i: {"prefixItems": [{"const": i}, s]},
    "contains": lambda s, i: {"type": "array", "contains": s, "minContains": i % 3, "maxContains": i % 3 + 2},
    "property": lambda s, _: {"type": "object", "properties": {"a": s}, "required": ["a"]},
    "patternProperties": lambda s, i: {"patternProperties": {PATTERNS[i % 6]: s}},
    "additionalProperties": lambda s, i: {"properties": {f"p{i}": {}}, "additionalProperties": s},
    "propertyNames": lambda s, _: {"propertyNames": s},
    "dependentSchemas": lambda s, i: {"dependentSchemas": {f"p{i}": s}},
    "unevaluatedItems": lambda s, _: {"unevaluatedItems": s},
    "unevaluatedProperties": lambda s, _: {"unevaluatedProperties": s},
    "allOf": lambda s, i: {"allOf": [s, {"not": {"const": i}}]},
    "anyOf": lambda s, i: {"anyOf": [s, {"const": i}]},
    "oneOf": lambda s, i: {"oneOf": [s, {"const": i}]},
    "if": lambda s, i: {"if": s, "then": {"not": {"const": i}}, "else": {"const": i}},
    "then": lambda s, i: {"if": {"type": TYPES[i % 7]}, "then": s, "else": False},
}
CORES: dict[str, Schema] = {
    "anything": {},
    "integer": {"type": "integer"},
    "pattern": {"type": "string", "pattern": "^a+$"},
    "object": {"type": "object", "properties": {"a": {"type": "string"}}},
    "array": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
}


def nests() -> Iterator[tuple[str, Schema]]:
    """One applicator, or two in turn, 40 deep around a core."""
    for core in CORES:
        for name in APPLICATORS:
            yield f"nest {name}, {core}", nested([name], CORES[core], 40)
    for number, (a, b) in enumerate(itertools.permutations(APPLICATORS, 2)):
        core = list(CORES)[number % len(CORES)]
        yield f"nest {a} {b}, {core}", nested([a, b], CORES[core], 20)


def nested(names: list[str], core: Schema, depth: int) -> Schema:
    schema = core
    for i in range(depth):
        schema = APPLICATORS[names[i % len(names)]](schema, i)
    return schema


LADDERS: dict[str, Callable[[Schema], Schema]] = {
    **{how: lambda s, how=how: {how: [s, s]} for how in ("allOf", "anyOf", "oneOf")},  # type: ignore[misc]
    **{f"{how} not": lambda s, how=how: {how: [s, {"not": s}]} for how in ("anyOf", "oneOf")},  # type: ignore[misc]
    **{f"{how} more": lambda s, how=how: {how: [s, {**s, "minLength": 3}]} for how in ("anyOf", "oneOf")},  # type: ignore[misc]
    "not all": lambda s: {"not": {"allOf": [s, s]}},
    "if": lambda s: {"if": s, "then": s, "else": s},
    "pairs": lambda s: {"type": "array", "prefixItems": [s, s], "minItems": 2},
    "members": lambda s: {"type": "object", "properties": {"a": s, "b": s}, "required": ["a"]},
    "one of arrays": lambda s: {"oneOf": [{"type": "array", "items": s}, {"type": "array", "items": s, "maxItems": 3}]},
}


def ladders() -> Iterator[tuple[str, Schema]]:
    """References that double at each of 40 steps: 2**40 ways without a memory."""
    for core, inner in CORES.items():
        for name, double in LADDERS.items():
            steps = {f"d{i + 1}": double({"$ref": f"#/$defs/d{i}"}) for i in range(40)}
            yield f"ladder {name}, {core}", {"$defs": {"d0": inner, **steps}, "$ref": "#/$defs/d40"}


# Sets that cross


def crossed_object(source: random.Random, n_patterns: int) -> Schema:
    """An object whose patterns overlap those of others."""
    schema: Schema = {
        "patternProperties": {p: {"type": source.choice(TYPES)} for p in source.sample(PATTERNS[:16], n_patterns)},
        "additionalProperties": source.choice([{"type": source.choice(TYPES)}, False, {"minimum": 1}]),
    }
    if source.random() < 0.3:
        schema["propertyNames"] = {"pattern": source.choice(PATTERNS[:16])}
    if source.random() < 0.3:
        schema["minProperties"] = source.randint(1, 3)
    if source.random() < 0.2:
        schema["maxProperties"] = source.randint(2, 6)
    return schema


def crossed() -> Iterator[tuple[str, Schema]]:
    source = random.Random(1)
    for n_objects, n_patterns in ((2, 1), (2, 2), (3, 2), (3, 3), (4, 1), (6, 3), (10, 2), (30, 1)):
        for how in ("oneOf", "anyOf", "allOf"):
            parts = [crossed_object(source, n_patterns) for _ in range(n_objects)]
            yield f"crossed {how} {n_objects}x{n_patterns}", {how: parts}
            yield f"crossed not {how} {n_objects}x{n_patterns}", {"not": {how: parts}}
            yield f"crossed {how} of not {n_objects}x{n_patterns}", {how: [{"not": part} for part in parts]}
    for n in (4, 8, 12, 16):
        closed = [
            {"type": "object", "properties": {k: {"type": source.choice(TYPES)} for k in source.sample("abcdefgh", 5)},
             "required": source.sample("abcdefgh", 2), "additionalProperties": source.random() < 0.5}
            for _ in range(n)
        ]  # fmt: skip
        for how in ("oneOf", "anyOf", "allOf"):
            yield f"members {how} {n}", {how: closed}
            yield f"members not {how} {n}", {"type": "object", "not": {how: closed}}
    for n in (3, 5, 8):
        multiples = [{"multipleOf": p} for p in (2, 3, 5, 7, 11, 13, 17, 19)[:n]]
        fractions = [{"multipleOf": p / 100} for p in (2, 3, 5, 7, 11, 13, 17, 19)[:n]]
        for name, parts in (("multiples", multiples), ("fractions", fractions)):
            for how in ("oneOf", "anyOf", "allOf"):
                yield f"{name} {how} {n}", {"type": "number", how: parts}
                yield f"{name} {how} {n} but", {"allOf": [{how: parts}, {"not": {"multipleOf": 23}}]}
                yield f"{name} not {how} {n}", {"type": "integer", "not": {how: parts}, "minimum": -1000}


# Lists


def lists() -> Iterator[tuple[str, Schema]]:
    integers = python_integers(2_000)
    texts = murmur_texts(12)
    huge = [10**i + 1 for i in range(350)] + [-(10**i) - 1 for i in range(350)]
    close = [f"{'a' * 200}{i:x}" for i in range(2_000)]
    mixed = [*range(500), *texts[:500], None, True, 1.5, [], {}, [[]], {"a": {}}]
    for name, listed in {
        "integers": integers, "texts": texts, "huge": huge, "close": close, "mixed": mixed,
        "arrays": [[i] for i in integers], "objects": [{"a": i, texts[k]: i} for k, i in enumerate(integers)],
        "deep": [nested_value(i) for i in range(300)],
    }.items():  # fmt: skip
        yield f"enum {name}", {"enum": listed}
        yield f"not enum {name}", {"not": {"enum": listed}}
        yield f"consts {name}", {"oneOf": [{"const": value} for value in listed]}
        yield f"enum but enum {name}", {"allOf": [{"enum": listed}, {"not": {"enum": listed[::2]}}]}
        yield f"unique {name}", {"type": "array", "items": {"enum": listed}, "uniqueItems": True}
        yield f"contains {name}", {"type": "array", "items": {"enum": listed}, "contains": {"const": listed[0]}}
        yield f"names {name}", {"type": "object", "propertyNames": {"enum": listed}}
        yield f"any of enums {name}", {"anyOf": [{"enum": listed[i:]} for i in range(0, len(listed), 50)]}
        yield f"one of enums {name}", {"oneOf": [{"enum": listed[i:]} for i in range(0, len(listed), 50)]}
    yield "properties that collide", {"properties": {text: {"const": i} for i, text in enumerate(texts)}}
    yield "required that collide", {"required": texts}
    yield "patterns that collide", {"patternProperties": {f"^{text}$": {"const": 1} for text in murmur_texts(6)}}


def nested_value(n: int) -> Any:
    value: Any = n
    for i in range(40):
        value = [value] if (n >> (i % 8)) & 1 else {"a": value}
    return value


# References


def references() -> Iterator[tuple[str, Schema]]:
    for n in (100, 3_000):
        links: dict[str, Schema] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}
        yield f"chain {n}", {"$ref": "#/$defs/d0", "$defs": {**links, f"d{n}": {"type": "null"}}}
        yield f"ring {n}", {"$ref": "#/$defs/d0", "$defs": {**links, f"d{n}": {"$ref": "#/$defs/d0"}}}
        members = {f"d{i}": {"properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}}} for i in range(n)}
        yield f"chain of members {n}", {"$ref": "#/$defs/d0", "$defs": {**members, f"d{n}": {"$ref": "#/$defs/d0"}}}
        every = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"minLength": i % 50}]} for i in range(n)}
        yield f"chain of all {n}", {"$ref": "#/$defs/d0", "$defs": {**every, f"d{n}": {"type": "string"}}}
    for n in (5, 10, 20):
        names = [f"d{i}" for i in range(n)]
        for how in ("anyOf", "oneOf", "allOf"):
            graph = {
                name: {"type": "object", "properties": {"a": {how: [{"$ref": f"#/$defs/{other}"} for other in names]}}}
                for name in names
            }
            yield f"graph {how} {n}", {"$ref": "#/$defs/d0", "$defs": graph}
            unlike = {
                name: {**graph[name], "required": [name], "additionalProperties": i % 2 == 0}
                for i, name in enumerate(names)
            }
            yield f"graph {how} {n}, required", {"$ref": "#/$defs/d0", "$defs": unlike}
        tree = {
            name: {"type": "array", "items": {"not": {"$ref": f"#/$defs/{names[(i * 7 + 3) % n]}"}}, "maxItems": i + 1}
            for i, name in enumerate(names)
        }
        yield f"graph of not {n}", {"$ref": "#/$defs/d0", "$defs": tree}
    tree = {"$dynamicAnchor": "node", "type": "object", "properties": {"c": {"items": {"$dynamicRef": "#node"}}}}
    yield (
        "dynamic",
        {"$dynamicAnchor": "node", "$ref": "#/$defs/t", "unevaluatedProperties": False, "$defs": {"t": tree}},
    )


# Bounds


def bounds() -> Iterator[tuple[str, Schema]]:
    for n in (1_000, 1_000_000, 2**31 - 1, 2**61 - 1):
        yield f"items {n}", {"type": "array", "minItems": n, "maxItems": n, "items": {"type": "integer"}}
        yield f"unique items {n}", {"type": "array", "minItems": n, "uniqueItems": True, "items": {"type": "integer"}}
        yield f"length {n}", {"type": "string", "minLength": n, "maxLength": n + 1, "pattern": "a.*b"}
        yield f"properties {n}", {"type": "object", "minProperties": n, "maxProperties": n}
        yield f"names {n}", {"type": "object", "minProperties": n, "propertyNames": {"pattern": "^[ab]{1,8}$"}}
        yield f"contains {n}", {"type": "array", "contains": {"const": 1}, "minContains": n, "maxContains": n}
        yield f"repetition {n}", {"type": "string", "pattern": f"^(a{{0,{n}}}b){{0,{n}}}$"}
    yield "range", {"type": "integer", "minimum": -(10**300), "maximum": 10**300, "multipleOf": 10**20 + 39}
    yield "fraction", {"type": "number", "exclusiveMinimum": 1e-300, "exclusiveMaximum": 1e300, "multipleOf": 1e-20}
    yield (
        "ranges",
        {
            "oneOf": [
                {"type": "number", "minimum": k * (2**61 - 1), "maximum": (k + 3) * (2**61 - 1)} for k in range(300)
            ]
        },
    )
    yield "decimals", {"anyOf": [{"type": "number", "minimum": i / 997, "maximum": i / 991} for i in range(300)]}
    yield "lengths", {"oneOf": [{"type": "string", "minLength": i, "maxLength": 2 * i} for i in range(60)]}
    yield "item counts", {"oneOf": [{"type": "array", "minItems": i, "maxItems": 2 * i} for i in range(60)]}
    yield (
        "property counts",
        {"oneOf": [{"type": "object", "minProperties": i, "maxProperties": 2 * i} for i in range(40)]},
    )


# Patterns


def patterns() -> Iterator[tuple[str, Schema]]:
    for n in (2, 4, 8, 16):
        strings = [{"type": "string", "pattern": p} for p in PATTERNS[:16][:n]]
        for how in ("oneOf", "anyOf", "allOf"):
            yield f"patterns {how} {n}", {how: strings}
            yield f"patterns not {how} {n}", {"type": "string", "not": {how: strings}}
        yield f"pattern keys {n}", {"patternProperties": {p: {"const": i} for i, p in enumerate(PATTERNS[:16][:n])}}
    long = "|".join(f"^x{i}[a-z]{{1,{i % 30 + 1}}}$" for i in range(500))
    yield "long pattern", {"type": "string", "pattern": long}
    yield "long pattern, not", {"type": "string", "not": {"pattern": long}}
    yield "long key pattern", {"patternProperties": {long: {"type": "null"}}, "additionalProperties": False}
    yield (
        "counted",
        {"type": "string", "allOf": [{"pattern": f"^(?:{c}|.{{{i + 3}}}){{2,40}}$"} for i, c in enumerate("abcdef")]},
    )
    yield "windows", {"type": "string", "allOf": [{"pattern": f"{c}.{{{i + 8}}}{c}"} for i, c in enumerate("abcde")]}
    yield (
        "not windows",
        {"type": "string", "allOf": [{"not": {"pattern": f"{c}.{{{i + 8}}}{c}"}} for i, c in enumerate("abcde")]},
    )
    for form in ("uri", "email", "date-time", "uuid", "ipv6", "idn-email", "regex", "json-pointer", "hostname"):
        yield f"format {form} but", {"type": "string", "format": form, "not": {"pattern": "a.*b"}, "maxLength": 40}
        yield f"format names {form}", {"type": "object", "propertyNames": {"format": form}, "minProperties": 2}
    forms = ("uri", "email", "date-time", "uuid", "ipv6", "hostname")
    yield "formats one of", {"oneOf": [{"type": "string", "format": form} for form in forms]}


# Arrays, dependencies, annotations


def arrays() -> Iterator[tuple[str, Schema]]:
    for n in (3, 10, 30):
        prefix: list[Schema] = [{"type": ["integer", "string"]} if i % 2 else {"enum": [i, "a", [i]]} for i in range(n)]
        yield f"unique prefix {n}", {"type": "array", "uniqueItems": True, "prefixItems": prefix}
        yield (
            f"unique arrays {n}",
            {
                "type": "array",
                "uniqueItems": True,
                "items": {"type": "array", "prefixItems": prefix, "uniqueItems": True},
            },
        )
        contained = [{"contains": {"const": i}, "minContains": i % 3 + 1} for i in range(n)]
        yield f"contains all {n}", {"type": "array", "allOf": contained}
        yield f"contains one {n}", {"type": "array", "oneOf": contained}
        yield f"contains and unique {n}", {"type": "array", "allOf": contained, "uniqueItems": True}
        yield f"not contains {n}", {"type": "array", "not": {"anyOf": contained}, "minItems": 2}
        objects = {
            "type": "object",
            "properties": {f"p{i}": {"type": "boolean"} for i in range(n)},
            "additionalProperties": False,
        }
        yield f"unique objects {n}", {"type": "array", "uniqueItems": True, "items": objects, "minItems": min(n, 8)}
        yield (
            f"arrays one of {n}",
            {"oneOf": [{"type": "array", "items": {"enum": [i, i + 1]}, "maxItems": i + 20} for i in range(n)]},
        )
        yield (
            f"arrays not one of {n}",
            {"type": "array", "not": {"oneOf": [{"items": {"enum": [i, i + 1]}, "maxItems": i + 2} for i in range(n)]}},
        )
        yield (
            f"prefixes one of {n}",
            {"oneOf": [{"type": "array", "prefixItems": [{}] * i + [{"const": i}]} for i in range(n)]},
        )


def dependent() -> Iterator[tuple[str, Schema]]:
    for n in (4, 10, 16, 30):
        names = [f"p{i}" for i in range(n)]
        yield (
            f"dependent schemas {n}",
            {"dependentSchemas": {name: {"required": [names[i - 1]]} for i, name in enumerate(names)}},
        )
        yield f"dependent required {n}", {"dependentRequired": {name: names[:i] for i, name in enumerate(names)}}
        yield (
            f"dependent values {n}",
            {
                "dependentSchemas": {
                    name: {"properties": {names[i - 1]: {"const": i}}} for i, name in enumerate(names)
                },
                "additionalProperties": {"type": "integer"},
            },
        )
        conditions = [
            {
                "if": {"properties": {name: {"const": i}}, "required": [name]},
                "then": {"required": [names[i - 1]]},
                "else": {"minProperties": i % 3},
            }
            for i, name in enumerate(names)
        ]
        yield f"conditions {n}", {"type": "object", "allOf": conditions}
        yield f"required one of {n}", {"type": "object", "oneOf": [{"required": [name]} for name in names]}
        yield (
            f"required any of {n}",
            {
                "type": "object",
                "allOf": [{"anyOf": [{"required": [a]}, {"required": [b]}]} for a, b in itertools.pairwise(names)],
            },
        )


def unevaluated() -> Iterator[tuple[str, Schema]]:
    for n in (3, 6, 12):
        parts = [{"properties": {f"p{i}": {"type": TYPES[i % 7]}}, "required": [f"p{i}"]} for i in range(n)]
        rows: list[Schema] = [{"prefixItems": [{}] * i + [{"const": i}]} for i in range(n)]
        for how in ("anyOf", "oneOf", "allOf"):
            yield (
                f"unevaluated properties {how} {n}",
                {"type": "object", how: parts, "unevaluatedProperties": {"type": "null"}},
            )
            yield f"unevaluated items {how} {n}", {"type": "array", how: rows, "unevaluatedItems": {"type": "null"}}
            yield (
                f"unevaluated patterns {how} {n}",
                {
                    "type": "object",
                    how: [{"patternProperties": {p: {"type": "null"}}} for p in PATTERNS[:n]],
                    "unevaluatedProperties": False,
                },
            )
        contained = [{"contains": {"const": i}} for i in range(n)]
        yield f"unevaluated contains {n}", {"type": "array", "anyOf": contained, "unevaluatedItems": False}


# Random mixes


class Mixer:
    """Random schemas of the parts above."""

    def __init__(self, source: random.Random) -> None:
        self._source = source

    def schema(self, depth: int) -> Schema:
        """Nested so deep at most."""
        source = self._source
        if depth == 0 or source.random() < 0.1:
            return self._leaf()
        roll = source.random()
        if roll < 0.35:
            name = source.choice(list(APPLICATORS))
            return APPLICATORS[name](self.schema(depth - 1), source.randint(0, 9))
        if roll < 0.75:
            parts = [self.schema(depth - 1) for _ in range(source.choice((2, 2, 3, 3, 4, 6)))]
            how = source.choice(("oneOf", "anyOf", "allOf", "oneOf"))
            return {"not": {how: parts}} if source.random() < 0.3 else {how: parts}
        if roll < 0.9:
            return {**crossed_object(source, source.randint(1, 3)), "properties": {"a": self.schema(depth - 1)}}
        return {
            "type": "array",
            "items": self.schema(depth - 1),
            "contains": self._leaf(),
            "uniqueItems": source.random() < 0.5,
        }

    def _leaf(self) -> Schema:
        source = self._source
        return source.choice(
            (
                lambda: {"type": source.choice(TYPES)},
                lambda: {"type": "string", "pattern": source.choice(PATTERNS)},
                lambda: {"type": "integer", "multipleOf": source.choice((2, 3, 7, 10, 97))},
                lambda: {"type": "number", "minimum": source.randint(-99, 99), "multipleOf": 0.25},
                lambda: {"enum": [source.choice((i, str(i), [i], {"a": i})) for i in range(source.randint(1, 9))]},
                lambda: {"type": "string", "minLength": source.randint(0, 9), "maxLength": source.randint(9, 99)},
                lambda: crossed_object(source, source.randint(1, 2)),
                lambda: {
                    "type": "array",
                    "contains": {"type": source.choice(TYPES)},
                    "maxContains": source.randint(1, 4),
                },
                lambda: {"type": "object", "required": source.sample("abcd", 2), "maxProperties": source.randint(2, 4)},
                lambda: {"const": json.loads(source.choice(('[1,"a"]', '{"a":{"b":1}}', "1e2", '"ab"')))},
            )
        )()
