"""The official suite of draft 2020-12 read as the earlier drafts: each draft's validator judges its instances anew.

What a draft does not know it ignores, so the same schema often means something else there.
"""

from __future__ import annotations

import decimal
import json
import re
from typing import Any

import jsonschema
import pytest
import referencing

import cfgmask
from benchmarks.library.any_order import accepts_in_some_order
from tests.json_schema.judge import compiled, is_valid
from tests.json_schema.test_drafts import URI
from tests.json_schema.test_official_suite import SUITE

DRAFTS = ("4", "6", "7", "2019-09")
# Files about other documents, and about what the validator gets wrong in 2019-09.
LEFT_OUT = {
    "vocabulary",
    "dynamicRef",
    "refRemote",
    "anchor",
    "defs",
    "ref",
    "unevaluatedItems",
    "unevaluatedProperties",
}
# No schema of the draft, or patterns, numbers and references that the validator cannot take.
UNJUDGED = (jsonschema.SchemaError, re.error, decimal.InvalidOperation, referencing.exceptions.Unresolvable)
LATEST = URI["2020-12"]

# How many tests were judged, and of how many the schema was refused. Less of the one or more of the other is a loss.
COUNTS = {"4": (806, 0), "6": (903, 0), "7": (903, 0), "2019-09": (903, 0)}


@pytest.mark.skipif(not SUITE.exists(), reason="the official test suite is not beside the repository")
@pytest.mark.parametrize("draft", DRAFTS)
def test_draft(draft: str) -> None:
    judged = refused = 0
    for file in sorted(SUITE.glob("*.json")):
        if file.stem in LEFT_OUT:
            continue
        for group in json.loads(file.read_text(encoding="utf-8")):
            schema = group["schema"]
            if not isinstance(schema, dict) or schema.get("$schema") != LATEST:
                continue
            schema = {**schema, "$schema": URI[draft]}
            try:
                tests = [(case["data"], is_valid(schema, json.dumps(case["data"]))) for case in group["tests"]]
            except UNJUDGED:
                continue
            found, lost = judge(schema, tests)
            judged, refused = judged + found, refused + lost
    assert (judged, refused) == COUNTS[draft]


def judge(schema: dict[str, Any], tests: list[tuple[Any, bool]]) -> tuple[int, int]:
    """How many of the tests were judged, and of how many the schema was refused."""
    try:
        grammar = compiled(schema, formats="annotate", numbers="any")
    except cfgmask.GrammarError as error:
        if {d.code for d in error.diagnostics} == {"schema-unsatisfiable"}:
            assert not any(valid for _, valid in tests), schema
            return len(tests), 0
        return 0, len(tests)
    for data, valid in tests:
        assert accepts_in_some_order(grammar, data) == valid, (schema, data)
    return len(tests), 0
