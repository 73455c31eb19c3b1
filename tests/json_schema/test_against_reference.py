"""Schemas that the core brings to rules as texts reach them against the reference, which makes everything at once."""

from __future__ import annotations

import gzip
import json
import random
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

import cfgmask
from cfgmask import _core
from cfgmask.grammar.ir import GrammarIR
from cfgmask.json_schema.core_reader import read_at_once
from cfgmask.json_schema.options import DEFAULTS
from cfgmask.limits import Limits
from tests.json_schema.general import general_rules
from tests.json_schema.judge import accepts
from tests.json_schema.random_schemas import NAMES, PATTERNS, SCHEMAS, TEXTS, of_drafts
from tests.json_schema.test_drafts import in_draft
from tests.json_schema.walks import MASKBENCH
from tests.regex.random_patterns import PATTERNS as ECMA_PATTERNS

# Every byte, and some tokens that cross lexemes: what may follow a key depends on which one it is.
TOKENS = [
    *(bytes([i]) for i in range(256)),
    b'{"',
    b'":',
    b'":1',
    b'":null',
    b'":"',
    b'":[',
    b'":{"',
    b'", "',
    b'"a"',
    b"null",
    b"},",
    b' "b": 1',
    b"\xc3\xa9",
    b"",
]
VOCABULARY = cfgmask.Vocabulary.from_bytes(TOKENS, eos_token_id=len(TOKENS) - 1)
WORDS = (len(TOKENS) + 31) // 32

