"""Lengths, patterns, and both together."""

from __future__ import annotations

import json

import pytest

import cfgmask
from tests.json_schema.judge import Schema, accepts, check, compiled

TABLE: list[tuple[Schema, list[str], list[str]]] = [
    (
        {"type": "string", "minLength": 2},
        ['"ab"', '"abc"', r'"\n\u00e9"', '"𝄞𝄞"', r'"\ud834\udd1e."'],
        ['"a"', '""', '"𝄞"'],
    ),
    ({"type": "string", "maxLength": 2}, ['""', '"ab"', '"𝄞𝄞"'], ['"abc"', '"𝄞𝄞𝄞"']),
    ({"type": "string", "minLength": 2, "maxLength": 2}, ['"ab"'], ['"a"', '"abc"']),
    ({"minLength": 1}, ['"a"', "1", "null", "[]"], ['""']),
    ({"type": "string", "pattern": "^a+$"}, ['"a"', '"aaa"', r'"\u0061"'], ['""', '"ab"', '"ba"']),
    ({"type": "string", "pattern": "b"}, ['"b"', '"abc"', r'"a\"b"'], ['"a"', '""']),
    ({"type": "string", "pattern": "^\\d{3}-[A-Z]?$"}, ['"123-"', '"123-Z"'], ['"12-"', '"123-z"']),
    ({"type": "string", "pattern": '^[^"]*$'}, ['"a"'], [r'"a\"b"']),
    ({"type": "string", "pattern": "/"}, ['"a/b"', r'"a\/b"'], ['"ab"']),
    ({"type": "string", "pattern": "^x", "maxLength": 3}, ['"x"', '"xyz"'], ['"xyzz"', '"y"']),
    ({"type": "string", "pattern": "^(a|bb)*$", "minLength": 3}, ['"aaa"', '"bba"'], ['"bb"', '"bab"']),
    # Two characters at once: there are texts of every second length.
    (
        {"type": "string", "pattern": "^([ab][cd])*$", "minLength": 5, "maxLength": 7},
        ['"acbdac"'],
        ['"acbd"', '"acbda"', '"acbdacb"', '"acbdacbd"'],
    ),
    (
        {"type": "string", "pattern": "^([ab][cd])*$", "minLength": 31, "maxLength": 32},
        [json.dumps("ac" * 16)],
        [json.dumps("ac" * 15), json.dumps("ac" * 15 + "a"), json.dumps("ac" * 17)],
    ),
    ({"allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "type": "string"}, ['"az"', '"a.z"'], ['"a"', '"za"']),
    ({"type": "string", "not": {"pattern": "^a"}}, ['"b"', '""'], ['"a"', '"ab"']),
    ({"type": "string", "not": {"enum": ["a", "b"]}}, ['"c"', '"ab"', '""'], ['"a"', '"b"', r'"\u0061"']),
    ({"type": "string", "not": {"maxLength": 2}}, ['"abc"'], ['"ab"', '""']),
    ({"type": "string", "anyOf": [{"pattern": "^a"}, {"minLength": 3}]}, ['"a"', '"bcd"'], ['"b"', '"bc"']),
    ({"type": "string", "oneOf": [{"pattern": "^a"}, {"minLength": 3}]}, ['"a"', '"bcd"'], ['"abc"', '"bc"']),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), TABLE, ids=lambda value: json.dumps(value)[:60])
def test_table(schema: Schema, valid: list[str], invalid: list[str]) -> None:
    check(schema, valid, invalid)


@pytest.mark.parametrize("n", [1, 5, 31, 99])
def test_a_pattern_without_a_text_of_the_length_has_no_value(n: int) -> None:
    schema = {"type": "string", "pattern": "^([ab][cd])*$", "minLength": n, "maxLength": n}
    with pytest.raises(cfgmask.GrammarError, match="schema-unsatisfiable"):
        compiled(schema)


def test_a_long_bound_compiles_at_once() -> None:
    grammar = compiled({"type": "string", "minLength": 3, "maxLength": 1_000_000})
    assert accepts(grammar, json.dumps("a" * 5_000))
    assert not accepts(grammar, '"ab"')


def test_dollar_is_the_end_and_not_before_a_line_break() -> None:
    # Python's re, which the validator uses, lets `$` match before a final line break; ECMA-262 does not.
    assert not accepts(compiled({"type": "string", "pattern": "^a$"}), r'"a\n"')
