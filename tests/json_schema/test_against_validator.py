"""Random schemas against the validator, on random values in every order of their keys."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from hypothesis import event, given
from hypothesis import strategies as st

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import accepts, compiled, is_valid
from tests.json_schema.random_schemas import SCHEMAS, VALUES, VALUES_OF_DRAFTS, of_drafts


@given(SCHEMAS, st.lists(VALUES, min_size=8, max_size=8))
def test_verdicts_agree(schema: dict[str, Any], values: list[Any]) -> None:
    check_verdicts(schema, values)


@given(of_drafts(), st.lists(VALUES_OF_DRAFTS, min_size=8, max_size=8))
def test_verdicts_agree_where_drafts_change(schema: dict[str, Any], values: list[Any]) -> None:
    check_verdicts(schema, values)


def check_verdicts(schema: dict[str, Any], values: list[Any]) -> None:
    try:
        grammar = compiled(schema, numbers="any")
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        event(f"refused: {', '.join(sorted(codes))}")
        if codes == {"schema-unsatisfiable"}:
            assert not any(is_valid(schema, json.dumps(value)) for value in values)
        return
    for value in values:
        verdict = is_valid(schema, json.dumps(value))
        event(f"valid: {verdict}")
        assert accepts_in_some_order(grammar, value) == verdict, value


@given(st.one_of(SCHEMAS, of_drafts()), st.integers(0, 2**32))
def test_no_text_is_a_dead_end(schema: dict[str, Any], seed: int) -> None:
    """A random walk finds something allowed until it may stop, and where it may stop the value is valid."""
    try:
        grammar = compiled(schema)
    except cfgmask.GrammarError:
        return
    walk(grammar, schema, seed)


@given(SCHEMAS, st.integers(0, 2**32))
def test_no_text_in_any_order_is_a_dead_end(schema: dict[str, Any], seed: int) -> None:
    try:
        grammar = compiled(schema, property_order="any")
    except cfgmask.GrammarError:
        return
    walk(grammar, schema, seed)


@given(SCHEMAS, st.lists(VALUES, min_size=8, max_size=8))
def test_verdicts_agree_in_any_order(schema: dict[str, Any], values: list[Any]) -> None:
    try:
        grammar = compiled(schema, numbers="any", property_order="any")
    except cfgmask.GrammarError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
        event(f"refused: {', '.join(sorted(codes))}")
        return
    for value in values:
        verdict = is_valid(schema, json.dumps(value))
        event(f"valid: {verdict}")
        assert accepts(grammar, json.dumps(value)) == verdict, value


def walk(grammar: cfgmask.CompiledGrammar, schema: dict[str, Any], seed: int) -> None:
    matcher, text, mask = grammar.matcher(), b"", np.zeros(9, dtype=np.uint32)
    for step in range(60):
        if matcher.is_accepting:
            assert is_valid(schema, text.decode()), text
        matcher.fill_mask(mask)
        allowed = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little")[:256]).tolist()
        if not allowed:
            assert matcher.is_accepting, text
            return
        # Of the characters of strings a few stand for all, and later on what closes comes first, so that walks end.
        wanted = b'"]}' if step > 30 else b'{}[],:"-019.abx tfn\\'
        # The validator cannot read numbers like 1E99999999999999999999, so no digit is followed by an exponent.
        # In an escape nothing else may follow.
        usable = [byte for byte in allowed if not (text[-1:].isdigit() and byte in b"eE")] or allowed
        few = [byte for byte in usable if byte in wanted] or usable
        byte = few[(seed + step) * 2654435761 % 2**32 % len(few)]
        matcher.advance(byte)
        text += bytes([byte])