# Schemas of all kinds, each read for another reason.
SAMPLES: dict[str, Any] = {
    "strings of which some are equal": {"items": {"type": "string"}, "not": {"uniqueItems": True}},
    "items of which some are equal": {
        "type": "array",
        "not": {"uniqueItems": True},
        "prefixItems": [{"enum": ["a", None]}],
        "items": {"type": ["string", "null"], "maxLength": 2},
        "contains": {"const": "b"},
        "maxItems": 4,
    },
    "a negated pattern of keys": {"type": "object", "not": {"patternProperties": {"^a": {"const": 1}}}},
    "negated kinds of keys": {
        "type": "object",
        "properties": {"ab": {"type": "null"}},
        "not": {"patternProperties": {"^a": {"type": "integer"}, "b$": False}, "additionalProperties": {"const": 1}},
    },
    "few keys in a class": {
        "patternProperties": {"^[ab]$": {}, "^c": {}},
        "additionalProperties": False,
        "minProperties": 3,
    },
    "no keyword": {},
    "scalars": {"type": ["null", "integer", "string"]},
    "conditions on scalars": {"type": "string", "maxLength": 3, "pattern": "^a"},
    "maxima that no text breaks": {
        "type": ["array", "object", "string"],
        "maxLength": 2**31 - 1,
        "items": {"type": "string", "minLength": 1, "maxLength": 2**63 - 1, "pattern": "^a"},
        "maxItems": 2**31 - 1,
        "contains": {"const": "a"},
        "maxContains": 2**31 - 1,
        "maxProperties": 2**63 - 1,
        "propertyNames": {"maxLength": 2**31 - 1},
    },
    "the negation of a maximum that no text breaks": {"anyOf": [{"const": 1}, {"not": {"maxLength": 2**31 - 1}}]},
    "the greatest maximum": {"type": "string", "maxLength": 2**31 - 2},
    "multiples that differ": {"type": "array", "uniqueItems": True, "items": {"type": "integer", "multipleOf": 3}},
    "conditions on several types": {"minLength": 2, "minimum": 3, "maxItems": 1, "required": ["a"]},
    "listed values": {"enum": ["a", 'q"\n', None, True, 1, 2.5, "a"]},
    "listed values of a type": {"type": ["integer", "string"], "enum": ["a", None, 1, 2.5]},
    "a constant": {"const": "é"},
    "an object": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b", "c"]},
    "a closed object": {"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": False},
    "a map": {"type": "object", "additionalProperties": {"type": "boolean"}},
    "an array": {"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 4},
    "a tuple": {"type": "array", "prefixItems": [{"type": "null"}, {"const": 1}], "items": False, "minItems": 1},
    "a tuple with more": {"type": "array", "prefixItems": [{}, {"const": 1}], "items": {"const": "x"}, "maxItems": 4},
    "a tuple of draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"const": "a"}, {"const": "b"}],
        "additionalItems": {"const": "c"},
    },
    "a tuple of an older draft, whichever that is": {
        "items": [{"const": "a"}, {"type": "null"}],
        "additionalItems": {"const": "c"},
        "minItems": 1,
    },
    "an empty tuple of an older draft": {"type": "array", "items": [], "additionalItems": {"type": "null"}},
    "an empty array": {"type": "array", "maxItems": 0},
    "any value": True,
    "counts that are floats": {
        "type": ["array", "object", "string"],
        "minItems": 1.0,
        "maxItems": 3.0,
        "items": {"type": "string", "minLength": 1.0, "maxLength": 2e0, "format": "date", "pattern": "^2|-0"},
        "minProperties": 1.0,
        "maxProperties": 2.0,
        "maxLength": 1e30,
        "minLength": -0.0,
        "contains": {"const": "a"},
        "minContains": 0.0,
    },
    "percent-encoded references": {
        "properties": {
            "a": {"$ref": "#/%24defs/%C3%a9~1x%25"},
            "b": {"$ref": "#/$defs/%zz%2"},
            "c": {"$ref": "#/%24defs%2Fq"},
        },
        "$defs": {"é/x%": {"const": "x"}, "%zz%2": {"const": "z"}, "q": {"type": "null"}},
    },
    "references into lists": {
        "anyOf": [
            {"type": "null"},
            {"type": "array", "prefixItems": [{"const": "a"}, {"$ref": "#/anyOf/1"}]},
            {"properties": {"a": {"$ref": "#/anyOf/1/prefixItems/0"}, "b": {"$ref": "#/$defs/1"}}},
        ],
        "$defs": [{}, {"type": "string", "maxLength": 1}],
    },
    "a reference": {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"const": "x"}}},
    "recursion": {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}}}},
    "recursion through a union": {
        "$ref": "#/$defs/list",
        "$defs": {"list": {"anyOf": [{"type": "null"}, {"properties": {"a": {"$ref": "#/$defs/list"}}}]}},
    },
    "alternatives": {"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 2}, {"type": "object"}]},
    "alternatives beside a type": {"type": ["string", "null"], "anyOf": [{"type": "string"}, {"type": "null"}]},
    "alternatives of different types": {"oneOf": [{"type": "number"}, {"type": "array"}, {"enum": ["a", None]}]},
    "alternatives told apart by a key": {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind"]},
            {"type": "object", "properties": {"y": {}, "kind": {"enum": ["b", "c"]}}, "required": ["kind"]},
        ]
    },
    "conditions beside alternatives": {"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 2},
    "alternatives of needed keys": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}},
        "anyOf": [{"required": ["b"]}, {"required": ["a"]}],
    },
    "alternatives of keys before the keys": {
        "oneOf": [
            {"properties": {"b": {"const": "x"}}, "required": ["b"]},
            {"properties": {"c": {}, "b": {"const": "y"}}, "required": ["b"]},
        ],
        "properties": {"a": {"type": "null"}, "b": {"type": "string"}},
        "type": "object",
    },
    "objects that meet": {
        "allOf": [
            {"properties": {"a": {"type": "null"}}, "required": ["c", "a"]},
            {"properties": {"b": {"enum": ["x", "y"]}, "c": {"type": ["null", "string"]}}, "required": ["b"]},
            {"properties": {"b": {"enum": ["y", "z"]}, "c": {"enum": ["u", 3]}}, "type": "object"},
        ]
    },
    "a closed object that meets another": {
        "allOf": [
            {"type": "object", "properties": {"a": {}, "b": {"type": "null"}}, "additionalProperties": False},
            {"properties": {"c": {}, "a": {"const": "x"}}},
        ]
    },
    "maps that meet": {
        "type": "object",
        "allOf": [
            {"additionalProperties": {"type": ["null", "string"]}},
            {"additionalProperties": {"enum": [None, 1]}},
        ],
    },
    "arrays that meet": {
        "type": "array",
        "prefixItems": [{"type": ["string", "null"]}, {}],
        "allOf": [{"items": {"type": "null"}, "minItems": 1}, {"items": {"enum": [None, "a"]}, "maxItems": 3}],
    },
    "arrays that end where nothing fits": {
        "type": "array",
        "allOf": [{"prefixItems": [{"const": "a"}, {"type": "null"}]}, {"items": {"type": "string"}}],
    },
    "keys by a pattern": {
        "type": "object",
        "patternProperties": {"^a": {"type": "null"}},
        "additionalProperties": False,
    },
    "keys by patterns": {
        "type": "object",
        "properties": {"x": {"const": 1}},
        "patternProperties": {"^a": {"type": "null"}, "^b+$": {"const": "b"}},
        "additionalProperties": {"type": "string"},
        "required": ["x", "c"],
    },
    "keys by patterns that overlap": {
        "type": "object",
        "properties": {"x": {"const": 1}, "ab": {"type": ["null", "boolean"]}},
        "patternProperties": {"^a": {"type": ["null", "string"]}, "b$": {"type": ["null", "number"]}, "c": {}},
        "additionalProperties": {"type": "string"},
        "required": ["acb"],
    },
    "keys by patterns of which one holds the other": {
        "type": "object",
        "patternProperties": {"^a": {"type": ["null", "string"]}, "^ab": {"const": None}, "^abc": {"const": "x"}},
        "additionalProperties": False,
    },
    "keys by patterns with assertions": {
        "type": "object",
        "patternProperties": {"^(?!x)a": {"type": ["null", "string"]}, "b$": {"type": "null"}, "^x": {"const": 1}},
        "properties": {"ab": {}, "y": {"const": "y"}},
        "additionalProperties": False,
    },
    "keys by patterns of several schemas": {
        "type": "object",
        "allOf": [
            {"patternProperties": {"^a": {"type": ["null", "string"]}}, "additionalProperties": {"const": 1}},
            {"patternProperties": {"b$": {"type": ["null", "number"]}}, "properties": {"ab": {}, "c": {}}},
            {"patternProperties": {"^(?=.c)": {"enum": [None, 1, "c"]}}, "required": ["cc"]},
        ],
    },
    "keys that are all named": {
        "type": "object",
        "patternProperties": {"^[ab]$": {"type": "null"}, "^c$": {"const": 1}},
        "properties": {"a": {}, "b": {}, "d": {"const": "d"}},
        "additionalProperties": False,
    },
    "keys by a pattern whose names are restricted": {
        "type": "object",
        "patternProperties": {"a": {"type": "null"}, "^x": {"const": "x"}},
        "propertyNames": {"maxLength": 2},
        "properties": {"ya": {}, "aaa": {}},
        "additionalProperties": {"const": 1},
    },
    "keys whose names several schemas restrict": {
        "type": "object",
        "propertyNames": {"pattern": "^a"},
        "allOf": [{"propertyNames": {"maxLength": 3}}, {"propertyNames": {"enum": ["a", "ab", "abcd", "b"]}}],
        "properties": {"ab": {"type": "null"}},
    },
    "keys that no name can be": {
        "anyOf": [
            {"type": "object", "propertyNames": {"pattern": "^a"}, "patternProperties": {"^a": False}},
            {"const": 1},
        ]
    },
    "closed objects without those with keys by a pattern": {
        "type": "object",
        "properties": {"ax": {"enum": [1, 2]}, "b": {"type": "null"}, "c": {}},
        "additionalProperties": False,
        "not": {"patternProperties": {"^a": {"const": 1}, "b$": {"type": "null"}}, "additionalProperties": False},
    },
    "one schema in allOf": {"allOf": [{"type": "string"}]},
    "what is beside a reference in draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "string"}},
        "properties": {"x": {"$ref": "#/definitions/a", "maxLength": 1}},
    },
    "annotations": {"title": 5, "default": {"a": [1.5]}, "examples": "é", "x-mine": None, "type": "null"},
    "an identifier": {"$id": "http://example.com/a", "properties": {"$id": {"type": "null"}}, "$comment": ""},
    "bounds that bind nothing": {
        "type": "object",
        "properties": {"a": {}},
        "required": ["a"],
        "minProperties": 1,
        "maxProperties": 2,
        "additionalProperties": False,
    },
    "names with and without escapes": {
        "properties": {
            "a b~": {"enum": ["x", 'say "a"', "a/b", "\u00e9", "\x7f", "ab\n", "a\\"]},
            "a/b": {},
            "\u00e9": {},
        },
        "additionalProperties": {"type": "null"},
    },
    "a condition on which nothing depends": {"if": {"type": "integer"}, "else": {}},
    "some key": {"type": "object", "minProperties": 1},
    "many other keys": {"type": "object", "properties": {"a": {}}, "minProperties": 3, "maxProperties": 4},
    "two keys by a pattern": {
        "type": "object",
        "patternProperties": {"^[a-z]{2}-[a-z]{4,9}-[0-9]$": {"type": "null"}},
        "additionalProperties": False,
        "minProperties": 2,
        "maxProperties": 2,
    },
    "as many keys by patterns as there are": {
        "patternProperties": {"^[ab]$": {"const": 1}, "^(b|c|dd)$": {"const": 1}},
        "properties": {"c": {"type": "null"}, "e": {}},
        "required": ["e"],
        "additionalProperties": {"type": "null"},
        "minProperties": 2,
    },
    "keys beside patterns": {
        "type": "object",
        "patternProperties": {"^a": {"type": "null"}},
        "minProperties": 3,
        "maxProperties": 4,
    },
    "some of the keys": {
        "type": "object",
        "properties": {"a": {}, "b": {"type": "null"}, "c": {}, "d": {}},
        "required": ["c"],
        "minProperties": 2,
        "maxProperties": 3,
        "additionalProperties": False,
    },
    "few keys": {"type": "object", "properties": {"a": {}, "b": {}}, "maxProperties": 1},
    "bounds that meet": {"allOf": [{"minProperties": 1}, {"maxProperties": 2}, {"properties": {"a": {}}}]},
    "listed values under conditions": {
        "type": ["string", "integer"],
        "enum": ["a", "bc", 1, 7, "b/"],
        "pattern": "^b",
        "maximum": 5,
    },
    "a member that nothing satisfies": {
        "allOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"a": {"type": "string"}, "b": {}}}]
    },
    "a key that must not come": {"properties": {"a": False, "b": {"type": "null"}}},
    "a branch that nothing satisfies": {
        "anyOf": [{"type": "object", "required": ["a"], "additionalProperties": False}, {"type": "null"}]
    },
    "a value that nothing satisfies": {
        "properties": {"a": {"type": "string", "enum": [1]}, "b": {"type": "integer", "minimum": 3, "maximum": 2}},
        "items": {"type": "array", "minItems": 2, "maxItems": 1},
    },
    "a name that a pattern matches": {
        "patternProperties": {"^a": {"type": ["null", "string"]}},
        "properties": {"ab": {"type": "null"}, "b": {}},
        "required": ["ac", "c"],
        "additionalProperties": {"const": 1},
    },
    "a pattern that matches every key": {"patternProperties": {"": {"type": "null"}}, "additionalProperties": False},
    "what is beside a reference": {"$ref": "#/$defs/a", "$defs": {"a": {"type": ["string", "null"]}}, "type": "null"},
    "keys beside a reference": {
        "properties": {"b": {"type": "null"}},
        "$ref": "#/$defs/a",
        "$defs": {"a": {"properties": {"a": {"type": "null"}}, "required": ["b"]}},
    },
    "identifiers inside": {
        "$defs": {"a": {"$id": "b", "properties": {"c": {"type": "null"}}}},
        "properties": {"a": {"$ref": "#/$defs/a/properties/c"}, "b": {"$id": "/x", "items": {"type": "null"}}},
    },
    "a large number": {"const": 2**60},
    "keys that the other has not": {
        "oneOf": [
            {"properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
            {"properties": {"b": {}, "c": {}}, "required": ["b"], "additionalProperties": False},
        ],
        "type": "object",
    },
    "lengths that meet": {"allOf": [{"type": "string", "minLength": 1}, {"maxLength": 2}, {"pattern": "b"}]},
    "listed values that meet a pattern": {"allOf": [{"pattern": "^a+$"}, {"enum": ["b", "aa", 1]}, {"minLength": 2}]},
    "listed values told apart by a pattern": {"oneOf": [{"type": "string", "pattern": "^a"}, {"enum": ["b", "c"]}]},
    "lengths that contradict each other": {"anyOf": [{"type": "string", "minLength": 2, "maxLength": 1}, {"const": 1}]},
    "a pattern that is too short": {"type": ["string", "null"], "pattern": "^ab?$", "minLength": 3},
    "a length between those of a pattern": {"type": "string", "pattern": "^(a|bbbb)$", "minLength": 2, "maxLength": 4},
    "a format that restricts nothing": {"type": "string", "format": "int64", "maxLength": 2},
    "nothing but such a format": {"type": "string", "format": "url"},
    "numbers of one kind": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    "listed values that overlap": {"oneOf": [{"const": "a"}, {"enum": ["b", "a"]}, {"type": "string", "minLength": 2}]},
    "patterns that meet": {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}], "type": "string"},
    "patterns that contradict each other": {
        "anyOf": [{"type": "string", "allOf": [{"pattern": "^a$"}, {"pattern": "^b"}]}, {"const": 1}]
    },
    "ranges that meet": {"type": "integer", "allOf": [{"minimum": 2}, {"maximum": 11}, {"multipleOf": 3}]},
    "multiples that meet": {"type": "integer", "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]},
    "multiples of one number and not of another": {"type": "number", "multipleOf": 6, "not": {"multipleOf": 4}},
    "multiples of exactly one number": {"oneOf": [{"type": "integer", "multipleOf": 3}, {"multipleOf": 2}]},
    "listed arrays and objects": {"enum": [[], [1, "a"], {"b": None, "a": [True]}, {}, "a", 1]},
    "listed arrays and objects of a shape": {
        "type": ["array", "object", "string"],
        "enum": [[1], ["a"], {"a": 1}, {"b": 1}, None, "c"],
        "items": {"type": "string"},
        "required": ["a"],
    },
    "what a value is not": {"not": {"type": ["string", "object"]}},
    "constants that a value is not": {"type": ["integer", "string"], "not": {"enum": ["a", 1, [2]]}},
    "keys that must not come": {"type": "object", "properties": {"b": {}, "a": {}}, "not": {"required": ["a"]}},
    "keys that must not come together": {
        "properties": {"b": {}, "a": {"type": "null"}},
        "not": {"required": ["b", "a"]},
    },
    "a value that a member must not have": {
        "properties": {"a": {"type": "string"}, "b": {}},
        "required": ["a"],
        "not": {"properties": {"a": {"const": "x"}, "b": {"type": "null"}}},
    },
    "neither of some": {"type": "object", "not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
    "objects with some other key": {
        "type": "object",
        "not": {"properties": {"b": {}, "a": {}}, "additionalProperties": False},
    },
    "objects with a wrong value": {
        "type": "object",
        "properties": {"a": {"enum": ["x", 1]}, "b": {}},
        "additionalProperties": False,
        "not": {"additionalProperties": {"type": "string"}},
    },
    "numbers of keys that do not fit": {
        "type": "object",
        "maxProperties": 4,
        "not": {"minProperties": 1, "maxProperties": 2},
    },
    "arrays that do not fit": {
        "type": "array",
        "items": {"type": ["null", "string"]},
        "maxItems": 4,
        "not": {"prefixItems": [{"type": "string"}], "items": {"const": "a"}, "minItems": 1, "maxItems": 3},
    },
    "objects of which one fits": {
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b", "c"]}],
    },
    "closed objects of which one fits": {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "null"}, "b": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"c": {}, "a": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"a": {"const": 1}}, "maxProperties": 2},
        ]
    },
    "objects with some of several keys": {
        "oneOf": [
            {"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "d": {}}, "additionalProperties": False},
            {"type": "object", "properties": {"b": {}}, "additionalProperties": False},
        ]
    },
    "a condition": {
        "properties": {"a": {"enum": ["x", "y"]}, "b": {"type": "string"}},
        "if": {"properties": {"a": {"const": "x"}}, "required": ["a"]},
        "then": {"required": ["b"]},
        "else": {"properties": {"b": {"const": "z"}, "c": False}},
    },
    "a condition without an else": {"type": ["string", "null"], "if": {"type": "string"}, "then": {"minLength": 2}},
    "a condition without a then": {"if": {"type": "string"}, "else": {"const": 1}},
    "a condition that says nothing": {"if": {"type": "string"}, "type": "null"},
    "keys that need keys": {
        "properties": {"a": {}, "b": {"type": "null"}},
        "dependentRequired": {"a": ["b", "c"], "c": ["a"], "b": []},
    },
    "keys that need schemas": {
        "type": ["object", "null"],
        "properties": {"a": {"type": "null"}},
        "dependentSchemas": {"a": {"properties": {"b": {"const": 1}}, "required": ["b"]}, "b": True, "c": False},
    },
    "keys that need something, as before": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "dependencies": {"a": ["b"], "b": {"properties": {"c": {"type": "null"}}}},
    },
    "recursion through what meets": {
        "allOf": [{"properties": {"a": {"$ref": "#"}}}, {"type": "object", "properties": {"b": {"$ref": "#"}}}],
    },
    "recursive schemas that meet": {
        "$defs": {
            "x": {"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "null"}}},
            "y": {"type": "object", "properties": {"a": {"$ref": "#/$defs/y"}}, "maxProperties": 2},
        },
        "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}],
    },
    "a recursive schema without one of its kind": {
        "$defs": {"x": {"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "null"}}}},
        "$ref": "#/$defs/x",
        "not": {"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "null"}}, "required": ["b"]},
    },
    "keys by a pattern that meet others": {
        "allOf": [
            {
                "type": "object",
                "patternProperties": {"^x": {}},
                "properties": {"a": {"type": "null"}},
                "additionalProperties": False,
            },
            {"properties": {"b": {}, "xa": {"const": 1}, "a": {}}, "required": ["xb"]},
        ]
    },
    "items of which some must be there": {
        "type": "array",
        "contains": {"enum": ["a", 1]},
        "items": {"type": ["string", "null"]},
        "minItems": 2,
        "maxItems": 4,
    },
    "items that are counted": {
        "prefixItems": [{"type": "null"}],
        "items": {"enum": ["a", "b", "c"]},
        "contains": {"enum": ["a", "b"]},
        "minContains": 2,
        "maxContains": 3,
        "type": "array",
    },
    "items of several kinds that must be there": {
        "type": "array",
        "allOf": [{"contains": {"type": "string"}}, {"contains": {"enum": ["a", None]}, "maxContains": 2}],
    },
    "items that may be there": {"type": "array", "contains": {"type": "string"}, "minContains": 0},
    "items that must not be there": {"contains": {"type": "string"}, "minContains": 0, "maxContains": 0},
    "any items": {"type": "array", "contains": True, "minContains": 2, "maxContains": 3, "items": {"type": "null"}},
    "items that were no matter before 2019": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "contains": {"const": "a"},
        "maxContains": 1,
    },
    "arrays with a wrong item": {"type": "array", "not": {"items": {"type": "string"}}},
    "arrays with a wrong item behind others": {
        "type": "array",
        "not": {"prefixItems": [{"const": "a"}], "items": {"type": "null"}, "minItems": 1},
    },
    "arrays that contain too few or too many": {
        "type": "array",
        "items": {"enum": ["a", "b"]},
        "not": {"contains": {"const": "a"}, "minContains": 1, "maxContains": 2},
    },
    "arrays of which one fits": {
        "oneOf": [
            {"type": "array", "items": {"type": ["string", "null"]}},
            {"type": "array", "items": {"enum": ["a", 1]}, "minItems": 1},
        ]
    },
    "arrays without a way to what must be there": {
        "anyOf": [{"type": "array", "items": {"type": "null"}, "contains": {"type": "string"}}, {"const": "a"}]
    },
    "objects with a wrong value at some key": {
        "type": "object",
        "properties": {"a": {"type": "null"}},
        "not": {"properties": {"a": {}, "b": {}}, "additionalProperties": {"type": "string"}},
    },
    "objects with wrong values at several keys": {
        "type": "object",
        "properties": {"a": {"type": ["null", "string"]}},
        "maxProperties": 3,
        "allOf": [
            {"not": {"additionalProperties": {"type": "string"}}},
            {"not": {"properties": {"b": {}}, "additionalProperties": {"type": ["null", "integer"]}}},
        ],
    },
    "maps of which one fits": {
        "oneOf": [
            {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            {"type": "object", "additionalProperties": {"enum": ["a", 1]}, "required": ["a"]},
        ]
    },
    "not an object with some other key": {
        "type": "object",
        "not": {"not": {"properties": {"a": {}}, "additionalProperties": {"type": "null"}}},
    },
    "objects with any key": {"type": "object", "not": {"additionalProperties": False}},
    "closed objects with a wrong value": {
        "type": "object",
        "properties": {"a": {"enum": ["x", 1]}, "b": {"type": ["null", "string"]}},
        "additionalProperties": False,
        "allOf": [
            {"not": {"additionalProperties": {"type": "string"}}},
            {"not": {"properties": {"a": {}}, "additionalProperties": {"type": "null"}}},
        ],
    },
    "names that are listed": {
        "type": "object",
        "propertyNames": {"enum": ["a", "b", "c"]},
        "properties": {"b": {}, "d": {}},
    },
    "names by a pattern": {
        "type": "object",
        "propertyNames": {"pattern": "^a"},
        "properties": {"ab": {"type": "null"}, "b": {}},
        "additionalProperties": {"type": "string"},
    },
    "names by one of several patterns": {
        "type": "object",
        "propertyNames": {"anyOf": [{"pattern": "^a|b$"}, {"type": "string", "pattern": "^c"}, {"pattern": "(d)$"}]},
        "properties": {"ab": {"type": "null"}, "b": {}, "c1": {}, "ad": {}, "da": {}},
        "additionalProperties": {"type": "string"},
    },
    "names by patterns one of which is empty": {
        "type": "object",
        "propertyNames": {"anyOf": [{"pattern": ""}, {"pattern": "^a"}]},
        "properties": {"b": {}},
    },
    "names of a closed object": {
        "properties": {"a": {}, "bc": {}},
        "additionalProperties": False,
        "propertyNames": {"maxLength": 1},
    },
    "names that are not listed": {
        "type": "object",
        "propertyNames": {"not": {"enum": ["a", "b"]}},
        "properties": {"a": {}},
    },
    "names that are no strings": {"anyOf": [{"type": "object", "propertyNames": {"type": "null"}}, {"const": 1}]},
    "names that are any strings": {"type": "object", "propertyNames": {"type": ["string", "null"]}},
    "names by a reference": {
        "type": "object",
        "propertyNames": {"$ref": "#/$defs/name"},
        "$defs": {"name": {"type": "string", "minLength": 2}},
        "required": ["ab"],
    },
    "names of what holds the whole": {
        "$defs": {
            "n": {
                "allOf": [
                    {"required": ["a"], "properties": {"a": {"$ref": "#"}}},
                    {"type": ["object", "string"], "required": ["b"]},
                ]
            }
        },
        "type": "object",
        "properties": {"x": {"type": "object", "propertyNames": {"$ref": "#/$defs/n"}}, "y": {"$ref": "#/$defs/n"}},
        "required": ["y"],
        "anyOf": [{"properties": {"y": {"type": "object"}}}, {"properties": {"y": {"const": "a"}}}],
    },
    "alternatives told apart by what is around them": {
        "allOf": [
            {"properties": {"b": {"type": "null"}}},
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "x"}, "a": {"type": "null"}}},
                    {"properties": {"kind": {"enum": ["y", "z"]}, "b": {}}},
                    {"properties": {"kind": {"const": "z"}, "c": {"const": 1}}},
                ]
            },
            {"oneOf": [{"required": ["b"]}, {"required": ["a", "b"]}, {"required": ["c"]}]},
            {"not": {"required": ["a", "c"]}},
        ],
        "type": "object",
        "required": ["kind"],
    },
    "the same alternatives in several places": {
        "$defs": {"c": {"oneOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"a": {"const": "x"}}}]}},
        "type": "object",
        "properties": {
            "p": {"$ref": "#/$defs/c", "type": "object", "required": ["a"]},
            "q": {"allOf": [{"properties": {"b": {}}, "type": "object"}, {"$ref": "#/$defs/c"}]},
            "r": {"$ref": "#/$defs/c"},
        },
    },
    "listed items that differ": {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b/", 1, None, "é"]}},
    "items that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": ["string", "number", "null"]},
        "minItems": 2,
        "maxItems": 3,
    },
    "no more items than differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "integer", "minimum": 1, "maximum": 3},
        "minItems": 3,
    },
    "items that differ by position": {
        "type": "array",
        "uniqueItems": True,
        "prefixItems": [{"type": "boolean"}, {"enum": ["a", "b"]}],
        "items": {"type": "string", "maxLength": 2},
        "minItems": 3,
    },
    "items of several kinds that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {
            "anyOf": [
                {"type": "string", "format": "date"},
                {"type": "string", "pattern": "^a"},
                {"type": "number", "minimum": 0.5},
                {"oneOf": [{"const": "x"}, {"const": True}]},
            ]
        },
    },
    "items that differ because several schemas say so": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": ["string", "array"]},
        "allOf": [{"items": {"type": "string"}}, {"uniqueItems": True, "maxItems": 3}],
    },
    "items that need not differ": {
        "type": "array",
        "uniqueItems": False,
        "items": {"type": "null"},
        "anyOf": [{"uniqueItems": True, "maxItems": 1}, {"minItems": 3}],
    },
    "numbers with conditions that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "integer", "not": {"multipleOf": 3}},
    },
    "numbers with conditions in objects that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "object", "properties": {"a": {"type": ["number", "null"], "not": {"enum": [0, 5]}}}},
    },
    "values that differ": {"uniqueItems": True},
    "short strings that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "string", "maxLength": 1},
        "minItems": 2,
    },
    "objects that differ": {
        "type": "array",
        "uniqueItems": True,
        "minItems": 3,
        "items": {
            "type": "object",
            "properties": {
                "a/": {"type": "integer"},
                "b": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
            },
            "required": ["a/"],
        },
    },
    "objects and other values that differ": {
        "type": "array",
        "uniqueItems": True,
        "minItems": 2,
        "items": {
            "type": ["object", "string", "null"],
            "properties": {"a": {"enum": ["x/", 2, None]}},
            "minProperties": 2,
        },
    },
    "arrays that differ of items that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {"type": "array", "items": {"type": ["string", "integer"]}, "uniqueItems": True},
    },
    "arrays that differ, with a first item": {
        "type": "array",
        "uniqueItems": True,
        "items": {
            "prefixItems": [{"enum": ["a", "b"]}, {"type": "object"}],
            "items": {"type": "string"},
            "minItems": 1,
        },
    },
    "alternatives that differ": {
        "type": "array",
        "uniqueItems": True,
        "items": {
            "anyOf": [
                {"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]},
                {"type": "object", "properties": {"k": {"const": "b"}, "l": {"type": "number"}}, "required": ["k"]},
                {"type": "string"},
                {"enum": [1, 2]},
            ]
        },
    },
    "nodes that differ at each depth": {
        "$defs": {
            "n": {
                "type": "object",
                "properties": {
                    "c": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/n"}},
                    "v": {"type": "integer"},
                },
            }
        },
        "$ref": "#/$defs/n",
    },
    "objects that differ, and that have items that do": {
        "type": "array",
        "uniqueItems": True,
        "prefixItems": [{"type": "object"}, {"type": "object", "properties": {"a": {}}}],
        "items": {"type": ["array", "object"]},
        "minItems": 1,
        "maxItems": 4,
    },
    "objects that differ with keys of a pattern": {
        "type": "array",
        "uniqueItems": True,
        "items": {"patternProperties": {"^[a-c]": {"type": "integer"}}, "additionalProperties": False},
    },
    "objects that differ with conditions inside": {
        "type": "array",
        "uniqueItems": True,
        "items": {
            "type": "object",
            "properties": {"t": {"type": "array", "contains": {"const": 1}}},
            "required": ["t"],
            "not": {"required": ["a", "b"]},
        },
    },
    "one item that differs from no other": {"type": "array", "uniqueItems": True, "maxItems": 1},
    "no array of one item has equal ones": {"maxItems": 1, "not": {"uniqueItems": True, "type": "array"}},
    "a constant that is listed": {"enum": ["a", 1, ["b"], {"c": None}], "const": ["b"]},
    "a constant that is not listed": {"anyOf": [{"enum": ["a", 1], "const": "b"}, {"type": "null"}]},
    "an array that needs an item without values": {
        "type": ["array", "null"],
        "prefixItems": [{}, {"$ref": "#/$defs/endless"}],
        "minItems": 2,
        "$defs": {"endless": {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}},
    },
    "keys that run out where all others have no values": {
        "type": "object",
        "patternProperties": {"^[de]$": {"type": "null"}},
        "additionalProperties": {"$ref": "#/$defs/endless"},
        "$defs": {"endless": {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}},
    },
    "an array that needs an item that is never there": {
        "type": ["array", "null"],
        "prefixItems": [{}, False],
        "minItems": 2,
    },
    "an array that needs more items than there are": {
        "properties": {"a": {"type": ["array", "null"], "prefixItems": [{}], "items": {"not": {}}, "minItems": 2}},
    },
    "a pattern of hundreds of parts": {
        "type": "string",
        "pattern": "^" + "".join(f"(a{i}|b{i}c*)?" for i in range(100)) + "[ab]?x" + "(ab|c)?[a-c]?" * 130 + "$",
    },
    "a text of thousands of characters": {"type": "string", "pattern": "^" + "abc" * 1_400 + "[de]?" + "f" * 10 + "$"},
    "so many objects and arrays that what comes first is found before": {
        "anyOf": [
            *({"type": "object", "properties": {f"k{i}": {"const": 1}, "a": {}}, "required": ["a"]} for i in range(70)),
            *({"type": "object", "properties": {f"k{i}": {"const": i}}, "required": []} for i in range(70)),
            *({"type": "array", "prefixItems": [{"enum": [f"k{i}", "a"]}, {"const": i}]} for i in range(70)),
        ],
    },
    "arrays told apart by an item": {
        "oneOf": [
            {"type": "array", "prefixItems": [{"const": "a"}], "minItems": 1},
            {"type": "array", "prefixItems": [{"type": "null"}, {}], "minItems": 1, "maxItems": 2},
        ],
    },
    "integers of two drafts": {
        "properties": {"a": in_draft("4", type="integer"), "b": {"type": "integer"}},
        "additionalProperties": in_draft("7", type="integer", minimum=3),
    },
    "integers of two drafts that meet": {
        "allOf": [in_draft("4", type="integer", minimum=-1), in_draft("6", type="integer", maximum=12)]
    },
    "integers of two drafts that are taken out of each other": {
        "properties": {
            "a": {"type": "integer", "minimum": 1, "not": in_draft("4", type="integer", maximum=3)},
            "b": in_draft("4", type="integer", **{"not": in_draft("7", type="integer", maximum=3)}),
            "c": {"enum": [1, 2.5, 3], "not": in_draft("4", type="integer")},
            "d": {"oneOf": [in_draft("4", type="integer"), {"type": "integer", "maximum": 5}]},
        }
    },
    "multiples in two drafts, of which Python is asked in equal words": {
        "properties": {
            "a": in_draft("4", type="integer", multipleOf=3, minimum=2, exclusiveMinimum=True),
            "b": {"type": "integer", "multipleOf": 3, "minimum": 2, "exclusiveMinimum": True},
            "c": in_draft("4", type="integer", multipleOf=3),
            "d": {"type": "integer", "multipleOf": 3},
            "e": in_draft("4", type="integer", multipleOf=3, **{"not": {"multipleOf": 2}}),
            "f": {"type": "integer", "multipleOf": 3, "not": in_draft("4", multipleOf=2)},
            "g": {"allOf": [in_draft("4", type="integer", multipleOf=3), {"type": "integer", "multipleOf": 2}]},
        }
    },
    "bounds of draft 4 inside": in_draft(
        "2020-12",
        properties={
            "a": in_draft("4", type="number", minimum=3, exclusiveMinimum=True),
            "b": in_draft("4", type="integer", maximum=3, exclusiveMaximum=True),
            "c": {"type": "number", "exclusiveMinimum": 3},
        },
    ),
    "keywords that the draft inside does not know": in_draft(
        "2020-12",
        properties={
            "a": in_draft("4", const="a", propertyNames=3, contains={"const": 1}),
            "b": in_draft("6", const="b", **{"if": {}, "then": False}),
            "c": in_draft("7", dependentRequired={"a": ["b"]}, dependencies={"b": ["a"]}),
        },
        dependencies={"c": ["d"]},
    ),
    "what is beside a reference in draft 7 inside of 2020-12": in_draft(
        "2020-12",
        properties={
            "a": in_draft("7", properties={"x": {"$ref": "#/$defs/n", "const": "n"}}),
            "b": {"$ref": "#/$defs/n", "const": "n"},
            "c": in_draft("7", **{"$ref": "#/$defs/n", "const": "n"}),
            "d": in_draft("7", items=in_draft("2019-09", **{"$ref": "#/$defs/n", "const": "n"})),
        },
        **{"$defs": {"n": {"enum": ["n", 1]}}},
    ),
    "tuples of two drafts": in_draft(
        "2020-12",
        prefixItems=[
            in_draft("7", items=[{"const": "a"}, {"const": "b"}], additionalItems={"const": "c"}),
            in_draft("2019-09", items=[{"const": "a"}], unevaluatedItems=False),
        ],
        items={"prefixItems": [{"const": "d"}], "items": False},
    ),
    "references into and out of a draft": {
        "properties": {
            "a": {"$ref": "#/definitions/old"},
            "b": {"$ref": "#/definitions/old/definitions/n"},
            "c": {"$ref": "#/definitions/n"},
        },
        "definitions": {
            "old": in_draft(
                "4",
                definitions={"n": {"type": "integer"}},
                items={"$ref": "#/definitions/n"},
                properties={"b": {"$ref": "#/definitions/old/definitions/n"}, "self": {"$ref": "#/definitions/old"}},
            ),
            "n": {"type": "integer"},
        },
    },
    "references along drafts": {
        "$ref": "#/definitions/a/definitions/b/definitions/c",
        "definitions": {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "a": in_draft(
                "4", definitions={"b": in_draft("7", definitions={"c": {"items": {"type": "integer"}, "const": [1]}})}
            ),
        },
    },
    "drafts that change back and forth": in_draft(
        "7",
        items=[
            in_draft(
                "4",
                items=[{"type": "integer"}, in_draft("7", items=[{"type": "integer"}, in_draft("4", type="integer")])],
                additionalItems={"type": "integer"},
            ),
            {"type": "integer"},
        ],
        additionalItems=in_draft("2020-12", prefixItems=[in_draft("4", type="integer"), {"type": "integer"}]),
    ),
    "parts of several drafts for the same value": {
        "if": in_draft("4", properties={"k": {"enum": ["a", 1]}}, required=["k"]),
        "then": in_draft("7", properties={"k": {}, "n": {"type": "integer"}}),
        "else": in_draft("4", properties={"n": {"type": "integer"}}),
        "type": "object",
    },
    "keys of which a draft inside asks Python": {
        "properties": {
            "a": in_draft("7", patternProperties={"^(?!x)a": {"type": "null"}}, additionalProperties=False),
            "b": in_draft("6", propertyNames={"pattern": "^(?!x)"}, patternProperties={"b$": {"type": "null"}}),
            "c": in_draft("4", patternProperties={"^(?=.c)": {"type": "integer"}, "c$": {"type": "integer"}}),
        }
    },
    "formats in several drafts": in_draft(
        "7", properties={"a": {"format": "date"}, "b": in_draft("4", format="date"), "c": in_draft("4", format="ipv4")}
    ),
    "a draft inside that is unknown": in_draft("4", properties={"a": {"$schema": "x:mine", "type": "integer"}}),
    "an unknown draft with one inside": {
        "$schema": "x:mine",
        "properties": {"a": in_draft("4", items={"$schema": "x:mine", "type": "integer"}), "b": {"type": "integer"}},
    },
    "a draft inside in another spelling": in_draft(
        "4", properties={"a": {"$schema": "https://json-schema.org/draft-04/schema", "type": "integer"}}
    ),
    "identifiers of several drafts": {
        "$id": "http://example.com/root",
        "properties": {
            "a": in_draft("4", id="http://example.com/a", type="integer"),
            "b": in_draft("7", **{"$id": "b", "type": "integer"}),
            "c": in_draft("4", properties={"id": {"type": "integer"}}, id="#c"),
            "d": in_draft("4", id="d", properties={"x": {"$ref": "#/properties/b"}}),
        },
    },
}


