"""JSON Schemas that may do harm: nesting, each keyword with each kind of value, references, ladders, sizes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from cfgmask import Grammar
from tests.collisions import murmur_texts
from tests.hostile.runner import Case, Times
from tests.hostile.schema_mixes import mixes
from tests.hostile.use import use

ANY = frozenset({"accepted", "GrammarError", "LimitExceeded"})


def case(name: str, schema: Any, *expected: str, **options: Any) -> Case:
    return Case(
        f"schema/{name}",
        lambda: use(lambda: Grammar.from_json_schema(str(schema) if isinstance(schema, Times) else schema, **options)),
        frozenset(expected) or ANY,
    )


# Keywords of all drafts, and some that none has.
KEYWORDS = (
    "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength",
    "minLength", "pattern", "items", "prefixItems", "additionalItems", "maxItems", "minItems", "uniqueItems",
    "contains", "maxContains", "minContains", "maxProperties", "minProperties", "required", "properties",
    "patternProperties", "additionalProperties", "propertyNames", "dependencies", "dependentRequired",
    "dependentSchemas", "unevaluatedItems", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then",
    "else", "format", "$ref", "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$defs", "definitions", "$schema",
    "$vocabulary", "title", "default", "contentEncoding", "nonsense",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 10**400, 1e308, "", "a", "(", "#", "#/nowhere", [], [[]], ["a", "a"], [True], {},
    {"a": True}, {"": 1}, {"a": {"$ref": "#"}},
)  # fmt: skip


def keywords() -> Iterator[Case]:
    for number, keyword in enumerate(KEYWORDS):
        # Every value is tried with every keyword over the whole, a third of them each time.
        for value in VALUES[number % 3 :: 3]:
            yield case(f"{keyword}: {json.dumps(value)[:30]}", {keyword: value})


def nest(begin: str, core: str, end: str, n: int) -> str:
    return begin * n + core + end * n


NESTED = {
    "items": ('{"items":', "true", "}"),
    "not": ('{"not":', "{}", "}"),
    "properties": ('{"properties":{"a":', "true", "}}"),
    "required properties": ('{"type":"object","required":["a"],"properties":{"a":', "true", "}}"),
    "additional": ('{"additionalProperties":', "false", "}"),
    "one of": ('{"oneOf":[{"type":"null"},', "{}", "]}"),
    "any of": ('{"anyOf":[{"type":"null"},', '{"type":"string"}', "]}"),
    "all of": ('{"allOf":[{"type":["null","array"]},', "{}", "]}"),
    "if": ('{"if":', '{"type":"string"}', ',"then":{"type":"string"}}'),
    "contains": ('{"type":"array","contains":', '{"type":"null"}', "}"),
    "prefix": ('{"type":"array","prefixItems":[', "true", "]}"),
    "patterns": ('{"patternProperties":{"^a":', "true", "}}"),
    "names": ('{"propertyNames":{"not":', '{"maxLength":3}', "}}"),
    "unique": ('{"uniqueItems":true,"items":', '{"type":"string"}', "}"),
    "definitions": ('{"$defs":{"a":', "true", "}}"),
    "dependent": ('{"dependentSchemas":{"a":', "true", "}}"),
    "constants": ('{"const":' + "[", "1", "]" + "}"),
}


def nested() -> Iterator[Case]:
    for name, (begin, core, end) in NESTED.items():
        for n in (10, 50, 100, 199, 201, 20_000):
            text = nest(begin, core, end, n) if name != "constants" else '{"const":' + "[" * n + "]" * n + "}"
            expected = ("LimitExceeded max_nesting",) if n > 1_000 else ()
            yield case(f"nested {name}, {n}", text, *expected)
            if n <= 201:
                yield case(f"nested {name}, {n}, any order", text, property_order="any")


FIXED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "true": (True, ("accepted",)),
    "false": (False, ("GrammarError",)),
    "a list": ([], ("GrammarError",)),
    "nothing": ("", ("GrammarError schema-syntax",)),
    "not JSON": ("{", ("GrammarError schema-syntax",)),
    "a repeated key": ('{"type":"null","type":"string"}', tuple(ANY)),
    "open brackets": ("[" * 100_000, ("LimitExceeded max_nesting", "GrammarError")),
    "a reference to itself": ({"$ref": "#"}, ("GrammarError",)),
    "references in a ring": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        ("GrammarError",),
    ),
    "not itself": ({"not": {"$ref": "#"}}, ("GrammarError", "LimitExceeded")),
    "required of itself": (
        {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
        ("GrammarError",),
    ),
    "a chain of references": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {**{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(3_000)}, "d3000": {}},
        },
        tuple(ANY),
    ),
    "all of a chain": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"minLength": i}]} for i in range(300)},
                "d300": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "doubling references": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{
                    f"d{i}": {"type": "array", "prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}] * 2, "minItems": 2}
                    for i in range(60)
                },
                "d60": {"type": "null"},
            },
        },
        tuple(ANY),
    ),
    "doubling one of": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{
                    f"d{i}": {"oneOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}", "minLength": 3}]}
                    for i in range(40)
                },
                "d40": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "doubling any of": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{
                    f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}", "minLength": 3}]}
                    for i in range(40)
                },
                "d40": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "doubling all of": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)},
                "d40": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "doubling not": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{f"d{i}": {"not": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2}} for i in range(30)},
                "d30": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "doubling if": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{
                    f"d{i}": {
                        "if": {"$ref": f"#/$defs/d{i + 1}"},
                        "then": {"$ref": f"#/$defs/d{i + 1}"},
                        "else": {"type": "null"},
                    }
                    for i in range(30)
                },
                "d30": {"type": "string"},
            },
        },
        tuple(ANY),
    ),
    "many properties": ({"properties": {f"p{i}": {"type": "integer"} for i in range(5_000)}}, ("accepted",)),
    "many required properties": ({"required": [f"p{i}" for i in range(3_000)]}, tuple(ANY)),
    "many patterns": (
        {"patternProperties": {f"a{i}": {"type": "integer", "minimum": i} for i in range(12)}},
        tuple(ANY),
    ),
    "patterns that overlap": (
        {"patternProperties": {f".{{{i}}}": {"multipleOf": i + 1} for i in range(10)}},
        tuple(ANY),
    ),
    "a large enum": ({"enum": list(range(30_000))}, ("accepted",)),
    "a large enum of texts": ({"enum": [f"text {i}" for i in range(30_000)]}, ("accepted",)),
    "colliding integers": ({"enum": [k * (2**61 - 1) for k in range(1_000)]}, tuple(ANY)),
    "colliding integers for keys": ({"enum": [{"a": k * (2**61 - 1)} for k in range(1_000)]}, tuple(ANY)),
    "a large number": ({"const": 10**5_000}, tuple(ANY)),
    "a larger number in text": ('{"minimum": ' + "9" * 100_000 + "}", tuple(ANY)),
    "a large exponent": ('{"minimum": 1e999999999}', tuple(ANY)),
    "a small exponent": ('{"multipleOf": 1e-999999999}', tuple(ANY)),
    "multiples": ({"allOf": [{"multipleOf": p} for p in (7, 11, 13, 17, 19, 23)]}, tuple(ANY)),
    "fractions": ({"multipleOf": 0.0001, "minimum": 0.00005, "maximum": 99999.99995}, tuple(ANY)),
    "long strings": ({"type": "string", "minLength": 10**6, "maxLength": 10**9}, ("accepted", "LimitExceeded")),
    "unique integers": ({"type": "array", "uniqueItems": True, "items": {"type": "integer"}}, ("accepted",)),
    "unique anything": ({"type": "array", "uniqueItems": True}, tuple(ANY)),
    "few unique": (
        {"type": "array", "uniqueItems": True, "items": {"enum": list("abcdefghij")}, "minItems": 10},
        tuple(ANY),
    ),
    "too few unique": (
        {"type": "array", "uniqueItems": True, "items": {"enum": list("abc")}, "minItems": 4},
        ("GrammarError",),
    ),
    "contains many": (
        {"type": "array", "contains": {"const": 1}, "minContains": 500, "maxContains": 1_000},
        tuple(ANY),
    ),
    "an evil pattern": ({"type": "string", "pattern": "^(a+)+$"}, ("accepted",)),
    "evil patterns": ({"allOf": [{"pattern": f"(a|b)*{c}(a|b){{12}}"} for c in "ab"], "type": "string"}, tuple(ANY)),
    "patterns that exclude": (
        {"type": "string", "allOf": [{"not": {"pattern": f"{c}.{{10}}"}} for c in "abcdef"]},
        tuple(ANY),
    ),
    "crossed patterns": (
        {
            "not": {
                "oneOf": [
                    {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "null"}},
                    {"patternProperties": {"a$": {"type": "null"}}, "additionalProperties": {"type": "string"}},
                ]
            }
        },
        tuple(ANY),
    ),
    "names that collide": ({"properties": {name: {} for name in murmur_texts(12)}}, ("accepted",)),
    "deep pointers": ({"$ref": "#" + "/properties/a" * 5_000}, ("GrammarError",)),
    "bad pointers": ({"$ref": "#/%ff~2~~1"}, ("GrammarError",)),
    "anchors": ({"$ref": "#a", "$defs": {"x": {"$anchor": "a", "$ref": "#a"}}}, ("GrammarError",)),
    "remote": ({"$ref": "https://example.com/x"}, ("GrammarError",)),
    "a file": ({"$ref": "file:///etc/passwd"}, ("GrammarError",)),
    "dynamic": (
        {"$dynamicRef": "#a", "$defs": {"x": {"$dynamicAnchor": "a", "items": {"$dynamicRef": "#a"}}}},
        tuple(ANY),
    ),
    "an unknown draft": ({"$schema": "https://example.com/draft"}, tuple(ANY)),
    "half a surrogate pair": ({"const": "\ud800"}, tuple(ANY)),
    "a key that is half of one": ({"properties": {"\ud800": {}}}, tuple(ANY)),
    "NUL": ({"properties": {"\x00": {"const": "\x00"}}}, ("accepted",)),
    "not a number": ({"const": float("nan")}, ("GrammarError",)),
    "infinity": ({"maximum": float("inf")}, ("GrammarError",)),
    "a long title": ({"title": "x" * 10_000_000}, ("accepted",)),
    "too long": (Times("x", 40_000_000, '{"title": "', '"}'), ("LimitExceeded max_source_bytes",)),
    "long keys around many": (
        {"properties": {"k" * 10_000: {"properties": {f"p{i}": {} for i in range(2_000)}}}},
        tuple(ANY),
    ),
}


def loops() -> Iterator[Case]:
    """Python objects that contain themselves."""
    circle: dict[str, Any] = {}
    circle["items"] = circle
    ring: list[Any] = []
    ring.append(ring)
    shared: Any = {"type": "string"}
    for _ in range(60):
        shared = {"type": "array", "prefixItems": [shared, shared]}
    yield case("an object in itself", circle, "LimitExceeded max_nesting")
    yield case("a list in itself", {"enum": ring}, "LimitExceeded max_nesting")
    yield case("objects that share", shared)


def other_options() -> Iterator[Case]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"items": {"type": "integer"}}}}
    for options in (
        {"property_order": "any"},
        {"indent": 2},
        {"syntax": "yaml"},
        {"on_unsupported": "relax"},
        {"unknown_keywords": "error"},
        {"property_order": "any", "indent": 10**9},
    ):
        yield case(f"options {options}", schema, "accepted", "GrammarError", "ValueError", "TypeError", **options)


_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")


def random_schema(choose: random.Random, depth: int = 3) -> Any:
    """A schema of keywords that belong together and some that do not."""
    if depth == 0 or choose.random() < 0.1:
        return choose.choice(
            [True, {}, {"type": choose.choice(_TYPES)}, {"const": choose.choice([1, "a", None, [], {}])}]
        )

    def inner() -> Any:
        return random_schema(choose, depth - 1)

    makers: tuple[tuple[str, Any], ...] = (
        ("type", lambda: choose.sample(_TYPES, choose.randint(1, 3))),
        ("enum", lambda: choose.sample([1, 2, "a", "ab", None, True, [1], {"a": 1}], choose.randint(1, 4))),
        ("minimum", lambda: choose.randint(-5, 5)),
        ("exclusiveMaximum", lambda: choose.choice([3, 0.5, 1e9])),
        ("multipleOf", lambda: choose.choice([1, 2, 3, 0.25])),
        ("minLength", lambda: choose.randint(0, 4)),
        ("maxLength", lambda: choose.randint(0, 9)),
        ("pattern", lambda: choose.choice(["^a", "b$", "^[ab]*$", "(a|b)c", "^.{2,5}$", "a.*b"])),
        ("items", inner),
        ("prefixItems", lambda: [inner() for _ in range(choose.randint(1, 3))]),
        ("minItems", lambda: choose.randint(0, 3)),
        ("maxItems", lambda: choose.randint(0, 5)),
        ("uniqueItems", lambda: choose.random() < 0.8),
        ("contains", inner),
        ("properties", lambda: {name: inner() for name in choose.sample("abcd", choose.randint(1, 3))}),
        ("patternProperties", lambda: {choose.choice(["^a", "b", "."]): inner()}),
        ("additionalProperties", inner),
        ("required", lambda: choose.sample("abcd", choose.randint(0, 2))),
        ("propertyNames", lambda: {"maxLength": choose.randint(0, 3)}),
        ("minProperties", lambda: choose.randint(0, 2)),
        ("maxProperties", lambda: choose.randint(0, 4)),
        ("allOf", lambda: [inner() for _ in range(choose.randint(1, 2))]),
        ("anyOf", lambda: [inner() for _ in range(choose.randint(1, 3))]),
        ("oneOf", lambda: [inner() for _ in range(choose.randint(1, 3))]),
        ("not", inner),
        ("if", inner),
        ("then", inner),
        ("format", lambda: choose.choice(["date", "uuid", "email", "ipv4", "unheard-of"])),
    )
    return {name: make() for name, make in choose.sample(makers, choose.randint(1, 5))}


def random_ones(n: int) -> Iterator[Case]:
    for number in range(n):
        yield case(f"random {number}", random_schema(random.Random(number)))


def alone() -> Iterator[Case]:
    """Schemas that are read and masked alone: their rules take seconds of Python, in time linear in their size."""
    for name, names in {
        "16,384 names": [f"{'x' * (i % 7)}{i}" for i in range(16_384)],
        "16,384 names that collide": murmur_texts(14),
    }.items():
        schema = {"properties": {name: {} for name in names}}

        def run(schema: Any = schema) -> None:
            use(lambda: Grammar.from_json_schema(schema), masks_alone=True)

        yield Case(f"schema/{name}", run, frozenset(["accepted"]))


def mixes_of(n: int) -> Iterator[Case]:
    """Every applicator inside of every other, sets that cross, ladders, and random mixes of them, in both orders."""
    for name, schema, options in mixes(n, seed=1):

        def run(schema: Any = schema, options: dict[str, Any] = options) -> None:
            use(lambda: Grammar.from_json_schema(schema, **options), masks_alone=True)

        yield Case(f"schema/mix of {name}", run, ANY)


def cases() -> Iterator[Case]:
    for name, (schema, expected) in FIXED.items():
        yield case(name, schema, *expected)
    yield from loops()
    yield from other_options()
    yield from nested()
    yield from keywords()
    yield from random_ones(100)
    yield from alone()
