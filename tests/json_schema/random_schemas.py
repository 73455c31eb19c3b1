"""Random schemas, and random values that have a chance of satisfying them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.json_schema.test_drafts import URI, in_draft

NAMES = st.sampled_from(["a", "b", "ab", "x1", "", "é/"])
TEXTS = st.sampled_from(["", "a", "b", "ab", "aab", "x1", "ba\n", 'q"', "é"])
PATTERNS = st.sampled_from(["^a", "b$", "a|b", "^[ab]*$", "1", "^.$", "[^a]"])
INTEGERS = st.integers(-3, 12)
NUMBERS = st.sampled_from([-2.5, -1, 0, 0.5, 1, 1.25, 2, 3, 7.5, 10])
SCALARS = st.one_of(st.none(), st.booleans(), INTEGERS, NUMBERS, TEXTS)
COUNTS = st.integers(0, 3)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])

VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


def _some(**keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=keywords)


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        merged |= part
    return merged


_SCALAR_KEYWORDS = st.one_of(
    st.fixed_dictionaries({"type": st.one_of(TYPES, st.lists(TYPES, min_size=1, max_size=3, unique=True))}),
    st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=4)}),
    st.fixed_dictionaries({"const": VALUES}),
    _some(minimum=INTEGERS, exclusiveMaximum=NUMBERS),
    _some(maximum=NUMBERS, multipleOf=st.sampled_from([0.5, 1, 2, 5])),
    _some(minLength=COUNTS, maxLength=COUNTS, pattern=PATTERNS),
)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=2)
    named = st.dictionaries(NAMES, inner, max_size=3)
    keywords = st.one_of(
        _SCALAR_KEYWORDS,
        _some(properties=named, required=st.lists(NAMES, max_size=2, unique=True), additionalProperties=inner),
        _some(
            patternProperties=st.dictionaries(PATTERNS, inner, max_size=2), minProperties=COUNTS, maxProperties=COUNTS
        ),
        _some(
            propertyNames=inner,
            dependentRequired=st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=1),
        ),
        _some(items=inner, prefixItems=some, minItems=COUNTS, maxItems=COUNTS, uniqueItems=st.booleans()),
        _some(contains=inner, maxItems=COUNTS, minContains=COUNTS, maxContains=COUNTS, uniqueItems=st.booleans()),
        _some(allOf=some),
        _some(anyOf=some),
        _some(oneOf=some),
        st.fixed_dictionaries({"not": inner}),
        st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner}),
    )
    return st.lists(keywords, min_size=1, max_size=3).map(_merged)


# What no value is, as far as a look at it tells or not: a text must not be begun that needs one.
NEVER: list[Any] = [
    False,
    {"$ref": "#/$defs/endless"},
    {"type": "array", "items": {"$ref": "#/$defs/endless"}, "minItems": 1},
    {"allOf": [{"type": "integer"}, {"type": "string"}]},
    {"type": "string", "pattern": "^a$", "minLength": 2},
    {"type": "integer", "multipleOf": 4, "minimum": 1, "maximum": 3},
    {"type": "object", "minProperties": 1, "propertyNames": False},
    {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"]}, "maxProperties": 1},
    {"type": "array", "contains": False},
    {"type": "array", "items": {"const": 1}, "uniqueItems": True, "minItems": 2},
]
_ENDLESS = {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}

_LEAVES = st.one_of(
    st.booleans(),
    _SCALAR_KEYWORDS,
    st.sampled_from([{"$ref": "#/$defs/one"}, {"$ref": "#/$defs/two"}]),
    st.sampled_from(NEVER),
)
_PARTS = st.recursive(_LEAVES, _deeper, max_leaves=5)
_OBJECTS = _deeper(_PARTS)


def _refers_in_place(schema: Any) -> set[str]:
    """The definitions that apply to the same value as a schema does."""
    if not isinstance(schema, dict):
        return set()
    found = {schema["$ref"].rpartition("/")[2]} if "$ref" in schema else set()
    inner = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, [])]
    inner += [schema[key] for key in ("not", "if", "then", "else") if key in schema]
    return found.union(*map(_refers_in_place, inner))


def _is_free_of_loops(schema: dict[str, Any]) -> bool:
    """A definition that refers to itself without going into a value sends the validator round for ever."""
    one, two = (_refers_in_place(schema["$defs"][name]) for name in ("one", "two"))
    return "one" not in one and "two" not in two and not ("two" in one and "one" in two)


SCHEMAS = st.builds(
    lambda one, two, root: {"$defs": {"one": one, "two": two, "endless": _ENDLESS}, **root},
    _OBJECTS,
    _OBJECTS,
    _OBJECTS,
).filter(_is_free_of_loops)

# What a `$schema` inside of a schema changes. Without one, only what the validator reads as it is read here.
_LEAVES_OF_DRAFTS: list[Any] = [
    {"type": "integer"},
    {"type": "integer", "minimum": 1, "maximum": 3},
    {"type": ["integer", "string"], "multipleOf": 3},
    {"type": "number", "minimum": 2},
    {"enum": [1, 2.5, 3]},
    {"const": 1},
    {"type": "object", "propertyNames": {"pattern": "^a"}, "dependentRequired": {"a": ["ab"]}},
    {"if": {"type": "integer"}, "then": {"minimum": 2}},
    in_draft("4", type="integer"),
    in_draft("4", type="integer", minimum=1, exclusiveMinimum=True, maximum=7, exclusiveMaximum=False),
    in_draft("4", maximum=3, exclusiveMaximum=True, multipleOf=0.5),
    in_draft("4", items=[{"type": "integer"}, {"enum": [1, 2]}], additionalItems={"type": "integer"}),
    in_draft("4", dependencies={"a": ["b"], "b": {"required": ["ab"]}}, const=1, prefixItems=[False]),
    in_draft("6", type="integer", exclusiveMaximum=3, **{"if": {}, "then": False}),
    in_draft("7", type="array", items=[{"type": "integer"}], additionalItems=in_draft("4", type="integer")),
    in_draft("7", dependencies={"a": ["b"]}, dependentRequired={"b": ["a"]}),
    in_draft("2019-09", items=[{"type": "integer"}], additionalItems=False, dependencies={"a": ["b"]}),
    in_draft("2020-12", prefixItems=[{"type": "integer"}], items=in_draft("4", type="integer")),
]


def _of_drafts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # No `not` inside of another: the core and the reference then write strings and orders of keys differently.
    some = st.lists(inner, min_size=1, max_size=2)
    schemas = _some(
        properties=st.dictionaries(NAMES, inner, max_size=2),
        additionalProperties=inner,
        items=inner,
        allOf=some,
        anyOf=some,
        oneOf=some,
    ) | st.fixed_dictionaries({"not": st.sampled_from(_LEAVES_OF_DRAFTS)}, optional={"type": TYPES})
    return st.builds(lambda schema, draft: draft | schema, schemas, st.sampled_from(_DRAFTS))


_DRAFTS = [{}, {"$schema": "x:unknown"}, *({"$schema": uri} for uri in URI.values())]


def of_drafts(*further: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas with others of other drafts inside, and some further ones at their ends."""
    leaves = st.sampled_from([*_LEAVES_OF_DRAFTS, *further])
    return _of_drafts(st.recursive(leaves, _of_drafts, max_leaves=5))


# Those numbers with a fraction, too, that are none to some drafts.
VALUES_OF_DRAFTS = st.recursive(
    st.sampled_from([0, 1, 1.0, 2, 2.5, 3, 3.0, 6, 6.0, "a"]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=5,
)