@pytest.mark.parametrize("schema", SAMPLES.values(), ids=SAMPLES)
def test_same_masks(schema: Any) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    for seed in range(20):
        walk_both(grammar, seed)


@pytest.mark.parametrize("schema", SAMPLES.values(), ids=SAMPLES)
def test_a_text_is_read_as_its_value(schema: Any) -> None:
    grammar = cfgmask.Grammar.from_json_schema(json.dumps(schema))
    assert grammar.lazy is not None
    walk_both(grammar, 0)


# Conditions on strings of which the core asks nobody.
UNASKED: list[dict[str, Any]] = [
    {"pattern": r"^[\p{Lu}\p{Nd}_.-]*$"},
    {"pattern": r"\P{L}", "minLength": 2, "maxLength": 3},
    {"pattern": r"^[^\p{ASCII}]\p{Script=Greek}?$"},
    {"pattern": "^[0-9]+$", "minLength": 3, "maxLength": 3},
    {"pattern": r"^[\s\S]*$", "minLength": 1, "maxLength": 2},
    {"pattern": "^(ab?)+$", "minLength": 4, "maxLength": 4},
    {"pattern": "^(a{3}|b{5})*$", "minLength": 4, "maxLength": 9},
    {"pattern": "^(?:[a-b]{4})*(?:a=)?$", "minLength": 1, "maxLength": 11},
    {"pattern": "(^a|^b:)([0-9]+$)", "minLength": 2, "maxLength": 5},
    {"pattern": "x", "minLength": 3, "maxLength": 4},
    {"enum": ["a", "bc", "é", "def"], "minLength": 2},
    {"enum": ["a", "bc", "é", "def"], "maxLength": 1},
    {"enum": ["a", "bc", "é", "def", 3], "pattern": "^[a-f]*$", "maxLength": 2},
    {"const": "aé", "pattern": r"\P{ASCII}$"},
]


_NAMED_KEYS = {
    "type": "object",
    "patternProperties": {r"^\p{Lu}": {"const": 1}},
    "propertyNames": {"pattern": r"\p{Nd}$"},
}


@pytest.mark.parametrize("schema", [*({"type": "string", **each} for each in UNASKED), _NAMED_KEYS], ids=repr)
def test_conditions_that_the_core_reads_by_itself(schema: dict[str, Any]) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    assert grammar.lazy.regexes == []
    for seed in range(20):
        walk_both(grammar, seed)


# Not enforced, or not even a schema: the reference decides, and reports what is wrong.
LEFT: list[Any] = [
    {"type": "null", "anyOf": [{"type": "string"}]},
    {"patternProperties": {"(": {}}},
    {"propertyNames": {"$ref": "#"}},
    {"properties": {"a": {"type": ["string", "object"], "propertyNames": {"$ref": "#/properties/a"}}}},
    {"propertyNames": {"type": "null"}, "required": ["a"], "type": "object"},
    {"type": "array", "contains": {}, "maxContains": 0, "minItems": 1, "minContains": 0},
    {"type": "array", "contains": {"const": 1}, "items": {"const": 2}},
    {"type": "array", "contains": {"const": 1}, "maxItems": 2000},
    {"contains": 1},
    {"minContains": -1},
    {"not": {}},
    {"$ref": "other.json"},
    {"$ref": "#nowhere"},
    {"$ref": "b#nowhere", "$defs": {"a": {"$id": "b"}}},
    {"$ref": "#/foo", "foo": {"$id": "b", "items": {"$ref": "#"}}},
    {"$ref": "#/%C3defs", "%C3defs": {}},
    {"$ref": "#/allOf/00", "allOf": [{}]},
    {"$ref": "#/allOf/1", "allOf": [{}]},
    {"$ref": "#/allOf/x", "allOf": [{}]},
    {"minItems": 1.5},
    {"items": [{}], "$schema": "https://json-schema.org/draft/2020-12/schema"},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
    {"$ref": "#"},
    {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]},
    {"enum": []},
    {"type": "integer", "minimum": 3, "maximum": 2},
    {"type": "text"},
    {"then": {"type": "text"}},
    {"if": True, "else": {"type": "text"}},
    {"type": []},
    {"required": "a"},
    {"minLength": -1},
    {"minLength": True},
    {"minLength": 2**31},
    {"maxLength": 1.5},
    {"maxLength": -(2**31)},
    {"type": "null", "pattern": 3},
    {"type": "null", "multipleOf": 0},
    {"type": "string", "pattern": "("},
    {"type": "string", "pattern": r"\p{Graph}"},
    {"type": "string", "pattern": "^a$", "minLength": 2},
    {"enum": ["a", "b"], "minLength": 2},
    {"enum": ["a", "b"], "maxLength": 0},
    {"properties": {"a": 3}},
    {"items": [{}], "prefixItems": [{}]},
    {"default": float("nan")},
    {"default": {3: 4}},
    {"default": "\ud800"},
    {"x-guidance": {}},
    {"const": 2**70},
    False,
    {"type": "object", "required": ["a"], "additionalProperties": False},
    {"type": "object", "minProperties": 2, "maxProperties": 1},
    {"type": "object", "properties": {"a": {}}, "additionalProperties": False, "minProperties": 2},
    {"type": "object", "patternProperties": {"^[ab]$": {}}, "additionalProperties": False, "minProperties": 3},
    {"type": "array", "minItems": 2, "maxItems": 1},
    {"type": "string", "enum": [1]},
    {"uniqueItems": 1},
    {"type": "array", "uniqueItems": True, "items": {"enum": ["a", "b"]}, "minItems": 3},
    {"$defs": {"r": {"$ref": "#"}}, "items": {"$ref": "#/$defs/r"}, "if": {"$ref": "#/$defs/r"}},
    '{"a": 1, "a": 2}',
    '{"minimum": 1e999}',
    '{"const": "\\ud800"}',
    '{"const": "\t"}',
    '{"const": 01}',
    '{"type": "null"} {}',
    "[",
]


# Where a schema leads to itself behind one that was read inside of an item or a member already.
_AGAIN = {"$ref": "#/$defs/again"}
LEFT += [
    {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [inside, behind]}, "again": again}}
    for inside in ({"items": _AGAIN}, {"properties": {"a": _AGAIN}}, {"type": "array", "contains": _AGAIN})
    for behind in (_AGAIN, {"anyOf": [_AGAIN, {"type": "null"}]}, {"anyOf": [_AGAIN]})
    for again in ({"$ref": "#/$defs/a"}, {"anyOf": [{"$ref": "#/$defs/a"}, {"const": 1}]})
]
LEFT.append(
    {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": {"properties": {"a": _AGAIN}, "$ref": "#/$defs/b"},
            "b": {"allOf": [_AGAIN, {"not": _AGAIN}]},
            "again": {"$ref": "#/$defs/a"},
        },
    }
)


@pytest.mark.parametrize("schema", LEFT, ids=repr)
def test_the_rest_is_left_to_the_general_way(schema: Any) -> None:
    assert read_at_once(schema, options=DEFAULTS, limits=Limits()) is None


# The same values in other spellings, and numbers that no float holds.
TEXTS_OF_SCHEMAS = [
    '{"minimum": 1.00000000000000000001}',
    '{"type": "string", "maxLength": 100000000000000000000000}',
    '{"enum": [18446744073709551616, 0.1e1, 1E+2, -0, 2.50]}',
    '{"maximum": 9223372036854776000, "type": "integer"}',
    r' {"const" :\t"\u0061\/\ud83d\ude00\"\\\b" } '.replace(r"\t", "\t"),
    r'{"properties": {"\u0061": {"type": "null"}, "é\n": {}}, "required": ["a", "\u00e9\u000a"]}',
    '{"properties": {}, "items": {"enum": [null, true, false]}, "$defs": {}}',
]


@pytest.mark.parametrize("schema", TEXTS_OF_SCHEMAS)
def test_texts_are_read_exactly(schema: str) -> None:
    grammar = cfgmask.Grammar.from_json_schema(schema, numbers="any")
    assert grammar.lazy is not None
    for seed in range(5):
        walk_both(grammar, seed)


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), _JSON), st.booleans(), st.sampled_from([None, 1]))
def test_json_is_read(value: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    is_short = all(
        len(number) <= 100 and not re.search("e[+-]?...", number) for number in re.findall(r"[\d.e+-]+", text)
    )
    assert (_core.json_document(text, 200) is not None) >= is_short


@given(st.text('{}[]",:\\ntrufalse019.-+eE \n', max_size=12))
def test_what_is_no_json_is_not_read(inside: str) -> None:
    text = '{"a":' + inside
    if _core.json_document(text, 200) is not None:
        json.loads(text)


def test_parts_that_are_one_object_are_read_once() -> None:
    value: Any = {"type": "null"}
    for _ in range(60):
        value = {"properties": {"a": value, "b": value}}
    assert cfgmask.Grammar.from_json_schema(value, limits=Limits(max_nesting=400)).lazy is not None


def test_parts_that_are_one_object_are_read_as_their_places_say() -> None:
    part: Any = {"type": "integer"}
    old = in_draft("4", definitions={"n": part, "list": {"items": part}}, items=part)
    for properties in (
        {"a": part, "b": old},
        {"b": old, "a": part},
        {"a": {"$ref": "#/definitions/n"}, "b": {"$ref": "#/definitions/old/definitions/list"}},
    ):
        schema = {"properties": properties, "definitions": {"old": old, "n": part}}
        grammar = cfgmask.Grammar.from_json_schema(schema, numbers="any")
        assert grammar.lazy is not None
        compiled = cfgmask.compile(grammar, VOCABULARY)
        assert accepts(compiled, '{"a":1.0}')
        assert accepts(compiled, '{"b":[1]}')
        assert not accepts(compiled, '{"b":[1.0]}')


def test_references_in_parts_that_are_one_object_are_relative_to_their_places() -> None:
    part = {"items": {"$ref": "#/definitions/n"}}
    inner = {"$id": "inner", "properties": {"x": part}, "definitions": {"n": {"type": "null"}}}
    schema = {"properties": {"a": part, "b": inner}, "definitions": {"n": {"type": "string"}}}
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY)
    assert accepts(compiled, '{"a":["a"],"b":{"x":[null]}}')
    assert not accepts(compiled, '{"b":{"x":["a"]}}')


def test_the_schema_may_change_afterwards() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    schema["type"] = "nonsense"
    assert next(rule.name for rule in grammar.ir.rules) == "#"


def test_rules_are_counted() -> None:
    schema = {"properties": {str(i): {} for i in range(1000)}}
    with pytest.raises(cfgmask.LimitExceeded, match="max_rules"):
        cfgmask.Grammar.from_json_schema(schema, limits=Limits(max_rules=10_000))


def test_large_objects_are_combined_within_the_limits() -> None:
    # A rule counted as much as when all were made at once: ten times what it does.
    names = [f"property_{i}" for i in range(15_000)]
    parts = [{"required": [name]} for name in names[:2]]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}, "oneOf": parts}
    compiled = cfgmask.compile(cfgmask.Grammar.from_json_schema(schema), VOCABULARY)
    assert accepts(compiled, '{"property_1":1,"property_14999":1}')
    assert not accepts(compiled, '{"property_0":1,"property_1":1}')
    constants = cfgmask.compile(
        cfgmask.Grammar.from_json_schema({"const": {name: [1, {}] for name in names}}), VOCABULARY
    )
    assert accepts(constants, json.dumps({name: [1, {}] for name in names}))


LARGE = {str(i): True for i in range(1000)}


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"properties": LARGE}, "the root of the schema"),
        (
            {"items": {"properties": {"a/b": {"properties": LARGE}}}},
            "/items/properties/a~1b",
        ),
        ({"allOf": [{"properties": LARGE}]}, "/allOf/0"),
    ],
)
def test_a_limit_that_is_crossed_names_the_place(schema: Any, place: str) -> None:
    with pytest.raises(cfgmask.LimitExceeded, match=f"at {place}"):
        read_at_once(schema, options=DEFAULTS, limits=Limits(max_rules=1_000))


def test_deep_schemas_are_left_to_the_general_way() -> None:
    schema: Any = {}
    for _ in range(150):
        schema = {"items": schema}
    with pytest.raises(cfgmask.LimitExceeded, match="max_nesting"):
        cfgmask.Grammar.from_json_schema(schema, limits=Limits(max_nesting=100))
    assert cfgmask.Grammar.from_json_schema(schema, limits=Limits(max_nesting=400)).lazy is not None


# What members and items refer to in the depth of a schema is read later than what others refer to.
_REFERENCES = st.sampled_from([{"$ref": f"#/$defs/{i}"} for i in range(4)])
_REFERRING = st.recursive(
    _REFERENCES | st.sampled_from([{"const": "a"}, {"type": "null"}, {"type": "object"}]),
    lambda inner: st.one_of(
        st.builds(lambda part: {"type": "array", "items": part}, inner),
        st.builds(lambda a, b: {"properties": {"a": a, "b": b}, "required": ["a"]}, inner, inner),
        st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner),
        st.builds(lambda a, b: {"allOf": [a, b]}, inner, inner),
        st.builds(lambda reference, a: {**reference, "properties": {"a": a}}, _REFERENCES, inner),
        st.builds(lambda a: {"not": a}, inner),
    ),
    max_leaves=6,
)


@given(st.lists(_REFERRING, min_size=4, max_size=4), st.integers(0, 2**32))
def test_references_in_the_depth_of_a_schema(definitions: list[dict[str, Any]], seed: int) -> None:
    near: Any = {"type": "array", "items": {"$ref": "#/$defs/0"}}
    far = near
    for _ in range(24):
        far = {"type": "array", "items": far}
    limits = Limits(max_rules=100_000)
    found = []
    for root in (near, far):
        schema = {**root, "$defs": {str(i): definition for i, definition in enumerate(definitions)}}
        try:
            found.append(cfgmask.Grammar.from_json_schema(schema, limits=limits))
        except (cfgmask.GrammarError, cfgmask.LimitExceeded) as error:
            event(type(error).__name__)
            found.append(None)
    assert [grammar is None or grammar.lazy is None for grammar in found] in ([True] * 2, [False] * 2)
    if found[1] is not None:
        event(f"plain: {found[1].lazy is not None}")
        try:
            assert general_rules(found[1]) is not None
        except cfgmask.LimitExceeded:
            event("too much for the reference")
        else:
            walk_both(found[1], seed, after=b"[" * 25)


_SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, -2.5, 10**30, "a", "ab", "é", 'q"'])
_PARTS = st.one_of(
    st.builds(lambda value: {"const": value}, _SCALARS),
    st.builds(lambda value: {"const": value, "title": "one of them"}, _SCALARS),
    st.builds(lambda values: {"enum": values}, st.lists(_SCALARS, min_size=1, max_size=4)),
    st.builds(
        lambda values, name: {"type": name, "enum": values},
        st.lists(_SCALARS, min_size=1, max_size=4),
        st.sampled_from(["string", "integer", "number", "boolean"]),
    ),
    st.sampled_from([{"type": "integer"}, {"maxLength": 1}, {"const": {}}, {"const": []}, {"enum": ["a", {}]}]),
)


@given(
    st.sampled_from(["anyOf", "oneOf"]),
    st.lists(_PARTS, min_size=1, max_size=8),
    st.sampled_from([{}, {"type": ["string", "integer"]}, {"maxLength": 1}, {"enum": ["a", 1, None]}]),
    st.sampled_from(["", "http://json-schema.org/draft-04/schema#"]),
    st.integers(0, 2**32),
)
def test_parts_that_list_scalars_are_one_list(
    keyword: str, parts: list[Any], around: dict[str, Any], draft: str, seed: int
) -> None:
    check({**({"$schema": draft} if draft else {}), **around, keyword: parts}, seed)


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_constants_in_parts_of_their_own_are_many(keyword: str) -> None:
    # Compared each with each, they took minutes.
    parts: list[Any] = [{"const": f"value {i}", "title": f"The value {i}"} for i in range(5000)]
    parts += [{"const": i} for i in range(5000)] + [{"type": "object"}, {"type": "null"}]
    grammar = cfgmask.Grammar.from_json_schema({keyword: parts})
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert all(accepts(compiled, text) for text in ['"value 4999"', "4999", "null", '{"a":1}'])
    assert not any(accepts(compiled, text) for text in ['"value 5000"', "5000", "true", "[]"])


_HELD = st.sampled_from(
    [True, False, {"const": "a"}, {"type": "null"}, {"type": "object", "unevaluatedProperties": False}]
)
_EVALUATING: dict[str, st.SearchStrategy[Any]] = {
    "properties": st.dictionaries(st.sampled_from(["a", "b"]), _HELD, max_size=2),
    "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), _HELD, max_size=2),
    "additionalProperties": _HELD,
    "required": st.sampled_from([["a"], ["c"]]),
    "prefixItems": st.lists(_HELD, min_size=1, max_size=2),
    "items": _HELD,
    "additionalItems": _HELD,
    "contains": _HELD,
    "minItems": st.integers(0, 2),
    "allOf": st.sampled_from([[{"properties": {"c": {}}}], [{"prefixItems": [{}]}]]),
}


_ENDLESS = {"type": "object", "properties": {"x": {"$ref": "#/$defs/endless"}}, "required": ["x"]}
_PERHAPS_NEVER = st.sampled_from(
    [{}, {"const": "a"}, False, {"$ref": "#/$defs/endless"}, {"allOf": [{"type": "string"}, {"type": "null"}]}]
)


@given(
    st.lists(_PERHAPS_NEVER, min_size=1, max_size=3),
    st.sampled_from([{}, {"items": {"$ref": "#/$defs/endless"}}, {"items": {"const": 1}}, {"items": False}]),
    st.integers(0, 4),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_no_array_begins_that_needs_an_item_without_values(
    prefix: list[Any], items: dict[str, Any], minimum: int, inside: bool, seed: int
) -> None:
    arrays = {"type": ["array", "null"], "prefixItems": prefix, "minItems": minimum, **items}
    schema = {"properties": {"a": arrays}} if inside else arrays
    check({**schema, "$defs": {"endless": _ENDLESS}}, seed)


@given(
    st.dictionaries(st.sampled_from(["^[de]$", "^d", "e$", "^x+$", "^(d|xx)$"]), _PERHAPS_NEVER, max_size=3),
    _PERHAPS_NEVER,
    st.integers(0, 3),
    st.sampled_from(["object", ["object", "null"]]),
    st.integers(0, 2**32),
)
@example({}, {"$ref": "#/$defs/endless"}, 1, ["object", "null"], 0)  # its objects have no key that has a value
def test_no_key_begins_that_has_no_value_or_was_written(
    patterns: dict[str, Any], others: Any, minimum: int, types: Any, seed: int
) -> None:
    objects = {"type": types, "patternProperties": patterns, "additionalProperties": others}
    check({**objects, "minProperties": minimum, "$defs": {"endless": _ENDLESS}}, seed)


@given(
    st.fixed_dictionaries({"unevaluatedProperties": _HELD, "unevaluatedItems": _HELD}, optional=_EVALUATING),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_what_no_other_keyword_looks_at(schema: dict[str, Any], is_older: bool, seed: int) -> None:
    if is_older:
        schema["$schema"] = "https://json-schema.org/draft/2019-09/schema"
        if "prefixItems" in schema:
            schema["items"] = schema.pop("prefixItems")
    check(schema, seed)


@given(st.lists(st.fixed_dictionaries({}, optional=_EVALUATING), min_size=3, max_size=6), st.integers(0, 2**32))
def test_many_parts_that_meet(parts: list[Any], seed: int) -> None:
    # They are met two by two.
    try:
        check({"allOf": parts}, seed)
    except cfgmask.LimitExceeded:
        event("limit")


def test_thousands_of_parts_meet() -> None:
    # One after the other, they ended at the limit of rules: each copied all that were before it.
    parts = [{"properties": {f"k{i}": {"type": "null"}}, "required": [f"k{i}"]} for i in range(5000)]
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "allOf": parts})
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    text = json.dumps({f"k{i}": None for i in range(5000)})
    assert accepts(compiled, text)
    assert not accepts(compiled, text.replace('"k4999"', '"k"'))


def test_chains_of_references_may_be_long() -> None:
    # A bound on the depth left them to another reader, which took a hundred times as long.
    chain: dict[str, Any] = {
        str(i): {"type": "object", "properties": {"a": {"$ref": f"#/$defs/{i + 1}"}}, "required": ["a"]}
        for i in range(2000)
    }
    schema = {"$ref": "#/$defs/0", "$defs": {**chain, "2000": {"const": 1}}}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert accepts(compiled, '{"a":' * 2000 + "1" + "}" * 2000)
    assert not accepts(compiled, '{"a":' * 1999 + "1" + "}" * 1999)


def test_chains_of_references_to_references_may_be_long() -> None:
    chain: dict[str, Any] = {str(i): {"$ref": f"#/$defs/{i + 1}"} for i in range(20_000)} | {"20000": {"const": 1}}
    schema = {"items": {"$ref": "#/$defs/0"}, "contains": {"$ref": "#/$defs/7"}, "$defs": chain}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert accepts(compiled, "[1,1]")
    assert not accepts(compiled, "[2]")


def test_references_that_lead_back_to_themselves_are_refused() -> None:
    circle = {str(i): {"$ref": f"#/$defs/{(i + 1) % 30}"} for i in range(30)}
    for first in [{"$ref": "#/$defs/0"}, {"items": {"$ref": "#/$defs/0"}}, {"allOf": [{}, {"$ref": "#/$defs/7"}]}]:
        with pytest.raises(cfgmask.GrammarError):
            cfgmask.Grammar.from_json_schema({**first, "$defs": circle})


@given(SCHEMAS, st.integers(0, 2**32))
def test_random_schemas(schema: dict[str, Any], seed: int) -> None:
    check(schema, seed)


_REFERENCES_TO_DRAFTS = [
    {"$ref": "#/definitions/one", "maximum": 3},
    {"$ref": "#/definitions/one"},
    {"$ref": "#/definitions/two"},
    {"$ref": "#/definitions/two/definitions/three"},
    in_draft("7", **{"$ref": "#/definitions/one", "maximum": 3}),
    in_draft("4", items={"$ref": "#/definitions/two/definitions/three"}),
]


@given(*[of_drafts(*_REFERENCES_TO_DRAFTS)] * 4, st.integers(0, 2**32))
def test_drafts_inside(root: Any, one: Any, two: Any, three: Any, seed: int) -> None:
    check({"definitions": {"one": one, "two": two | {"definitions": {"three": three}}}, **root}, seed)


# Schemas of simple keywords, some with a wrong value, so that more than a few are read.

_FLAWS = st.sampled_from([None, -1, 1.5, "a", [], ["a", 1], {}, {"a": 1}, True, False])
_LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": ["integer", "null"]},
        {"enum": ["a", "b", 1]},
        {"enum": ["c", None]},
        {"enum": [["a"], {"a": 1}, {"b": None, "a": "b"}, "a"]},
        {"type": "object", "required": ["a"]},
        {"type": "object", "properties": {"b": {"const": 1}}, "additionalProperties": False},
        {"type": "string", "pattern": "^a"},
        {"const": "a"},
        {"minLength": 1, "type": "string"},
        {"minimum": 2, "maximum": 11},
        {"$ref": "#"},
        {"$ref": "#/properties/a"},
        {"$id": "a", "items": {"$ref": "#"}},
        {"$id": "b", "items": {"type": "null"}},
        False,
        {},
        True,
    ]
)


def _deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    named = st.dictionaries(NAMES, inner, max_size=3)
    keywords = {
        "type": st.sampled_from(["object", "array", ["object", "string"], ["array", "object", "integer"]]),
        "properties": named,
        "required": st.lists(NAMES, max_size=2),
        "additionalProperties": st.one_of(inner, st.booleans()),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minItems": st.integers(0, 3),
        "maxItems": st.integers(0, 3),
        "minProperties": st.integers(0, 3),
        "maxProperties": st.integers(0, 3),
        "pattern": PATTERNS,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "title": TEXTS,
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2), max_size=2),
        "dependentSchemas": st.dictionaries(NAMES, inner, max_size=2),
        "contains": inner,
        "propertyNames": inner,
        "uniqueItems": st.booleans(),
        "minContains": st.integers(0, 3),
        "maxContains": st.integers(0, 3),
    }
    objects = st.fixed_dictionaries({}, optional=keywords)
    flawed = st.builds(lambda schema, key, flaw: schema | {key: flaw}, objects, st.sampled_from(list(keywords)), _FLAWS)
    keys, parts = st.sampled_from(["anyOf", "oneOf", "allOf"]), st.lists(inner, min_size=1, max_size=3)
    unions = st.builds(lambda key, parts: {key: parts}, keys, parts)
    return st.one_of(objects, objects, unions, flawed)


@given(_deeper(st.recursive(_LEAVES, _deeper, max_leaves=6)), st.integers(0, 2**32))
def test_schemas_of_plain_keywords(schema: dict[str, Any], seed: int) -> None:
    check(schema, seed)


_LENGTHS = st.fixed_dictionaries({}, optional={"minLength": st.integers(0, 4), "maxLength": st.integers(0, 5)})


@given(ECMA_PATTERNS, _LENGTHS, st.integers(0, 2**32))
def test_patterns(pattern: str, lengths: dict[str, int], seed: int) -> None:
    check({"type": "string", "pattern": pattern, **lengths}, seed)


@given(ECMA_PATTERNS, _LENGTHS, st.lists(st.text("abé1\n", max_size=4), min_size=1, max_size=4), st.integers(0, 2**32))
def test_patterns_of_listed_texts(pattern: str, lengths: dict[str, int], texts: list[str], seed: int) -> None:
    check({"enum": [*texts, None], "pattern": pattern, **lengths}, seed)


@given(ECMA_PATTERNS, st.lists(st.sampled_from(["", "a", "b", "ab", "aé", "1"]), max_size=2), st.integers(0, 2**32))
def test_patterns_of_keys(pattern: str, names: list[str], seed: int) -> None:
    named = {name: {"type": "null"} for name in names}
    check({"type": "object", "properties": named, "patternProperties": {pattern: {"const": 1}}}, seed)


@given(
    st.lists(ECMA_PATTERNS, min_size=2, max_size=4),
    st.lists(st.sampled_from(["", "a", "b", "ab", "aé", "1"]), max_size=2),
    st.integers(0, 2**32),
)
def test_patterns_of_names(patterns: list[str], names: list[str], seed: int) -> None:
    either = {"anyOf": [{"pattern": pattern} for pattern in patterns]}
    check({"type": "object", "properties": {name: {"type": "null"} for name in names}, "propertyNames": either}, seed)


def test_thousands_of_patterns_of_names() -> None:
    """Python read them in two to six seconds, and one pattern of as many alternatives beside names took seven."""
    patterns = [f"a{i}.*c" for i in range(16_000)]
    named = {f"a{i}{end}": {"const": i} for i in range(200) for end in ("c", "d")}
    for names in ({"anyOf": [{"pattern": pattern} for pattern in patterns]}, {"pattern": "|".join(patterns)}):
        grammar = cfgmask.Grammar.from_json_schema({"propertyNames": names, "properties": named})
        assert grammar.lazy is not None
        compiled = cfgmask.compile(grammar, VOCABULARY)
        assert accepts(compiled, '{"a7c":7,"xa15999cx":1}')
        assert not accepts(compiled, '{"a7c":8}')
        assert not accepts(compiled, '{"a7d":7}')
        assert not accepts(compiled, '{"xac":1}')


# Some begin others, some match one key, and some are told apart by a search.
KEY_PATTERNS = ["^a", "^ab", "^abc", "^ab$", "^abc$", "^a{2,3}$", "^b", "^ba$", "^[bc]", "^é", "^é$", "^c?d$", "a$"]


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(KEY_PATTERNS), min_size=2, max_size=9, unique=True),
    st.lists(st.sampled_from(["a", "ab", "abc", "ba", "d", "é"]), max_size=2, unique=True),
    st.sampled_from(
        [{}, {"additionalProperties": False}, {"additionalProperties": {"const": 9}}, {"maxProperties": 2}]
    ),
    st.integers(0, 2**32),
)
def test_many_patterns_of_keys(patterns: list[str], names: list[str], further: Any, seed: int) -> None:
    rng = random.Random(seed)
    values = [{"type": "null"}, {"type": ["null", "boolean"]}, {"enum": [None, 1]}, {"type": "integer"}, False]
    schema = {"type": "object", "patternProperties": {pattern: rng.choice(values) for pattern in patterns}, **further}
    check(schema | {"properties": {name: {"type": ["null", "integer"]} for name in names}}, seed)


@pytest.mark.parametrize("further", [{}, {"additionalProperties": False}, {"properties": {"p1_x": {}, "q": {}}}])
def test_thousands_of_patterns_of_keys(further: Any) -> None:
    """Each was compared with each, and more than 1,024 were refused."""
    patterns = {f"^p{i}{'_' if i % 2 else '$'}": {"const": i} for i in range(20_000)}
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "patternProperties": patterns, **further})
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    is_closed = "additionalProperties" in further
    for text, fits in [
        ('{"p17_x":17,"p18":18}', True),
        ('{"p17_x":18}', False),
        ('{"p19998":2', False),
        ('{"p19999_":19999}', True),
        ('{"p1_x":2', False),
        ('{"p18x":1}', not is_closed),
        ('{"p2_":1}', not is_closed),
    ]:
        matcher = compiled.matcher()
        assert (matcher.advance_bytes(text.encode()) == len(text)) == fits, text


def test_thousands_of_patterns_of_keys_that_overlap_end_at_a_limit() -> None:
    # Python, which was asked next, took seconds.
    patterns = {f"p{i}": {"const": i} for i in range(20_000)}
    with pytest.raises(cfgmask.LimitExceeded, match=r"max_rules = 2000000 was exceeded .at /items"):
        cfgmask.Grammar.from_json_schema({"items": {"patternProperties": patterns}})


SPELLED = ["a", "a/", "a/b", "/", '"', "\\", "\n", "\0", "\0a", "\x7f", "é", "éa", "ê", "😀", "😁", "b", "bc", ""]


@given(
    st.lists(st.sampled_from(SPELLED), unique=True, max_size=8),
    st.lists(st.sampled_from(SPELLED), unique=True, max_size=2),
    st.sampled_from([False, True, {"type": "null"}]),
    st.integers(0, 2**32),
)
def test_keys_that_may_be_written_with_escapes(names: list[str], required: list[str], others: Any, seed: int) -> None:
    properties = {key: {"type": "null"} for key in names}
    required = [name for name in required if others is not False or name in names]
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": others}
    grammar = cfgmask.Grammar.from_json_schema(schema)
    walk_both(grammar, seed, steps=20)
    text = cfgmask.compile(grammar, VOCABULARY).matcher(), cfgmask.compile(general_rules(grammar), VOCABULARY).matcher()
    written = json.dumps(dict.fromkeys([*names, *required]), ensure_ascii=seed % 2 == 0).encode()
    taken = random.Random(seed).randrange(len(written) + 1)
    assert [matcher.advance_bytes(written[:taken]) for matcher in text] == [taken, taken]
    assert len(text[0].completion()) == len(text[1].completion())


def test_alternatives_that_are_alike_deep_inside_are_compared_in_time() -> None:
    names = [f"key{i}" for i in range(100)]
    definitions: dict[str, Any] = {"a0": {"type": "string"}, "b0": {"type": "string", "maxLength": 9}}
    for side in "ab":
        for level in range(1, 5):
            inner = {"$ref": f"#/$defs/{side}{level - 1}"}
            definitions[f"{side}{level}"] = {
                "type": "object", "required": names, "properties": dict.fromkeys(names, inner), side: None
            }  # fmt: skip
    schema = {"$defs": definitions, "oneOf": [{"$ref": "#/$defs/a4"}, {"$ref": "#/$defs/b4"}]}
    assert read_at_once(schema, options=DEFAULTS, limits=Limits()) is not None


def test_differences_without_end_are_left_to_the_general_way() -> None:
    names = [f"key{i}" for i in range(40)]
    parts = [
        {"type": "object", "properties": {name: {"enum": [i, i + 1]} for name in names[i : i + 20]}} for i in range(20)
    ]
    assert read_at_once({"oneOf": parts}, options=DEFAULTS, limits=Limits()) is None


def test_alternatives_that_overlap_are_taken_apart_in_time() -> None:
    # The reference took 7 seconds; twice as many ended at its limit after 20.
    schema = {"oneOf": [{"type": "object", "properties": {f"k{i}": {"type": "string"}}} for i in range(80)]}
    assert read_at_once(schema, options=DEFAULTS, limits=Limits()) is not None
    with pytest.raises(cfgmask.LimitExceeded, match=r"max_rules = 100000 was exceeded .at /items"):
        cfgmask.Grammar.from_json_schema({"items": schema}, limits=Limits(max_rules=100_000))


@pytest.mark.parametrize(
    "part",
    [lambda i: {"minimum": i}, lambda i: {"pattern": f"a{i}"}, lambda i: {"$ref": "#/$defs/a"}],
    ids=["numbers", "patterns", "references"],
)
def test_thousands_of_alternatives_that_overlap_end_at_a_limit(part: Any) -> None:
    # Python, which was asked next, took minutes.
    schema = {"items": {"oneOf": [part(i) for i in range(3000)]}, "$defs": {"a": {"type": "object"}}}
    with pytest.raises(cfgmask.LimitExceeded, match=r"max_rules = 2000000 was exceeded .at /items"):
        cfgmask.Grammar.from_json_schema(schema)


def test_thousands_of_items_that_arrays_must_have_end_at_a_limit() -> None:
    # Each meeting copied the witnesses of all before it.
    schema = {"type": "array", "allOf": [{"contains": {"const": i}} for i in range(3000)]}
    with pytest.raises(cfgmask.LimitExceeded, match="max_rules"):
        cfgmask.Grammar.from_json_schema(schema)


def test_hundreds_of_conditions_on_one_member_are_told_apart() -> None:
    conditions = [
        {"if": {"properties": {"kind": {"const": i}}, "required": ["kind"]}, "then": {"required": [f"v{i}"]}}
        for i in range(240)
    ]
    grammar = cfgmask.Grammar.from_json_schema({"type": "object", "allOf": conditions})
    assert grammar.lazy is not None
    compiled = cfgmask.compile(grammar, VOCABULARY)
    assert accepts(compiled, '{"kind":239,"v239":0}')
    assert not accepts(compiled, '{"kind":239,"v238":0}')
    assert accepts(compiled, '{"kind":240}')


def test_a_pattern_that_costs_much_is_asked_by_its_regex() -> None:
    pattern = "^" + "(" * 20 + "a" + "+)" * 20 + "$"
    grammar = cfgmask.Grammar.from_json_schema({"properties": {"a" * 60: {}}, "patternProperties": {pattern: {}}})
    assert grammar.lazy is not None


BOUNDS = dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], st.integers(-12, 12))
RANGES = st.fixed_dictionaries({"type": st.sampled_from(["number", "integer"])}, optional=BOUNDS)


@given(st.sampled_from(["allOf", "anyOf", "oneOf"]), st.lists(RANGES, min_size=2, max_size=4), st.integers(0, 3))
def test_ranges_that_overlap(keyword: str, parts: list[Any], seed: int) -> None:
    check({keyword: parts}, seed)
    check({"allOf": [parts[0], *({"not": part} for part in parts[1:])]}, seed)


def check(schema: Any, seed: int) -> None:
    """A schema that is read has no errors by the reference, and the same masks."""
    try:
        grammar = cfgmask.Grammar.from_json_schema(schema)
    except cfgmask.GrammarError:
        event("refused")
        return
    event(f"plain: {grammar.lazy is not None}")
    if grammar.lazy is not None:
        walk_both(grammar, seed)


def walk_both(grammar: cfgmask.Grammar, seed: int, steps: int = 40, after: bytes = b"") -> None:
    """Random walks through the masks of both ways, behind some text: they are equal all along."""
    walk_with(grammar, general_rules(grammar), seed, steps, after)


def walk_with(grammar: cfgmask.Grammar, rules: GrammarIR, seed: int, steps: int = 40, after: bytes = b"") -> None:
    """The same with these rules as the other way."""
    one = cfgmask.compile(grammar, VOCABULARY).matcher()
    other = cfgmask.compile(rules, VOCABULARY).matcher()
    assert one.try_advance(list(after)) == other.try_advance(list(after)) == len(after)
    rng, mask, expected = random.Random(seed), np.zeros(WORDS, np.uint32), np.zeros(WORDS, np.uint32)
    text = b""
    for _ in range(steps):
        one.fill_mask(mask)
        other.fill_mask(expected)
        assert (mask == expected).all(), text
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        token = int(rng.choice(allowed))
        one.advance(token)
        other.advance(token)
        if one.is_finished:
            return
        text += TOKENS[token]


@pytest.mark.skipif(not MASKBENCH.exists(), reason="MaskBench is not beside this repository")
def test_schemas_of_maskbench() -> None:
    with gzip.open(MASKBENCH, "rt", encoding="utf-8") as lines:
        schemas = [json.loads(line)["schema"] for line in list(lines)[::80]]
    plain = 0
    for schema in schemas:
        try:
            grammar = cfgmask.Grammar.from_json_schema(schema)
        except cfgmask.GrammarError:
            continue
        if grammar.lazy is not None:
            plain += 1
            walk_both(grammar, plain, steps=100)
    assert plain > len(schemas) / 2


# Patterns that mean something in one dialect, or each time another thing.
_OF_DIALECTS: list[tuple[Any, Any]] = [
    (dialect, pattern)
    for dialect, patterns in {
        "python": [r"(?P<y>[12])-(?P=y)", r"(?i)^straße$", r"\Aa\Z", r"^\w\s$", "^a$", "(?s).$", r"\N{DIGIT ONE}|é"],
        "rust": [r"^\pL+$", r"[[:alpha:]]$", r"^\x{41}\z", r"^[a-z&&[^b]]$", r"(?i)k", r"\p{Greek}", r"^\d(?x: a b )"],
        "ecma": [r"^(?<é>a|b)\k<é>$", r"\cA", r"^[^]$"],
    }.items()
    for pattern in patterns
]


@pytest.mark.parametrize(("dialect", "pattern"), _OF_DIALECTS)
def test_dialects_of_patterns(dialect: Any, pattern: str) -> None:
    schema = {
        "type": ["object", "string"],
        "pattern": pattern,
        "maxLength": 6,
        "patternProperties": {pattern: {"type": "null"}},
        "properties": {"a": {"pattern": pattern, "enum": ["a", "b", "A", "1-1"]}},
        "propertyNames": {"pattern": pattern},
    }
    grammar = cfgmask.Grammar.from_json_schema(schema, pattern_dialect=dialect)
    assert grammar.lazy is not None
    for seed in range(5):
        walk_both(grammar, seed)


def test_equal_patterns_of_two_dialects() -> None:
    schema = {"pattern": "^a$", "type": "string"}
    for dialect, texts in {"python": {'"a"', '"a\\n"'}, "ecma": {'"a"'}, "rust": {'"a"'}}.items():
        grammar = cfgmask.Grammar.from_json_schema(schema, pattern_dialect=dialect)  # type: ignore[arg-type]
        assert grammar.lazy is not None
        matches = cfgmask.compile(grammar, VOCABULARY)
        assert {text for text in ('"a"', '"a\\n"', '"b"') if accepts(matches, text)} == texts
